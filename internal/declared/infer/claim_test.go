package infer_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"
)

// Descriptions that name the values of a property suggest unions, in known words only.
func TestClaims(t *testing.T) {
	const schema = `{type: object, required: [type], properties: {
  type: {type: string, enum: [A, B, C]}, free: {type: string}, mode: {type: string, enum: [A, X]},
  one: {type: object, properties: {x: {type: string}}}, two: {type: string}}}`
	const forA = "discriminator: type\nfields-to-discriminateBy:\n  one: A\n"
	const change = "discriminatorChange: Allow\n"
	const optionalForA = forA + "optionalMembers: [one]\n" + change
	const both = "discriminator: type\nfields-to-discriminateBy:\n  one: A\n  two: B\n" + change
	for _, tt := range []struct{ one, two, want string }{
		// The values require it, and others forbid it.
		{one: "Required when type is A, and forbidden otherwise.", want: forA + change},
		{one: "One is a thing. It is required when `type` is set to \"A\" and must not be set otherwise.", want: forA + change},
		{one: "This field is required\nwhen Type equals\n'A', and must be\nomitted otherwise. It has x.", want: forA + change},
		{one: "One is a thing\nMust be set if and only if the type field is A", want: forA + change},
		{one: "one must be set if type = A. It must NOT be set for any other type.", want: forA + change},
		{one: "Required when type is A, and must be omitted when type is set to any other value.", want: forA + change},
		{one: "Required when type is A or B, and must not be set when type is C.", want: "discriminator: type\nfields-to-discriminateBy:\n  one: [A, B]\n" + change},
		{one: "Required when free is 'A', and forbidden otherwise.", want: strings.Replace(forA, "type", "free", 1) + change},
		// Others forbid it.
		{one: "Present only if type is A.", want: optionalForA},
		{one: "The one field is only valid when type is set to A.", want: optionalForA},
		{one: "Can only be set when type is A.", want: optionalForA},
		{one: "Only valid when type is A.", want: optionalForA},
		{one: "One is a thing. Only allowed if type is A.", want: optionalForA},
		{one: "It cannot be set unless type is A.", want: optionalForA},
		{one: "Forbidden unless type is A.", want: optionalForA},
		// The values require it: only together with another member.
		{one: "Required when type is A.", two: "Required when type is B.", want: both},
		{one: "Required when type is A."},
		{one: "Required when type is A.", two: "Required when type is A."},
		{one: "Required when type is A or B.", two: "Required when type is B."},
		{one: "Required when type is A.", two: "Required when mode is X."},
		{one: "Required when type is A, and forbidden otherwise.", two: "Required when type is A.", want: forA + change},
		{one: "Required when type is A. Ignored otherwise.", two: "Required when type is B."},
		{one: "Required when type is A. May be set with other types.", two: "Required when type is B."},
		// Other words, and other sentences.
		{one: "Required when type is A, optional otherwise.", two: "Required when type is B."},
		{one: "Required when type is A and mode is X, and forbidden otherwise."},
		{one: "Required when type is A or when mode is X, and forbidden otherwise."},
		{one: "Required when type is A or B, and must not be set when type is B."},
		{one: "Required when type is A, and must not be set when type is B.", two: "Required when mode is X."},
		{one: "Required when type is A, and mode is forbidden otherwise."},
		{one: "Required only when type is A, and forbidden otherwise."},
		{one: "Required unless type is A, and forbidden otherwise."},
		{one: "This field is not required when type is A, and forbidden otherwise."},
		{one: "This field is not\nrequired when type is A, and forbidden otherwise."},
		{one: "two is required when type is A, and forbidden otherwise."},
		{one: "Required when type is not A, and forbidden otherwise."},
		{one: "Required when type is a, and forbidden otherwise."},
		{one: "Required when type is D, and forbidden otherwise."},
		{one: "Required when kind is A, and forbidden otherwise."},
		{one: "Required when one is A, and forbidden otherwise."},
		{one: "Required when free is A, and forbidden otherwise."},
		{one: "Required when free is 'A'.", two: "Required when free is 'B'."},
		{one: "Must be omitted when type is A, and forbidden otherwise."},
		{one: "Forbidden when type is A."},
		{one: "Must not be set when type is A."},
		{one: "Present if type is A."},
		{one: "Not allowed if type is A."},
		{one: "Only used when type is A."},
		{one: "Only required when type is A."},
		{one: "Only applicable when type is A."},
		{one: "Only valid when type is A, except in tests."},
		{one: "Required when type is A, and forbidden otherwise. Required when type is B."},
	} {
		var s apiextensionsv1.JSONSchemaProps
		if err := sigs.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		for name, description := range map[string]string{"one": tt.one, "two": tt.two} {
			p := s.Properties[name]
			p.Description = description
			s.Properties[name] = p
		}
		got := ""
		for _, f := range find(t, crdOf(s)) {
			got += declaration(t, f)
			if !f.Suggestion {
				t.Errorf("%q, %q: not a suggestion", tt.one, tt.two)
			}
		}
		if got != tt.want {
			t.Errorf("%q, %q: found\n%swant\n%s", tt.one, tt.two, got, tt.want)
		}
	}
}
