package crddiff_test

import "strings"

// with is an object of strings a, b and c, with more of a schema.
func with(more string) string {
	return "type: object\nproperties: {a: {type: string}, b: {type: string}, c: {type: string}}\n" + more
}

func rules(l ...string) string {
	var b strings.Builder
	b.WriteString("x-kubernetes-validations:")
	for _, r := range l {
		b.WriteString("\n- rule: " + r)
	}
	return with(b.String())
}

const union = `
type: object
required: [type]
properties:
  type: {type: string, enum: [A, B]}
  a: {type: object, properties: {x: {type: string}}}
  b: {type: object}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
`

var cases = []struct {
	name, old, new string
	want           []string
}{
	{"equal", union, union, nil},
	{"member added", union, strings.NewReplacer("enum: [A, B]", "enum: [A, B, C]", "b: {type: object}", "b: {type: object}\n  c: {type: object}", "b: B}", "b: B, c: C}").Replace(union),
		[]string{"spec: union type: member c added, for C: looser"}},
	{"transitions", union, union + "  discriminatorChange: Forbid\n", []string{"spec: union type: discriminatorChange Clear -> Forbid: tighter"}},
	{"rule added", with(""), rules("has(self.a) != has(self.b)"), []string{"spec: rule: rule added: has(self.a) != has(self.b): tighter"}},
	{"rule in other words", rules("'!(has(self.a) && has(self.b))'"), rules("'!has(self.a) || !has(self.b)'"),
		[]string{"spec: rule: rule changed: !(has(self.a) && has(self.b)) -> !has(self.a) || !has(self.b): same"}},
	{"property in a list that a rule reads", list, strings.Replace(list, "b: {type: string}", "b: {type: string}, c: {type: string}", 1),
		[]string{"spec.l[*].c: property: property c added: looser"}},
	{"property out of a list that a rule reads", list, strings.Replace(list, ", b: {type: string}", "", 1),
		[]string{"spec.l[*].b: property: property b removed: what is stored there is dropped: tighter"}},
}

const list = `
type: object
properties:
  l: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}
x-kubernetes-validations:
- rule: "!has(self.l) || self.l.all(x, !has(x.a) || x.a != 'z')"
`
