package e2e

// The properties of most unions.
const (
	ab  = "a: {type: object}\n  b: {type: string}\n"
	abc = ab + "  c: {type: array, items: {type: integer}}\n"
)

var (
	empty        = map[string]any{}
	typedRequest = map[string][]any{"type": {"", "A", "B", "Other"}, "a": {empty}, "b": {"", "x"}}
	closed       = map[string][]any{"type": {"A", "B", "None"}, "a": {empty}, "b": {"x"}}
	three        = map[string][]any{"a": {empty}, "b": {"x"}, "c": {[]any{}}}
)

// sources are the files of the suite: those below kep-1027 use the keys of KEP-1027, those below
// extensions also keys of this project.
var sources = []source{
	{"kep-1027/optional-discriminator", "An optional discriminator: at most one member, which the discriminator selects.", `
type: object
properties:
  type: {type: string}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
`, typedRequest},
	{"kep-1027/required-discriminator", "A required discriminator: exactly one member, or none for a value of no member.", `
type: object
required: [type]
properties:
  type: {type: string, enum: [A, B, None]}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
`, closed},
	{"kep-1027/no-discriminator", "No discriminator: at most one member.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- members: [a, b, c]
`, three},
	{"kep-1027/two-unions", "Two unions of one object.", `
type: object
properties:
  type: {type: string, enum: [A, B, None]}
  ` + ab + `  c: {type: integer}
  d: {type: integer}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
- members: [c, d]
`, map[string][]any{"type": {"A", "None"}, "a": {empty}, "c": {int64(0)}, "d": {int64(1)}}},
	{"kep-1027/deduced-discriminator", "The discriminator may be absent while one member is set (kube-openapi).", `
type: object
properties:
  type: {type: string}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  deduceInvalidDiscriminator: true
`, typedRequest},
	{"extensions/exactly-one", "Exactly one member.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- members: [a, b, c]
  cardinality: ExactlyOne
`, three},
	{"extensions/at-least-one", "At least one member.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- members: [a, b, c]
  cardinality: AtLeastOne
`, three},
	{"extensions/unmapped-values", "Values of no member are rejected.", `
type: object
properties:
  type: {type: string}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  unmappedValues: Forbid
`, typedRequest},
	{"extensions/optional-members", "A selected member that may be absent.", `
type: object
properties:
  type: {type: string}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  optionalMembers: [b]
`, typedRequest},
	{"extensions/several-values", "Several values of a member, and a value of several members.", `
type: object
properties:
  type: {type: string, enum: [A, A2, B]}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: [A, A2], b: [A, B]}
`, map[string][]any{"type": {"A", "A2", "B"}, "a": {empty}, "b": {"x"}}},
	{"extensions/empty-is-unset", "Empty members are unset.", `
type: object
properties:
  type: {type: string}
  a: {type: object, properties: {x: {type: integer}}}
  b: {type: string}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  emptyIsUnset: [a, b]
`, map[string][]any{"type": {"A", "B"}, "a": {empty, map[string]any{"x": int64(1)}}, "b": {"", "x"}}},
	{"extensions/immutable", "The discriminator may not change once set.", `
type: object
properties:
  type: {type: string, enum: [A, B, None]}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  discriminatorChange: Forbid
`, closed},
	{"extensions/allowed-changes", "A table of the changes that are allowed.", `
type: object
properties:
  type: {type: string, enum: [A, B, None]}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  allowedChanges: {A: [B, ""], None: A}
`, closed},
	{"extensions/cleared-members", "Without a discriminator, setting a member clears the others.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- members: [a, b, c]
  discriminatorChange: Clear
`, three},
	{"extensions/boolean-discriminator", "A boolean discriminator: false is a value.", `
type: object
properties:
  type: {type: boolean}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: true, b: false}
  optionalMembers: [b]
`, map[string][]any{"type": {true, false}, "a": {empty}, "b": {"x"}}},
	{"extensions/integer-discriminator", "An integer discriminator: 0 is a value.", `
type: object
properties:
  type: {type: integer}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: 0, b: 443}
`, map[string][]any{"type": {int64(0), int64(443), int64(1)}, "a": {empty}, "b": {"x"}}},
	{"extensions/unset-value", "A discriminator that has a value while it is not set.", `
type: object
properties:
  type: {type: string, enum: [A, B, None]}
  ` + ab + `x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  unset: A
  discriminatorChange: Forbid
`, closed},
	{"extensions/groups", "A group of properties is one alternative.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- members: [a, [b, c]]
  cardinality: ExactlyOne
  optionalMembers: [c]
  allowedChanges: {a: b+c}
`, three},
	{"extensions/presence-relations", "Properties that require or exclude others.", `
type: object
properties:
  ` + abc + `x-kubernetes-unions:
- dependentRequired: {a: b}
  dependentForbidden: {c: a}
`, three},
	{"extensions/inner-choice", "A member of one union is the discriminator of another.", `
type: object
properties:
  type: {type: string, enum: [A, B]}
  ` + ab + `  c: {type: integer}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
- discriminator: b
  fields-to-discriminateBy: {c: x}
`, map[string][]any{"type": {"A", "B"}, "a": {empty}, "b": {"x", "z"}, "c": {int64(0)}}},
}
