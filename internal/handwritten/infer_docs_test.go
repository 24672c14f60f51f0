package handwritten_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/pkg/verify"
)

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/infer.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedForms infers a union, in the row's form, from each row of a table in docs/infer.md.
func TestDocumentedForms(t *testing.T) {
	forms := map[handwritten.Form]bool{}
	code := regexp.MustCompile("`[^`]+`")
	_, found, _ := strings.Cut(document(t), "\n## Forms\n")
	table, _, _ := strings.Cut(found, "\n## ")
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
			t.Errorf("docs/infer.md does not show %q", form)
		}
	}
}

// TestDocumentedExamples infers, from the CRD and the schemas in docs/infer.md, the unions that follow them.
func TestDocumentedExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(document(t), -1)
	if len(blocks) != 6 {
		t.Fatalf("docs/infer.md has %d blocks, want a CRD and two schemas with their declarations", len(blocks))
	}
	for pair := range slices.Chunk(blocks, 2) {
		var crd *apiextensionsv1.CustomResourceDefinition
		if strings.HasPrefix(pair[0][1], "apiVersion:") {
			crd = parse(t, pair[0][1])
			valid(t, crd)
		} else {
			var s apiextensionsv1.JSONSchemaProps
			if err := sigs.UnmarshalStrict([]byte(pair[0][1]), &s); err != nil {
				t.Fatal(err)
			}
			crd = crdOf(s)
		}
		found := find(t, crd)
		if len(found) != 1 || declaration(t, found[0]) != pair[1][1] || len(found[0].Replaces) != 2 || found[0].Comparison.Verdict != verify.Equivalent {
			t.Errorf("found %+v", found)
		}
	}
}
