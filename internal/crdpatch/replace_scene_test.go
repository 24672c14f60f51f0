package crdpatch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// scene is a file of CRDs with hand-written unions, and external declarations of these.
type scene struct {
	*rand.Rand
	lines []string
	units []string // the suffix of each schema's property names
	n     int      // makes comments and messages unique
	block bool     // not re-encoded as flow style or JSON
	union.Externals
	crd, version string // of the next schema
}

func (s *scene) chance(percent int) bool { return s.IntN(100) < percent }

// write adds lines, with occasional comments and blank lines around them.
func (s *scene) write(indent int, lines ...string) {
	for i, line := range lines {
		scalar := i > 0 && strings.HasSuffix(lines[i-1], ">-")
		if !scalar && s.chance(12) {
			s.n++
			s.lines = append(s.lines, fmt.Sprintf("%*s# above %d.", max(0, indent+2*(s.IntN(3)-1)), "", s.n))
		}
		if !scalar && s.chance(4) {
			s.lines = append(s.lines, "")
		}
		if !scalar && !strings.HasSuffix(line, ">-") && s.chance(25) {
			s.n++
			line += fmt.Sprintf("  # at %d.", s.n)
		}
		s.lines = append(s.lines, fmt.Sprintf("%*s%s", indent, "", line))
	}
}

// newScene returns a file that depends only on the seed.
func newScene(seed uint64) (*scene, []byte) {
	s := &scene{Rand: rand.New(rand.NewPCG(seed, 1))}
	n := 1
	list := s.chance(25)
	if list || s.chance(20) {
		n = 1 + s.IntN(2)
	}
	if list {
		s.lines = []string{"apiVersion: v1", "kind: List", "items:"}
	}
	for i := range n {
		from := len(s.lines)
		s.resource(fmt.Sprintf("thing%d", i))
		for j := from; list && j < len(s.lines); j++ {
			s.lines[j] = "  " + s.lines[j]
		}
		if list {
			s.lines[from] = "- " + s.lines[from][2:]
		} else if i+1 < n {
			s.lines = append(s.lines, "---")
		}
	}
	text := []byte(strings.Join(s.lines, "\n") + "\n")
	if s.block = s.chance(80); !s.block {
		var docs []any
		for _, d := range bytes.Split(text, []byte("\n---\n")) {
			var v any
			if err := sigs.Unmarshal(d, &v); err != nil {
				panic(err)
			}
			docs = append(docs, v)
		}
		text = written(docs, s.IntN(len(encoders)))
	}
	if s.chance(15) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if s.chance(10) {
		text = bytes.TrimRight(text, "\r\n")
	}
	return s, text
}

// written encodes documents with one of encoders.
func written(docs []any, encoder int) []byte {
	var parts [][]byte
	for _, v := range docs {
		text, err := encoders[encoder].of(v)
		if err != nil {
			panic(err)
		}
		parts = append(parts, append(bytes.TrimSuffix(text, []byte("\n")), '\n'))
	}
	return bytes.Join(parts, []byte("---\n"))
}

func (s *scene) resource(name string) {
	s.crd = name + "s.example.com"
	s.lines = append(s.lines, "apiVersion: apiextensions.k8s.io/v1")
	s.write(0, "kind: CustomResourceDefinition", "metadata:")
	s.write(2, "name: "+s.crd)
	if s.chance(30) {
		s.write(2, "annotations:")
		s.write(4, "note: mine")
	}
	s.write(0, "spec:")
	s.write(2, "group: example.com", fmt.Sprintf("names: {kind: %s, plural: %ss}", strings.ToUpper(name[:1])+name[1:], name), "scope: Namespaced", "versions:")
	for v := range 1 + s.IntN(2) {
		s.version = fmt.Sprintf("v%d", v+1)
		s.write(2, "- name: "+s.version)
		s.write(4, "served: true", fmt.Sprintf("storage: %t", v == 0), "schema:")
		s.write(6, "openAPIV3Schema:")
		s.write(8, "type: object", "properties:")
		s.write(10, "spec:")
		s.unit(12, schemapath.New("spec"), s.IntN(2))
		if s.chance(40) {
			s.write(10, "status:")
			s.unit(12, schemapath.New("status"), 0)
		}
	}
}

