package handwritten_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// members returns an object schema with n properties m0, m1, ... and a string d.
func members(n int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"d": {Type: "string"}}}
	for i := range n {
		s.Properties[fmt.Sprintf("m%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	return s
}

// each joins the formatted numbers from 0 to n-1.
func each(n int, separator, format string) string {
	l := make([]string, n)
	for i := range l {
		l[i] = strings.ReplaceAll(format, "%", fmt.Sprint(i))
	}
	return strings.Join(l, separator)
}

// TestUnreadableRules asserts that rules are ignored if they are not CEL or read other values.
func TestUnreadableRules(t *testing.T) {
	for _, rule := range []string{
		"", " ", "self.", "has(self.m0) !=", "has(self)", "has(self.m0, self.m1)", "self.m0.", "\x00self.\xff", "(((((self.m0",
		"has(self.nosuch) != has(self.neither)", "has(other.m0) != has(other.m1)", "has(self.m0) + has(self.m1) == 1",
		"self.m0 == self.m1", "self.d == 1 ? has(self.m0) : !has(self.m0)", "self.d in [1, 'A'] ? has(self.m0) : !has(self.m0)",
		"[has(self.m0), has(self.m1)].filter(x).size() == 1", "[has(self.m0), has(self.m1)].filter(1, true).size() == 1",
		"[has(self.m0), has(self.m1)].map(x, x).size() == 1", "[has(self.m0), 3].filter(x, x).size() == 1",
		"[has(self.m0), has(self.m1)].filter(self, has(self.d)).size() == 1",
		"(has(self.m0) ? 1 : 0) + (has(self.m1) ? 1 : 0) + self.d == 1", "(has(self.m0) ? 1 : 0) + (has(self.m1) ? 1 : 0) == 1.0",
		"(has(self.m0) ? 9223372036854775807 : 0) + (has(self.m1) ? 9223372036854775807 : 0) == 1",
		"self.?m0.orValue(self.m1) == ''", "size(self.m0) == size(self.m1)", "self.m0 < 'x' || has(self.m1)",
	} {
		s := members(2)
		addRule(&s, rule)
		if found := find(t, crdOf(s)); len(found) > 0 {
			t.Errorf("%q: found\n%s", rule, declaration(t, found[0]))
		}
	}
}

// TestBrokenRules asserts that a rule that looks like a union but does not compile is ignored.
func TestBrokenRules(t *testing.T) {
	s := members(1)
	s.Properties["at"] = apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	// A date has no size.
	addRule(&s, "has(self.m0) ? !has(self.at) : has(self.at) && size(self.at) > 0")
	found := find(t, crdOf(s))
	if len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// TestLargeInput asserts that the work is bounded for any input.
func TestLargeInput(t *testing.T) {
	for name, test := range map[string]struct {
		schema apiextensionsv1.JSONSchemaProps
		found  int
	}{
		"a count of 40":                             {with(members(40), each(40, " + ", "(has(self.m%) ? 1 : 0)")+" == 1"), 1},
		"a count of more than can be told":          {with(members(500), each(500, " + ", "(has(self.m%) ? 1 : 0)")+" == 1"), 0},
		"rules on 100 members of one discriminator": {with(members(100), strings.Split(each(100, "\n", "has(self.d) && self.d == 'V%' ? has(self.m%) : !has(self.m%)"), "\n")...), 1},
		"rules on 30 members of one discriminator":  {with(members(30), strings.Split(each(30, "\n", "has(self.d) && self.d == 'V%' ? has(self.m%) : !has(self.m%)"), "\n")...), 1},
		"400 rules that say the same":               {with(members(2), strings.Split(each(400, "\n", "!(has(self.m0) && has(self.m1)) || % < 0"), "\n")...), 1},
		"2000 rules that say the same":              {with(members(2), strings.Split(each(2000, "\n", "!(has(self.m0) && has(self.m1)) || % < 0"), "\n")...), 1},
		"a predicate repeated":                      {with(members(2), "["+each(200, ", ", "has(self.m0)")+"].filter(x, "+each(200, " && ", "x")+").size() <= 1"), 0},
		"predicates in predicates":                  {with(members(2), strings.Repeat("[has(self.m0), has(self.m1)].exists_one(x, x == ", 30)+"true"+strings.Repeat(")", 30)), 0},
		"deep parentheses":                          {with(members(2), strings.Repeat("(", 5000)+"has(self.m0)"+strings.Repeat(")", 5000)), 0},
		"deep negation":                             {with(members(2), strings.Repeat("!", 200)+"(has(self.m0) && has(self.m1)) || !has(self.m0)"), 1},
		"a chain of 300 pairs":                      {with(members(301), strings.Split(each(300, "\n", "!(has(self.m%) && has(self.m1%))"), "\n")...), 90},
		"1000 values":                               {with(members(2), each(1000, " || ", "self.d == 'V%'")+" ? has(self.m0) : !has(self.m0)"), 0},
		"deep junctors":                             {deepNot(members(2), 500), 0},
		"rules about 100 children, each on its own": {with(parents(100), strings.Split(each(100, "\n", "has(self.p%.m0) != has(self.p%.m1)"), "\n")...), 100},
		"200 required children, each a union":       {parents(200, "has(self.m0) != has(self.m1)"), 200},
		"a rule about 1000 children":                {with(parents(1000), each(1000, " && ", "(has(self.p%.m0) != has(self.p%.m1))")), 0},
	} {
		if !unioncases.Exhaustive && (name == "rules on 100 members of one discriminator" || name == "2000 rules that say the same") {
			continue // they take seconds
		}
		t.Run(name, func(t *testing.T) {
			found := find(t, crdOf(test.schema))
			if len(found) != test.found {
				t.Errorf("found %d unions, want %d", len(found), test.found)
			}
		})
	}
}

func with(s apiextensionsv1.JSONSchemaProps, rules ...string) apiextensionsv1.JSONSchemaProps {
	for _, r := range rules {
		addRule(&s, r)
	}
	return s
}

// parents returns an object schema with n required objects p0, p1, ... that have rules.
func parents(n int, rules ...string) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		s.Properties[name] = with(members(2), rules...)
		s.Required = append(s.Required, name)
	}
	return s
}

// deepNot adds nested not keywords to a schema.
func deepNot(s apiextensionsv1.JSONSchemaProps, depth int) apiextensionsv1.JSONSchemaProps {
	inner := requires("m0", "m1")
	for range depth {
		next := inner
		inner = apiextensionsv1.JSONSchemaProps{Not: &next}
	}
	s.Not = inner.Not
	return s
}

// TestDeepSchema asserts that unions are found at any depth, with their paths.
func TestDeepSchema(t *testing.T) {
	s := with(members(2), "has(self.m0) != has(self.m1)")
	want := ""
	for range 100 {
		inner := s
		item := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}}
		s = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"p": item}}
		want += ".properties.p.items"
	}
	found := find(t, crdOf(s))
	if len(found) != 1 || strings.Join(found[0].Path.Fields(), ".") != "properties.spec"+want || found[0].Comparison.Verdict != verify.Equivalent {
		t.Errorf("found %d: %+v", len(found), found)
	}
}

