//go:build exhaustive

package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// sizes are the numbers of members in comparisons.
var sizes = []int{2, 3, 4, 6, 8, 10, 12, 16, 20, 30, 40}

// A comparison compares rules with the same meaning by several authors.
type comparison struct {
	discriminated bool
	required      bool // the discriminator is required and has an enum
	optional      bool // members are optional
	elsewhere     bool // the discriminator is platform.type
	items         bool // the members are items, by type, of a list of at most 100
	cardinality   union.Cardinality
	forms         []form
}

// A quality of messages. Only forms of the same quality are compared.
type quality int

const (
	perUnion     quality = iota + 1 // one message for the whole union
	perMember                       // one for each member
	perDirection                    // one for each member and direction
	newer                           // one for each member, but unavailable on some supported servers
	unguarded                       // one for the whole union, and an error if an item has no key
)

// form is a way to write the rules of a union.
type form struct {
	name    string
	quality quality
	write   func(u *union.Union) []apiextensionsv1.ValidationRule
	ours    bool
}

var comparisons = map[string]comparison{
	"AtMostOne":  {cardinality: union.AtMostOne, forms: countForms("at most one of the fields in %v may be set", "<= 1")},
	"ExactlyOne": {cardinality: union.ExactlyOne, forms: countForms("exactly one of the fields in %v must be set", "== 1")},
	"AtLeastOne": {cardinality: union.AtLeastOne, forms: countForms("at least one of the fields in %v must be set", ">= 1")},
	"optional": {discriminated: true, cardinality: union.AtMostOne, forms: []form{
		openShift, oneByOne, {"unioncel, fine", perDirection, ours(rules.Fine), true}, {"unioncel, compact", perUnion, ours(rules.Compact), true},
	}},
	"required": {discriminated: true, required: true, cardinality: union.ExactlyOne, forms: []form{
		openShift, oneByOne, gatewayPairs, {"unioncel, fine", perDirection, ours(rules.Fine), true}, {"unioncel, compact", perUnion, ours(rules.Compact), true},
	}},
	"elsewhere": {discriminated: true, elsewhere: true, cardinality: union.AtMostOne, forms: []form{
		conditionals, optionals, oneByOne, {"unioncel, fine", perDirection, ours(rules.Fine), true}, {"unioncel, compact", perUnion, ours(rules.Compact), true},
	}},
	"items": {items: true, cardinality: union.AtMostOne, forms: []form{
		onItems("filter", "self.filter(c, c.type in ['%s']).size() <= 1", "', '"),
		onItems("sum", "(self.exists(c, c.type == '%s') ? 1 : 0) <= 1", "') ? 1 : 0) + (self.exists(c, c.type == '"),
		{"unioncel", perUnion, ours(rules.Paired), true}, {"unioncel, compact", perUnion, ours(rules.Compact), true},
	}},
	"optionalMembers": {discriminated: true, optional: true, cardinality: union.AtMostOne, forms: []form{openShiftOptional, oneByOne}},
}

func ours(e rules.Encoding) func(u *union.Union) []apiextensionsv1.ValidationRule {
	return func(u *union.Union) []apiextensionsv1.ValidationRule { return validations(rules.Static(u, e)) }
}

// onItems returns one rule on items of a list, with their names inserted into rule.
func onItems(name, rule, between string) form {
	return form{name, unguarded, func(u *union.Union) []apiextensionsv1.ValidationRule {
		return []apiextensionsv1.ValidationRule{{Rule: fmt.Sprintf(rule, strings.Join(u.MemberNames(), between)), Message: "at most one of the items may be there"}}
	}, false}
}

// oneByOne is unioncel's form with one rule per member.
var oneByOne = form{"unioncel", perMember, ours(rules.Paired), true}

// countForms returns the forms of unions without a discriminator: both forms that controller-gen has
// used to count members, and unioncel's.
func countForms(message, compared string) []form {
	one := func(u *union.Union, rule string) []apiextensionsv1.ValidationRule {
		return []apiextensionsv1.ValidationRule{{Rule: rule, Message: fmt.Sprintf(message, u.MemberNames())}}
	}
	each := func(u *union.Union, format string) []string {
		l := make([]string, len(u.Members))
		for i, m := range u.Members {
			l[i] = fmt.Sprintf(format, m.Name)
		}
		return l
	}
	return []form{
		{"controller-gen 0.21", perUnion, func(u *union.Union) []apiextensionsv1.ValidationRule {
			return one(u, "["+strings.Join(each(u, "has(self.%s)"), ",")+"].filter(x,x==true).size() "+compared)
		}, false},
		{"controller-gen 0.23", perUnion, func(u *union.Union) []apiextensionsv1.ValidationRule {
			return one(u, strings.Join(each(u, "(has(self.%s)?1:0)"), "+")+" "+compared)
		}, false},
		{"unioncel", perUnion, ours(rules.Paired), true},
		{"unioncel, fine", perDirection, ours(rules.Fine), true},
	}
}

