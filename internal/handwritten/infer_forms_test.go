package handwritten_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// writer writes a union by hand in one form, in a random style.
type writer struct{ *rand.Rand }

func (w writer) coin() bool { return w.IntN(2) == 0 }

func (w writer) pick(l ...string) string { return l[w.IntN(len(l))] }

// both and either join two conditions in random order.
func (w writer) both(a, b string) string {
	if w.coin() {
		a, b = b, a
	}
	return w.pick(a+" && "+b, "("+a+" && "+b+")", "!(!("+a+") || !("+b+"))")
}

func (w writer) either(a, b string) string {
	if w.coin() {
		a, b = b, a
	}
	return w.pick("("+a+") || ("+b+")", "!(!("+a+") && !("+b+"))")
}

func (w writer) has(f string) string {
	return w.pick("has(self."+f+")", "!!has(self."+f+")", "(has(self."+f+"))")
}

func (w writer) hasNot(f string) string {
	return w.pick("!has(self."+f+")", "has(self."+f+") == false", "(has(self."+f+") ? false : true)")
}

// is tests whether the discriminator selects a member. The discriminator may be unset.
func (w writer) is(u *union.Union, m union.Member) string {
	d := "self." + u.Discriminator
	var one []string
	for _, v := range m.Values {
		one = append(one, w.pick(d+" == '"+v+"'", `"`+v+`" == `+d, "!("+d+" != '"+v+"')"))
	}
	text := "(" + strings.Join(one, " || ") + ")"
	if w.coin() {
		text = d + " in ['" + strings.Join(m.Values, "', '") + "']"
	}
	return "(" + w.pick("has("+d+") && "+text, "has("+d+") ? "+text+" : false") + ")"
}

func (w writer) isNot(u *union.Union, m union.Member) string { return "!" + w.is(u, m) }

// plainForms write unions without a discriminator.
var plainForms = map[string]func(w writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union){
	"controller-gen count": func(w writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		var l []string
		for _, m := range u.Members {
			l = append(l, w.pick("(has(self."+m.Name+") ? 1 : 0)", "("+w.hasNot(m.Name)+" ? 0 : 1)"))
		}
		w.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		addRule(s, w.count(strings.Join(l, " + "), u.Cardinality))
	},
	"controller-gen filter": func(w writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		var l []string
		for _, m := range u.Members {
			l = append(l, w.has(m.Name))
		}
		list := "[" + strings.Join(l, ", ") + "].filter(x, " + w.pick("x", "x == true", "true == x", "x != false") + ")"
		addRule(s, w.count(w.pick(list+".size()", "size("+list+")"), u.Cardinality))
	},
	"presence": func(w writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		if u.Cardinality != union.AtLeastOne {
			for i, a := range u.Members {
				for _, b := range u.Members[:i] {
					addRule(s, w.pick("("+w.has(a.Name)+") != (true && "+w.has(a.Name)+" && "+w.has(b.Name)+") || "+w.hasNot(a.Name), "!("+w.both(w.has(a.Name), w.has(b.Name))+")", w.either(w.hasNot(a.Name), w.hasNot(b.Name)),
						w.has(a.Name)+" ? "+w.hasNot(b.Name)+" : true"))
				}
			}
		}
		if u.Cardinality != union.AtMostOne {
			any := w.has(u.Members[0].Name)
			for _, m := range u.Members[1:] {
				any = w.either(any, w.has(m.Name))
			}
			addRule(s, any)
		}
	},
	"oneOf": func(_ writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		for _, m := range u.Members {
			s.OneOf = append(s.OneOf, requires(m.Name))
		}
		if u.Cardinality == union.AtMostOne {
			s.OneOf = append(s.OneOf, apiextensionsv1.JSONSchemaProps{Not: &apiextensionsv1.JSONSchemaProps{AnyOf: slices.Clone(s.OneOf)}})
		}
	},
	"anyOf": func(_ writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		for _, m := range u.Members {
			s.AnyOf = append(s.AnyOf, requires(m.Name))
		}
	},
	"not": func(_ writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		for i, a := range u.Members {
			for _, b := range u.Members[:i] {
				both := requires(a.Name, b.Name)
				s.AllOf = append(s.AllOf, apiextensionsv1.JSONSchemaProps{Not: &both})
			}
		}
	},
	"property count": func(_ writer, s *apiextensionsv1.JSONSchemaProps, u *union.Union) {
		one := int64(1)
		s.MaxProperties = &one
		if u.Cardinality == union.ExactlyOne {
			s.MinProperties = &one
		}
	},
}

// says lists the cardinalities that a form can express, if it cannot express all.
var says = map[string][]union.Cardinality{
	"oneOf":          {union.AtMostOne, union.ExactlyOne},
	"anyOf":          {union.AtLeastOne},
	"not":            {union.AtMostOne},
	"property count": {union.AtMostOne, union.ExactlyOne},
}

func requires(names ...string) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Required: names}
}

func addRule(s *apiextensionsv1.JSONSchemaProps, rule string) {
	s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: rule})
}

func (w writer) count(sum string, c union.Cardinality) string {
	switch c {
	case union.AtMostOne:
		return w.pick(sum+" <= 1", "1 >= "+sum, sum+" < 2", "!("+sum+" > 1)")
	case union.ExactlyOne:
		return w.pick(sum+" == 1", "1 == "+sum, "!(1 != "+sum+")")
	}
	return w.pick(sum+" >= 1", "0 < "+sum, sum+" != 0")
}

