package compile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

var openAPI = compile.Options{Encoding: compile.OpenAPI}

// backend is a union object: properties, and the keys of one declaration.
func backend(properties, keys string) string {
	return "spec:\n  type: object\n  properties:\n" + indent(4, properties) + "  x-kubernetes-unions:\n  - " + strings.TrimLeft(indent(4, keys), " ")
}

const plainProperties = `
type: {type: string}
a: {type: object, properties: {x: {type: string}}}
b: {type: string}
c: {type: array, items: {type: string}}
`

// Unions that a schema can express get one schema each and no static rules, and are proved.
// Their transition rules are the same as in other encodings.
func TestOpenAPI(t *testing.T) {
	discriminated := "discriminator: type\nfields-to-discriminateBy: {a: A, b: [B, BB], c: C}\n"
	for _, keys := range []string{
		"members: [a, b, c]\n",
		"members: [a, b, c]\ncardinality: ExactlyOne\n",
		"members: [a, b, c]\ncardinality: AtLeastOne\n",
		"members: [a]\ncardinality: ExactlyOne\n",
		"members: [a, b, c]\nallowedChanges: {a: [b, '']}\n",
		discriminated,
		discriminated + "cardinality: ExactlyOne\n",
		discriminated + "optionalMembers: [a, c]\n",
		discriminated + "unmappedValues: Forbid\n",
		discriminated + "unmappedValues: Forbid\ncardinality: ExactlyOne\noptionalMembers: [b]\n",
		discriminated + "deduceInvalidDiscriminator: true\n",
		discriminated + "discriminatorChange: Forbid\n",
		discriminated + "discriminatorChange: Allow\n",
	} {
		src := crd(version("v1", true, backend(plainProperties, keys)))
		r, diags := run(t, src, openAPI)
		diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.SingleMember })
		if r == nil || len(diags) > 0 {
			t.Errorf("%s: %v", keys, diags)
			continue
		}
		auto, _ := run(t, src, compile.Options{})
		rules := map[string]bool{}
		for _, text := range additions(r) {
			rules[text] = true
			if !strings.Contains(text, "oldSelf") {
				t.Errorf("%s: a static rule is left: %s", keys, text)
			}
		}
		for _, text := range additions(auto) {
			if strings.Contains(text, "oldSelf") && !rules[text] {
				t.Errorf("%s: the rule on changes is gone: %s", keys, text)
			}
		}
		schemas := 0
		for _, a := range r.Additions {
			schemas += len(a.AllOf)
		}
		if schemas != 1 {
			t.Errorf("%s: %d schemas, want 1", keys, schemas)
		}
	}
}

// A union that a schema cannot express is an error with its position, and with the reason or a
// state for which the two differ.
func TestOpenAPIInexpressible(t *testing.T) {
	tests := []struct{ name, properties, keys, want string }{
		{"ratchet", plainProperties, "members: [a, b]\nratchet: true\n", "a schema cannot refer to the old object"},
		{"emptyIsUnset", plainProperties, "members: [a, b]\nemptyIsUnset: [b]\n", "an empty b as set"},
		{"nullable member", "a: {type: object, nullable: true}\nb: {type: string}", "members: [a, b]\n",
			"allOf would reject this, which the union allows: b is set; the union treats null as unset, and required as a value: a can be null"},
		{"nullable members, none", "a: {type: object, nullable: true}\nb: {type: string}", "members: [a, b]\ncardinality: AtLeastOne\n",
			"the API server would accept this, which the union forbids: none of a, b is set"},
		{"restricted already", plainProperties, "members: [a, b]\n" + "x-rest", "maxProperties: 0 would reject this, which the union allows: a is set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec, restricted := strings.CutSuffix(backend(tt.properties, tt.keys), "    x-rest\n")
			if restricted {
				spec += "  maxProperties: 0\n"
			}
			r, diags := run(t, crd(version("v1", true, spec)), openAPI)
			if r != nil || len(diags) != 1 {
				t.Fatalf("got %v, %v", r, diags)
			}
			d := diags[0]
			if d.Code != codes.NotExpressible || !strings.Contains(d.Message, tt.want) || d.Hint == "" || d.Pos.Line == 0 {
				t.Errorf("got %+v\nwant %s", d, tt.want)
			}
			if _, diags := run(t, crd(version("v1", true, spec)), compile.Options{}); diags.HasErrors() {
				t.Errorf("the other encodings: %v", diags)
			}
		})
	}
}

// Each union gets its own schema.
func TestOpenAPITwoUnions(t *testing.T) {
	spec := "spec:\n  type: object\n  properties:\n" + indent(4, plainProperties+"d: {type: string}\n") +
		"  x-kubernetes-unions:\n  - members: [a, b]\n  - members: [c, d]\n    cardinality: ExactlyOne\n"
	r, diags := run(t, crd(version("v1", true, spec)), openAPI)
	if r == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	if len(r.Additions) != 1 || len(r.Additions[0].AllOf) != 2 {
		t.Fatalf("got %+v, want one schema for each union", r.Additions)
	}

	// An existing schema is not written twice.
	data, err := json.Marshal(r.Additions[0].AllOf[:1])
	if err != nil {
		t.Fatal(err)
	}
	r, diags = run(t, crd(version("v1", true, spec+"  allOf: "+string(data)+"\n")), openAPI)
	if r == nil || len(r.Additions) != 1 || len(r.Additions[0].AllOf) != 1 || len(diags) != 1 || diags[0].Code != codes.HandWrittenRulePresent {
		t.Errorf("got %+v, %v; want the second schema only, and a note", r, diags)
	}
}

// Schemas cost nothing. Transition rules that do not fit are dropped if the static conditions
// imply them.
func TestOpenAPIBudget(t *testing.T) {
	src := crd(version("v1", true, "spec:\n  type: object\n  properties:\n    m:\n      type: object\n      additionalProperties:\n"+indent(8, members(20, "  discriminatorChange: Clear\n"))))
	if _, diags := run(t, src, compile.Options{Encoding: compile.Fine}); !diags.HasErrors() {
		t.Fatal("the budget admits the rules of other encodings, so this tries nothing")
	}
	r, diags := run(t, src, openAPI)
	if r == nil || diags.HasErrors() {
		t.Fatal(diags)
	}
	if len(r.Additions) != 1 || len(r.Additions[0].AllOf) != 1 || len(r.Additions[0].Rules) > 0 {
		t.Errorf("got %v", additions(r))
	}
	if len(diags) != 1 || diags[0].Code != codes.ClearLeftOut {
		t.Errorf("got %v, want a note on the rule left out", diags)
	}
}
