package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// generators write a manifest of size n that is slow to process.
var generators = map[string]func(b *bytes.Buffer, n int){
	"discriminated":   func(b *bytes.Buffer, n int) { union(b, n, true, "") },
	"undiscriminated": func(b *bytes.Buffer, n int) { union(b, n, false, "") },
	"deduced":         func(b *bytes.Buffer, n int) { union(b, n, true, ", deduceInvalidDiscriminator: true") },
	"ratchet":         func(b *bytes.Buffer, n int) { union(b, n, true, ", ratchet: true") },
	"below-a-list":    belowList,
	"table":           func(b *bytes.Buffer, n int) { union(b, n, true, table("V", n, 2)) },
	"full-table":      func(b *bytes.Buffer, n int) { union(b, n, true, table("V", n, n)) },
	"member-table":    func(b *bytes.Buffer, n int) { union(b, n, false, table("m", n, 2)) },
	"full-member-table": func(b *bytes.Buffer, n int) {
		union(b, n, false, table("m", n, n))
	},
	"unions":           func(b *bytes.Buffer, n int) { objects(b, n, 1) },
	"unions-at-once":   func(b *bytes.Buffer, n int) { objects(b, 1, n) },
	"versions":         versions,
	"unknown-members":  unknownMembers,
	"forged-rules":     forged,
	"documents":        func(b *bytes.Buffer, n int) { b.WriteString(strings.Repeat("a: 1\n---\n", n)) },
	"flow":             func(b *bytes.Buffer, n int) { wrap(b, "a: [", strings.Repeat("[],", n/3), "]\n") },
	"deep-flow":        func(b *bytes.Buffer, n int) { wrap(b, "a: ", strings.Repeat("[", n), strings.Repeat("]", n)+"\n") },
	"deep-block":       deepBlock,
	"deep-schema":      deepSchema,
	"aliases":          aliases,
	"merge-keys":       mergeKeys,
	"duplicate-keys":   duplicateKeys,
	"long-line":        func(b *bytes.Buffer, n int) { wrap(b, "a: ", strings.Repeat("x", n), "\n") },
	"list-of-crds":     listOfCRDs,
	"documents-of-crd": documentsOfCRDs,
	"patch":            patch,
}

// kinds are parts of a schema and of an object, of size n. Each yields four manifests: the CRD, a
// CRD with a small change ("-new"), an object ("-object"), and a change of a member of the object
// ("-desired").
var kinds = map[string]struct {
	schema func(b *bytes.Buffer, n int, changed bool)
	object func(b *bytes.Buffer, n int, changed bool)
}{
	"one-union":    {func(b *bytes.Buffer, n int, changed bool) { unions(b, 1, n, changed) }, func(b *bytes.Buffer, _ int, changed bool) { values(b, 1, changed) }},
	"ten-unions":   {func(b *bytes.Buffer, n int, changed bool) { unions(b, 10, n, changed) }, func(b *bytes.Buffer, _ int, changed bool) { values(b, 10, changed) }},
	"ten-objects":  {tenObjects, tenValues},
	"small-unions": {func(b *bytes.Buffer, n int, changed bool) { unions(b, n, 2, changed) }, func(b *bytes.Buffer, n int, changed bool) { values(b, n, changed) }},
	"classes": {property(func(n int) string {
		var l []string
		for name := range unicode.Categories {
			l = append(l, `\p{`+name+`}+\P{`+name+`}`)
		}
		slices.Sort(l)
		return "(" + repeated(strings.Join(l, "|")+"|", n) + "x){9}"
	}, "pattern"), member},
	"states": {property(func(n int) string { return fmt.Sprintf("(a|b)*a(a|b){%d}", n) }, "pattern"), member},
	"alternatives": {property(func(n int) string {
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("[^%c]{%d}x", 'a'+rune(i%26), i))
		}
		return strings.Join(l, "|")
	}, "pattern"), member},
	"enum":      {enum, member},
	"misspelt":  {func(b *bytes.Buffer, n int, changed bool) { misspelt(b, 200, n, changed) }, member},
	"misspelt5": {func(b *bytes.Buffer, n int, changed bool) { misspelt(b, 500, n, changed) }, member},
	"backticks": {property(func(n int) string { return strings.Repeat("`", n) }, "description"), member},
	"ticked-value": {func(b *bytes.Buffer, n int, changed bool) {
		value := strings.Repeat("`", n)
		fmt.Fprintf(b, "            type: object\n            properties: {type: {type: string}, m0: {type: object}, m1: {type: object}}\n            x-kubernetes-unions:\n            - {discriminator: type, unmappedValues: %s, fields-to-discriminateBy: {m0: '%s', m1: b}}\n", either(changed, "Forbid", "Allow"), value)
	}, member},
}

