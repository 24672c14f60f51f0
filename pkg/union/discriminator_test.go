package union_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/union"
)

// A required discriminator must be set, unless its enum contains "".
func TestDefaultCardinality(t *testing.T) {
	const required, optional = "required: [type], ", ""
	tests := []struct {
		name, required, property, key string
		want                          union.Cardinality
	}{
		{"optional", optional, "{type: string}", "", union.AtMostOne},
		{"optional, with an enum", optional, "{type: string, enum: [A]}", "", union.AtMostOne},
		{"required", required, "{type: string}", "", union.ExactlyOne},
		{"required, with an enum", required, "{type: string, enum: [A]}", "", union.ExactlyOne},
		{"required, empty in the enum", required, "{type: string, enum: [A, '']}", "", union.AtMostOne},
		{"required, empty in the enum, ExactlyOne", required, "{type: string, enum: ['', A]}", "cardinality: ExactlyOne, ", union.ExactlyOne},
		{"required, null in the enum", required, "{type: string, nullable: true, enum: [A, null]}", "", union.ExactlyOne},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unions, diags := resolve(t, "- {"+tt.key+"discriminator: type, fields-to-discriminateBy: {a: A}}",
				"{type: object, "+tt.required+"properties: {type: "+tt.property+", a: {type: string}}}", false)
			if len(diags) > 0 || unions[0].Cardinality != tt.want {
				t.Errorf("%v, %v; want %v", unions[0], diags, tt.want)
			}
		})
	}
}

// If the discriminator is in a nested object, that object must be required, too.
func TestDefaultCardinalityBelow(t *testing.T) {
	for _, tt := range []struct {
		name, required, holder string
		want                   union.Cardinality
	}{
		{"required", "required: [in], ", "", union.ExactlyOne},
		{"with a default", "", "default: {type: A}, ", union.ExactlyOne},
		{"required and nullable", "required: [in], ", "nullable: true, ", union.AtMostOne},
		{"with a default, nullable", "", "nullable: true, default: {type: A}, ", union.AtMostOne},
		{"optional", "", "", union.AtMostOne},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unions, diags := resolve(t, "- {discriminator: in.type, fields-to-discriminateBy: {a: A}}",
				"{type: object, "+tt.required+"properties: {in: {type: object, "+tt.holder+"required: [type], properties: {type: {type: string}}}, a: {type: string}}}", false)
			if len(diags) > 0 || unions[0].Cardinality != tt.want {
				t.Errorf("%v, %v; want %v", unions[0], diags, tt.want)
			}
		})
	}
}

// A defaulted discriminator is never unset, and so never deduced, unless it is nullable.
func TestDefaultedDiscriminator(t *testing.T) {
	const drop = "drop the default; deduceInvalidDiscriminator: true lets users leave the discriminator out"
	tests := []struct{ property, key, hint string }{
		{"{type: string, default: A}", "", drop},
		{"{type: string, default: A}", "deduceInvalidDiscriminator: true, ", "drop the default: with it, the discriminator is set where users leave it out, and never deduced"},
		{"{type: string, default: A, nullable: true}", "deduceInvalidDiscriminator: true, ", drop},
	}
	for _, tt := range tests {
		unions, got := resolve(t, "- {discriminator: type, "+tt.key+"fields-to-discriminateBy: {a: A}}",
			"{type: object, properties: {type: "+tt.property+", a: {type: string}}}", false)
		want := []string{`2:19: warning: UC501: discriminator "type" has the default "A": users get errors about a value they never wrote; hint: ` + tt.hint}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if unions[0].Cardinality != union.AtMostOne {
			t.Errorf("%s: the default counts for the cardinality", tt.property)
		}
	}
}