// byHand is a hand-written union: rules, or other entries of the schema.
type byHand struct {
	rules, entries []string
	declaration    string
}

// group returns one form of a hand-written union. Only a union alone in its schema may count all
// properties, and only the first in a schema may have entries.
func (s *scene) group(names []string, discriminator string, first, alone bool) byHand {
	var counted, pairs, notBoth, required []string
	for i, a := range names {
		counted = append(counted, "(has(self."+a+")?1:0)")
		required = append(required, "- required: ["+a+"]")
		value := strings.ToUpper(a)
		pairs = append(pairs, fmt.Sprintf("!(has(self.%s) && self.%s != '%s')", a, discriminator, value), fmt.Sprintf("!(!has(self.%s) && self.%s == '%s')", a, discriminator, value))
		for _, b := range names[i+1:] {
			notBoth = append(notBoth, fmt.Sprintf("!(has(self.%s) && has(self.%s))", a, b))
		}
	}
	members := `"members": ["` + strings.Join(names, `", "`) + `"]`
	exactly := members + `, "cardinality": "ExactlyOne"`
	count := strings.Join(counted, "+")
	forms := []byHand{
		{rules: []string{count + " == 1"}, declaration: exactly},
		{rules: []string{count + " <= 1"}, declaration: members},
		{rules: notBoth, declaration: members},
		{rules: append(notBoth, "has(self."+strings.Join(names, ") || has(self.")+")"), declaration: exactly},
		{rules: []string{count + " <= 1"}, declaration: exactly}, // does not mean the same
	}
	if first {
		var fields, all []string
		for _, a := range names {
			fields = append(fields, fmt.Sprintf("%q: %q", a, strings.ToUpper(a)))
		}
		for i, a := range names {
			for _, b := range names[i+1:] {
				all = append(all, fmt.Sprintf("- not: {required: [%s, %s]}", a, b))
			}
		}
		forms = append(forms,
			byHand{rules: pairs, declaration: fmt.Sprintf(`"discriminator": %q, "fields-to-discriminateBy": {%s}`, discriminator, strings.Join(fields, ", "))},
			byHand{entries: append([]string{"oneOf:"}, required...), declaration: exactly},
			byHand{entries: append([]string{"allOf:"}, all...), declaration: members})
	}
	if alone {
		forms = []byHand{
			{entries: []string{"maxProperties: 1", "minProperties: 1"}, declaration: exactly},
			{entries: []string{"maxProperties: 1"}, declaration: members},
		}
	}
	g := forms[s.IntN(len(forms))]
	g.declaration += `, "discriminatorChange": "Allow"`
	if s.chance(75) {
		g.declaration += `, "handWrittenRules": "Replace"`
	}
	g.declaration = "{" + g.declaration + "}"
	return g
}

