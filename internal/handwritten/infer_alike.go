package handwritten

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// fingerprint returns a text that is the same for equal unions. They have the same declaration,
// constraints and proof, and their objects have the same schema apart from documentation. The rest of
// their CRDs may differ.
func (i Located) fingerprint() (string, error) {
	declaration, err := i.text()
	if err != nil {
		return "", err
	}
	parts := []string{declaration, string(i.Comparison.Verdict), string(i.Changes.Verdict)}
	for _, c := range i.Replaces {
		parts = append(parts, c.String(), i.rule(c).Rule, strconv.FormatBool(i.losesMessage(c)))
	}
	for _, f := range []*verify.Finding{i.Comparison.Tighter, i.Comparison.Looser, i.Changes.Tighter} {
		parts = append(parts, i.relative(f))
	}
	parts = append(append(parts, i.Comparison.Inconclusive...), i.Changes.Inconclusive...)
	schemapath.Walk(i.Schema(i.CRD), func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		own := *s
		own.Properties, own.Items = nil, nil
		if s.AdditionalProperties != nil {
			own.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows}
		}
		own.Description, own.Title, own.Example, own.ExternalDocs = "", "", nil, nil
		own.Required = slices.Sorted(slices.Values(s.Required))
		data, _ := json.Marshal(own)
		parts = append(parts, p.String(), string(data))
		return true
	})
	return strings.Join(parts, "\x00"), nil
}

// relative returns the words of a finding, with the path of a removed object relative to the union
// object.
func (i Located) relative(f *verify.Finding) string {
	if f == nil {
		return ""
	}
	words := f.Words(i.Union)
	if rest, ok := strings.CutPrefix(i.Place.String(), f.Removed); ok && f.Removed != "" {
		words = strings.Replace(words, f.Removed, "^"+rest, 1)
	}
	return words
}
