package verify_test

import (
	"regexp"
	"slices"
	"strings"
)

// openDiscriminator has a discriminator without an enum.
const openDiscriminator = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              type: {type: string, maxLength: 30}
              http: {type: object, properties: {path: {type: string}}}
              tcp: {type: object, properties: {port: {type: integer}}}
            x-kubernetes-unions:
            - discriminator: type
              fields-to-discriminateBy: {http: HTTP, tcp: TCP}
              discriminatorChange: Forbid
`

// sharedValue has a value that selects both members and requires one of them.
var sharedValue = strings.Replace(openDiscriminator, "{http: HTTP, tcp: TCP}", "{http: [HTTP, Both], tcp: [TCP, Both]}\n              optionalMembers: {tcp: Both}", 1)

// nested has its discriminator and one member in an object alongside the other member.
var nested = strings.NewReplacer("type: {type: string, maxLength: 30}", "platform: {type: object, properties: {type: {type: string, maxLength: 30}, tcp: {type: object}}}",
	"discriminator: type", "discriminator: platform.type", "tcp: TCP", "platform.tcp: TCP").Replace(openDiscriminator)

// unset has a discriminator whose value is HTTP while it is unset.
var unset = strings.Replace(openDiscriminator, "discriminatorChange: Forbid", "unset: HTTP\n              allowedChanges: {HTTP: TCP}", 1)

// boolean and integer have discriminators of these types.
var (
	boolean = strings.NewReplacer("type: {type: string, maxLength: 30}", "type: {type: boolean}", "http: HTTP, tcp: TCP", "http: true, tcp: false").Replace(openDiscriminator)
	integer = strings.NewReplacer("type: {type: string, maxLength: 30}", "type: {type: integer}", "http: HTTP, tcp: TCP", "http: 80, tcp: [22, 23]", "discriminatorChange: Forbid", "ratchet: true").Replace(openDiscriminator)
)

// grouped has a group with an optional property, and relations between the members.
var (
	grouped = strings.NewReplacer("type: {type: string, maxLength: 30}", "socket: {type: string, maxLength: 30}",
		"discriminator: type", "members: [socket, [http, tcp]]", "fields-to-discriminateBy: {http: HTTP, tcp: TCP}", "optionalMembers: [tcp]").Replace(openDiscriminator)
	related = strings.NewReplacer("type: {type: string, maxLength: 30}", "socket: {type: string, maxLength: 30}",
		"discriminator: type", "dependentRequired: {tcp: http}", "fields-to-discriminateBy: {http: HTTP, tcp: TCP}", "dependentForbidden: {socket: http}",
		"\n              discriminatorChange: Forbid", "").Replace(openDiscriminator)
)

// items has a union of items of a list.
var items = strings.Replace(openDiscriminator[:strings.Index(openDiscriminator, "              type:")], "            properties:\n", "", 1) + `            properties:
              list:
                type: array
                maxItems: 20
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type]
                  properties: {type: {type: string}, port: {type: integer}}
                x-kubernetes-unions:
                - members: [{type: A}, {type: B}, {type: C}]
                  allowedChanges: {A: B, B: [A, ""]}
`

var operators = []struct {
	find    *regexp.Regexp
	replace string
}{
	{regexp.MustCompile(`&&`), "||"},
	{regexp.MustCompile(`\|\|`), "&&"},
	{regexp.MustCompile(`==`), "!="},
	{regexp.MustCompile(`!=`), "=="},
	{regexp.MustCompile(`!(has\(|\()`), "$1"},
	{regexp.MustCompile(`<=`), "<"},
	{regexp.MustCompile(`\b1\b`), "2"},
	{regexp.MustCompile(`\btrue\b`), "false"},
	{regexp.MustCompile(`\bfalse\b`), "true"},
	{regexp.MustCompile(`has\((self|oldSelf)[.\w]*\)`), "true"},
	{regexp.MustCompile(`has\((self|oldSelf)[.\w]*\)`), "false"},
	{regexp.MustCompile(`\bself\b`), "oldSelf"},
	{regexp.MustCompile(`\boldSelf\b`), "self"},
}

var literal = regexp.MustCompile(`'[^']*'`)

// mutants returns variants of a rule that differ in one place.
func mutants(rule string) []string {
	var l []string
	add := func(from, to int, text string) {
		if m := rule[:from] + text + rule[to:]; m != rule && !slices.Contains(l, m) {
			l = append(l, m)
		}
	}
	for _, o := range operators {
		for _, at := range o.find.FindAllStringSubmatchIndex(rule, -1) {
			add(at[0], at[1], string(o.find.ExpandString(nil, o.replace, rule, at)))
		}
	}
	literals := append(literal.FindAllString(rule, -1), "'other'")
	for _, at := range literal.FindAllStringIndex(rule, -1) {
		i := slices.Index(literals, rule[at[0]:at[1]])
		for k := 1; k < len(literals); k++ {
			if other := literals[(i+k)%len(literals)]; other != literals[i] {
				add(at[0], at[1], other)
				break
			}
		}
	}
	// Drop the right operand, then the left one.
	for _, op := range []string{" && ", " || "} {
		for from := 0; ; {
			i := strings.Index(rule[from:], op)
			if i < 0 {
				break
			}
			from += i
			add(from, operand(rule, from+len(op), 1), "")
			add(operand(rule, from-1, -1), from+len(op), "")
			from += len(op)
		}
	}
	return l
}

// operand returns the end of an operand of a logical operator. The operand starts at i if
// direction is 1; it ends at i if direction is -1.
func operand(rule string, i, direction int) int {
	for depth := 0; i >= 0 && i < len(rule); i += direction {
		switch rule[i] {
		case '(', '[':
			depth += direction
		case ')', ']':
			depth -= direction
		case '&', '|', '?', ':':
			if depth == 0 {
				if direction > 0 {
					return i - 1
				}
				return i + 2
			}
		}
		if depth < 0 {
			if direction < 0 {
				i++
			}
			return i
		}
	}
	return max(i, 0)
}
