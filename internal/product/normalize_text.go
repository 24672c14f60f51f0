package product

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// NormalizeFile normalizes the objects in a file, which is read as kubectl reads it. Each object replaces
// the matching object in old; an object without a match, or with old nil, is created. The
// diagnostics report the changes and, as errors, the union objects that stay unchanged. Objects of
// kinds that are not in the set stay unchanged.
func NormalizeFile(set *union.KindSet, name string, src []byte, old *yamltext.OldObjects, opts NormalizeOptions, limits yamltext.Limits) NormalizedFile {
	plan := func(k union.Kind, o, was *yamltext.Object, l diag.List) ([]Change, diag.List) {
		var before map[string]any
		switch {
		case l.HasErrors():
			return nil, l
		case was != nil && was.Version != o.Version:
			return nil, append(l, diag.New(codes.NotNormalized, o.Pos(nil),
				"%s is of version %s, and the old object of %s", o, o.Version, was.Version).
				Hinted("convert one of them, such as by the API server: kubectl get with the version in the name of the resource"))
		case was != nil:
			before = was.Value
		}
		changes, problems := PlanChanges(k, before, o.Value, opts)
		for _, p := range problems {
			d := p.Diagnostic(o)
			if null := clearing(o, p); opts.Merged && null != "" {
				d.Hint = "in the patch, clear the member that is not meant: " + null
			}
			l = append(l, d)
		}
		for _, c := range changes {
			l = append(l, diag.New(codes.Normalized, where(o, c), "%s", c).At(c.At.String()))
		}
		return changes, l
	}
	return files{Set: set, Old: old, Limits: limits, Parse: yamltext.ParseObjects, Plan: plan}.Rewrite(name, src)
}

// WithoutChanges removes the diagnostics that report changes, for a result that is not written.
func WithoutChanges(l diag.List) diag.List {
	return slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Code == codes.Normalized })
}

// Diagnostic reports the problem at its position in the object.
func (p ChangeProblem) Diagnostic(o *yamltext.Object) diag.Diagnostic {
	d := diag.New(codes.NotNormalized, o.Pos(p.At), "%s", p.String()).At(p.At.String())
	if p.Moved != nil {
		d.Severity, d.Hint = diag.Warning, "set the members that are to go to null, or leave them out"
		return d
	}
	d.Hint = p.hint()
	return d
}

// hint returns a way to satisfy the first condition that the object violates.
func (p ChangeProblem) hint() string {
	v, u := p.Violations[0], p.Union
	name := ""
	if v.Member >= 0 {
		name = u.Members[v.Member].Name
	}
	switch {
	case u.Discriminator != "":
	case v.Condition == union.Forbidden:
		return "clear " + name
	case v.Condition == union.Required && u.Grouped():
		return fmt.Sprintf("set %s, or clear the rest of its group", name)
	case v.Condition == union.Required:
		return "set " + name
	}
	switch v.Condition {
	case union.Forbidden:
		return fmt.Sprintf("clear %s, or change %s", name, u.Discriminator)
	case union.Required:
		return fmt.Sprintf("set %s, or change %s", name, u.Discriminator)
	case union.Selected:
		return "set " + u.Discriminator
	case union.Unmapped:
		if u.Enumerated {
			return english.Hint(p.new.Value, u.Values, fmt.Sprintf("set %s to %s", u.Discriminator, english.List(u.Values, "or")))
		}
		return fmt.Sprintf("set %s to a value that selects a member", u.Discriminator)
	case union.TooMany:
		if u.Discriminator != "" {
			return fmt.Sprintf("set only one member, or %s to the one that is to stay", u.Discriminator)
		}
		if u.Grouped() {
			return "set the members of only one group"
		}
		return "set only one member"
	case union.TooFew:
		if u.Grouped() {
			return "set the members of one group"
		}
		return "set one of " + strings.Join(u.MemberNames(), ", ")
	case union.NotCleared:
		return "clear the members that were set before"
	}
	return "undo the change"
}

// clearing returns the text for a patch that clears one of the members set in a problem.
func clearing(o *yamltext.Object, p ChangeProblem) string {
	item := ""
	for _, key := range p.Keys {
		if n, _ := o.Lookup(p.At.Child(key)); n != nil {
			item += key + ": " + yamltext.ScalarText(n) + ", "
		}
	}
	var l []string
	for _, name := range p.Union.NamesOf(p.new.Set()) {
		null := "null"
		for _, step := range slices.Backward(p.Union.Path(name).Properties()) {
			if null != "null" {
				null = "{" + null + "}"
			}
			null = step + ": " + null
		}
		if item != "" {
			null = "{" + item + null + "}"
		}
		l = append(l, null)
	}
	return strings.Join(l, " or ")
}

// where returns the position of the first member that a change clears, or else of the object.
func where(o *yamltext.Object, c Change) diag.Pos {
	if len(c.Clear) > 0 {
		return o.Pos(c.At.Property(c.Union.Path(c.Clear[0]).Properties()...))
	}
	return o.Pos(c.At)
}
