package union_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object is the schema for most declarations in tests. Declarations are written as list items,
// from line 2.
const object = `type: object
required: [must]
properties:
  type: {type: string}
  kind2: {type: string, enum: [A, B, None]}
  a: {type: object, properties: {x: {type: string}}}
  b: {type: string}
  c: {type: array, items: {type: string}}
  d: {type: object, additionalProperties: {type: integer}}
  must: {type: string}
  filled: {type: string, default: x}
  number: {type: integer}
  flag: {type: boolean}
  long: {type: integer, enum: [9007199254740993, 1], default: 9007199254740993}
  either: {x-kubernetes-int-or-string: true}
  date: {type: string, format: date}
  blank: {x-kubernetes-preserve-unknown-fields: true}
  blanks: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}
  blankMap: {type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {x: {type: string}}}
  half: {type: object, properties: {x: {type: string}, y-: {x-kubernetes-preserve-unknown-fields: true}, "y z": {type: string}}}
  embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  bare: {type: object}
  in: {type: object, required: [must], properties: {type: {type: string, enum: [A, B]}, must: {type: string}, x: {type: string}, deep: {type: object, properties: {last: {type: string}}}}}
  a b: {type: string}
  1a: {type: string}
`

const (
	knownHint   = "write one of 1a, a, a b, b, bare, blank, blankMap, blanks, c, d, date, either"
	missingDisc = "- fields-to-discriminateBy: {a: A, b: B}\n"
)

