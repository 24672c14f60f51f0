package handwritten

import (
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// level is a schema on the path to an object. rules are its rules about deeper objects, by path, and
// items those about the items of a list, by property, or "" for the list itself. Both are read on
// first use.
type level struct {
	schema *apiextensionsv1.JSONSchemaProps
	rules  map[string][]deepRule
	items  map[string][]deepRule
}

// deepRule is a rule about the properties of a deeper object. Rules about items are converted to
// rules on an item.
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

// itemRules returns the rules that apply to each item of a list alike, by the property with the list.
func (v *level) itemRules() map[string][]deepRule {
	if v.items == nil {
		v.items = map[string][]deepRule{}
		for i, r := range v.schema.XValidations {
			if !strings.Contains(r.Rule, ".all(") || strings.Contains(r.Rule, "oldSelf") {
				continue
			}
			parsed, err := formula.Parse(r.Rule)
			if err != nil {
				continue
			}
			list, rule, ok := parsed.EachItem()
			if !ok {
				continue
			}
			if parsed, err = formula.Parse(rule); err == nil {
				v.items[list] = append(v.items[list], deepRule{parsed, i})
			}
		}
	}
	return v.items
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

// readItemRules reads the rules on a list, or on the object with the list, that depend only on the
// properties of each item. The object is the item.
func (f *finder) readItemRules(o *candidateObject) []*condition {
	var l []*condition
	n := len(f.path)
	if n == 0 || f.path[n-1] != schemapath.Items || o.schema.Nullable {
		return nil
	}
	add := func(above int, rules []deepRule) {
		for _, r := range rules {
			if c := o.condition(verify.Constraint{Key: ruleKey, Index: r.index, Above: above}, formOfRule(r.Rule), o.rule(r.Rule, 0)); c != nil {
				l = append(l, c)
			}
		}
	}
	add(1, f.levels[n-1].itemRules()[""])
	if n > 1 {
		if name, ok := f.path[n-2].Property(); ok {
			add(2, f.levels[n-2].itemRules()[name])
		}
	}
	return l
}

// readAncestors reads the rules of ancestors that depend only on the properties of the object and on
// its presence.
func (f *finder) readAncestors(o *candidateObject) []*condition {
	l := f.readItemRules(o)
	for i, step := range slices.Backward(f.path) {
		if _, ok := step.Property(); !ok {
			break // other rules are about several items
		}
		rules := f.levels[i].deepRules()
		if len(rules) == 0 {
			continue
		}
		path := f.path[i:].Properties()
		for _, r := range rules[pathKey(path)] {
			if c := o.condition(verify.Constraint{Key: ruleKey, Index: r.index, Above: len(path)}, formOfRule(r.Rule), o.rule(r.Rule, len(path))); c != nil {
				l = append(l, c)
			}
		}
	}
	return l
}
