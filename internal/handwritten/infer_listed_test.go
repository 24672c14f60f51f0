package handwritten_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestItems infers unions of the items of a list from rules on the list, and from rules on objects
// around it.
func TestItems(t *testing.T) {
	const (
		atMostOne  = "members:\n  - type: A\n  - type: B\ncardinality: AtMostOne\n"
		exactlyOne = "members:\n  - type: A\n  - type: B\ncardinality: ExactlyOne\n"
		atLeastOne = "members:\n  - type: A\n  - type: B\ncardinality: AtLeastOne\n"
		ports      = "members:\n  - port: 80\n    secure: false\n  - port: 443\n    secure: true\ncardinality: ExactlyOne\n"
	)
	for _, test := range []struct {
		on    string // the schema with the rules: list, spec, root or ports, another list
		rules []string
		want  string // "" if there is no union
	}{
		{"list", []string{"!(self.exists(c, c.type == 'A') && self.exists(c, c.type == 'B'))"}, atMostOne},
		{"list", []string{"!self.exists(c, c.type == 'A') || !self.exists(c, c.type == 'B')"}, atMostOne},
		{"list", []string{"!self.exists(c, c.type == 'A') || self.all(c, c.type != 'B')"}, atMostOne},
		{"list", []string{"self.exists(c, c.type == 'A') ? self.all(c, c.type != 'B') : true"}, atMostOne},
		{"list", []string{"self.filter(c, c.type in ['A', 'B']).size() <= 1"}, atMostOne},
		{"list", []string{"size(self.filter(c, c.type == 'A' || c.type == 'B')) < 2"}, atMostOne},
		{"list", []string{"self.map(c, c.type).filter(x, x in ['A', 'B']).size() <= 1"}, atMostOne},
		{"list", []string{"!(self.map(c, c.type).exists(x, x == 'A') && self.map(c, c.type).exists(x, x == 'B'))"}, atMostOne},
		{"list", []string{"!('A' in self.map(c, c.type) && 'B' in self.map(c, c.type))"}, atMostOne},
		{"list", []string{"self.exists_one(c, c.type in ['A', 'B'])"}, exactlyOne},
		{"list", []string{"self.exists(c, c.type == 'A') != self.exists(c, c.type == 'B')"}, exactlyOne},
		{"list", []string{"self.filter(c, c.type in ['A', 'B']).size() == 1"}, exactlyOne},
		{"list", []string{"self.exists(c, c.type == 'A') || self.exists(c, c.type == 'B')", "!(self.exists(c, c.type == 'A') && self.exists(c, c.type == 'B'))"}, exactlyOne},
		{"list", []string{"self.exists(c, c.type in ['A', 'B'])"}, atLeastOne},
		{"spec", []string{"!has(self.l) || self.l.filter(c, c.type in ['A', 'B']).size() <= 1"}, atMostOne},
		{"spec", []string{"!has(self.l) || !(self.l.exists(c, c.type == 'A') && self.l.exists(c, c.type == 'B'))"}, atMostOne},
		{"spec", []string{"has(self.l) ? self.l.exists_one(c, c.type in ['A', 'B']) : true"}, exactlyOne},
		{"spec", []string{"self.?l.orValue([]).filter(c, c.type in ['A', 'B']).size() <= 1"}, atMostOne},
		{"root", []string{"!has(self.spec) || !has(self.spec.l) || !self.spec.l.exists(c, c.type == 'A') || !self.spec.l.exists(c, c.type == 'B')"}, atMostOne},
		{"root", []string{"self.?spec.?l.orValue([]).filter(c, c.type in ['A', 'B']).size() <= 1"}, atMostOne},
		{"ports", []string{"self.exists_one(p, p.port == 80 && !p.secure || p.port == 443 && p.secure)"}, ports},
		{"ports", []string{"self.exists(p, p.port == 80 && !p.secure) != self.exists(p, p.port == 443 && p.secure)"}, ports},
		{"ports", []string{"self.filter(p, p.port == 80 && p.secure == false || p.secure && p.port == 443).size() == 1"}, ports},
		// The content of an item, or other items, matter.
		{"list", []string{"!self.exists(c, c.type == 'A' && c.status == 'True') || !self.exists(c, c.type == 'B' && c.status == 'True')"}, ""},
		{"list", []string{"self.exists_one(c, c.type != 'A')"}, ""},
		{"list", []string{"self.all(c, c.type in ['A', 'B'])"}, ""},
		{"list", []string{"self.size() <= 1"}, ""},
		{"list", []string{"self.exists(c, c.type == 'A')"}, ""},
		{"list", []string{"!self.exists(c, c.type == 'A') || self.exists(c, c.type == 'B')"}, ""},
		{"list", []string{"self.all(c, c.type.startsWith('A'))"}, ""},
		{"spec", []string{"!has(self.l) || !has(self.a) || !self.l.exists(c, c.type == 'A')"}, ""},
	} {
		keyed := func(properties map[string]apiextensionsv1.JSONSchemaProps, keys ...string) *apiextensionsv1.JSONSchemaProps {
			return &apiextensionsv1.JSONSchemaProps{Type: "array", XListType: new("map"), XListMapKeys: keys, Items: &apiextensionsv1.JSONSchemaPropsOrArray{
				Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Required: keys, Properties: properties},
			}}
		}
		schemas := map[string]*apiextensionsv1.JSONSchemaProps{
			"list":  keyed(map[string]apiextensionsv1.JSONSchemaProps{"type": {Type: "string"}, "status": {Type: "string"}}, "type"),
			"ports": keyed(map[string]apiextensionsv1.JSONSchemaProps{"port": {Type: "integer"}, "secure": {Type: "boolean"}}, "port", "secure"),
			"spec":  {Type: "object"},
			"root":  {},
		}
		for _, rule := range test.rules {
			addRule(schemas[test.on], rule)
		}
		schemas["spec"].Properties = map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}, "l": *schemas["list"], "p": *schemas["ports"]}
		crd := crdOf(*schemas["spec"])
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = schemas["root"].XValidations
		got := ""
		for _, g := range find(t, crd) {
			got += declaration(t, g)
			if g.Comparison.Verdict != verify.Equivalent || len(g.Replaces) != len(test.rules) {
				t.Errorf("%q: %s, replaces %v", test.rules, g.Comparison.Verdict, g.Replaces)
			}
		}
		if got != test.want {
			t.Errorf("%q: got\n%swant\n%s", test.rules, got, test.want)
		}
	}
}