var (
	openShift         = form{"OpenShift", perMember, conditional("has(self.%[3]s)", "is required when %s is %s, and forbidden otherwise"), false}
	openShiftOptional = form{"OpenShift", perMember, conditional("true", "is forbidden unless %s is %s"), false}
)

// The forms for a discriminator in another object.
var (
	conditionals = form{"conditionals", perMember, perMemberIf("has(self.platform) && has(self.platform.type) && self.platform.type == '%s'"), false}
	optionals    = form{"optionals", newer, perMemberIf("self.?platform.?type.orValue('') == '%s'"), false}
)

// perMemberIf writes one rule per member, with the condition that it is selected.
func perMemberIf(selected string) func(u *union.Union) []apiextensionsv1.ValidationRule {
	return func(u *union.Union) (l []apiextensionsv1.ValidationRule) {
		for _, m := range u.Members {
			l = append(l, apiextensionsv1.ValidationRule{
				Rule:    fmt.Sprintf(selected+" ? has(self.%s) : !has(self.%s)", m.Values[0], m.Name, m.Name),
				Message: fmt.Sprintf("%s is required when %s is %s, and forbidden otherwise", m.Name, u.Discriminator, m.Values[0]),
			})
		}
		return l
	}
}

// conditional writes one rule per member; when is the condition if the member is selected.
func conditional(when, message string) func(u *union.Union) []apiextensionsv1.ValidationRule {
	return func(u *union.Union) (l []apiextensionsv1.ValidationRule) {
		for _, m := range u.Members {
			l = append(l, apiextensionsv1.ValidationRule{
				Rule:    fmt.Sprintf("has(self.%[1]s) && self.%[1]s == '%[2]s' ? "+when+" : !has(self.%[3]s)", u.Discriminator, m.Values[0], m.Name),
				Message: m.Name + " " + fmt.Sprintf(message, u.Discriminator, m.Values[0]),
			})
		}
		return l
	}
}

var gatewayPairs = form{"Gateway API", perDirection, func(u *union.Union) (l []apiextensionsv1.ValidationRule) {
	for _, m := range u.Members {
		l = append(l, apiextensionsv1.ValidationRule{
			Rule:    fmt.Sprintf("!(has(self.%[3]s) && self.%[1]s != '%[2]s')", u.Discriminator, m.Values[0], m.Name),
			Message: fmt.Sprintf("%s must be nil if the %s is not %s", m.Name, u.Discriminator, m.Values[0]),
		}, apiextensionsv1.ValidationRule{
			Rule:    fmt.Sprintf("!(!has(self.%[3]s) && self.%[1]s == '%[2]s')", u.Discriminator, m.Values[0], m.Name),
			Message: fmt.Sprintf("%s must be specified for %s %s", m.Name, m.Values[0], u.Discriminator),
		})
	}
	return l
}, false}

// validations converts rules to the type in a schema.
func validations(l []rules.Rule) []apiextensionsv1.ValidationRule {
	var out []apiextensionsv1.ValidationRule
	for _, r := range l {
		out = append(out, r.Validation())
	}
	return out
}

// of returns the union of n members. All names and values have eight characters.
func (c comparison) of(t *testing.T, n int) subject {
	t.Helper()
	var names, values []string
	for i := range n {
		names, values = append(names, fmt.Sprintf("member%02d", i)), append(values, fmt.Sprintf("Member%02d", i))
	}
	return c.named(t, names, values)
}

// named returns the union of members with these names and values.
func (c comparison) named(t *testing.T, names, values []string) subject {
	t.Helper()
	properties := map[string]any{}
	by := map[string]any{}
	for i, name := range names {
		properties[name], by[name] = map[string]any{"type": "object"}, values[i]
	}
	declaration := map[string]any{"members": names, "cardinality": c.cardinality.String()}
	schema := map[string]any{"type": "object", "properties": properties}
	if c.discriminated {
		properties["type"] = map[string]any{"type": "string"}
		declaration = map[string]any{"discriminator": "type", "fields-to-discriminateBy": by, "cardinality": c.cardinality.String()}
	}
	if c.elsewhere {
		properties["platform"] = map[string]any{"type": "object", "properties": map[string]any{"type": properties["type"]}}
		delete(properties, "type")
		declaration["discriminator"] = "platform.type"
	}
	if c.optional {
		declaration["optionalMembers"] = names
	}
	if c.required {
		properties["type"] = map[string]any{"type": "string", "enum": values}
		schema["required"] = []string{"type"}
	}
	if c.items {
		var members []any
		for _, name := range names {
			members = append(members, map[string]any{"type": name})
		}
		declaration["members"] = members
		item := map[string]any{"type": "object", "required": []string{"type"}, "properties": map[string]any{"type": map[string]any{"type": "string"}}}
		schema = map[string]any{"type": "array", "maxItems": 100, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{"type"}, "items": item}
	}
	schema["x-kubernetes-unions"] = []any{declaration}
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(text))
}

// measured is the cost of the rules of a form.
type measured struct {
	greatest, sum uint64 // of the rules, evaluated once, without message expressions
}

