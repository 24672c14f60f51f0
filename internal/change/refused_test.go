package change_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/crdchanges"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// TestNothingRefused checks the classes same and looser with random objects and updates. Neither
// class rejects an object that was accepted, and same accepts no object that was rejected.
func TestNothingRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	changes := slices.Clone(crdchanges.All)
	for range unioncases.Choose(5, 5, 1000) {
		a := schemaParts{}
		for i := range a {
			a[i] = r.IntN(len(parts[i]))
		}
		b := a
		for range 1 + r.IntN(3) {
			i := r.IntN(len(b))
			b[i] = r.IntN(len(parts[i]))
		}
		changes = append(changes, crdchanges.Change{Name: a.String() + " -> " + b.String(), Old: a.String(), New: b.String()})
	}
	accepted, classes := 0, map[change.Class]int{}
	for i, c := range changes {
		if i%unioncases.Choose(3, 3, 1) > 0 {
			continue
		}
		old, new := unionsOf(t, c.Old), unionsOf(t, c.New)
		report, err := change.Compare(t.Context(), old, new)
		if err != nil {
			t.Fatal(err)
		}
		classes[report.Class()]++
		sides := [][2]*change.Input{{old, new}, {new, old}}
		switch report.Class() {
		case change.Looser:
			sides = sides[:1]
		case change.Same:
		default:
			continue
		}
		for _, side := range sides {
			was, is := server.NewKind(side[0].CustomResourceDefinition), server.NewKind(side[1].CustomResourceDefinition)
			var stored []map[string]any
			for range 60 {
				spec := side[0].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
				o := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": random(r, &spec)}
				answer, err := was.Create(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if answer.Refused != nil {
					continue
				}
				accepted++
				if answer, err := is.Create(t.Context(), o); err != nil || answer.Refused != nil {
					t.Errorf("%s is %s, and %v is refused: %v, %v", c.Name, report.Class(), o, answer.Refused, err)
				}
				stored = append(stored, o)
				before := stored[r.IntN(len(stored))]
				if answer, err := was.Update(t.Context(), o, before); err != nil || answer.Refused != nil {
					continue
				}
				if answer, err := is.Update(t.Context(), o, before); err != nil || answer.Refused != nil {
					t.Errorf("%s is %s, and an update of %v to %v is refused: %v, %v", c.Name, report.Class(), before, o, answer.Refused, err)
				}
			}
			if len(stored) < 3 && c.Want != nil {
				t.Errorf("%s: %d objects are accepted", c.Name, len(stored))
			}
		}
	}
	t.Log(classes, accepted, "objects accepted")
}

// parts are the alternatives for each part of a schema.
var parts = [][]string{
	{"a: {type: string}", "a: {type: string, default: x}", "a: {type: string, nullable: true}", "a: {type: string, enum: [x, z]}", "a: {type: string, maxLength: 1}", "a: {type: string, enum: [x, z], default: z}"},
	{"b: {type: string}", "b: {type: string, nullable: true}", "b: {type: string, pattern: ^x}", "b: {type: string, default: a}"},
	{"i: {type: integer}", "i: {type: integer, maximum: 10}", "i: {type: integer, default: 4}"},
	{"", ", o: {type: object, properties: {a: {type: string}}}", ", o: {type: object, default: {}, properties: {a: {type: string, default: a}}}", ", o: {type: object, properties: {a: {type: string}, i: {type: integer}}}"},
	{"", "required: [a]", "required: [a, b]", "required: [i]"},
	{"", "minProperties: 1", "maxProperties: 2", "oneOf: [{required: [a]}, {required: [b]}]", "not: {required: [a, i]}"},
	ruleTexts, ruleTexts, ruleTexts,
}

var ruleTexts = []string{"", "", "has(self.a)", "!has(self.b)", "has(self.a) || has(self.b)", "!(has(self.a) && has(self.b))", "!has(self.i) || self.i < 5", "!has(self.i) || self.i <= 10", "self.i > 3",
	"!has(self.a) || self.a == 'x'", "!has(self.a) || self.a.size() < 2", "self == oldSelf", "!has(oldSelf.a) || has(self.a)", "!has(self.a) || !has(oldSelf.a) || self.a == oldSelf.a",
	"!has(self.a) || !has(self.b) || self.a != self.b", "has(self.a) ? has(self.i) : has(self.b)"}

type schemaParts [9]int

func (p schemaParts) String() string {
	of := func(i int) string { return parts[i][p[i]] }
	text := "type: object\nproperties: {" + of(0) + ", " + of(1) + ", " + of(2) + of(3) + "}\n" + of(4) + "\n" + of(5) + "\n"
	var rules []string
	for i := 6; i < len(p); i++ {
		if rule := of(i); rule != "" && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) > 0 {
		text += "x-kubernetes-validations:\n"
	}
	for _, rule := range rules {
		text += "- rule: \"" + rule + "\"\n"
	}
	return text
}

// random returns a value that a schema may accept.
func random(r *rand.Rand, s *apiextensionsv1.JSONSchemaProps) any {
	pick := func(l ...any) any { return l[r.IntN(len(l))] }
	if s.Nullable && r.IntN(4) == 0 {
		return nil
	}
	switch s.Type {
	case "integer":
		return pick(int64(-1), int64(0), int64(1), int64(4), int64(5), int64(9), int64(10), int64(11), int64(20))
	case "string":
		l := []any{"", "a", "aa", "x", "xa", "z", "on", "off", "one", "a-b", "HTTP", "TCP", "TLS", "UDP"}
		for range 3 { // make values of the enum likelier
			for _, v := range s.Enum {
				l = append(l, string(v.Raw[1:len(v.Raw)-1]))
			}
		}
		return pick(l...)
	case "array":
		l := []any{}
		for range r.IntN(4) {
			l = append(l, random(r, s.Items.Schema))
		}
		return l
	case "object":
		o := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			if r.IntN(5) < 2 || slices.Contains(s.Required, name) && r.IntN(5) > 0 {
				o[name] = random(r, &p)
			}
		}
		return o
	}
	return pick(int64(1), "1", "a")
}
