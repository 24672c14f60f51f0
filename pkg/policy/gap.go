package policy

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// mutatingGaps reports the union objects of a kind that a policy cannot normalize.
func mutatingGaps(k union.Kind) diag.List {
	const hint = "with --validate, a policy enforces the union"
	var l diag.List
	for _, o := range k.Objects {
		if o.Set {
			l = append(l, gap(k, o, hint, "members are not cleared in items of a set, where clearing changes the identity of the item"))
		}
		for i, shares := range sharing(o.Unions) {
			if shares && o.Unions[i].Exclusive() {
				l = append(l, gap(k, o, hint, "members of %s are not cleared: another union has some of the same properties", strings.Join(o.Unions[i].Names(), ", ")))
			}
		}
		l = append(l, scaleGap(k, o)...)
	}
	for _, o := range k.Lists {
		l = append(l, gap(k, o, hint, "no item is cleared: clients switch to another item of a list by deleting the old one"))
	}
	return l
}

// validatingGaps reports the rules for unions of a kind that a policy cannot enforce.
func validatingGaps(k union.Kind) diag.List {
	var l diag.List
	for _, o := range slices.Concat(k.Objects, k.Lists) {
		unkeyed := slices.ContainsFunc(o.Keys, func(keys []string) bool { return keys == nil })
		for _, u := range o.Unions {
			switch {
			case unkeyed && u.Guarded():
				l = append(l, gap(k, o, "", "%s is not enforced: items of a list without keys cannot be correlated with their old versions", changeOf(u)))
			case unkeyed && u.Ratchet:
				l = append(l, gap(k, o, "", "ratchet has no effect: items of a list without keys cannot be correlated with their old versions"))
			}
			for _, names := range o.Removable {
				if _, ok := rules.RemovalGuard(u, names); ok && !expressible(names) {
					l = append(l, gap(k, o, "make every property on the way to the union required, or rename it",
						"%s can be bypassed by removing %s: CEL cannot express its path", changeOf(u), schemapath.New(names...)))
				}
			}
		}
		l = append(l, scaleGap(k, o)...)
	}
	return l
}

// changeOf returns the key of the declaration that restricts changes of a union.
func changeOf(u *union.Union) string {
	if u.Change == union.Forbid {
		return "discriminatorChange: Forbid"
	}
	return u.Change.String()
}

// scaleGap reports a member or discriminator that clients can write through the scale subresource.
// Requests for scale contain a Scale object, which a policy for the kind does not see.
func scaleGap(k union.Kind, o union.Instances) diag.List {
	for _, u := range o.Unions {
		for _, name := range u.Names() {
			if o.Path.Append(u.Path(name)...).Equal(k.Scaled) {
				return diag.List{gap(k, o, "compile the union into the CRD: the API server checks its rules there, too", "the policy does not see writes of %s through the scale subresource", k.Scaled)}
			}
		}
	}
	return nil
}

func gap(k union.Kind, o union.Instances, hint, format string, args ...any) diag.Diagnostic {
	return diag.New(codes.PolicyGap, diag.Pos{File: k.Origin}, format, args...).At(o.Path.String()).Hinted(hint)
}
