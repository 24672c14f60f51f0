package handwritten

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// level is a schema on the path to an object.
type level struct {
	schema *apiextensionsv1.JSONSchemaProps
	rules  []parsedRule // see all
	parsed bool
}

// parsedRule is a rule with its index in the schema.
type parsedRule struct {
	*formula.Rule
	index int
	// below is the path of the deeper object that the rule is about, if it is only about this one.
	below []string
	// each, unless nil, is an equivalent rule on each item of a list: of the property list, or of the
	// schema itself.
	each *formula.Rule
	list string
}

// all returns the rules of the schema that do not read oldSelf. It parses them on first use.
func (v *level) all() []parsedRule {
	if v.parsed {
		return v.rules
	}
	v.parsed = true
	for i, r := range v.schema.XValidations {
		parsed, err := formula.Parse(r.Rule)
		if err != nil || parsed.ReadsOld {
			continue
		}
		rule := parsedRule{Rule: parsed, index: i, below: only(parsed.Paths)}
		if list, text, ok := parsed.EachItem(); ok {
			rule.list = list
			rule.each, _ = formula.Parse(text)
		}
		v.rules = append(v.rules, rule)
	}
	return v.rules
}

// only returns the path of an object if the paths read properties of this object alone. Some paths
// may end at the object or above it.
func only(paths [][]string) (object []string) {
	for _, p := range paths {
		if len(p) > len(object)+1 {
			object = p[:len(p)-1]
		}
	}
	if slices.ContainsFunc(paths, func(p []string) bool {
		n := min(len(p), len(object))
		return n == 0 || !slices.Equal(p[:n], object[:n])
	}) {
		return nil
	}
	return object
}

// readAncestors reads the rules of ancestors that depend only on the properties of the object and on
// its presence, and the rules on a list, or on the object with the list, that depend only on the
// properties of each item.
func (f *finder) readAncestors(o *candidateObject) []*condition {
	var l []*condition
	n := len(f.path)
	for above := 1; above <= min(n, 2) && f.path[n-1] == schemapath.Items && !o.schema.Nullable; above++ {
		list, ok := "", true
		if above > 1 {
			list, ok = f.path[n-2].Property()
		}
		for _, r := range f.levels[n-above].all() {
			if ok && r.each != nil && r.list == list {
				l = o.ruleCondition(l, verify.Constraint{Index: r.index, Above: above}, r.each, o.at(0))
			}
		}
	}
	for i, step := range slices.Backward(f.path) {
		if _, ok := step.Property(); !ok {
			break // other rules are about several items
		}
		path := f.path[i:].Properties()
		for _, r := range f.levels[i].all() {
			if slices.Equal(r.below, path) {
				l = o.ruleCondition(l, verify.Constraint{Index: r.index, Above: len(path)}, r.Rule, o.at(len(path)))
			}
		}
	}
	return l
}
