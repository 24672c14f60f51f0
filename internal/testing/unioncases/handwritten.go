package unioncases

import (
	"fmt"
	"strings"
)

// HandWritten are schemas of union objects with rules that disagree with the union next to them.
var HandWritten = map[string]string{
	"sums": `
properties: {type: {type: string}, a: {type: string, minLength: 3}, b: {type: object}, c: {type: array, items: {type: integer}}}
x-kubernetes-unions:
- members: [a, b, c]
x-kubernetes-validations:
- rule: "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) < 2"`,
	"pairs": `
properties: {type: {type: string, enum: [A, B, C, None]}, a: {type: string, minLength: 3}, b: {type: object}, c: {type: array, items: {type: integer}}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B, c: C}
  optionalMembers: [c]
x-kubernetes-validations:
- rule: "!(has(self.a) && self.type != 'A')"
- rule: "!(!has(self.a) && self.type == 'A')"
- rule: "!(has(self.b) && self.type != 'C')"
- rule: "has(self.type) && self.type == 'C' ? has(self.c) : !has(self.c)"`,
	"oneOf": `
properties: {a: {type: string, minLength: 3}, b: {type: object}}
x-kubernetes-unions:
- members: [a, b]
oneOf: [{required: [a]}, {required: [b]}]`,
	"immutable": `
properties: {type: {type: string, enum: [A, B]}, a: {type: string, minLength: 3}, b: {type: object}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  discriminatorChange: Forbid
x-kubernetes-validations:
- rule: "!has(self.type) || !has(oldSelf.type) || self.type == oldSelf.type"
- rule: "has(self.a) == (has(self.type) && self.type == 'A')"
- rule: "has(self.b) == (has(self.type) && self.type == 'B')"`,
}

// HandWrittenCRD returns a manifest whose property u has the schema HandWritten[name].
func HandWrittenCRD(name string) []byte {
	return fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.e2e.example.com}
spec:
  group: e2e.example.com
  scope: Namespaced
  names: {kind: Kind%[1]s, plural: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [size]
        properties:
          size: {type: integer, minimum: 1}
          u:
            type: object%[2]s
`, strings.ToLower(name), strings.ReplaceAll(HandWritten[name], "\n", "\n            "))
}
