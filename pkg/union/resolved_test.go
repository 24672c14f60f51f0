package union_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/union"
)

// Each key of a declaration gives the expected union.
func TestResolved(t *testing.T) {
	const properties = "type: {type: string}, a: {type: object, properties: {z: {type: string}, x: {type: object}}}, b: {type: string}, c: {type: array, items: {type: string}}, d: {type: object, additionalProperties: {type: string}}"
	const schema = "{type: object, properties: {" + properties + "}}"
	members := func(names ...string) []union.Member {
		var l []union.Member
		for _, name := range names {
			l = append(l, union.Member{Name: name})
		}
		return l
	}
	ab := []union.Member{{Name: "a", Values: []string{"A"}}, {Name: "b", Values: []string{"B", "B2"}}}
	values := []string{"A", "B", "B2"}
	discriminated := func(u union.Union) union.Union {
		u.Discriminator, u.Values = "type", values
		if u.Members == nil {
			u.Members = ab
		}
		if u.Cardinality == 0 {
			u.Cardinality = union.AtMostOne
		}
		if u.Change == 0 {
			u.Change = union.Clear
		}
		return u
	}
	const typed = "discriminator: type, fields-to-discriminateBy: {a: A, b: [B, B2]}"
	tests := []struct {
		name, declaration, schema string
		want                      union.Union
		warnings                  []string
	}{
		{"members", "members: [b, a]", schema, union.Union{Members: members("b", "a"), Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"filler values", "fields-to-discriminateBy: {a: x, b: [x, '']}", schema, union.Union{Members: members("a", "b"), Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"name", "name: source, members: [a]", schema, union.Union{Name: "source", Members: members("a"), Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"exactly one", "members: [a], cardinality: ExactlyOne", schema, union.Union{Members: members("a"), Cardinality: union.ExactlyOne, Change: union.Allow}, nil},
		{"at least one", "members: [a], cardinality: AtLeastOne", schema, union.Union{Members: members("a"), Cardinality: union.AtLeastOne, Change: union.Allow}, nil},
		{"emptyIsUnset", "members: [a, b, c, d], emptyIsUnset: [d, c, b, a, a]", schema, union.Union{Members: []union.Member{
			{Name: "a", Empty: union.EmptyObject, Fields: []string{"x", "z"}}, {Name: "b", Empty: union.EmptyString},
			{Name: "c", Empty: union.EmptyCollection}, {Name: "d", Empty: union.EmptyCollection},
		}, Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"empty scalars", "members: [b, i, f, t], emptyIsUnset: [b, i, f, t]",
			"{type: object, properties: {b: {type: boolean}, i: {type: integer, format: int32}, f: {type: number}, t: {type: string}}}", union.Union{Members: []union.Member{
				{Name: "b", Empty: union.EmptyBoolean}, {Name: "i", Empty: union.EmptyInteger}, {Name: "f", Empty: union.EmptyNumber}, {Name: "t", Empty: union.EmptyString},
			}, Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"change", "members: [a], discriminatorChange: Allow", schema, union.Union{Members: members("a"), Cardinality: union.AtMostOne, Change: union.Allow}, nil},
		{"table", "members: [a, b], allowedChanges: {a: [b, ''], b: []}", schema, union.Union{Members: members("a", "b"), Cardinality: union.AtMostOne,
			Change: union.AllowedChanges, Allowed: map[string][]string{"a": {"b", ""}, "b": {}}}, nil},
		{"empty table", "members: [a], allowedChanges: {}", schema, union.Union{Members: members("a"), Cardinality: union.AtMostOne, Change: union.AllowedChanges, Allowed: map[string][]string{}}, nil},
		{"ratchet", "members: [a], ratchet: true, discriminatorChange: Clear", schema, union.Union{Members: members("a"), Cardinality: union.AtMostOne, Change: union.Clear, Ratchet: true}, nil},
		{"false", "members: [a], ratchet: false", schema, union.Union{Members: members("a"), Cardinality: union.AtMostOne, Change: union.Allow}, nil},

		{"discriminator", typed, schema, discriminated(union.Union{}), nil},
		{"optional", typed + ", optionalMembers: [b]", schema, discriminated(union.Union{Members: []union.Member{ab[0], {Name: "b", Values: ab[1].Values, Optional: ab[1].Values}}}), nil},
		{"unmapped", typed + ", unmappedValues: Forbid", schema, discriminated(union.Union{ForbidUnmapped: true}), nil},
		{"unmapped allowed", typed + ", unmappedValues: Allow", schema, discriminated(union.Union{}), nil},
		{"deduce", typed + ", deduceInvalidDiscriminator: true", schema, discriminated(union.Union{Deduce: true}), nil},
		{"forbid", typed + ", discriminatorChange: Forbid", schema, discriminated(union.Union{Change: union.Forbid}), nil},
		{"table of values", typed + ", allowedChanges: {A: B2, B2: ''}", schema, discriminated(union.Union{Change: union.AllowedChanges, Allowed: map[string][]string{"A": {"B2"}, "B2": {""}}}), nil},
		{"quoted", `"discriminator": 'type', "fields-to-discriminateBy": {"a": "A", "b": ["B", 'B2']}`, schema, discriminated(union.Union{}), nil},

		{"required", typed, "{type: object, required: [type], properties: {" + properties + "}}", discriminated(union.Union{Cardinality: union.ExactlyOne}), nil},
		{"required, at most one", typed + ", cardinality: AtMostOne", "{type: object, required: [type], properties: {" + properties + "}}", discriminated(union.Union{}), nil},
		{"default", typed, "{type: object, properties: {type: {type: string, default: A}, " + properties[len("type: {type: string}, "):] + "}}", discriminated(union.Union{}), []string{
			`2:19: warning: UC501: discriminator "type" has the default "A": users get errors about a value they never wrote; hint: drop the default; deduceInvalidDiscriminator: true lets users leave the discriminator out`}},
		{"enum", typed, "{type: object, properties: {type: {type: string, enum: [B, None, A, B2, '']}, " + properties[len("type: {type: string}, "):] + "}}",
			func() union.Union {
				u := discriminated(union.Union{})
				u.Values, u.Enumerated = []string{"A", "B", "B2", "None"}, true
				return u
			}(), nil},
		{"memberless value in a table", typed + ", allowedChanges: {A: None, None: B}", "{type: object, properties: {type: {type: string, enum: [B, None, A, B2]}, " + properties[len("type: {type: string}, "):] + "}}",
			func() union.Union {
				u := discriminated(union.Union{Change: union.AllowedChanges, Allowed: map[string][]string{"A": {"None"}, "None": {"B"}}})
				u.Values, u.Enumerated = []string{"A", "B", "B2", "None"}, true
				return u
			}(), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unions, got := resolve(t, "- {"+tt.declaration+"}", tt.schema, false)
			if diff := cmp.Diff(tt.warnings, got); diff != "" {
				t.Error(diff)
			}
			if unions[0] == nil {
				t.Fatal("no union")
			}
			if diff := cmp.Diff(tt.want, *unions[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Declarations may use aliases and merge keys.
func TestResolveMergeKeys(t *testing.T) {
	const items = `- &base
  fields-to-discriminateBy: &fields {a: A}
  discriminator: &type type
- <<: *base
  discriminator: kind2
  fields-to-discriminateBy:
    c: &c [C, &c2 C2]
  allowedChanges: {C: *c2}
- {discriminator: kind3, fields-to-discriminateBy: {d: *c}, name: *type}
`
	unions, got := resolve(t, items, "{type: object, properties: {type: {type: string}, kind2: {type: string}, kind3: {type: string}, a: {type: string}, c: {type: string}, d: {type: string}}}", false)
	if len(got) > 0 {
		t.Fatal(got)
	}
	if u := unions[1]; u.Discriminator != "kind2" || len(u.Members) != 1 || u.Members[0].Name != "c" || !cmp.Equal(u.Allowed, map[string][]string{"C": {"C2"}}) {
		t.Errorf("%+v", u)
	}
	if u := unions[2]; u.Name != "type" || !cmp.Equal(u.Members[0].Values, []string{"C", "C2"}) {
		t.Errorf("%+v", u)
	}
}

// A declaration with errors gives a nil union, and does not affect the others.
func TestResolveKeepsOrder(t *testing.T) {
	unions, got := resolve(t, "- members: [a]\n- members: [nope]\n- members: [b]\n", "{type: object, properties: {a: {type: string}, b: {type: string}}}", false)
	if len(unions) != 3 || unions[0] == nil || unions[1] != nil || unions[2] == nil || len(got) != 1 {
		t.Errorf("%v %v", unions, got)
	}
}

func TestDeclaration(t *testing.T) {
	var doc = parse(t, "- {discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid, ratchet: true}\n- {members: [c]}\n- {members: [d], allowedChanges: {}}")
	tests := []struct {
		discriminator string
		properties    []string
		demands       []string
	}{
		{"type", []string{"type", "a", "b"}, []string{"discriminatorChange: Forbid 1:86", "ratchet 1:94"}},
		{"", []string{"c"}, nil},
		{"", []string{"d"}, []string{"allowedChanges 3:18"}},
	}
	for i, tt := range tests {
		d := doc[i]
		var demands []string
		for _, demand := range d.Demands() {
			demands = append(demands, demand.Key+" "+demand.Pos.String())
		}
		if d.Discriminator() != tt.discriminator || !cmp.Equal(d.Properties(), tt.properties) || !cmp.Equal(demands, tt.demands) || d.Pos.Line != i+1 || d.Path != "spec" {
			t.Errorf("%q %q %q", d.Discriminator(), d.Properties(), demands)
		}
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"AtMostOne": union.AtMostOne.String(), "ExactlyOne": union.ExactlyOne.String(), "AtLeastOne": union.AtLeastOne.String(),
		"Clear": union.Clear.String(), "Allow": union.Allow.String(), "Forbid": union.Forbid.String(), "allowedChanges": union.AllowedChanges.String(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