// unit writes a schema with unions, and one in a list inside it.
func (s *scene) unit(indent int, path schemapath.Path, deep int) {
	id := fmt.Sprintf("x%02d", len(s.units))
	s.units = append(s.units, id)
	var a, b []string
	for _, name := range []string{"a", "b", "c"}[:2+s.IntN(2)] {
		a, b = append(a, name+id), append(b, name+name+id)
	}
	alone := s.chance(12)
	groups := []byHand{s.group(a, "type"+id, true, alone)}
	if !alone && s.chance(30) {
		groups = append(groups, s.group(b, "", false, false))
	}
	var rules []string
	for _, g := range groups {
		rules = append(rules, g.rules...)
	}
	for range s.IntN(3) * s.IntN(2) {
		s.n++
		rules = slices.Insert(rules, s.IntN(len(rules)+1), fmt.Sprintf("self != null || %d < 0", s.n))
	}
	entries := []func(){
		func() { s.write(indent, "type: object") },
		func() { s.write(indent, "description: of "+id) },
		func() {
			s.write(indent, "properties:")
			s.properties(indent+2, id, a, b, alone)
			if deep > 0 {
				s.write(indent+2, "list"+id+":")
				s.write(indent+4, "type: array", "items:")
				s.unit(indent+6, path.Append(schemapath.Property("list"+id), schemapath.Elements), 0)
			}
		},
	}
	if !alone {
		entries = append(entries, func() { s.write(indent, "required: [type"+id+"]") })
	} else {
		deep = 0
	}
	if s.chance(20) && !alone {
		entries = append(entries, func() { s.write(indent, "maxProperties: 40") })
	}
	for _, g := range groups {
		if len(g.entries) == 0 {
			continue
		}
		if l := g.entries; l[0] == "allOf:" && s.chance(50) {
			l = slices.Insert(slices.Clone(l), 1+s.IntN(len(l)), fmt.Sprintf("- properties: {n%s: {maximum: 40}}", id))
			entries = append(entries, func() { s.write(indent, l...) })
		} else {
			entries = append(entries, func() { s.write(indent, g.entries...) })
		}
	}
	if len(rules) > 0 {
		entries = append(entries, func() { s.rules(indent, rules) })
	}
	s.declare(indent, path, groups, &entries)
	s.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for _, e := range entries {
		e()
	}
}

func (s *scene) properties(indent int, id string, a, b []string, alone bool) {
	if !alone {
		s.write(indent, "type"+id+": {type: string, enum: ["+strings.ToUpper(strings.Join(a, ", "))+"]}")
	}
	for _, name := range a {
		s.write(indent, name+": {type: string}")
	}
	if alone {
		return
	}
	for _, name := range b {
		s.write(indent, name+":")
		s.write(indent+2, "type: string")
	}
	s.write(indent, "n"+id+": {type: integer}")
}

// rules writes a list of rules, in several styles.
func (s *scene) rules(indent int, rules []string) {
	if s.chance(12) {
		var l []string
		for _, r := range rules {
			l = append(l, fmt.Sprintf("{rule: %q}", r))
		}
		s.write(indent, validations+": ["+strings.Join(l, ", ")+"]")
		return
	}
	s.write(indent, validations+":")
	indent += 2 * s.IntN(2)
	for _, r := range rules {
		switch s.n++; s.IntN(5) {
		case 0:
			s.write(indent, fmt.Sprintf("- {rule: %q}", r))
		case 1:
			s.write(indent, "- rule: >-", "    "+r)
		case 2:
			s.write(indent, fmt.Sprintf("- message: message %d", s.n))
			s.write(indent+2, fmt.Sprintf("rule: %q", r))
		default:
			s.write(indent, fmt.Sprintf("- rule: %q", r))
		}
	}
}

// declare declares the unions of a schema externally, or occasionally in the schema.
func (s *scene) declare(indent int, path schemapath.Path, groups []byHand, entries *[]func()) {
	if s.chance(8) {
		*entries = append(*entries, func() {
			s.write(indent, union.Key+":")
			for _, g := range groups {
				s.write(indent, "- "+strings.Replace(g.declaration, `"Replace"`, `"Keep"`, 1))
			}
		})
		return
	}
	add := func(groups ...byHand) {
		var l []string
		for _, g := range groups {
			l = append(l, g.declaration)
		}
		v, err := yamltext.FromJSON([]byte("[" + strings.Join(l, ", ") + "]"))
		if err != nil {
			panic(err)
		}
		s.Declarations = append(s.Declarations, union.External{Target: union.Target{Name: s.crd}, Version: s.version, Path: path, Value: v, File: "elsewhere"})
	}
	switch {
	case s.chance(10):
		s.Scopes = append(s.Scopes, union.Scope{Target: union.Target{Name: s.crd}})
	case s.chance(50):
		add(groups...)
	default:
		for _, g := range groups {
			add(g)
		}
	}
}