func TestResolveErrors(t *testing.T) {
	tests := []struct {
		name, text string // the items
		want       []string
	}{
		{"unknown members", "- members: [A, a, foo, missing]", []string{
			`2:13: error: UC203: member "A" is not a property of this object; hint: write "a"`,
			`2:19: error: UC203: member "foo" is not a property of this object`,
			`2:24: error: UC203: member "missing" is not a property of this object`,
		}},
		{"misspelt member", "- members: [ope, a]", []string{`2:13: error: UC203: member "ope" is not a property of this object; hint: write "open"`}},
		{"unknown members of lists", "- members: [a, b]\n  optionalMembers: [c]\n  emptyIsUnset: [aa, type]", []string{
			`3:21: error: UC203: optionalMembers names "c", which is not a member of this union; hint: write one of a, b`,
			"3:21: error: UC220: a member is optional only if a discriminator selects it; hint: delete it: without a discriminator no member is required",
			`4:18: error: UC203: emptyIsUnset names "aa", which is not a member of this union; hint: write "a"`,
			`4:22: error: UC203: emptyIsUnset names "type", which is not a member of this union; hint: write one of a, b`,
		}},
		{"relations", "- dependentRequired: {a: [b, b, a, foo], must: [filled], c: []}\n  dependentForbidden: {d: b}\n  emptyIsUnset: [kind2]", []string{
			`2:30: error: UC210: "b" is listed twice for "a"; hint: delete one of them`,
			`2:33: error: UC220: dependentRequired relates "a" to itself; hint: delete it`,
			`2:36: error: UC203: member "foo" is not a property of this object`,
			`2:42: error: UC214: member "must" is required by the schema, so it is always set; hint: members are optional properties without a default: only the union decides which one is set`,
			`2:49: error: UC214: member "filled" has a default, so it is always set; hint: members are optional properties without a default: only the union decides which one is set`,
			`2:58: error: UC212: dependentRequired relates "c" to no property; hint: list the other properties, or delete the entry`,
			`4:18: error: UC203: emptyIsUnset names "kind2", which is not a member of this union; hint: write one of a, b, c, d, filled, foo, must`,
		}},
		{"contradictory relations", "- dependentRequired: {a: b, b: c, d: a}\n  dependentForbidden: {c: [d]}", []string{
			"2:3: error: UC220: d may never be set: it requires a, b, c, but c forbids d; hint: delete one of the relations",
		}},
		{"no relations", "- dependentRequired: {}\n- dependentForbidden: {}", []string{
			"2:3: error: UC212: the union has no members; hint: list the relations: dependentRequired: {http: [port]}",
			"3:3: error: UC212: the union has no members; hint: list the relations: dependentForbidden: {http: [socket]}",
		}},
		{"groups", "- members: [a, [c, d]]\n  optionalMembers: {c: c+d}\n- members: [b, [bare, date]]\n  optionalMembers: [b]\n  allowedChanges: {x: b, bare+date: b}", []string{
			`3:21: error: UC220: optionalMembers gives "c" values, which only members selected by a discriminator have; hint: list the properties: optionalMembers: [c]`,
			`5:21: error: UC220: optionalMembers names "b", which no group could require; hint: list only properties of groups`,
			`6:20: error: UC221: allowedChanges names "x", which is not a known member or group; hint: write one of b, bare+date`,
		}},
		{"relations with other keys", "- dependentRequired: {a: b}\n  members: [a, b]\n- dependentForbidden: {a: b}\n  cardinality: ExactlyOne\n- dependentForbidden: {a: b}\n  discriminatorChange: Forbid", []string{
			"3:3: error: UC220: a declaration with dependentRequired has no members: it restricts no number of members; hint: delete it, or write a second item of x-kubernetes-unions with it",
			"5:16: error: UC220: a declaration with dependentForbidden has no cardinality: it restricts no number of members; hint: delete it, or write a second item of x-kubernetes-unions with it",
			"7:24: error: UC220: dependentForbidden has no transitions to restrict; hint: delete discriminatorChange",
		}},
		{"messages", "- discriminator: type\n  fields-to-discriminateBy: {a: A, b: Bee}\n  messages: {aa: x, type: x, Bee: x, c: x}", []string{
			`4:14: error: UC203: messages names "aa", which is neither a member nor the discriminator of this union; hint: write "a"`,
			`4:21: error: UC220: the text for required and forbidden in messages is never printed: the union has no such error; hint: delete it`,
			`4:30: error: UC203: messages names "Bee", which is neither a member nor the discriminator of this union; hint: name the member that the value selects: "b"`,
			`4:38: error: UC203: messages names "c", which is neither a member nor the discriminator of this union; hint: write one of a, b, type`,
		}},
		{"messages without a discriminator", "- members: [a, b]\n  messages: {a: x}\n  message: {changed: x}\n- members: [c, d]\n  cardinality: AtLeastOne\n  message: {changed: x, required: z}", []string{
			"3:3: error: UC220: without a discriminator no error is about one member: messages needs a discriminator; hint: write message: TEXT instead",
			"4:3: error: UC220: the union allows all changes, so that the text for changes is never printed; hint: delete changed",
			"7:3: error: UC220: the union allows all changes, so that the text for changes is never printed; hint: delete changed",
		}},
		{"unknown discriminators", "- discriminator: typ\n  fields-to-discriminateBy: {a: A}\n- discriminator: ''\n  fields-to-discriminateBy: {b: A}", []string{
			`2:18: error: UC204: discriminator "typ" is not a property of this object; hint: write "type"`,
			`4:18: error: UC204: discriminator "" is not a property of this object`,
		}},
		{"misspelt in an object below", "- discriminator: in.typ\n  fields-to-discriminateBy: {a: A, in.deep.z: B, in.must.x: C}", []string{
			`2:18: error: UC204: discriminator "in.typ" is not a property of this object; hint: write "in.type"`,
			`3:36: error: UC203: member "in.deep.z" is not a property of this object; hint: there is only "in.deep.last"`,
			`3:50: error: UC203: member "in.must.x" is not a property of this object; hint: write "in.must"`,
		}},
		{"of an object below, in each other", "- discriminator: in.type\n  fields-to-discriminateBy: {in: A, b: B, in.other: A}\n- members: [in.type, in.x]", []string{
			`2:18: error: UC220: "in.type" is in "in", which the union names, too; hint: declare the union on in, or name properties that are not in each other`,
			`3:43: error: UC203: member "in.other" is not a property of this object; hint: write one of in.deep, in.must, in.type, in.x`,
		}},
		{"a path that leads to no object below", "- members: [b, \"['a']\"]", []string{
			`2:16: error: UC203: member "['a']" is not a property of this object`,
		}},
		{"value not in the enum below", "- discriminator: in.type\n  fields-to-discriminateBy: {a: A, b: BB}", []string{
			`3:39: error: UC218: value "BB" of member "b" is not in the enum of "in.type"; hint: write "B"`,
		}},
		{"names CEL cannot express", "- discriminator: a b\n  fields-to-discriminateBy: {1a: A}", []string{
			`2:18: error: UC205: CEL cannot express the name of discriminator "a b"; hint: rename the property: CEL names are letters, digits, '_', '-', '.' and '/', and start with no digit`,
			`3:30: error: UC205: CEL cannot express the name of member "1a"; hint: rename the property: CEL names are letters, digits, '_', '-', '.' and '/', and start with no digit`,
		}},
		{"invisible", "- discriminator: blank\n  fields-to-discriminateBy: {blanks: A, blankMap: B}", []string{
			`2:18: error: UC206: CEL cannot see discriminator "blank": its schema has no type; hint: give the property (and its items or values) a type`,
			`3:30: error: UC206: CEL cannot see member "blanks": its schema is a list whose items have no type; hint: give the property (and its items or values) a type`,
			`3:41: error: UC206: CEL cannot see member "blankMap": its schema is a map whose values have no type; hint: give the property (and its items or values) a type`,
		}},
		{"invisible and empty", "- members: [open, half]\n  emptyIsUnset: [half, open]", []string{
			`3:18: error: UC206: CEL cannot tell whether "half" is empty: it does not see its property "y z"; hint: take the member out of emptyIsUnset, or give the property a type`,
			`3:18: error: UC206: CEL cannot tell whether "half" is empty: it does not see its property "y-"; hint: take the member out of emptyIsUnset, or give the property a type`,
			`3:24: error: UC206: CEL cannot tell whether "open" is empty: it does not see unknown fields; hint: take the member out of emptyIsUnset`,
		}},
		{"discriminators of other types", "- {discriminator: number, fields-to-discriminateBy: {a: A}}\n- {discriminator: either, fields-to-discriminateBy: {b: A}}\n- {discriminator: date, fields-to-discriminateBy: {c: A}}\n- {discriminator: d, fields-to-discriminateBy: {open: A}}", []string{
			`2:57: error: UC218: value "A" is not a value of "number", which is of type integer; hint: write a decimal integer`,
			`3:19: error: UC207: discriminator "either" must be a string, boolean or integer in CEL; it is x-kubernetes-int-or-string; hint: use a boolean, an integer or a string without a format`,
			`4:19: error: UC207: discriminator "date" must be a string, boolean or integer in CEL; it is of type string with format date; hint: use a boolean, an integer or a string without a format`,
			`5:19: error: UC207: discriminator "d" must be a string, boolean or integer in CEL; it is a map; hint: use a boolean, an integer or a string without a format`,
		}},
		{"discriminator is a member", "- {discriminator: b, fields-to-discriminateBy: {a: A, b: B}}", []string{
			`2:19: error: UC208: "b" is both the discriminator and a member; hint: take it out of the members`,
		}},
		{"discriminator is a member elsewhere", "- {members: [a, b]}\n- {discriminator: b, fields-to-discriminateBy: {c: C}}\n- {members: [d, b]}", nil},
		{"discriminator shared", "- {discriminator: type, fields-to-discriminateBy: {a: A}}\n- {discriminator: type, fields-to-discriminateBy: {b: B}}\n- {members: [c, type]}", []string{
			`3:19: error: UC209: "type" is the discriminator of two unions; hint: declare one union, or use different properties; see 2:3: the other union`,
		}},
		{"duplicate values", "- discriminator: type\n  fields-to-discriminateBy:\n    a: [A, A]\n    b: [B, A]\n  optionalMembers: {b: [A, A]}", []string{
			`4:12: error: UC210: value "A" is listed twice for "a"; hint: delete one of them`,
			`6:28: error: UC210: value "A" is listed twice for "b"; hint: delete one of them`,
		}},
		{"values of others", "- discriminator: type\n  fields-to-discriminateBy: {a: Ape, b: [Bee, Cat]}\n  optionalMembers: {b: [Be, Ape], a: []}", []string{
			`4:25: error: UC220: "b" is optional for "Be", which does not select it; hint: write "Bee"`,
			`4:29: error: UC220: "b" is optional for "Ape", which does not select it; hint: write one of Bee, Cat`,
			`4:35: error: UC220: no value is listed for which "a" is optional; hint: delete it, or list the values`,
		}},
		{"deduced from several", "- {discriminator: type, fields-to-discriminateBy: {a: A, b: [A, B]}, deduceInvalidDiscriminator: true}", []string{
			`2:70: error: UC220: a member cannot tell the discriminator when a value selects several members; hint: delete deduceInvalidDiscriminator, or give each member values of its own`,
		}},
		{"members shared", "- members: [a, b, a]\n- {discriminator: type, fields-to-discriminateBy: {c: C, b: B}}", []string{
			`2:19: error: UC211: "a" is listed twice`,
		}},
		{"no members", "- {discriminator: type}\n- name: x\n  members: []\n- {discriminator: kind2, fields-to-discriminateBy: {}, unmappedValues: Forbid}\n- {fields-to-discriminateBy: {}}", []string{
			"2:3: error: UC212: the union has no members; hint: list them: fields-to-discriminateBy: {member: Value}, or members: [member] without a discriminator",
			"4:3: error: UC212: the union has no members; hint: list them: fields-to-discriminateBy: {member: Value}, or members: [member] without a discriminator",
			"5:72: error: UC212: the union has no members yet, so that unmappedValues: Forbid leaves no value; hint: delete unmappedValues until there are members",
			"6:4: error: UC212: the union has no members; hint: list them: fields-to-discriminateBy: {member: Value}, or members: [member] without a discriminator",
		}},
		{"no value", "- {discriminator: type, fields-to-discriminateBy: {a: [], b: B}}", []string{
			`2:52: error: UC212: no discriminator value selects "a"; hint: give it a value`,
		}},
		{"empty value", "- {discriminator: type, fields-to-discriminateBy: {a: '', b: [B, \"\"]}}", []string{
			`2:55: error: UC213: the empty value cannot select "a"; hint: "" means that the discriminator is unset; give the member a value`,
			`2:66: error: UC213: the empty value cannot select "b"; hint: "" means that the discriminator is unset; give the member a value`,
		}},
		{"always set", "- members: [a, must, filled]", []string{
			`2:16: error: UC214: member "must" is required by the schema, so it is always set; hint: members are optional properties without a default: only the union decides which one is set`,
			`2:22: error: UC214: member "filled" has a default, so it is always set; hint: members are optional properties without a default: only the union decides which one is set`,
		}},
		{"value not in the enum", "- discriminator: kind2\n  fields-to-discriminateBy: {a: a, b: [B, Other]}", []string{
			`3:33: error: UC218: value "a" of member "a" is not in the enum of "kind2"; hint: write "A"`,
			`3:43: error: UC218: value "Other" of member "b" is not in the enum of "kind2"; hint: write one of A, B, None`,
		}},
		{"nothing is empty", "- members: [number, bare, embedded, date]\n  emptyIsUnset: [date, bare, embedded]", []string{
			`3:18: error: UC219: emptyIsUnset works for booleans, numbers, strings without a format, lists, maps and objects with properties; "date" is of type string with format date; hint: take it out of emptyIsUnset`,
			`3:24: error: UC219: emptyIsUnset works for booleans, numbers, strings without a format, lists, maps and objects with properties; "bare" is an object without properties; hint: take it out of emptyIsUnset`,
			`3:30: error: UC219: "embedded" is an embedded resource, which is never empty; hint: take it out of emptyIsUnset`,
		}},
		{"members with a discriminator", "- discriminator: type\n  members: [a, b]", []string{
			`3:3: error: UC220: members has no room for the values of discriminator "type"; hint: use fields-to-discriminateBy: {member: Value}`,
		}},
		{"at least one with a discriminator", "- {discriminator: type, fields-to-discriminateBy: {a: A}, cardinality: AtLeastOne}", []string{
			"2:72: error: UC220: AtLeastOne contradicts a discriminator, which selects the members; hint: use ExactlyOne or AtMostOne, or drop the discriminator",
		}},
		{"deduce without a discriminator", missingDisc + "  deduceInvalidDiscriminator: true", []string{
			"3:3: error: UC220: there is no discriminator to deduce; hint: delete deduceInvalidDiscriminator",
		}},
		{"unmapped without a discriminator", missingDisc + "  unmappedValues: Allow", []string{
			"3:19: error: UC220: there is no discriminator that could have unmapped values; hint: delete unmappedValues",
		}},
		{"deduce and exactly one", "- {discriminator: type, fields-to-discriminateBy: {a: A}, cardinality: ExactlyOne, deduceInvalidDiscriminator: true}", []string{
			`2:84: error: UC220: ExactlyOne requires that "type" is set, deduceInvalidDiscriminator lets it be left out; hint: delete one of the two`,
		}},
		{"no transitions", "- {members: [a], cardinality: AtLeastOne, discriminatorChange: Forbid}\n- {members: [b], cardinality: AtLeastOne, discriminatorChange: Clear}\n- {members: [c], cardinality: AtLeastOne, allowedChanges: {}}\n- {members: [d], cardinality: AtLeastOne, discriminatorChange: Allow}", []string{
			"2:64: error: UC220: cardinality AtLeastOne has no transitions to restrict; hint: delete discriminatorChange",
			"3:64: error: UC220: cardinality AtLeastOne has no transitions to restrict; hint: delete discriminatorChange",
			"4:43: error: UC220: cardinality AtLeastOne has no transitions to restrict; hint: delete allowedChanges",
		}},
		{"two kinds of change", "- {members: [a, b], discriminatorChange: Forbid, allowedChanges: {a: b}}", []string{
			"2:42: error: UC220: discriminatorChange and allowedChanges are both set; hint: delete discriminatorChange: allowedChanges takes its place",
		}},
		{"unknown changes", "- {discriminator: type, fields-to-discriminateBy: {a: HTTP, b: TCP}, allowedChanges: {HTPT: TCP, '': TCP, HTTP: ['', TPC]}}\n- {members: [c, d], allowedChanges: {c: [D, e1]}}", []string{
			`2:87: error: UC221: allowedChanges names "HTPT", which is not a known value of the discriminator; hint: write "HTTP"`,
			`2:98: error: UC221: an unset union may always be set: "" needs no row; hint: delete this row`,
			`2:118: error: UC221: allowedChanges names "TPC", which is not a known value of the discriminator; hint: write "TCP"`,
			`3:42: error: UC221: allowedChanges names "D", which is not a known member; hint: write "d"`,
			`3:45: error: UC221: allowedChanges names "e1", which is not a known member; hint: write one of c, d`,
		}},
		{"integers beyond the precision of floats", "- {discriminator: long, fields-to-discriminateBy: {a: 9007199254740993, b: 1}, unset: 9007199254740993}", nil},
		{"integers are not misspelt", "- discriminator: number\n  fields-to-discriminateBy: {a: 8080, c: 443}\n  allowedChanges: {8080: 8081}\n- discriminator: long\n  fields-to-discriminateBy: {b: 9007199254740992}", []string{
			`5:18: warning: UC501: discriminator "long" has the default 9007199254740993: users get errors about a value they never wrote; hint: drop the default; unset: 9007199254740993 lets users leave the discriminator out`,
			`6:33: error: UC218: value "9007199254740992" of member "b" is not in the enum of "long"; hint: write one of 1, 9007199254740993`,
		}},
		{"misspelt unset", "- discriminator: type\n  fields-to-discriminateBy: {b: Local}\n  unset: Locl\n- discriminator: number\n  fields-to-discriminateBy: {a: 80, c: 443}\n  unset: 81", []string{
			`4:10: error: UC218: value "Locl" of unset is not a known value of "type"; hint: write "Local"`,
		}},
		{"forms of integers", "- discriminator: number\n  fields-to-discriminateBy: {a: [0x10, 1e3, 010, -9223372036854775808, 9223372036854775807], b: 9223372036854775808, c: [1_000, \"0x10\"], d: 1.0}\n- {discriminator: type, fields-to-discriminateBy: {date: 1e3}}", []string{
			`3:34: error: UC218: 0x10 is not a value of "number", which is of type integer; hint: write 16`,
			`3:40: error: UC218: 1e3 is not a value of "number", which is of type integer; hint: write 1000`,
			`3:45: error: UC218: 010 is not a value of "number", which is of type integer; hint: write 8`,
			`3:97: error: UC218: 9223372036854775808 is not a value of "number", which is of type integer; hint: write an integer of at most 64 bits`,
			`3:122: error: UC218: 1_000 is not a value of "number", which is of type integer; hint: write 1000`,
			`3:129: error: UC218: value "0x10" is not a value of "number", which is of type integer; hint: write a decimal integer`,
			`3:141: error: UC218: 1.0 is not a value of "number", which is of type integer; hint: write 1`,
			`4:58: error: UC105: kubectl reads 1e3 as the number 1000; hint: quote it: "1e3"`,
		}},
		{"shared text", "- &x {members: [a, foo]}\n- {<<: *x, name: x}", []string{
			`2:20: error: UC203: member "foo" is not a property of this object`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := resolve(t, tt.text, object, false)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const keyed = "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, properties: {type: {type: string}}}}"

func TestResolveSchema(t *testing.T) {
	tests := []struct {
		name, declaration, schema string
		resource                  bool
		want                      []string
	}{
		{"no object", "{members: [a]}", "type: string", false, []string{
			"2:3: error: UC215: a union needs an object with properties; this schema is of type string; hint: declare the union on the object whose properties are its members"}},
		{"map", "{members: [a]}", "{type: object, additionalProperties: {type: string}}", false, []string{
			"2:3: error: UC215: a union needs an object with properties; this schema is a map; hint: declare the union on the object whose properties are its members"}},
		{"no properties", "{members: [a]}", "type: object", false, []string{
			"2:3: error: UC215: a union needs an object with properties; this schema is an object without properties; hint: declare the union on the object whose properties are its members"}},
		{"no type", "{members: [a]}", "properties: {a: {type: string}}", false, []string{
			"2:3: error: UC215: a union needs an object with properties; this schema has no type; hint: declare the union on the object whose properties are its members"}},
		{"resource", "{members: [kind, apiVersion, metadata, a]}", "{type: object, properties: {kind: {type: string}, apiVersion: {type: string}, metadata: {type: object}, a: {type: string}}}", true, []string{
			`2:14: error: UC214: member "kind" is set in every resource; hint: members are optional properties without a default: only the union decides which one is set`,
			`2:20: error: UC214: member "apiVersion" is set in every resource; hint: members are optional properties without a default: only the union decides which one is set`,
			`2:32: error: UC214: member "metadata" is set in every resource; hint: members are optional properties without a default: only the union decides which one is set`}},
		{"no resource", "{members: [kind, a]}", "{type: object, properties: {kind: {type: string}, a: {type: string}}}", false, nil},
		{"at most one of a required enum", "{discriminator: type, fields-to-discriminateBy: {a: A}, cardinality: AtMostOne}", "{type: object, required: [type], properties: {type: {type: string, enum: [A]}, a: {type: string}}}", false, []string{
			`2:72: error: UC220: AtMostOne lets "type" be unset, but the schema requires it; hint: delete cardinality, or make the discriminator optional`}},
		{"at most one of a required string", "{discriminator: type, fields-to-discriminateBy: {a: A}, cardinality: AtMostOne}", "{type: object, required: [type], properties: {type: {type: string}, a: {type: string}}}", false, nil},
		{"deduce and required", "{discriminator: type, fields-to-discriminateBy: {a: A}, deduceInvalidDiscriminator: true}", "{type: object, required: [type], properties: {type: {type: string}, a: {type: string}}}", false, []string{
			`2:59: error: UC220: deduceInvalidDiscriminator lets "type" be left out, but the schema requires it; hint: delete deduceInvalidDiscriminator, or make the discriminator optional`}},
		{"deduce and required, nullable", "{discriminator: type, fields-to-discriminateBy: {a: A}, deduceInvalidDiscriminator: true}", "{type: object, required: [type], properties: {type: {type: string, nullable: true}, a: {type: string}}}", false, []string{
			`2:59: error: UC220: deduceInvalidDiscriminator lets "type" be left out, but the schema requires it; hint: delete deduceInvalidDiscriminator, or make the discriminator optional`}},
		{"items", "{members: [{type: A}, {typ: B}, {}, {type: A}, a, {type: 1}, {type: ''}]}", keyed, false, []string{
			`2:26: error: UC226: "typ" is not a key of the list; hint: write "type"`,
			`2:35: error: UC226: the item has no value for the key "type"; hint: write it like {type: A}`,
			`2:39: error: UC211: the item A is listed twice`,
			`2:50: error: UC226: a member of a list is an item, named by its keys; hint: write it like {type: A}`,
			`2:60: error: UC226: kubectl reads 1 as the number 1; hint: write "1"`,
			`2:64: error: UC226: the key of a member cannot be ""; hint: write another value`}},
		{"items of typed keys", "{members: [{port: 80, up: true}, {port: '80', up: yes}, {port: 08, up: false}]}", strings.NewReplacer("[type]", "[port, up]", "type: {type: string}", "port: {type: integer, enum: [80, 443]}, up: {type: boolean}").Replace(keyed), false, []string{
			`2:43: error: UC226: want an integer, not "80"; hint: write it without quotes, like 80`,
			`2:53: error: UC226: want true or false, not "yes"; hint: write it without quotes, like true`,
			`2:66: error: UC226: want an integer, not 08; hint: write it without quotes, like 80`}},
		{"item with a value that the key lacks", "{members: [{type: A}, {type: B}]}", strings.Replace(keyed, "type: {type: string}", "type: {type: string, enum: [A]}", 1), false, []string{
			`2:32: error: UC226: B is not in the enum of "type"; hint: there is only "A"`}},
		{"items with other keys of a declaration", "{members: [{type: A}, {type: B}], discriminator: type, emptyIsUnset: [A]}", keyed, false, []string{
			`2:52: error: UC220: the members are items of a list, which have no use for discriminator; hint: delete discriminator`,
			`2:73: error: UC220: the members are items of a list, which have no use for emptyIsUnset; hint: delete emptyIsUnset`,
		}},
		{"items whose values have slashes", "{members: [{type: a/b, up: c}, {type: a, up: b/c}, {type: a/b, up: c}]}", strings.NewReplacer("[type]", "[type, up]", "type: {type: string}", "type: {type: string}, up: {type: string}").Replace(keyed), false, []string{
			`2:54: error: UC211: the item "a/b"/c is listed twice`}},
		{"an object with a dot in its name", "{discriminator: my.platform.type, fields-to-discriminateBy: {my.platform.aws: AWS, b: B}}", "{type: object, properties: {my.platform: {type: object, properties: {type: {type: string}, aws: {type: object}}}, b: {type: object}}}", false, []string{
			`2:19: error: UC204: discriminator "my.platform.type" is not a property of this object; hint: write "['my.platform'].type"`,
			`2:64: error: UC203: member "my.platform.aws" is not a property of this object; hint: write "['my.platform'].aws"`}},
		{"properties in other objects", "{discriminator: plat.type, fields-to-discriminateBy: {aws: AWS, zones.kind: Z}}", "{type: object, properties: {platform: {type: object, properties: {type: {type: string}}}, config: {type: object, properties: {aws: {type: object}}}, zones: {type: array, items: {type: object, properties: {kind: {type: string}}}}}}", false, []string{
			`2:19: error: UC204: discriminator "plat.type" is not a property of this object; hint: if platform.type is meant, write that`,
			`2:57: error: UC203: member "aws" is not a property of this object; hint: if config.aws is meant, write that`,
			`2:67: error: UC203: member "zones.kind" is not a property of this object; hint: zones[*].kind is in a list or map: declare the union on the object that has it`}},
		{"items of no list", "{members: [{type: A}, {type: B}]}", "{type: array, items: {type: object}}", false, []string{
			"2:3: error: UC215: items are told apart by the keys of a list, and this one is not x-kubernetes-list-type: map; hint: give it x-kubernetes-list-type: map, with x-kubernetes-list-map-keys (in Go, +listType=map and +listMapKey)"}},
		{"names in a list", "{members: [A, B]}", keyed, false, []string{
			"2:3: error: UC215: a union needs an object with properties; this schema is of type array; hint: declare the union on the object whose properties are its members; items are named by their keys, members: [{type: A}]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := resolve(t, "- "+tt.declaration, tt.schema, tt.resource)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
