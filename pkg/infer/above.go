package infer

import (
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/formula"
	"github.com/unioncel/unioncel/pkg/verify"
)

// level is a schema on the way to an object, and those of its rules that look at what is
// in a property, once they are wanted.
type level struct {
	schema *apiextensionsv1.JSONSchemaProps
	rules  []deepRule
	read   bool
}

// deepRule is a rule that looks at what is in a property.
type deepRule struct {
	*formula.Rule
	index int
}

// deep is what rules look like that look at what is in a property. It spares most of
// them the parser.
var deep = regexp.MustCompile(`\bself\.\??\w+\.\??\w+(?:[^\w(]|$)`)

func (v *level) deepRules() []deepRule {
	if v.read {
		return v.rules
	}
	v.read = true
	for i, r := range v.schema.XValidations {
		if !deep.MatchString(r.Rule) || strings.Contains(r.Rule, "oldSelf") {
			continue
		}
		if parsed, err := formula.Parse(r.Rule); err == nil {
			v.rules = append(v.rules, deepRule{parsed, i})
		}
	}
	return v.rules
}

// above reads the rules further up that are about nothing but properties of the object,
// and whether it is there.
func (f *finder) above(o *object) []*condition {
	var l []*condition
	var path []string
	for i, step := range slices.Backward(f.path) {
		name, ok := step.Property()
		if !ok {
			break // no rule can tell one item from others
		}
		path = append([]string{name}, path...)
		for _, r := range f.levels[i].deepRules() {
			if !slices.ContainsFunc(r.Paths, func(p []string) bool { return len(p) > len(path) && slices.Equal(p[:len(path)], path) }) {
				continue
			}
			demand, form := o.read(r.Rule, f.levels[i].schema, path...)
			if c := o.condition(verify.Constraint{Key: ruleKey, Index: r.index, Above: len(path)}, form, demand); c != nil {
				l = append(l, c)
			}
		}
	}
	return l
}