// TestOddCRDs asserts that incomplete CRDs have no unions and cause no panic.
func TestOddCRDs(t *testing.T) {
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{
		{},
		{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{}, {Schema: &apiextensionsv1.CustomResourceValidation{}}}}},
		crdOf(apiextensionsv1.JSONSchemaProps{}),
		crdOf(apiextensionsv1.JSONSchemaProps{Items: &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{members(2)}}}),
		crdOf(apiextensionsv1.JSONSchemaProps{AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}}),
	} {
		if found := find(t, crd); len(found) > 0 {
			t.Errorf("found %+v", found)
		}
	}
}

// TestMetadata asserts that no union is found in metadata, where the server evaluates no rules.
func TestMetadata(t *testing.T) {
	crd := crdOf(with(members(2), "has(self.m0) != has(self.m1)"))
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	root.Properties["metadata"] = root.Properties["spec"]
	if found := find(t, crd); len(found) != 1 || found[0].Path[0] != schemapath.Property("spec") {
		t.Errorf("found %+v, want the union of spec alone", found)
	}
}

// TestCanceled asserts that the end of the context is an error, and not a shorter result.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	found, _, err := handwritten.Infer(ctx, crdOf(with(members(2), "has(self.m0) != has(self.m1)")))
	if !errors.Is(err, context.Canceled) || found != nil {
		t.Errorf("found %v, %v", found, err)
	}
}
