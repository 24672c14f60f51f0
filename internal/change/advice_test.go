package change_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

func TestAdvise(t *testing.T) {
	root := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(`
type: object
properties:
  status: {type: object, properties: {a: {type: string}}}
  spec:
    type: object
    properties:
      u: {type: object, properties: {a: {type: string}}}
      open: {type: object, properties: {free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      l: {type: array, items: {type: object, properties: {free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
      m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}}
`), root); err != nil {
		t.Fatal(err)
	}
	const written, state = "Stored objects that violate it can be written as long as ", "which members are set, and any discriminator, are unchanged"
	const never = "Stored objects that violate it cannot be written "
	for _, test := range []struct {
		keyword change.Keyword
		path    string
		rule    string
		of      change.Of
		version string
		want    string
	}{
		{change.StaticRule, "spec.u", "!has(self.a)", change.Union, "", written + "spec.u is unchanged; with ratchet: true, as long as " + state + "."},
		{change.StaticRule, "spec.u", "!has(self.a)", change.Union, "1.30", written + "spec.u is unchanged, but not their status; with ratchet: true, as long as " + state + "."},
		{change.StaticRule, "spec.u", "!has(self.a)", change.Union, "1.29", never + "(Kubernetes 1.29 does not ratchet)."},
		{change.StaticRule, "spec.u", "oldSelf.hasValue() || !has(self.a)", change.RatchetingUnion, "1.30", written + state + "."},
		{change.StaticRule, "", "!has(self.spec)", change.Union, "", never + "(every update changes the root); with ratchet: true, as long as " + state + "."},
		{change.StaticRule, "spec.u", "self.a == 'x'", change.ByHand, "", written + "spec.u is unchanged; except objects for which the rule cannot be evaluated."},
		{change.StaticRule, "spec.u", "!has(self.a) || self.a == 'x'", change.ByHand, "", written + "spec.u is unchanged."},
		{change.StaticRule, "spec.u", "self.a == oldSelf.a", change.ByHand, "", never + "(a rule that reads oldSelf is always evaluated)."},
		{change.TransitionRule, "spec.u", "", change.Union, "1.25", written + state + "."},
		{change.EvaluationError, "spec.u", "", change.ByHand, "", never + "(an evaluation error is never ratcheted)."},
		{change.StaticRule, "spec.l[*]", "!has(self.a)", change.Union, "", written + "spec.l is unchanged."},
		{change.StaticRule, "spec.m[*]", "!has(self.a)", change.Union, "", written + "spec.m[*] is unchanged; with ratchet: true, as long as " + state + "."},
		{"required", "spec.u", "", change.ByHand, "", written + "spec.u is unchanged."},
		{"required", "", "", change.ByHand, "", never + "(every update changes the root), but for their status."},
		{"enum", "spec.u.a", "", change.ByHand, "1.29", never + "(Kubernetes 1.29 does not ratchet), but for their status."},
		{"enum", "status.a", "", change.ByHand, "1.32", written + "status.a is unchanged, but not their status."},
		{"enum", "spec.u.a", "", change.ByHand, "1.30", written + "spec.u.a is unchanged."},
		{"oneOf", "spec.open", "", change.ByHand, "", written + "spec.open is unchanged; except objects with fields in spec.open.free that the schema does not name."},
		{change.ListType, "spec.l", "", change.ByHand, "1.20", written + "spec.l is unchanged."},
		{change.Scale, "", "", change.ByHand, "", never + "(this is checked at every write), but for their status."},
	} {
		var path schemapath.Path
		schemapath.Walk(root, func(p schemapath.Path, _ *apiextensionsv1.JSONSchemaProps) bool {
			if p.String() == test.path {
				path = p
			}
			return true
		})
		a, err := change.Advise(root, change.Constraint{Keyword: test.keyword, Path: path, Rule: test.rule}, test.of, test.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.String(); got != test.want {
			t.Errorf("%s of %q: %s\nwant %s", test.keyword, test.path, got, test.want)
		}
	}
	if _, err := change.Advise(root, change.Constraint{}, change.ByHand, "one"); err == nil {
		t.Error("one is a version")
	}
}
