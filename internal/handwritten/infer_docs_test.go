package handwritten_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestDocumentedForms infers a union, in the row's form, from each row of a table in
// docs/handwritten.md.
func TestDocumentedForms(t *testing.T) {
	forms := map[handwritten.Form]bool{}
	code := regexp.MustCompile("`[^`]+`")
	page, err := os.ReadFile("../../docs/handwritten.md")
	if err != nil {
		t.Fatal(err)
	}
	_, found, _ := strings.Cut(string(page), "\n### Forms\n")
	table, _, _ := strings.Cut(found, "\n### ")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 || strings.Contains(line, "---") || strings.Contains(line, "for example") {
			continue
		}
		form := handwritten.Form(strings.TrimSpace(cells[1]))
		forms[form] = true
		text := apiextensionsv1.JSONSchemaProps{Type: "string"}
		object := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"x": text}}
		one := int64(1)
		kind := apiextensionsv1.JSONSchemaProps{Type: "string", MinLength: &one}
		s := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"type"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": kind, "a": object, "b": object}}
		switch form {
		case handwritten.OneOf, handwritten.AnyOf, handwritten.Not, handwritten.PropertyCount:
			s.Required = nil
			delete(s.Properties, "type")
			if err := sigs.Unmarshal([]byte(strings.Trim(code.FindString(cells[2]), "`")), &s); err != nil {
				t.Fatal(err)
			}
		case handwritten.Pairs:
			for _, rule := range code.FindAllString(cells[2], 2) {
				addRule(&s, strings.Trim(rule, "`"))
			}
		case handwritten.Items:
			item := s
			s = apiextensionsv1.JSONSchemaProps{Type: "array", XListType: new("map"), XListMapKeys: []string{"type"}, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
			for _, rule := range code.FindAllString(cells[2], 2) {
				addRule(&s, strings.Trim(rule, "`"))
			}
		default:
			addRule(&s, strings.Trim(code.FindString(cells[2]), "`"))
		}
		found := find(t, crdOf(s))
		if len(found) != 1 || found[0].Form != form || found[0].Comparison.Verdict != verify.Equivalent {
			t.Errorf("%s\nfound %+v", line, found)
		}
	}
	for _, form := range []handwritten.Form{handwritten.Count, handwritten.Filter, handwritten.Pairs, handwritten.Conditional, handwritten.Presence, handwritten.Items, handwritten.OneOf, handwritten.AnyOf, handwritten.Not, handwritten.PropertyCount} {
		if !forms[form] {
			t.Errorf("docs/handwritten.md does not show %q", form)
		}
	}
}
