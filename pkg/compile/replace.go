package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Removal is what gives way to compiled rules in one schema.
type Removal struct {
	Place
	Constraints []verify.Constraint
	// External says that the union's declaration does not stand in the schema.
	External bool
}

// Replaced finds the hand-written rules that unions with handWrittenRules: Replace
// take the place of: those which together are proved to mean what the union says.
// The list says which they are, and which are kept and why. With errors in the
// declarations the result is nil and the list empty: CRD reports them.
func Replaced(m Manifest) ([]Removal, diag.List) {
	c := &compiler{manifest: m}
	c.version()
	c.locate()
	if len(c.located.objects) == 0 {
		return nil, nil
	}
	if c.decode(); c.crd != nil {
		c.resolve()
	}
	if c.diags.HasErrors() {
		return nil, nil
	}
	c.diags = nil
	var l []Removal
	for _, o := range c.objects {
		var all []verify.Constraint
		for i, u := range o.Unions {
			if !u.Replace {
				continue
			}
			for _, r := range c.replaced(o, i) {
				if !slices.Contains(all, r) {
					all = append(all, r)
				}
			}
		}
		if len(all) > 0 {
			l = append(l, Removal{o.Place, all, o.Key < 0})
		}
	}
	return l, c.diags
}

// replaced returns the constraints that one union takes the place of.
func (c *compiler) replaced(o *object, i int) []verify.Constraint {
	constraints, comparison, err := verify.Replaceable(context.Background(), c.crd, o.Version, o.Steps, o.Unions[i])
	if len(constraints) == 0 && err == nil {
		return nil
	}
	var names []string
	for _, k := range constraints {
		names = append(names, k.String())
	}
	d := diag.Diagnostic{Pos: o.Declarations[i].Pos, Path: o.Place.String(), Code: diag.RulesNotReplaced, Severity: diag.Warning,
		Hint: "mend them or the union; or delete them, or handWrittenRules, yourself"}
	switch {
	case err != nil:
		d.Message = "hand-written rules are not replaced, as they cannot be tried: " + err.Error()
	case comparison.Verdict == verify.Equivalent && comparison.Complete:
		d.Code, d.Severity, d.Hint = diag.RulesReplaced, diag.Info, ""
		d.Message = "hand-written rules that mean what this union says are replaced: " + strings.Join(names, ", ")
		if o.Key >= 0 {
			c.report(d) // else it comes back with every compilation, and is undone by the next
		}
		return constraints
	case comparison.Verdict == verify.Equivalent:
		d.Message = "hand-written rules are not replaced, as the union has too many states to try them all: " + strings.Join(names, ", ")
		d.Hint = "compare them yourself; then delete them, or handWrittenRules"
	case comparison.Tighter != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, as they accept what the union forbids (%s): %s", comparison.Tighter.Words(o.Unions[i]), strings.Join(names, ", "))
	case comparison.Looser != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, as they refuse what the union allows (%s): %s", comparison.Looser.Words(o.Unions[i]), strings.Join(names, ", "))
	default:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, as it cannot be told whether they mean what the union says (%s): %s", strings.Join(comparison.Inconclusive, "; "), strings.Join(names, ", "))
	}
	c.report(d)
	return nil
}
