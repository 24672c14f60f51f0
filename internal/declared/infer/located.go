package infer

import (
	"fmt"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report/proof"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Located is a union with its position in a file.
type Located struct {
	Found
	CRD    *apiextensionsv1.CustomResourceDefinition
	Source *crdfile.CRD // the CRD in the file
	Pos    diag.Pos     // of the schema
}

// Suggested is the verdict on a union that nothing enforces.
const Suggested verify.Verdict = "suggestion"

// Verdict returns the verdict of the comparison. For a suggestion, it returns Suggested.
func (i Located) Verdict() verify.Verdict {
	if i.Suggestion {
		return Suggested
	}
	return i.Comparison.Verdict
}

// replaceable reports whether compiling can replace the constraints, which must be equivalent.
// Compiling never replaces rules of ancestors.
func (i Located) replaceable() bool {
	return i.Verdict() == verify.Equivalent && !slices.ContainsFunc(i.Replaces, func(c verify.Constraint) bool { return c.Above > 0 })
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
		rule := i.rule(c)
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

// rule returns the text of a constraint that is a rule, and "" for other constraints.
func (i Located) rule(c verify.Constraint) string {
	schema := i.schemaOf(c).Schema(i.CRD)
	if c.Key == "x-kubernetes-validations" && schema != nil && c.Index < len(schema.XValidations) {
		return schema.XValidations[c.Index].Rule
	}
	return ""
}

// posOf returns the position of a constraint.
func (i Located) posOf(c verify.Constraint) diag.Pos {
	return i.Source.Constraint(i.schemaOf(c), c)
}

// Label returns the discriminator and the members of the union on one line.
func (i Located) Label() string {
	if i.Union.Discriminator != "" {
		return i.Union.Discriminator + ": " + proof.Members(i.Union)
	}
	return proof.Members(i.Union)
}

// lines returns the line numbers of the constraints that the union would replace, as text. It is ""
// if there are no such constraints.
func (i Located) lines() string {
	var l []int
	for _, c := range i.Replaces {
		l = append(l, i.posOf(c).Line)
	}
	slices.Sort(l)
	l = slices.Compact(l)
	var words []string
	for _, line := range l {
		words = append(words, strconv.Itoa(line))
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "line " + words[0]
	}
	return "lines " + english.List(words, "and")
}

// Told states on one line that the union was or would be declared, and whether its constraints are
// replaced.
func (i Located) Told(done string, replace bool) string {
	text := fmt.Sprintf("%s: %s in %s: %s", i.Pos, done, i.Place, i.Label())
	lines := i.lines()
	switch {
	case lines == "":
	case replace && i.replaceable():
		text += "; the next compile replaces " + lines
	case i.Verdict() == verify.Equivalent:
		text += "; it has the meaning of " + lines
		if !i.replaceable() {
			text += ", on an ancestor; delete it by hand"
		}
	default:
		text += "; it is not equivalent to " + lines
	}
	return text
}
