package handwritten

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// readList finds the unions of the items of a list, which keys tell apart. The rules are on the
// list or on objects around it.
func (f *finder) readList(s *apiextensionsv1.JSONSchemaProps) error {
	if s.Type != "array" || s.XListType == nil || *s.XListType != "map" || len(s.XListMapKeys) == 0 || s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	o := f.object(s, false)
	type listRule struct {
		parsedRule
		above int
	}
	var rules []listRule
	var literals []any
	for above := range len(f.path) + 1 {
		steps := f.path[len(f.path)-above:]
		if above > 0 && (steps[0] == schemapath.Items || steps[0] == schemapath.Values) {
			break // other rules are about several lists
		}
		for _, r := range f.levels[len(f.path)-above].all() {
			if slices.ContainsFunc(r.Paths, func(p []string) bool { return slices.Equal(p, steps.Properties()) }) {
				rules, literals = append(rules, listRule{r, above}), append(literals, r.Literals...)
			}
		}
	}
	if len(rules) == 0 {
		return nil
	}
	f.objects = append(f.objects, o)
	o.at(0).NameItems(literals)
	var l []*condition
	for _, r := range rules {
		l = o.ruleCondition(l, verify.Constraint{Index: r.index, Above: r.above}, r.Rule, o.at(r.above))
	}
	o.space.Close()
	return f.candidates(o, o.candidates(l))
}

// namedItem is named for the list item whose path is its name in package formula.
func (o *candidateObject) namedItem(path []string) (name string, keys []union.ItemKey, ok bool) {
	values := formula.KeysOf(path[0])
	for _, key := range o.schema.XListMapKeys {
		keys = append(keys, union.ItemKey{Name: key, Value: values[key]})
	}
	u := o.resolve(&union.Union{Members: []union.Member{{Item: keys}}})
	if len(path) > 1 || values == nil || u == nil {
		return "", nil, false
	}
	return u.Members[0].Name, keys, true
}

// member returns the member in a slot.
func (o *candidateObject) member(slot int) union.Member {
	return union.Member{Name: o.names[slot], Item: o.items[slot]}
}