// Values that the discriminator's schema always rejects are errors.
func TestExcludedValues(t *testing.T) {
	tests := []struct {
		name, property, declaration string
		want                        []string
	}{
		{"pattern", "{type: string, pattern: '^[A-Z]+$'}", "fields-to-discriminateBy: {a: [A, a1], b: B}", []string{
			`2:59: error: UC224: value "a1" of member "a" does not match the pattern of "type", ^[A-Z]+$; hint: write another value, or change the pattern`}},
		{"unanchored", "{type: string, pattern: '[0-9]'}", "fields-to-discriminateBy: {a: xx1x, b: B}", []string{
			`2:64: error: UC224: value "B" of member "b" does not match the pattern of "type", [0-9]; hint: write another value, or change the pattern`}},
		{"minLength", "{type: string, minLength: 2}", "fields-to-discriminateBy: {a: é, b: éé}", []string{
			`2:55: error: UC224: value "é" of member "a" is shorter than the minLength of "type", 2; hint: write another value, or change the minLength`}},
		{"maxLength", "{type: string, maxLength: 2}", "fields-to-discriminateBy: {a: 日本, b: ABC}", []string{
			`2:62: error: UC224: value "ABC" of member "b" is longer than the maxLength of "type", 2; hint: write another value, or change the maxLength`}},
		{"once", "{type: string, maxLength: 2, pattern: x, enum: [ABD]}", "fields-to-discriminateBy: {a: ABC}", []string{
			`2:55: error: UC218: value "ABC" of member "a" is not in the enum of "type"; hint: write "ABD"`}},
		{"a pattern that the server refuses", "{type: string, pattern: '('}", "fields-to-discriminateBy: {a: A}", nil},
		{"in a table", "{type: string, maxLength: 4}", "fields-to-discriminateBy: {a: A, b: B}, allowedChanges: {A: [Nothing, None]}", []string{
			`2:86: error: UC224: value "Nothing" in allowedChanges is longer than the maxLength of "type", 4; hint: write another value, or change the maxLength`}},
		{"minimum", "{type: integer, minimum: 5}", "fields-to-discriminateBy: {a: 4, b: 5}", []string{
			`2:55: error: UC224: value "4" of member "a" is less than the minimum of "type", 5; hint: write another value, or change the minimum`}},
		{"exclusive", "{type: integer, minimum: 5, exclusiveMinimum: true, maximum: 8, exclusiveMaximum: true}", "fields-to-discriminateBy: {a: [5, 6], b: 8}", []string{
			`2:56: error: UC224: value "5" of member "a" is not greater than the minimum of "type", 5; hint: write another value, or change the minimum`,
			`2:66: error: UC224: value "8" of member "b" is not less than the maximum of "type", 8; hint: write another value, or change the maximum`}},
		{"maximum and unset", "{type: integer, maximum: 8080}", "fields-to-discriminateBy: {a: 80, b: 8080}, unset: 8081", []string{
			`2:76: error: UC224: value "8081" of unset is greater than the maximum of "type", 8080; hint: write another value, or change the maximum`}},
		{"multipleOf", "{type: integer, multipleOf: 5}", "fields-to-discriminateBy: {a: -5, b: 7}", []string{
			`2:62: error: UC224: value "7" of member "b" is no multiple of the multipleOf of "type", 5; hint: write another value, or change the multipleOf`}},
		{"int32", "{type: integer, format: int32}", "fields-to-discriminateBy: {a: -2147483648, b: 2147483648}", []string{
			`2:71: error: UC224: value "2147483648" of member "b" is not in the range of the format of "type", int32; hint: write another value, or change the format`}},
		{"lengths of an integer", "{type: integer, maxLength: 2, pattern: x}", "fields-to-discriminateBy: {a: 8080}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := resolve(t, "- {discriminator: type, "+tt.declaration+"}",
				"{type: object, properties: {type: "+tt.property+", a: {type: string}, b: {type: string}}}", false)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without an enum allowedChanges may name any value, and adds it to the values of the union. A
// likely misspelling of a member's value is an error.
func TestMemberlessChanges(t *testing.T) {
	tests := []struct {
		name, property, declaration string
		values, want                []string
	}{
		{"no enum", "{type: string}", "allowedChanges: {None: [HTTP], HTTP: [None, Recreate], Recreate: [None]}",
			[]string{"HTTP", "TCP", "None", "Recreate"}, nil},
		{"misspelt", "{type: string}", "allowedChanges: {None: [HTPT]}", nil, []string{
			`2:94: error: UC221: allowedChanges names "HTPT", which is not a known value of the discriminator; hint: write "HTTP"`}},
		{"alike", "{type: string}", "allowedChanges: {Phase1: [Phase2], Phase2: [Phase3]}", []string{"HTTP", "TCP", "Phase1", "Phase2", "Phase3"}, nil},
		{"enum", "{type: string, enum: [HTTP, TCP]}", "allowedChanges: {None: [HTTP]}", nil, []string{
			`2:87: error: UC221: allowedChanges names "None", which is not a known value of the discriminator; hint: write one of HTTP, TCP`}},
		{"unmappedValues", "{type: string}", "unmappedValues: Forbid, allowedChanges: {None: [HTTP]}", nil, []string{
			`2:111: error: UC221: allowedChanges names "None", which is not a known value of the discriminator; hint: write one of HTTP, TCP`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unions, got := resolve(t, "- {discriminator: type, fields-to-discriminateBy: {a: HTTP, b: TCP}, "+tt.declaration+"}",
				"{type: object, properties: {type: "+tt.property+", a: {type: string}, b: {type: string}}}", false)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.values != nil && !cmp.Equal(unions[0].Values, tt.values) {
				t.Errorf("values %q", unions[0].Values)
			}
		})
	}
}

// An invalid discriminator causes no errors about the values in allowedChanges.
func TestDiscriminatorFails(t *testing.T) {
	for name, want := range map[string]string{
		"a b": "UC205", "any": "UC206", "num": "UC207", "a": "UC208", "nope": "UC204", "": "UC204",
	} {
		_, got := resolve(t, `- {discriminator: "`+name+`", fields-to-discriminateBy: {a: A}, allowedChanges: {A: [None, B], C: A}}`,
			`{type: object, properties: {"a b": {type: string, enum: [A, B, C, None]}, any: {x-kubernetes-preserve-unknown-fields: true}, num: {type: number}, a: {type: string}}}`, false)
		if len(got) != 1 || got[0][len("2:19: error: "):][:5] != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