// TestPlainForms asserts that unions without a discriminator are found in every form.
func TestPlainForms(t *testing.T) {
	for form, write := range plainForms {
		t.Run(form, func(t *testing.T) {
			w := writer{rand.New(rand.NewPCG(1, 2))}
			for i := range 30 {
				cardinalities := says[form]
				if cardinalities == nil {
					cardinalities = []union.Cardinality{union.AtMostOne, union.ExactlyOne, union.AtLeastOne}
				}
				u := &union.Union{Cardinality: cardinalities[i%len(cardinalities)]}
				s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
				for j := range 2 + w.IntN(4) {
					name := fmt.Sprintf("m%d", j)
					u.Members = append(u.Members, union.Member{Name: name})
					s.Properties[name] = w.member()
				}
				write(w, &s, u)
				got := only(t, s)
				want := slices.Sorted(slices.Values(u.MemberNames()))
				if names := slices.Sorted(slices.Values(got.MemberNames())); !slices.Equal(names, want) || got.Cardinality != u.Cardinality || got.Discriminator != "" {
					t.Fatalf("found %s of %v, want %s of %v\n%s", got.Cardinality, names, u.Cardinality, want, show(s))
				}
			}
		})
	}
}

// member is the schema of a member.
func (w writer) member() apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	switch w.IntN(3) {
	case 0:
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"x": text}}
	case 1:
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}}
	}
	return text
}

// show prints a schema.
func show(s apiextensionsv1.JSONSchemaProps) string {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// only returns the union found in a schema. There must be no other union. It must be equivalent to all constraints.
func only(t *testing.T, s apiextensionsv1.JSONSchemaProps) *union.Union {
	t.Helper()
	found := find(t, crdOf(s))
	if len(found) != 1 {
		t.Fatalf("found %d unions\n%s", len(found), show(s))
	}
	f := found[0]
	if f.Comparison.Verdict != verify.Equivalent {
		t.Fatalf("found %s\n%s%s", f.Comparison.Verdict, declaration(t, f), show(s))
	}
	written := len(s.XValidations) + len(s.AllOf) + min(len(s.OneOf), 1) + min(len(s.AnyOf), 1)
	if s.MaxProperties != nil {
		written++
	}
	if s.MinProperties != nil {
		written++
	}
	if len(f.Replaces) != written {
		t.Fatalf("%v replaced of\n%s", f.Replaces, show(s))
	}
	return f.Union
}

// crdOf returns a CRD whose spec has the schema.
func crdOf(s apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": s}},
		}}},
	}}
}

// discriminatedForms write the rules for one member.
var discriminatedForms = map[string]func(w writer, u *union.Union, m union.Member) []string{
	"Gateway API pairs": func(w writer, u *union.Union, m union.Member) []string {
		l := []string{w.pick("!("+w.both(w.has(m.Name), w.isNot(u, m))+")", w.either(w.hasNot(m.Name), w.is(u, m)))}
		if len(m.Required()) > 0 {
			l = append(l, w.pick("!("+w.both(w.hasNot(m.Name), w.is(u, m))+")", w.either(w.has(m.Name), w.isNot(u, m))))
		}
		return l
	},
	"OpenShift conditional": func(w writer, u *union.Union, m union.Member) []string {
		then := w.has(m.Name)
		if len(m.Optional) > 0 {
			then = "true"
		}
		if w.coin() {
			return []string{w.isNot(u, m) + " ? " + w.hasNot(m.Name) + " : " + then}
		}
		return []string{w.is(u, m) + " ? " + then + " : " + w.hasNot(m.Name)}
	},
}

// TestDiscriminatedForms asserts that unions with a discriminator are found in every form.
func TestDiscriminatedForms(t *testing.T) {
	for form, rules := range discriminatedForms {
		t.Run(form, func(t *testing.T) {
			w := writer{rand.New(rand.NewPCG(3, 4))}
			for range 60 {
				u := &union.Union{Discriminator: "kind", Cardinality: union.AtMostOne}
				s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
				kind := apiextensionsv1.JSONSchemaProps{Type: "string"}
				values := []string{"Memberless"}
				for j := range 1 + w.IntN(4) {
					m := union.Member{Name: fmt.Sprintf("m%d", j), Values: []string{fmt.Sprintf("V%d", j)}}
					if w.IntN(4) == 0 {
						m.Values = append(m.Values, fmt.Sprintf("W%d", j))
					}
					if w.coin() {
						m.Optional = m.Values
					}
					values = append(values, m.Values...)
					s.Properties[m.Name] = w.member()
					u.Members = append(u.Members, m)
				}
				if w.coin() {
					for _, v := range values {
						kind.Enum = append(kind.Enum, apiextensionsv1.JSON{Raw: []byte(`"` + v + `"`)})
					}
					if w.coin() {
						s.Required, u.Cardinality = []string{"kind"}, union.ExactlyOne
					}
				}
				s.Properties["kind"] = kind
				for _, m := range u.Members {
					for _, rule := range rules(w, u, m) {
						addRule(&s, rule)
					}
				}
				got := *only(t, s)
				if len(s.Required) > 0 {
					if got.Cardinality != 0 {
						t.Fatalf("cardinality %s is written, which is the default", got.Cardinality)
					}
					got.Cardinality = union.ExactlyOne
				}
				if meaning(&got) != meaning(u) {
					t.Fatalf("found\n%s\nwant\n%s\n%s", meaning(&got), meaning(u), show(s))
				}
			}
		})
	}
}

// meaning formats the parts of a union that matter for its meaning.
func meaning(u *union.Union) string {
	var l []string
	for _, m := range u.Members {
		l = append(l, fmt.Sprint(m.Name, slices.Sorted(slices.Values(m.Values)), m.Optional, m.Empty))
	}
	slices.Sort(l)
	return fmt.Sprint(u.Discriminator, l, u.Deduce, u.ForbidUnmapped)
}
