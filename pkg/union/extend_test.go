package union_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

func TestExtend(t *testing.T) {
	var schema apiextensionsv1.JSONSchemaProps
	text := "{type: object, properties: {type: {type: string}, a: {type: object}, b: {type: object}, c: {type: object}, d: {type: object}}}"
	if err := sigsyaml.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	const tagged = "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a], discriminatorChange: Allow, ratchet: true}"
	const plain = "{name: other, members: [c, d], cardinality: ExactlyOne}"
	for _, tt := range []struct{ name, declarations, extensions, want string }{
		{"nothing else changes", tagged, "{cardinality: ExactlyOne}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, optionalMembers: [a], discriminatorChange: Allow, ratchet: true}"},
		{"lists take the place of lists", tagged, "{optionalMembers: [b], ratchet: false}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, optionalMembers: [b], discriminatorChange: Allow}"},
		{"members", tagged, "{union: type, fields-to-discriminateBy: {a: [X, Z]}, name: x}",
			"{name: x, discriminator: type, fields-to-discriminateBy: {a: [X, Z]}, cardinality: AtMostOne, optionalMembers: [a], discriminatorChange: Allow, ratchet: true}"},
		{"maps take the place of lists", tagged, "{fields-to-discriminateBy: {a: [A, C], b: [B, C]}, optionalMembers: {a: C}}",
			"{discriminator: type, fields-to-discriminateBy: {a: [A, C], b: [B, C]}, cardinality: AtMostOne, optionalMembers: {a: C}, discriminatorChange: Allow, ratchet: true}"},
		{"no members any more", tagged, "{fields-to-discriminateBy: {}, optionalMembers: []}",
			"{discriminator: type, fields-to-discriminateBy: {}, cardinality: AtMostOne, discriminatorChange: Allow, ratchet: true}"},
		{"optional for another value", tagged, "{union: type, optionalMembers: {a: B}}", `UC220 "a" is optional for "B", which does not select it`},
		{"a table takes the place of what may change", tagged, "{allowedChanges: {A: [B]}}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, optionalMembers: [a], allowedChanges: {A: [B]}, ratchet: true}"},
		{"which may take it back", tagged, "{allowedChanges: {A: [B]}}, {discriminatorChange: Forbid}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, optionalMembers: [a], discriminatorChange: Forbid, ratchet: true}"},
		{"by name and by member", tagged + ", " + plain, "{union: other, cardinality: AtMostOne}, {union: b, ratchet: false, optionalMembers: []}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, discriminatorChange: Allow}, {name: other, members: [c, d], cardinality: AtMostOne}"},
		{"the discriminator, not a member", tagged + ", {members: [type, c]}", "{union: type, ratchet: false}",
			"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, optionalMembers: [a], discriminatorChange: Allow}, {members: [type, c], cardinality: AtMostOne}"},
		{"the name, not the discriminator", "{name: type, members: [c, d]}, " + tagged, "{union: type, ratchet: true}",
			"{name: type, members: [c, d], cardinality: AtMostOne, ratchet: true}, {discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: AtMostOne, optionalMembers: [a], discriminatorChange: Allow, ratchet: true}"},
		{"which?", tagged + ", " + plain, "{ratchet: true}", "UC707 this extension could be of 2 unions"},
		{"none", plain, "{union: type, ratchet: true}", `UC707 no union of this schema has the name, discriminator or member "type"`},
		{"nothing to extend", "", "{ratchet: true}", `UC707 no union of this schema has the name, discriminator or member ""`},
		{"both", tagged, "{allowedChanges: {A: [B]}, discriminatorChange: Forbid}", "UC220 discriminatorChange and allowedChanges are both set"},
		{"a contradiction", plain, "{unmappedValues: Forbid}", "UC220 there is no discriminator that could have unmapped values"},
		{"only the name", tagged, "{union: type}", "UC202 the extension has no key of a declaration"},
		{"a typo", tagged, "{unoin: type, ratchet: true}", `UC201 unknown key "unoin" in a union declaration`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := func(text string) *yaml.Node {
				var doc yaml.Node
				if err := yaml.Unmarshal([]byte("["+text+"]"), &doc); err != nil {
					t.Fatal(err)
				}
				return doc.Content[0]
			}
			declarations, _ := union.Parse("crd.yaml", "", list(tt.declarations), nil)
			extensions, diags := union.ParseExtensions("set.yaml", "", list(tt.extensions), nil)
			var got []string
			if !diags.HasErrors() {
				diags = append(diags, union.Extend(declarations, extensions)...)
			}
			if !diags.HasErrors() {
				unions, resolved := union.Resolve(declarations, &schema, false)
				diags = append(diags, resolved...)
				for _, u := range unions {
					if u != nil {
						n := u.Node()
						n.Style = yaml.FlowStyle
						out, err := yaml.Marshal(n)
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, strings.TrimSpace(string(out)))
					}
				}
			}
			if diags.HasErrors() {
				got = nil
				for _, d := range diags {
					if d.Pos.File != "set.yaml" && d.Code != codes.DefaultedDiscriminator {
						t.Errorf("%s is in %s", d.Message, d.Pos.File)
					}
					got = append(got, string(d.Code)+" "+d.Message)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
