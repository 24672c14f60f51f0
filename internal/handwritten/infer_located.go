package handwritten

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Located is a union with its position in a file.
type Located struct {
	Found
	CRD    *apiextensionsv1.CustomResourceDefinition
	Source *crdpatch.CRD // the CRD in the file
	Pos    diag.Pos      // of the schema
}

// Locate finds the unions of a CRD at paths and below, or all, except on schemas that have declared
// unions. open are the objects that may have more.
func Locate(ctx context.Context, c *crdpatch.CRD, paths Paths) (l []Located, open []string, diagnostics diag.List, err error) {
	crd, diagnostics := c.Source()
	if crd == nil {
		return nil, nil, diagnostics, nil
	}
	found, places, err := Infer(ctx, crd, paths...)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", crd.Name, err)
	}
	for _, p := range places {
		open = append(open, fmt.Sprintf("%s: %s may have more unions", crd.Name, cmp.Or(p.String(), "the object")))
	}
	faults := c.Faults(crd)
	for _, f := range found {
		// With a rule that does not compile, the union may have other members.
		partial := slices.ContainsFunc(faults, func(d diag.Diagnostic) bool {
			return strings.HasPrefix(d.Path, f.Structural()+".x-kubernetes-validations")
		})
		if at, declares := c.Schema(f.Place); !declares && !partial {
			l = append(l, Located{Found: f, CRD: crd, Source: c, Pos: at})
		}
	}
	return l, open, append(diagnostics, faults...), nil
}

// replaceable reports whether compiling can replace the constraints, which must be equivalent.
// Compiling never replaces rules of ancestors.
func (i Located) replaceable() bool {
	return i.Comparison.Verdict == verify.Equivalent && !slices.ContainsFunc(i.Replaces, func(c verify.Constraint) bool { return c.Above > 0 })
}

// Declaration returns the declaration of the union. If replace is set, compiling replaces
// equivalent constraints where this is possible.
func (i Located) Declaration(replace bool) union.External {
	u := *i.Union
	u.Replace = replace && i.replaceable()
	return union.External{
		Target:  union.Target{Name: i.CRD.Name},
		Version: i.Name,
		Path:    i.Path,
		Value:   yamltext.ListNode(u.Node()),
		At:      &i.Pos,
	}
}

// Rules returns the rules that the union replaces if replace is set. It returns the first constraint
// that is not a rule as other.
func (i Located) Rules(replace bool) (rules []string, other string) {
	if !replace || !i.replaceable() {
		return nil, ""
	}
	for _, c := range i.Replaces {
		rule := i.rule(c).Rule
		if rule == "" {
			return nil, c.String()
		}
		rules = append(rules, rule)
	}
	return rules, ""
}

// Target returns the CRD of the union.
func (i Located) Target() union.Target {
	return union.Target{Name: i.CRD.Name, Group: i.CRD.Spec.Group, Kind: i.CRD.Spec.Names.Kind}
}

// schemaOf returns the place of the schema with a constraint.
func (i Located) schemaOf(c verify.Constraint) schemapath.Place {
	return i.Up(len(i.Path) - c.Above)
}

// rule returns a constraint that is a rule. For other constraints, it returns the zero rule.
func (i Located) rule(c verify.Constraint) apiextensionsv1.ValidationRule {
	return ruleAt(i.CRD.Spec.Versions[i.Version].Schema.OpenAPIV3Schema, i.Path, c)
}

// losesMessage reports whether a constraint has a message that the declaration does not have.
func (i Located) losesMessage(c verify.Constraint) bool {
	r := i.rule(c)
	if r.MessageExpression != "" {
		return true
	}
	text := strings.TrimSpace(r.Message)
	has := func(t union.Texts) bool { return t.Required == text || t.Forbidden == text }
	return text != "" && !has(i.Union.Message) && !slices.ContainsFunc(slices.Collect(maps.Values(i.Union.Messages)), has)
}

// lostMessages names the constraints whose messages the declaration does not have, as in "the
// message of line 3". It returns "" if there are none.
func (i Located) lostMessages() string {
	lost := slices.DeleteFunc(slices.Clone(i.Replaces), func(c verify.Constraint) bool { return !i.losesMessage(c) })
	switch lines := i.lines(lost); {
	case lines == "":
		return ""
	case len(lost) == 1:
		return "the message of " + lines
	default:
		return "the messages of " + lines
	}
}

// posOf returns the position of a constraint.
func (i Located) posOf(c verify.Constraint) diag.Pos {
	return i.Source.Constraint(i.schemaOf(c), c)
}

// Label returns the discriminator and the members of the union on one line.
func (i Located) Label() string {
	if i.Union.Discriminator != "" {
		return i.Union.Discriminator + ": " + report.MembersInWords(i.Union.MemberNames())
	}
	return report.MembersInWords(i.Union.MemberNames())
}

// lines names the lines of constraints, as [english.Lines] does.
func (i Located) lines(constraints []verify.Constraint) string {
	var l []int
	for _, c := range constraints {
		l = append(l, i.posOf(c).Line)
	}
	return english.Lines(l)
}

// Told states on one line that the union was or would be declared, and whether its constraints are
// replaced.
func (i Located) Told(done string, replace bool) string {
	text := fmt.Sprintf("%s: %s in %s (%s)", i.Pos, done, i.Place, i.Label())
	lines := i.lines(i.Replaces)
	switch {
	case replace && i.replaceable():
		text += "; the next compile replaces " + lines
		if lost := i.lostMessages(); lost != "" {
			text += ", without " + lost
		}
	case i.Comparison.Verdict == verify.Equivalent:
		text += "; it has the meaning of " + lines
		if !i.replaceable() {
			text += ", on an ancestor; delete it by hand"
		}
	default:
		text += "; it is not equivalent to " + lines
	}
	return text
}