func (f form) measure(t *testing.T, s subject) measured {
	t.Helper()
	l := f.write(s.Union)
	var m measured
	root, path := s.schema, schemapath.Path(nil)
	if s.OfItems() { // the root cannot be a list
		path = schemapath.New("list")
		root = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"list": *s.schema}}
	}
	for _, c := range costs(t, root, path, l...) {
		m.greatest, m.sum = max(m.greatest, c.Once), m.sum+c.Once
	}
	return m
}

// asJSON returns the number of bytes of a value as JSON, without escapes of & and <.
func asJSON(t *testing.T, value any) int {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return b.Len() - len("\n")
}

// encodings returns a table of the costs of a union in a list, by encoding.
func encodings(t *testing.T) string {
	t.Helper()
	const members = 12
	s := comparisons["optional"].of(t, members)
	root := schemaOf(t, "{type: object, properties: {in: {type: array}}}")
	in := root.Properties["in"]
	in.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: s.schema}
	root.Properties["in"] = in
	rows := [][]string{{"encoding", "rules", "most expensive rule", "all rules", "cost for the version"}}
	for _, e := range []rules.Encoding{rules.Paired, rules.Fine, 8, 4, 2, rules.Compact} {
		l := costs(t, root, schemapath.New("in").Append(schemapath.Items), ours(e)(s.Union)...)
		var greatest, once uint64
		for _, c := range l {
			greatest, once = max(greatest, c.Once), once+c.Once
		}
		if greatest > server.RuleLimit/l[0].Executions == server.CostsFit(l) {
			t.Errorf("%s: the most expensive rule costs %d, and fit: %t", e, greatest, server.CostsFit(l))
		}
		rows = append(rows, []string{
			e.String(), fmt.Sprint(len(l)), over(greatest, server.RuleLimit/l[0].Executions), thousands(once), over(server.SumCosts(l), server.VersionLimit),
		})
	}
	return grid(rows)
}

// over formats a number, in bold if it exceeds the limit.
func over(n, limit uint64) string {
	if n > limit {
		return "**" + thousands(n) + "**"
	}
	return thousands(n)
}

// cell formats two numbers, or one if they are equal.
func cell(a, b uint64) string {
	if a == b {
		return thousands(a)
	}
	return thousands(a) + " / " + thousands(b)
}

// No other rules with the same meaning and quality of messages are cheaper than unioncel's, neither
// in the most expensive rule nor in total. A plain run covers every other size.
func TestCostNeverDearer(t *testing.T) {
	for name, c := range comparisons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range unioncases.Some(sizes, 2, 1) {
				s := c.of(t, n)
				for _, f := range c.forms {
					if f.ours || f.quality == newer || f.quality == unguarded {
						continue
					}
					i := slices.IndexFunc(c.forms, func(g form) bool { return g.ours && g.quality == f.quality })
					if i < 0 {
						t.Fatalf("nothing to compare %s with", f.name)
					}
					theirs, is := f.measure(t, s), c.forms[i].measure(t, s)
					if is.greatest > theirs.greatest || is.sum > theirs.sum {
						t.Errorf("%d members: %s costs %d, %d in all; %s %d, %d in all",
							n, c.forms[i].name, is.greatest, is.sum, f.name, theirs.greatest, theirs.sum)
					}
				}
			}
		})
	}
}

// The compared rules accept the same objects: the ones that the schema and the union allow.
func TestCostSameMeaning(t *testing.T) {
	for name, c := range comparisons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 2; n <= 4; n++ {
				s := c.of(t, n)
				values := []string{""}
				switch {
				case c.required:
					values = s.Values
				case c.discriminated:
					values = append(values, append(s.Values, "other")...)
				}
				for _, f := range c.forms {
					accepts := s.validator(t, f.write(s.Union))
					for _, value := range values {
						for _, p := range s.presences() {
							p.Value = value
							if got, want := accepts(p.State), len(s.Judge(nil, p.State)) == 0; got != want {
								t.Errorf("%d members: %s accepts %v: %t, want %t", n, f.name, p.State, got, want)
							}
						}
					}
				}
			}
		})
	}
}

// validator returns a function that evaluates rules on objects in a state of the union.
func (s subject) validator(t *testing.T, l []apiextensionsv1.ValidationRule) func(union.State) bool {
	t.Helper()
	schema := s.schema.DeepCopy()
	schema.XValidations = l
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &in, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	v := cel.NewValidator(structural, false, celconfig.PerCallLimit)
	return func(state union.State) bool {
		object := map[string]any{}
		if state.Value != "" {
			s.Put(object, s.Discriminator, state.Value)
		}
		for i, m := range s.Members {
			if state.Present[i] {
				object[m.Name] = map[string]any{}
			}
		}
		var whole any = object
		if s.OfItems() {
			list := []any{map[string]any{"type": "other"}}
			for _, name := range slices.Sorted(maps.Keys(object)) {
				list = append(list, map[string]any{"type": name})
			}
			whole = list
		}
		errs, _ := v.Validate(context.Background(), field.NewPath("spec"), structural, whole, nil, math.MaxInt64)
		return len(errs) == 0
	}
}
