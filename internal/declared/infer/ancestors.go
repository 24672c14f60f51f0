package infer

import (
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/verify"
)

// level is a schema on the path to an object. rules are its rules on objects below, by path. They
// are read on first use.
type level struct {
	schema *apiextensionsv1.JSONSchemaProps
	rules  map[string][]deepRule
}

// deepRule is a rule on the properties of an object below the schema with the rule.
type deepRule struct {
	*formula.Rule
	index int
}

// deep matches rules that read below a property. Other rules need not be parsed.
var deep = regexp.MustCompile(`\bself\.\??\w+\.\??\w+(?:[^\w(]|$)`)

// deepRules returns the rules on objects below the schema, by path.
func (v *level) deepRules() map[string][]deepRule {
	if v.rules == nil {
		v.rules = map[string][]deepRule{}
		for i, r := range v.schema.XValidations {
			if !deep.MatchString(r.Rule) || strings.Contains(r.Rule, "oldSelf") {
				continue
			}
			parsed, err := formula.Parse(r.Rule)
			if err != nil {
				continue
			}
			if path, ok := only(parsed.Paths); ok {
				v.rules[pathKey(path)] = append(v.rules[pathKey(path)], deepRule{parsed, i})
			}
		}
	}
	return v.rules
}

func pathKey(path []string) string { return strings.Join(path, "\x00") }

// only returns the path of an object if the paths read properties of this object alone. Some paths
// may end at the object or above it.
func only(paths [][]string) (object []string, ok bool) {
	for _, p := range paths {
		if len(p) > len(object)+1 {
			object = p[:len(p)-1]
		}
	}
	return object, len(object) > 0 && !slices.ContainsFunc(paths, func(p []string) bool {
		n := min(len(p), len(object))
		return n == 0 || !slices.Equal(p[:n], object[:n])
	})
}

// readAncestors reads the rules of ancestors that depend only on the presence of the object and on
// its properties.
func (f *finder) readAncestors(o *candidateObject) []*condition {
	var l []*condition
	for i, step := range slices.Backward(f.path) {
		if _, ok := step.Property(); !ok {
			break // a rule cannot tell an item from the other items
		}
		rules := f.levels[i].deepRules()
		if len(rules) == 0 {
			continue
		}
		path := f.path[i:].Properties()
		for _, r := range rules[pathKey(path)] {
			demand, form := o.read(r.Rule, f.levels[i].schema, path...)
			if c := o.condition(verify.Constraint{Key: ruleKey, Index: r.index, Above: len(path)}, form, demand); c != nil {
				l = append(l, c)
			}
		}
	}
	return l
}