func repeated(s string, n int) string { return strings.Repeat(s, n/len(s)+1)[:n/len(s)*len(s)] }

func either(changed bool, yes, no string) string {
	if changed {
		return yes
	}
	return no
}

// unions writes count unions of n members in one object. If changed, the first union requires its
// discriminator.
func unions(b *bytes.Buffer, count, n int, changed bool) {
	const indent = "            "
	var properties, declarations strings.Builder
	for k := range count {
		p, d := members(b, indent, fmt.Sprintf("u%d", k), n, true)
		properties.WriteString(p)
		if k == 0 && changed {
			d += ", cardinality: ExactlyOne"
		}
		declarations.WriteString(indent + "- {" + d + "}\n")
	}
	fmt.Fprintf(b, "%[1]stype: object\n%[1]sproperties:\n%[2]s%[1]sx-kubernetes-unions:\n%[3]s", indent, &properties, &declarations)
}

func values(b *bytes.Buffer, count int, changed bool) {
	for k := range count {
		fmt.Fprintf(b, "  u%[1]dtype: V%[2]s\n  u%[1]dm0: {}\n", k, either(changed, "1", "0"))
		if changed {
			fmt.Fprintf(b, "  u%dm1: {}\n", k)
		}
	}
}

// tenObjects writes ten objects with a union of n members each.
func tenObjects(b *bytes.Buffer, n int, changed bool) {
	b.WriteString("            type: object\n            properties:\n")
	for i := range 10 {
		fmt.Fprintf(b, "              o%d:\n", i)
		var one bytes.Buffer
		unions(&one, 1, n, changed && i == 0)
		b.WriteString(strings.ReplaceAll("    "+strings.TrimRight(one.String(), "\n"), "\n", "\n    ") + "\n")
	}
}

func tenValues(b *bytes.Buffer, _ int, changed bool) {
	for i := range 10 {
		var one bytes.Buffer
		values(&one, 1, changed)
		fmt.Fprintf(b, "  o%d:\n    %s\n", i, strings.ReplaceAll(strings.TrimSpace(one.String()), "\n", "\n  "))
	}
}

// property writes a property with a text of size n, alongside a union.
func property(text func(n int) string, keyword string) func(b *bytes.Buffer, n int, changed bool) {
	return func(b *bytes.Buffer, n int, changed bool) {
		fmt.Fprintf(b, "            type: object\n            properties:\n              p: {type: string, %s: '^(%s%s)$'}\n%s", keyword, text(n), either(changed, "|z", ""), small)
	}
}

const small = `              type: {type: string, enum: [V0, V1]}
              m0: {type: object}
              m1: {type: object}
            x-kubernetes-unions:
            - {discriminator: type, fields-to-discriminateBy: {m0: V0, m1: V1}}
`

func member(b *bytes.Buffer, _ int, changed bool) {
	fmt.Fprintf(b, "  type: V%s\n  m0: {}\n%s", either(changed, "1", "0"), either(changed, "  m1: {}\n", ""))
}

func enum(b *bytes.Buffer, n int, changed bool) {
	l := make([]string, n)
	for i := range l {
		l[i] = fmt.Sprintf("v%d", i)
	}
	fmt.Fprintf(b, "            type: object\n            properties:\n              p: {type: string, enum: [%s%s]}\n%s", strings.Join(l, ","), either(changed, "", ",w"), small)
}

