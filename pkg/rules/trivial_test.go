package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/rules"
)

// TestTrivial has unions that map all values of a boolean. Their rules must not contain constants.
func TestTrivial(t *testing.T) {
	schema := schemaOf(t, `{type: object, properties: {b: {type: boolean}, http: {type: object}, grpc: {type: object}}}`)
	for _, tt := range []struct {
		declaration string
		want        []string // paired, with the rules on changes
	}{
		{"{discriminator: b, fields-to-discriminateBy: {http: true, grpc: false}, unmappedValues: Forbid, discriminatorChange: Allow}",
			[]string{"has(self.http) == (has(self.b) && self.b)", "has(self.grpc) == (has(self.b) && !self.b)"}},
		{"{discriminator: b, fields-to-discriminateBy: {http: [true, false]}, unset: false}", []string{"has(self.http)"}},
		{"{discriminator: b, fields-to-discriminateBy: {http: [true, false]}, unset: false, optionalMembers: [http]}", nil},
		{"{discriminator: b, fields-to-discriminateBy: {http: [true, false]}, unset: false, optionalMembers: [http], ratchet: true}", nil},
		{"{discriminator: b, fields-to-discriminateBy: {http: [true, false]}, unset: false, allowedChanges: {true: false, false: true}}", []string{"has(self.http)"}},
		{"{discriminator: b, fields-to-discriminateBy: {http: [true, false]}, unset: false, discriminatorChange: Forbid}",
			[]string{"has(self.http)", "(has(self.b) ? self.b : false) == (has(oldSelf.b) ? oldSelf.b : false)"}},
	} {
		u := unionOf(t, tt.declaration, schema)
		for _, e := range []rules.Encoding{rules.Paired, rules.Fine, rules.Compact} {
			var got []string
			for _, r := range append(rules.Static(u, e), rules.Transition(u, rules.Comparison{})...) {
				got = append(got, r.Rule)
				for _, constant := range []string{"(true)", "? true : true", "!true", "!false"} {
					if r.Rule == "true" || strings.Contains(r.Rule+r.MessageExpression, constant) {
						t.Errorf("%s, %s: %s", tt.declaration, e, r.Rule)
					}
				}
				if r.Message == "b may not be changed or unset once set" {
					t.Errorf("%s: %s", tt.declaration, r.Message)
				}
			}
			if e == rules.Paired && !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.declaration, got, tt.want)
			}
		}
	}
}
