// Package crdchanges contains changes of CRDs for tests, with their effect on the set of accepted
// objects.
package crdchanges

import "strings"

// Change consists of two schemas of spec, in YAML, and their differences. Each difference is its
// class, in the terms of internal/change, then its path and text.
type Change struct {
	Name, Old, New string
	Want           []string
}

// All lists all changes.
var All = []Change{
	// Unions.
	{"member added", kinds, edit(kinds, "TCP]", "TCP, UDP]", "tcp: {type: object}", "tcp: {type: object}, udp: {type: object}", "tcp: TCP}", "tcp: TCP, udp: UDP}"),
		[]string{"looser spec: union type: member udp added, for UDP"}},
	{"member removed", kinds, edit(kinds, ", TCP]", "]", ", tcp: {type: object}", "", ", tcp: TCP}", "}"),
		[]string{"tighter spec: union type: member tcp removed"}},
	{"member renamed", pair, edit(pair, "b: {type: string}", "c: {type: string}", "[a, b]", "[a, c]"),
		[]string{"both spec: union a, c: member c added; member b removed"}},
	{"at most one, then exactly one", pair, pair + "  cardinality: ExactlyOne\n", []string{"tighter spec: union a, b: cardinality AtMostOne -> ExactlyOne"}},
	{"exactly one, then at most one", pair + "  cardinality: ExactlyOne\n", pair, []string{"looser spec: union a, b: cardinality ExactlyOne -> AtMostOne"}},
	{"at most one, then at least one", pair, pair + "  cardinality: AtLeastOne\n", []string{"both spec: union a, b: cardinality AtMostOne -> AtLeastOne"}},
	{"value added", kinds, edit(kinds, "TCP]", "TCP, TLS]", "tcp: TCP}", "tcp: [TCP, TLS]}"), []string{"looser spec: union type: member tcp is for TCP, TLS, was for TCP"}},
	{"value renamed", kinds, edit(kinds, "TCP]", "Tcp]", "tcp: TCP}", "tcp: Tcp}"), []string{"both spec: union type: member tcp is for Tcp, was for TCP"}},
	{"member made optional", kinds, kinds + "  optionalMembers: [tcp]\n", []string{"looser spec: union type: member tcp may stay unset: never -> TCP"}},
	{"unmapped values forbidden", free, free + "  unmappedValues: Forbid\n", []string{"tighter spec: union type: unmappedValues: Forbid: false -> true"}},
	{"changes forbidden", kinds, kinds + "  discriminatorChange: Forbid\n", []string{"tighter spec: union type: discriminatorChange Clear -> Forbid"}},
	{"some changes allowed", kinds + "  discriminatorChange: Forbid\n", kinds + "  allowedChanges: {HTTP: [TCP]}\n", []string{"looser spec: union type: discriminatorChange Forbid -> allowedChanges"}},
	{"discriminator deduced", free, free + "  deduceInvalidDiscriminator: true\n", []string{"looser spec: union type: deduceInvalidDiscriminator: false -> true"}},
	{"union removed", pair, with(""), []string{"looser spec: union a, b removed"}},
	{"discriminator added", "type: object\nproperties: {http: {type: object}, tcp: {type: object}}\nx-kubernetes-unions:\n- members: [http, tcp]\n", kinds,
		[]string{"tighter spec: union type: discriminator none -> type; cardinality AtMostOne -> ExactlyOne; discriminatorChange Allow -> Clear", "tighter spec.type: required added", "looser spec.type: property type added"}},
	{"union in place of rules", rules("!(has(self.a) && has(self.b))"), pair, []string{"same spec: union a, b added"}},
	{"member added in another object", elsewhere, edit(elsewhere, "tcp: {type: object}", "tcp: {type: object}, udp: {type: object}", "config.tcp: TCP}", "config.tcp: TCP, config.udp: UDP}", "TCP]", "TCP, UDP]"),
		[]string{"looser spec: union platform.type: member config.udp added, for UDP"}},
	{"changes forbidden in another object", elsewhere, elsewhere + "  discriminatorChange: Forbid\n", []string{"tighter spec: union platform.type: discriminatorChange Clear -> Forbid"}},
	{"union in a list", list(pair), list(pair + "  cardinality: ExactlyOne\n"), []string{"tighter spec.l[*]: union a, b: cardinality AtMostOne -> ExactlyOne"}},

	{"union of items added", edit(items, "      x-kubernetes-unions: [{members: [{type: A}, {type: B}]}]\n", ""), items, []string{"tighter spec.l: union A, B added"}},

	// Rules.
	{"rule added", with(""), rules("has(self.a) != has(self.b)"), []string{"tighter spec: rule added: has(self.a) != has(self.b)"}},
	{"rule removed", rules("has(self.a) != has(self.b)"), with(""), []string{"looser spec: rule removed: has(self.a) != has(self.b)"}},
	{"rule in other words", rules("!(has(self.a) && has(self.b))"), rules("!has(self.a) || !has(self.b)"), []string{"same spec: rule changed: !(has(self.a) && has(self.b)) -> !has(self.a) || !has(self.b)"}},
	{"rule that follows", rules("has(self.a)"), rules("has(self.a)", "has(self.a) || has(self.b)"), []string{"same spec: rule added: has(self.a) || has(self.b)"}},
	{"rule moved", nested + "x-kubernetes-validations:\n- rule: '!has(self.o) || has(self.o.a)'\n", edit(nested, "b: {type: string}}", "b: {type: string}}, x-kubernetes-validations: [{rule: has(self.a)}]"),
		[]string{"same spec: rule removed: !has(self.o) || has(self.o.a)", "same spec.o: rule added: has(self.a)"}},
	{"rule on each item moved to the items", list(with("")) + "    x-kubernetes-validations:\n    - rule: 'self.all(x, has(x.a) != has(x.b))'\n", list(rules("has(self.a) != has(self.b)")),
		[]string{"same spec.l: rule removed: self.all(x, has(x.a) != has(x.b))", "same spec.l[*]: rule added: has(self.a) != has(self.b)"}},
	{"union in items in place of a rule on the object", list(with("")) + "x-kubernetes-validations:\n- rule: '!has(self.l) || self.l.all(x, !has(x.a) || !has(x.b))'\n", list(pair),
		[]string{"same spec: rule removed: !has(self.l) || self.l.all(x, !has(x.a) || !has(x.b))", "same spec.l[*]: union a, b added"}},
	{"rule on each item that the items do not imply", list(rules("!has(self.a) || !has(self.b)")), list(with("")) + "    x-kubernetes-validations:\n    - rule: 'self.all(x, has(x.a) != has(x.b))'\n",
		[]string{"tighter spec.l: rule added: self.all(x, has(x.a) != has(x.b))", "same spec.l[*]: rule removed: !has(self.a) || !has(self.b)"}},
	{"length moved to a rule", value("string, maxLength: 5"), value("string") + "x-kubernetes-validations:\n- rule: '!has(self.v) || size(self.v) <= 5'\n",
		[]string{"same spec: rule added: !has(self.v) || size(self.v) <= 5", "same spec.v: maxLength removed: 5"}},
	{"length moved from a rule", value("array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.size() < 6'}]"), value("array, items: {type: string}, maxItems: 5"),
		[]string{"same spec.v: rule removed: self.size() < 6", "same spec.v: maxItems added: 5"}},
	{"bound moved to a looser rule", value("integer, maximum: 5"), value("integer") + "x-kubernetes-validations:\n- rule: '!has(self.v) || self.v <= 6'\n",
		[]string{"same spec: rule added: !has(self.v) || self.v <= 6", "looser spec.v: maximum removed: 5"}},
	{"format of all integers", value("integer"), value("integer, format: int64"), []string{"same spec.v: format added: int64"}},
	{"wider format", value("integer, format: int32"), value("integer, format: int64"), []string{"looser spec.v: format int32 -> int64"}},
	{"negative bound", value("integer, minimum: -10, maximum: -1"), value("integer, minimum: -10, maximum: -1") + "x-kubernetes-validations:\n- rule: '!has(self.v) || self.v < -1'\n",
		[]string{"tighter spec: rule added: !has(self.v) || self.v < -1"}},
	{"greatest length", value("string, maxLength: 9223372036854775807"), value("string, maxLength: 9223372036854775807") + "x-kubernetes-validations:\n- rule: '!has(self.v) || size(self.v) <= 5'\n",
		[]string{"tighter spec: rule added: !has(self.v) || size(self.v) <= 5"}},
	{"length of a string with a format", value("string, format: hostname, maxLength: 4"), value("string, format: hostname, maxLength: 4") + "x-kubernetes-validations:\n- rule: '!has(self.v) || size(self.v) <= 4'\n",
		[]string{"unknown spec: rule added: !has(self.v) || size(self.v) <= 4"}},
	{"bound that a keyword implies", value("string, maxLength: 5"), value("string, maxLength: 5") + "x-kubernetes-validations:\n- rule: '!has(self.v) || self.v.size() <= 10'\n",
		[]string{"same spec: rule added: !has(self.v) || self.v.size() <= 10"}},
	{"sum that cannot overflow", sums("self.lo < self.hi + 1"), sums("self.lo <= self.hi"), []string{"same spec: rule changed: self.lo < self.hi + 1 -> self.lo <= self.hi"}},
	{"difference that cannot overflow", sums("self.hi - 2 >= self.lo"), sums("self.lo < self.hi - 1"), []string{"same spec: rule changed: self.hi - 2 >= self.lo -> self.lo < self.hi - 1"}},
	{"greater difference", sums("self.lo <= self.hi"), sums("self.lo <= self.hi - 1"), []string{"tighter spec: rule changed: self.lo <= self.hi -> self.lo <= self.hi - 1"}},
	{"changes refused", with(""), rules("!has(oldSelf.a) || has(self.a) && self.a == oldSelf.a"), []string{"tighter spec: transition rule added: !has(oldSelf.a) || has(self.a) && self.a == oldSelf.a"}},
	{"immutable object", with(""), rules("self == oldSelf"), []string{"tighter spec: transition rule added: self == oldSelf"}},
	{"changes let through", rules("self.a == oldSelf.a"), with(""), []string{"looser spec: transition rule removed: self.a == oldSelf.a"}},
	{"wider bound in a rule", rules("self.i < 5"), rules("self.i < 10"), []string{"looser spec: rule changed: self.i < 5 -> self.i < 10"}},
	{"two fields that may be equal", rules("self.a < self.b") + "required: [a, b]\n", rules("self.b >= self.a") + "required: [a, b]\n", []string{"looser spec: rule changed: self.a < self.b -> self.b >= self.a"}},
	{"two fields that may not be equal", rules("!has(oldSelf.i) || self.i >= oldSelf.i"), rules("!has(oldSelf.i) || self.i > oldSelf.i"), []string{"tighter spec: transition rule changed: !has(oldSelf.i) || self.i >= oldSelf.i -> !has(oldSelf.i) || self.i > oldSelf.i"}},
	{"rule on a text", with(""), edit(with(""), "a: {type: string}", "a: {type: string, x-kubernetes-validations: [{rule: self.startsWith('x')}]}"), []string{"tighter spec.a: rule added: self.startsWith('x')"}},
	{"read guarded", rules("self.a != 'z'"), rules("!has(self.a) || self.a != 'z'"), []string{"looser spec: rule changed: self.a != 'z' -> !has(self.a) || self.a != 'z'"}},
	{"size of a map", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.size() < 1'}]"), []string{"tighter spec.v: rule added: self.size() < 1"}},
	{"greater size of a map", value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.size() < 3'}]"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.size() < 5'}]"), []string{"looser spec.v: rule changed: self.size() < 3 -> self.size() < 5"}},
	{"immutable map", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self == oldSelf'}]"), []string{"tighter spec.v: transition rule added: self == oldSelf"}},
	{"immutable object of defaults", value(`object, properties: {n: {type: string, default: ""}}`), value(`object, properties: {n: {type: string, default: ""}}, x-kubernetes-validations: [{rule: 'self == oldSelf'}]`), []string{"tighter spec.v: transition rule added: self == oldSelf"}},
	{"map that may be set once", value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self == oldSelf'}]"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'oldSelf.size() == 0 || self == oldSelf'}]"), []string{"looser spec.v: transition rule changed: self == oldSelf -> oldSelf.size() == 0 || self == oldSelf"}},
	{"values of a map", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.all(k, self[k].size() < 3)'}]"), []string{"tighter spec.v: rule added: self.all(k, self[k].size() < 3)"}},
	{"size of a map in a list", value("array, items: {type: object, additionalProperties: {type: integer}}"), value("array, items: {type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: 'self.size() < 2'}]}"), []string{"tighter spec.v[*]: rule added: self.size() < 2"}},
	{"rule on unknown fields", value("object, x-kubernetes-preserve-unknown-fields: true"), value("object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: 'self == oldSelf'}]"), []string{"tighter spec.v: transition rule added: self == oldSelf"}},
	{"rule on a map that holds", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.size() >= 0'}]"), []string{"same spec.v: rule added: self.size() >= 0"}},
	{"rule on items", list(with("")), list(rules("has(self.a)")), []string{"tighter spec.l[*]: rule added: has(self.a)"}},

	// Keywords.
	{"enumerated value removed", value("string, enum: [k, l, m]"), value("string, enum: [k, m]"), []string{"tighter spec.v: enum: l removed"}},
	{"enumerated value added", value("string, enum: [k, m]"), value("string, enum: [k, l, m]"), []string{"looser spec.v: enum: l added"}},
	{"shorter text", value("string, maxLength: 9"), value("string, maxLength: 5"), []string{"tighter spec.v: maxLength 9 -> 5"}},
	{"wider pattern", value("string, pattern: '^[a-z]+$'"), value("string, pattern: '^[a-z-]+$'"), []string{"looser spec.v: pattern ^[a-z]+$ -> ^[a-z-]+$"}},
	{"pattern in other words", value("string, pattern: '^a+$'"), value("string, pattern: '^aa*$'"), []string{"same spec.v: pattern ^a+$ -> ^aa*$"}},
	{"other pattern", value("string, pattern: '^[a-m]+$'"), value("string, pattern: '^[k-z]+$'"), []string{"both spec.v: pattern ^[a-m]+$ -> ^[k-z]+$"}},
	{"length that a pattern implies", value("string, pattern: '^(on|off)$'"), value("string, pattern: '^(on|off)$', maxLength: 3"), []string{"same spec.v: maxLength added: 3"}},
	{"bound made exclusive", value("integer, minimum: 1"), value("integer, minimum: 1, exclusiveMinimum: true"), []string{"tighter spec.v: exclusiveMinimum added"}},
	{"bound beside listed numbers", value("number, enum: [1, 2]"), value("number, enum: [1, 2], maximum: 2"), []string{"tighter spec.v: maximum added: 2"}},
	{"bound with a format removed", value("integer, format: int32, minimum: 1, maximum: 5"), value("integer, format: int32, minimum: 1"), []string{"looser spec.v: maximum removed: 5"}},
	{"wider bound", value("integer, maximum: 10"), value("integer, maximum: 20"), []string{"looser spec.v: maximum 10 -> 20"}},
	{"required added", with(""), with("required: [a]\n"), []string{"tighter spec.a: required added"}},
	{"required removed", with("required: [a]\n"), with(""), []string{"looser spec.a: required removed"}},
	{"required by a rule before", rules("has(self.a)"), rules("has(self.a)") + "\nrequired: [a]\n", []string{"same spec.a: required added"}},
	{"composition, then a rule", with("oneOf: [{required: [a]}, {required: [b]}]\n"), rules("has(self.a) != has(self.b)"), []string{"same spec: rule added: has(self.a) != has(self.b)", "same spec: oneOf removed"}},
	{"composition added", with(""), with("anyOf: [{required: [a]}, {required: [b]}]\n"), []string{"tighter spec: anyOf added"}},
	{"property added", with(""), edit(with(""), "i: {type: integer}", "i: {type: integer}, m: {type: integer}"), []string{"looser spec.m: property m added"}},
	{"property removed", with(""), edit(with(""), ", i: {type: integer}", ""), []string{"tighter spec.i: property i removed: stored values there are dropped"}},
	{"property removed beside a map whose rules want keys", wanting, edit(wanting, "i: {type: integer}, ", ""), []string{"tighter spec.i: property i removed: stored values there are dropped"}},
	{"default that a rule reads", rules("!(has(self.a) && has(self.b))"), edit(rules("!(has(self.a) && has(self.b))"), "a: {type: string}", "a: {type: string, default: x}"), []string{"tighter spec.a: default added: x"}},
	{"default that nothing reads", with(""), edit(with(""), "a: {type: string}", "a: {type: string, default: x}"), []string{"same spec.a: default added: x"}},
	{"default below items that become unique", edit(below, "list-type: map, x-kubernetes-list-map-keys: [k], ", "list-type: atomic, "), edit(below, "{type: string}}", "{type: string, default: x}}"),
		[]string{"tighter spec.v: x-kubernetes-list-type added: map, x-kubernetes-list-map-keys added: k", "same spec.v[*].ref.r: default added: x"}},
	{"default below items of a list that becomes a set", edit(set(reference), "list-type: set", "list-type: atomic"), set(edit(reference, "{type: string}}", "{type: string, default: x}}")),
		[]string{"tighter spec.v: x-kubernetes-list-type added: set", "same spec.v[*].ref.r: default added: x"}},
	{"default in place of required", with("required: [a]\n"), edit(with("required: [a]\n"), "a: {type: string}", "a: {type: string, default: x}"), []string{"looser spec.a: default added: x"}},
	{"null refused", edit(with("required: [a]\n"), "a: {type: string}", "a: {type: string, nullable: true}"), with("required: [a]\n"), []string{"tighter spec.a: nullable removed"}},
	{"wider type", value("integer"), "type: object\nproperties: {v: {x-kubernetes-int-or-string: true}}\n", []string{"looser spec.v: type: integer -> int-or-string"}},
	{"other type", value("string"), value("integer"), []string{"both spec.v: type: string -> integer"}},
	// The API server accepts an array for a string with a format that it knows.
	{"format added", value("string"), value("string, format: date-time"), []string{"both spec.v: format added: date-time"}},
	{"format added that accepts any text", value("string"), value("string, format: password"), []string{"looser spec.v: format added: password"}},
	{"format removed", value("string, format: date-time"), value("string"), []string{"both spec.v: format removed: date-time"}},
	{"format that the bounds imply", value("integer, minimum: 0, maximum: 10"), value("integer, format: int32, minimum: 0, maximum: 10"), []string{"same spec.v: format added: int32"}},
	{"format that a bound does not imply", value("integer, maximum: 10"), value("integer, format: int32, maximum: 10"), []string{"tighter spec.v: format added: int32"}},
	{"format removed that no server knows", value("string, format: nonsense"), value("string"), []string{"same spec.v: format removed: nonsense"}},
	{"list made a set", value("array, items: {type: string}"), value("array, x-kubernetes-list-type: set, items: {type: string}"), []string{"tighter spec.v: x-kubernetes-list-type added: set"}},
	{"fewer items", value("array, maxItems: 5, items: {type: string}"), value("array, maxItems: 2, items: {type: string}"), []string{"tighter spec.v: maxItems 5 -> 2"}},
	{"values of a map", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string, minLength: 2}"), []string{"tighter spec.v[*]: minLength added: 2"}},
	{"unknown fields dropped", value("object, x-kubernetes-preserve-unknown-fields: true"), value("object"), []string{"tighter spec.v: x-kubernetes-preserve-unknown-fields removed"}},
	{"bound of a number that integers do not reach", value("number, minimum: -0.5"), value("number, minimum: 0"), []string{"tighter spec.v: minimum -0.5 -> 0"}},
	{"bound of an integer made a fraction", value("integer, maximum: 5"), value("integer, maximum: 5.5"), []string{"tighter spec.v: maximum 5 -> 5.5"}},
	{"exclusive bound of an integer made inclusive", value("integer, maximum: 5, exclusiveMaximum: true"), value("integer, maximum: 4"), []string{"same spec.v: maximum 5 -> 4, exclusiveMaximum removed"}},

	// A value that is decoded differently is validated differently by unchanged checks.
	{"null kept that an enumeration lacks", value("string, enum: [k, l]"), value("string, enum: [k, l], nullable: true"), []string{"tighter spec.v: nullable added"}},
	{"null dropped that an enumeration lacks", value("string, enum: [k, l], nullable: true"), value("string, enum: [k, l]"), []string{"looser spec.v: nullable removed"}},
	{"null is validated by type and enumeration only", value("object, properties: {a: {type: string}}, not: {required: [a]}"), value("object, properties: {a: {type: string}}, not: {required: [a]}, nullable: true"), []string{"same spec.v: nullable added"}},
	{"null kept in a map that may be full", value("object, maxProperties: 1, additionalProperties: {type: string}"), value("object, maxProperties: 1, additionalProperties: {type: string, nullable: true}"), []string{"tighter spec.v[*]: nullable added"}},
	{"null kept in a map", value("object, additionalProperties: {type: string}"), value("object, additionalProperties: {type: string, nullable: true}"), []string{"same spec.v[*]: nullable added"}},
	{"null kept in the items of a set", set("{a: {type: string}}"), set("{a: {type: string, nullable: true}}"), []string{"looser spec.v[*].a: nullable added"}},
	{"null dropped from the items of a set", set("{a: {type: string, nullable: true}}"), set("{a: {type: string}}"), []string{"tighter spec.v[*].a: nullable removed"}},
	{"default of items of a set changed", set("{a: {type: string, default: x}}"), set("{a: {type: string, default: z}}"), []string{"both spec.v[*].a: default x -> z"}},
	{"default of items of a set added", set("{a: {type: string}}"), set("{a: {type: string, default: z}}"), []string{"tighter spec.v[*].a: default added: z"}},
	{"default of items of a set removed", set("{a: {type: string, default: x}}"), set("{a: {type: string}}"), []string{"looser spec.v[*].a: default removed: x"}},
	{"default of a key changed", keyed("{type: string, default: x}", ""), keyed("{type: string, default: z}", ""), []string{"both spec.v[*].k: default x -> z"}},
	{"default of a key added", keyed("{type: string}", "required: [k], "), keyed("{type: string, default: x}", ""), []string{"looser spec.v[*].k: required removed", "looser spec.v[*].k: default added: x"}},
	{"default of what is no key changed", keyed("{type: string, default: x}", "required: [k], ", "a"), keyed("{type: string, default: z}", "required: [k], ", "a"), []string{"same spec.v[*].a: default x -> z"}},
	{"default that is compared with the stored value", value("string, default: x, x-kubernetes-validations: [{rule: self == oldSelf}]"), value("string, default: z, x-kubernetes-validations: [{rule: self == oldSelf}]"),
		[]string{"both spec.v: default x -> z"}},
	{"default that a rule accepts", rules("!has(self.i) || self.i < 5"), edit(rules("!has(self.i) || self.i < 5"), "integer", "integer, default: 0"), []string{"same spec.i: default added: 0"}},
	{"default that a rule rejects", rules("!has(self.a) || self.a.matches('^k')"), edit(rules("!has(self.a) || self.a.matches('^k')"), "a: {type: string", "a: {type: string, default: x"), []string{"tighter spec.a: default added: x"}},
	{"null kept in a number that may not decrease", value("integer, x-kubernetes-validations: [{rule: self >= oldSelf}]"), value("integer, nullable: true, x-kubernetes-validations: [{rule: self >= oldSelf}]"),
		[]string{"same spec.v: nullable added"}},
	// The counterexample of each change is rejected by that change.
	{"rule added beside another type", value("integer"), value("string") + "x-kubernetes-validations: [{rule: '!has(self.v)'}]\n",
		[]string{"tighter spec: rule added: !has(self.v)", "tighter spec.v: type: integer -> string"}},
	{"more properties needed", with("minProperties: 1\n"), with("minProperties: 2\n"), []string{"tighter spec: minProperties 1 -> 2"}},
}

const kinds = `type: object
required: [type]
properties: {type: {type: string, enum: [HTTP, TCP]}, http: {type: object}, tcp: {type: object}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {http: HTTP, tcp: TCP}
`

const elsewhere = `type: object
properties:
  platform: {type: object, properties: {type: {type: string, enum: [HTTP, TCP]}}}
  config: {type: object, properties: {http: {type: object}, tcp: {type: object}}}
x-kubernetes-unions:
- discriminator: platform.type
  fields-to-discriminateBy: {config.http: HTTP, config.tcp: TCP}
`

const free = `type: object
properties: {type: {type: string, maxLength: 20}, http: {type: object}, tcp: {type: object}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {http: HTTP, tcp: TCP}
`

const pair = `type: object
properties: {a: {type: string}, b: {type: string}, i: {type: integer}}
x-kubernetes-unions:
- members: [a, b]
`

const items = `type: object
properties:
  l:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [type]
      items: {type: object, required: [type], properties: {type: {type: string}}}
      x-kubernetes-unions: [{members: [{type: A}, {type: B}]}]
`

// reference has a property in a nested object; below is a list of such items with a key.
const reference = "{k: {type: string}, ref: {type: object, x-kubernetes-map-type: atomic, properties: {r: {type: string}}}}"

var below = keyed("{type: object, properties: {r: {type: string}}}", "required: [k], ", "ref")

const nested = `type: object
properties: {o: {type: object, properties: {a: {type: string}, b: {type: string}}}}
`

const wanting = `type: object
required: [m]
properties: {i: {type: integer}, m: {type: object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: "'a/role' in self && self['a/role'] == 'main'"}, {rule: "'a/type' in self && self['a/type'] == 'main'"}]}}
`

// with returns an object with strings a and b, an integer i, and more keywords.
func with(more string) string {
	return "type: object\nproperties: {a: {type: string}, b: {type: string}, i: {type: integer}}\n" + more
}

// rules returns the object of with, with rules.
func rules(l ...string) string {
	text := "x-kubernetes-validations:\n"
	for _, r := range l {
		text += "- rule: \"" + r + "\"\n"
	}
	return with(text)
}

// sums returns an object with two small integers, and a rule.
func sums(rule string) string {
	return "type: object\nrequired: [lo, hi]\nproperties: {lo: {type: integer, format: int32}, hi: {type: integer, format: int32}}\nx-kubernetes-validations:\n- rule: " + rule + "\n"
}

// value returns an object with a property v of a type.
func value(kind string) string { return "type: object\nproperties: {v: {type: " + kind + "}}\n" }

// set returns an object with a set of objects.
func set(properties string) string {
	return value("array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic, properties: " + properties + "}")
}

// keyed returns an object with a list of objects that have the key k, and a property: k itself
// unless a name is given.
func keyed(property, required string, name ...string) string {
	properties := "k: " + property
	if len(name) > 0 {
		properties = "k: {type: string}, " + name[0] + ": " + property
	}
	return value("array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, " + required + "properties: {" + properties + "}}")
}

// list returns an object with a list of objects.
func list(items string) string {
	return "type: object\nproperties:\n  l:\n    type: array\n    maxItems: 10\n    items:\n      " + strings.ReplaceAll(strings.TrimSuffix(items, "\n"), "\n", "\n      ") + "\n"
}

// edit replaces texts by others. Each text must occur.
func edit(text string, l ...string) string {
	for i := 0; i < len(l); i += 2 {
		if !strings.Contains(text, l[i]) {
			panic(l[i] + " is not in " + text)
		}
	}
	return strings.NewReplacer(l...).Replace(text)
}
