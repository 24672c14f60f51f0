package handwritten_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestDocumentedForms infers a union from each row of a table in docs/handwritten.md.
func TestDocumentedForms(t *testing.T) {
	rows := 0
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
		form := strings.TrimSpace(cells[1])
		rows++
		text := apiextensionsv1.JSONSchemaProps{Type: "string"}
		object := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"x": text}}
		one := int64(1)
		kind := apiextensionsv1.JSONSchemaProps{Type: "string", MinLength: &one}
		s := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"type"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": kind, "a": object, "b": object}}
		switch form {
		case "oneOf", "anyOf", "not", "property count":
			s.Required = nil
			delete(s.Properties, "type")
			if err := sigs.Unmarshal([]byte(strings.Trim(code.FindString(cells[2]), "`")), &s); err != nil {
				t.Fatal(err)
			}
		case "Gateway API pairs":
			for _, rule := range code.FindAllString(cells[2], 2) {
				addRule(&s, strings.Trim(rule, "`"))
			}
		case "list items":
			item := s
			s = apiextensionsv1.JSONSchemaProps{Type: "array", XListType: new("map"), XListMapKeys: []string{"type"}, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
			for _, rule := range code.FindAllString(cells[2], 2) {
				addRule(&s, strings.Trim(rule, "`"))
			}
		default:
			addRule(&s, strings.Trim(code.FindString(cells[2]), "`"))
		}
		found := find(t, crdOf(s))
		if len(found) != 1 || found[0].Comparison.Verdict != verify.Equivalent {
			t.Errorf("%s\nfound %+v", line, found)
		}
	}
	if rows < 10 {
		t.Errorf("docs/handwritten.md shows %d forms", rows)
	}
}
