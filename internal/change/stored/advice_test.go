package stored_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change/stored"
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
		keyword stored.Keyword
		path    string
		rule    string
		of      stored.Of
		version string
		want    string
	}{
		{stored.StaticRule, "spec.u", "!has(self.a)", stored.Union, "", written + "spec.u is unchanged; with ratchet: true, as long as " + state + "."},
		{stored.StaticRule, "spec.u", "!has(self.a)", stored.Union, "1.30", written + "spec.u is unchanged, but not their status; with ratchet: true, as long as " + state + "."},
		{stored.StaticRule, "spec.u", "!has(self.a)", stored.Union, "1.29", never + "(Kubernetes 1.29 does not ratchet)."},
		{stored.StaticRule, "spec.u", "oldSelf.hasValue() || !has(self.a)", stored.RatchetingUnion, "1.30", written + state + "."},
		{stored.StaticRule, "", "!has(self.spec)", stored.Union, "", never + "(every update changes the root); with ratchet: true, as long as " + state + "."},
		{stored.StaticRule, "spec.u", "self.a == 'x'", stored.ByHand, "", written + "spec.u is unchanged; except objects for which the rule cannot be evaluated."},
		{stored.StaticRule, "spec.u", "!has(self.a) || self.a == 'x'", stored.ByHand, "", written + "spec.u is unchanged."},
		{stored.StaticRule, "spec.u", "self.a == oldSelf.a", stored.ByHand, "", never + "(a rule that reads oldSelf is always evaluated)."},
		{stored.TransitionRule, "spec.u", "", stored.Union, "1.25", written + state + "."},
		{stored.EvaluationError, "spec.u", "", stored.ByHand, "", never + "(an evaluation error is never ratcheted)."},
		{stored.StaticRule, "spec.l[*]", "!has(self.a)", stored.Union, "", written + "spec.l is unchanged."},
		{stored.StaticRule, "spec.m[*]", "!has(self.a)", stored.Union, "", written + "spec.m[*] is unchanged; with ratchet: true, as long as " + state + "."},
		{"required", "spec.u", "", stored.ByHand, "", written + "spec.u is unchanged."},
		{"required", "", "", stored.ByHand, "", never + "(every update changes the root), but for their status."},
		{"enum", "spec.u.a", "", stored.ByHand, "1.29", never + "(Kubernetes 1.29 does not ratchet), but for their status."},
		{"enum", "status.a", "", stored.ByHand, "1.32", written + "status.a is unchanged, but not their status."},
		{"enum", "spec.u.a", "", stored.ByHand, "1.30", written + "spec.u.a is unchanged."},
		{"oneOf", "spec.open", "", stored.ByHand, "", written + "spec.open is unchanged; except objects with fields in spec.open.free that the schema does not name."},
		{stored.ListType, "spec.l", "", stored.ByHand, "1.20", written + "spec.l is unchanged."},
		{stored.Scale, "", "", stored.ByHand, "", never + "(this is checked at every write), but for their status."},
	} {
		var path schemapath.Path
		schemapath.Walk(root, func(p schemapath.Path, _ *apiextensionsv1.JSONSchemaProps) bool {
			if p.String() == test.path {
				path = p
			}
			return true
		})
		a, err := stored.Advise(root, stored.Constraint{Keyword: test.keyword, Path: path, Rule: test.rule}, test.of, test.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.String(); got != test.want {
			t.Errorf("%s of %q: %s\nwant %s", test.keyword, test.path, got, test.want)
		}
	}
	if _, err := stored.Advise(root, stored.Constraint{}, stored.ByHand, "one"); err == nil {
		t.Error("one is a version")
	}
}