// misspelt writes an object schema with count properties, whose names have slightly more than
// length bytes, and a union whose members misspell each of these names.
func misspelt(b *bytes.Buffer, count, length int, changed bool) {
	var properties, names []string
	for i := range count {
		name := fmt.Sprintf("x%d%s", i, strings.Repeat("ab", length/2))
		properties, names = append(properties, "? "+name+" : {type: object}"), append(names, name[:length/2]+"z"+name[length/2:])
	}
	fmt.Fprintf(b, "            type: object\n            properties: {%s}\n            x-kubernetes-unions:\n            - {members: [%s]%s}\n",
		strings.Join(properties, ", "), strings.Join(names, ", "), either(changed, ", cardinality: ExactlyOne", ""))
}

// patch writes a strategic merge patch of n containers.
func patch(b *bytes.Buffer, n int) {
	b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers:\n")
	for i := range n {
		fmt.Fprintf(b, "      - {name: c%d, livenessProbe: {httpGet: {port: 80}}}\n", i)
	}
}

func wrap(b *bytes.Buffer, before, text, after string) { b.WriteString(before + text + after) }

const head = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  scope: Namespaced
  versions:
`

func version(b *bytes.Buffer, name string, storage bool, spec func()) {
	fmt.Fprintf(b, "  - name: %s\n    served: true\n    storage: %v\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n", name, storage)
	spec()
}

// members returns the properties of a union, and its declaration.
func members(b *bytes.Buffer, indent, prefix string, n int, discriminated bool) (properties, declaration string) {
	var p, fields, names, values []string
	for i := range n {
		name := fmt.Sprintf("%sm%d", prefix, i)
		p, names = append(p, indent+"  "+name+": {type: object}\n"), append(names, name)
		fields = append(fields, fmt.Sprintf("%s: V%d", name, i))
		values = append(values, fmt.Sprintf("V%d", i))
	}
	if !discriminated {
		return strings.Join(p, ""), "members: [" + strings.Join(names, ", ") + "]"
	}
	return indent + "  " + prefix + "type: {type: string, enum: [" + strings.Join(values, ", ") + "]}\n" + strings.Join(p, ""),
		"discriminator: " + prefix + "type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
}

func union(b *bytes.Buffer, n int, discriminated bool, keys string) {
	b.WriteString(head)
	version(b, "v1", true, func() {
		const indent = "            "
		properties, declaration := members(b, indent, "", n, discriminated)
		fmt.Fprintf(b, "%stype: object\n%sproperties:\n%s%sx-kubernetes-unions:\n%s- {%s%s}\n", indent, indent, properties, indent, indent, declaration, keys)
	})
}

func belowList(b *bytes.Buffer, n int) {
	b.WriteString(head)
	version(b, "v1", true, func() {
		const indent = "                "
		properties, declaration := members(b, indent, "", n, true)
		fmt.Fprintf(b, "            type: object\n            properties:\n              list:\n                type: array\n                items:\n%[1]s  type: object\n%[1]s  properties:\n%[2]s%[1]s  x-kubernetes-unions:\n%[1]s  - {%[3]s}\n",
			indent, strings.ReplaceAll(properties, indent, indent+"  "), declaration)
	})
}

// table returns a transition table where each of n values may change to the next ones.
func table(name string, n, to int) string {
	var rows []string
	for i := range n {
		var l []string
		for j := 1; j <= to && j < n; j++ {
			l = append(l, fmt.Sprintf("%s%d", name, (i+j)%n))
		}
		rows = append(rows, fmt.Sprintf("%s%d: [%s]", name, i, strings.Join(l, ", ")))
	}
	return ", allowedChanges: {" + strings.Join(rows, ", ") + "}"
}

// objects writes n objects with the given number of unions of two members.
func objects(b *bytes.Buffer, n, each int) {
	b.WriteString(head)
	version(b, "v1", true, func() { someObjects(b, n, each) })
}

func someObjects(b *bytes.Buffer, n, each int) {
	b.WriteString("            type: object\n            properties:\n")
	for i := range n {
		const indent = "                "
		var properties, declarations strings.Builder
		for k := range each {
			p, d := members(b, indent, fmt.Sprintf("u%d", k), 2, true)
			properties.WriteString(p)
			declarations.WriteString(indent + "- {" + d + "}\n")
		}
		fmt.Fprintf(b, "              o%[1]d:\n%[2]stype: object\n%[2]sproperties:\n%[3]s%[2]sx-kubernetes-unions:\n%[4]s", i, indent, &properties, &declarations)
	}
}

func versions(b *bytes.Buffer, n int) {
	b.WriteString(head)
	for i := range n {
		version(b, fmt.Sprintf("v%d", i+1), i == 0, func() { someObjects(b, 1, 1) })
	}
}

func unknownMembers(b *bytes.Buffer, n int) {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("x%d", i))
	}
	b.WriteString(head)
	version(b, "v1", true, func() {
		fmt.Fprintf(b, "            type: object\n            properties: {a: {type: string}}\n            x-kubernetes-unions:\n            - members: [%s]\n", strings.Join(names, ", "))
	})
}

// forged writes an annotation that claims n rules which no union implies.
func forged(b *bytes.Buffer, n int) {
	rule := func(i int) string {
		if i == 0 {
			return "has(self.a)"
		}
		return fmt.Sprintf("!has(self.a) || !has(self.b) || %d < 0", i)
	}
	sums, rules := make([]string, n), make([]string, n)
	for i := range n {
		sums[i] = fmt.Sprintf("%q", sumOf(rule(i)))
		rules[i] = fmt.Sprintf("            - rule: %q\n", rule(i))
	}
	annotation := fmt.Sprintf(`{"format":2,"schemas":[{"version":"v1","path":["properties","spec"],"unions":[{"members":["a","b"]}],"external":true,"rules":[%s]}]}`, strings.Join(sums, ","))
	b.WriteString(strings.Replace(head, "metadata: {name: things.example.com}", "metadata:\n  name: things.example.com\n  annotations:\n    unioncel.dev/unions: '"+annotation+"'", 1))
	version(b, "v1", true, func() {
		fmt.Fprintf(b, "            type: object\n            properties: {a: {type: string, maxLength: 9}, b: {type: string}}\n            x-kubernetes-validations:\n%s", strings.Join(rules, ""))
	})
}

func deepBlock(b *bytes.Buffer, n int) {
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
}

// deepSchema writes a union below n nested properties.
func deepSchema(b *bytes.Buffer, n int) {
	b.WriteString(head)
	version(b, "v1", true, func() {
		wrap(b, "            ", strings.Repeat("{type: object, properties: {a: ", n), "{type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b]}]}"+strings.Repeat("}}", n)+"\n")
	})
}

// aliases writes a "billion laughs" document of n levels, alongside a union.
func aliases(b *bytes.Buffer, n int) {
	union(b, 2, true, "")
	b.WriteString("x-a0: &a0 [lol]\n")
	for i := range n {
		fmt.Fprintf(b, "x-a%[1]d: &a%[1]d [%[2]s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
}

// mergeKeys merges each of n mappings into the next, twice.
func mergeKeys(b *bytes.Buffer, n int) {
	union(b, 2, true, "")
	b.WriteString("x-a0: &a0 {lol: 1}\n")
	for i := range n {
		fmt.Fprintf(b, "x-a%[1]d: &a%[1]d {<<: [*a%[2]d, *a%[2]d], k%[1]d: 1}\n", i+1, i)
	}
}

func duplicateKeys(b *bytes.Buffer, n int) {
	union(b, 2, true, "")
	wrap(b, "x-a: {", strings.Repeat("a: 1, ", n), "}\n")
}

func listOfCRDs(b *bytes.Buffer, n int) {
	var one bytes.Buffer
	union(&one, 2, true, "")
	item := strings.ReplaceAll("- "+strings.TrimSpace(one.String()), "\n", "\n  ") + "\n"
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat(item, n))
}

func documentsOfCRDs(b *bytes.Buffer, n int) {
	var one bytes.Buffer
	union(&one, 2, true, "")
	b.WriteString(strings.Repeat("---\n"+one.String(), n))
}
