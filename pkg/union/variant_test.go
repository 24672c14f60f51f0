package union_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/union"
)

// In a variant of the CRD that lacks a member, the union is the one declared without the member.
func TestVariant(t *testing.T) {
	const (
		fields = "discriminator: type, fields-to-discriminateBy: {git: Git, oci: [OCI, Image], helm: Helm}"
		keys   = ", optionalMembers: [oci, helm], emptyIsUnset: [oci, git], messages: {git: G, oci: O}, allowedChanges: {Git: [OCI, Helm], OCI: Git, Image: ''}"
		schema = "{type: object, properties: {type: {type: string, enum: [Git, Helm]}, git: {type: string}, helm: {type: string}, ref: {type: string}}}"
		left   = `2:62: info: UC534: member "oci" is left out: the schema has neither the property nor "OCI" or "Image" in the enum of "type"; hint: nothing to do if this variant of the CRD lacks the member; else add the property and the value`
	)
	tests := []struct {
		name, declaration, schema string
		want                      []string
		same                      string // as this declaration, if no member is an error
	}{
		{"no such member", fields, schema, []string{left},
			"discriminator: type, fields-to-discriminateBy: {git: Git, helm: Helm}"},
		{"no such member, with all keys", fields + keys, schema, []string{left},
			"discriminator: type, fields-to-discriminateBy: {git: Git, helm: Helm}, optionalMembers: [helm], emptyIsUnset: [git], messages: {git: G}, allowedChanges: {Git: Helm}"},
		{"no such integer", "discriminator: port, fields-to-discriminateBy: {git: 80, oci: 8080}", "{type: object, properties: {port: {type: integer, enum: [80, 808]}, git: {type: string}}}", []string{
			`2:61: info: UC534: member "oci" is left out: the schema has neither the property nor "8080" in the enum of "port"; hint: nothing to do if this variant of the CRD lacks the member; else add the property and the value`},
			"discriminator: port, fields-to-discriminateBy: {git: 80}"},
		{"value of a member that stays", "discriminator: type, fields-to-discriminateBy: {git: [Git, OCI], oci: OCI}", "{type: object, properties: {type: {type: string, enum: [Git]}, git: {type: string}}}", []string{
			`2:69: info: UC534: member "oci" is left out: the schema has neither the property nor "OCI" in the enum of "type"; hint: nothing to do if this variant of the CRD lacks the member; else add the property and the value`},
			"discriminator: type, fields-to-discriminateBy: {git: Git}"},
		{"renamed member", "discriminator: type, fields-to-discriminateBy: {git: Git, oci: OCI}", "{type: object, properties: {type: {type: string, enum: [Git, Registry]}, git: {type: string}, registry: {type: string}}}", []string{
			`2:62: error: UC203: member "oci" is not a property of this object; hint: write one of git, registry, type`,
			`2:67: error: UC218: value "OCI" of member "oci" is not in the enum of "type"; hint: write one of Git, Registry`}, ""},
		{"value without the property", fields, "{type: object, properties: {type: {type: string, enum: [Git, OCI, Helm]}, git: {type: string}, helm: {type: string}}}", []string{
			`2:62: error: UC203: member "oci" is not a property of this object; hint: write one of git, helm, type`,
			`2:73: error: UC218: value "Image" of member "oci" is not in the enum of "type"; hint: write one of Git, Helm, OCI`}, ""},
		{"property without the values", fields, "{type: object, properties: {type: {type: string, enum: [Git, Helm]}, git: {type: string}, helm: {type: string}, oci: {type: string}}}", []string{
			`2:68: error: UC218: value "OCI" of member "oci" is not in the enum of "type"; hint: write one of Git, Helm`,
			`2:73: error: UC218: value "Image" of member "oci" is not in the enum of "type"; hint: write one of Git, Helm`}, ""},
		{"no enum", fields, "{type: object, properties: {type: {type: string}, git: {type: string}, helm: {type: string}}}", []string{
			`2:62: error: UC203: member "oci" is not a property of this object; hint: write one of git, helm, type`}, ""},
		{"misspelt property", "discriminator: type, fields-to-discriminateBy: {git: Git, healm: Helm2}", "{type: object, properties: {type: {type: string, enum: [Git]}, git: {type: string}, helm: {type: string}}}", []string{
			`2:62: error: UC203: member "healm" is not a property of this object; hint: write "helm"`,
			`2:69: error: UC218: value "Helm2" of member "healm" is not in the enum of "type"; hint: there is only "Git"`}, ""},
		{"misspelt value", "discriminator: type, fields-to-discriminateBy: {git: Git, oci: Imaeg}", "{type: object, properties: {type: {type: string, enum: [Git, Image]}, git: {type: string}}}", []string{
			`2:62: error: UC203: member "oci" is not a property of this object; hint: write one of git, type`,
			`2:67: error: UC218: value "Imaeg" of member "oci" is not in the enum of "type"; hint: write "Image"`}, ""},
		{"no member at all", "discriminator: type, fields-to-discriminateBy: {oci: OCI}", schema, []string{
			`2:52: error: UC203: member "oci" is not a property of this object; hint: write one of git, helm, ref, type`,
			`2:57: error: UC218: value "OCI" of member "oci" is not in the enum of "type"; hint: write one of Git, Helm`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unions, got := resolve(t, "- {"+tt.declaration+"}", tt.schema, false)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			want := []*union.Union{nil}
			if tt.same != "" {
				want, _ = resolve(t, "- {"+tt.same+"}", tt.schema, false)
			}
			if diff := cmp.Diff(want, unions); diff != "" {
				t.Error(diff)
			}
		})
	}
}
