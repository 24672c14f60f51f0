package union

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Key is the schema key that holds the declarations of a union object
// (KEP-1027).
const Key = "x-kubernetes-unions"

// Declaration is one item of x-kubernetes-unions as it is written, before it is
// checked against a schema. Keys that are absent have zero values.
type Declaration struct {
	// Pos is where the item starts.
	Pos diag.Pos
	// Path is the schema path of the union object, as field.Path prints it.
	Path string

	discriminator   word
	fields          []fieldValues // fields-to-discriminateBy, or members
	fieldsPos       diag.Pos      // of either key
	members         bool          // it is members
	deduce          bool
	deducePos       diag.Pos
	name            word
	cardinality     Cardinality
	cardinalityPos  diag.Pos
	optionalMembers []word
	emptyIsUnset    []word
	forbidUnmapped  *bool
	unmapped        diag.Pos
	change          Change
	changePos       diag.Pos
	allowed         []transition
	allowedPos      diag.Pos
	table           bool // allowedChanges is there, if empty
	ratchet         bool
	ratchetPos      diag.Pos
	replace         bool
}

// word is a string of the declaration with its place. The zero word is none.
type word struct {
	text    string
	pos     diag.Pos
	set     bool
	written string // how it stands at pos (yamltext.Written); empty when it does not
}

// respelt is the edit that puts the name in the place of w that is certainly meant, unless
// that is taken.
func (w word) respelt(known []string, taken ...string) []diag.Edit {
	best := spelling.Certain(w.text, known)
	if slices.Contains(taken, best) {
		return nil
	}
	return diag.Replace(w.pos.Line, w.pos.Col, w.written, yamltext.Respelt(w.written, best))
}

type fieldValues struct {
	name   word
	values []word
}

type transition struct {
	from word
	to   []word
}

// Parse reads the value of x-kubernetes-unions at path. The list holds every
// problem of every item; items with problems are left out of the result. Nodes
// of a position-less origin may be given, then at is used for all of them.
func Parse(file, path string, value *yaml.Node, at *diag.Pos) ([]*Declaration, diag.List) {
	p := &parser{file: file, path: path, at: at}
	value = yamltext.Resolve(value)
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		hint := "write a list with one item per union, or delete the key"
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && keys[value.Content[0].Value] != nil {
			hint = fmt.Sprintf("begin the line with a dash: \"- %s\"", value.Content[0].Value)
		}
		p.errorf(value, diag.MalformedDeclaration, hint,
			"%s must be a list of unions, not %s", Key, yamltext.Describe(value))
		return nil, p.diags
	}
	if names := plainNames(value); len(names) > 1 {
		p.errorf(value, diag.MalformedDeclaration, fmt.Sprintf("write [{members: [%s]}]", strings.Join(names, ", ")),
			"%s must be a list of unions, not of their members", Key)
		return nil, p.diags
	}
	var l []*Declaration
	for _, item := range value.Content {
		before := len(p.diags)
		d := p.declaration(item)
		if len(p.diags) == before {
			l = append(l, d)
		}
	}
	return l, p.diags
}

// plainNames returns the items of a list that has nothing but strings.
func plainNames(list *yaml.Node) (names []string) {
	for _, item := range list.Content {
		s, err := yamltext.String(item)
		if err != nil {
			return nil
		}
		names = append(names, s)
	}
	return names
}

type parser struct {
	file, path string
	at         *diag.Pos
	diags      diag.List
	key        string // of the declaration that is being read
}

func (p *parser) pos(n *yaml.Node) diag.Pos {
	if p.at != nil {
		return *p.at
	}
	return diag.Pos{File: p.file, Line: n.Line, Col: n.Column}
}

func (p *parser) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	p.diags = append(p.diags, diag.Diagnostic{
		Code: code, Pos: p.pos(n), Path: p.path, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// errorWith is errorf for what an edit corrects.
func (p *parser) errorWith(edits []diag.Edit, n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	p.errorf(n, code, hint, format, args...)
	p.diags[len(p.diags)-1].Edits = edits
}

// written returns how a scalar stands at its position, "" when it does not.
func (p *parser) written(n *yaml.Node) string {
	if p.at != nil {
		return ""
	}
	return yamltext.Written(n)
}

// keys are the keys of a declaration and how each is read.
var keys = map[string]func(p *parser, d *Declaration, k, v *yaml.Node){
	"discriminator": func(p *parser, d *Declaration, _, v *yaml.Node) { d.discriminator = p.word(v) },
	"fields-to-discriminateBy": func(p *parser, d *Declaration, k, v *yaml.Node) {
		d.fieldsPos = p.pos(k)
		for _, e := range p.entries(v) {
			d.fields = append(d.fields, fieldValues{p.word(e.Key), p.words(e.Value, true)})
		}
	},
	"members": func(p *parser, d *Declaration, k, v *yaml.Node) {
		if d.fieldsPos.Line == 0 {
			d.fieldsPos = p.pos(k)
		}
		d.members = true
		for _, w := range p.words(v, false) {
			d.fields = append(d.fields, fieldValues{name: w})
		}
	},
	"deduceInvalidDiscriminator": func(p *parser, d *Declaration, k, v *yaml.Node) { d.deduce, d.deducePos = p.boolean(v), p.pos(k) },
	"name":                       func(p *parser, d *Declaration, _, v *yaml.Node) { d.name = p.word(v) },
	"cardinality": func(p *parser, d *Declaration, k, v *yaml.Node) {
		d.cardinality, d.cardinalityPos = enumeration(p, cardinalities, k, v), p.pos(yamltext.Resolve(v))
	},
	"optionalMembers": func(p *parser, d *Declaration, _, v *yaml.Node) { d.optionalMembers = p.words(v, false) },
	"emptyIsUnset":    func(p *parser, d *Declaration, _, v *yaml.Node) { d.emptyIsUnset = p.words(v, false) },
	"unmappedValues": func(p *parser, d *Declaration, k, v *yaml.Node) {
		forbid := enumeration(p, names[bool]{"Allow": false, "Forbid": true}, k, v)
		d.forbidUnmapped, d.unmapped = &forbid, p.pos(yamltext.Resolve(v))
	},
	"discriminatorChange": func(p *parser, d *Declaration, k, v *yaml.Node) {
		d.change, d.changePos = enumeration(p, changes, k, v), p.pos(yamltext.Resolve(v))
	},
	"allowedChanges": func(p *parser, d *Declaration, k, v *yaml.Node) {
		d.allowedPos, d.table = p.pos(k), true
		for _, e := range p.entries(v) {
			d.allowed = append(d.allowed, transition{p.word(e.Key), p.words(e.Value, true)})
		}
	},
	"ratchet": func(p *parser, d *Declaration, k, v *yaml.Node) { d.ratchet, d.ratchetPos = p.boolean(v), p.pos(k) },
	"handWrittenRules": func(p *parser, d *Declaration, k, v *yaml.Node) {
		d.replace = enumeration(p, names[bool]{"Keep": false, "Replace": true}, k, v)
	},
}

func (p *parser) declaration(item *yaml.Node) *Declaration {
	d := &Declaration{Pos: p.pos(item), Path: p.path}
	var hasFields, hasMembers *yaml.Node
	entries := p.entries(item)
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		if lost := outdented(e, entries); lost > 0 {
			p.errorf(e.Key, diag.MalformedDeclaration, fmt.Sprintf("indent the lines below %s", e.Key.Value),
				"%s has no entries: %s", e.Key.Value, besideIt(entries[:lost]))
			entries = entries[lost:]
			continue
		}
		switch p.read(d, e, Keys()) {
		case "fields-to-discriminateBy":
			hasFields = e.Key
		case "members":
			hasMembers = e.Key
		}
	}
	if hasFields != nil && hasMembers != nil {
		p.errorf(hasMembers, diag.Contradiction, "keep fields-to-discriminateBy with a discriminator, members without one",
			"members and fields-to-discriminateBy both list the members")
	}
	return d
}

// outdented returns how many of the entries that follow e in a declaration are meant to
// be its own, and have lost their indentation.
func outdented(e yamltext.Entry, rest []yamltext.Entry) int {
	takes := e.Key.Value == "fields-to-discriminateBy" || e.Key.Value == "allowedChanges"
	if v := yamltext.Resolve(e.Value); !takes || v.Kind != yaml.ScalarNode || v.Value != "" {
		return 0
	}
	n := 0
	for n < len(rest) && keys[rest[n].Key.Value] == nil {
		n++
	}
	return n
}

func besideIt(l []yamltext.Entry) string {
	var names []string
	for _, e := range l {
		names = append(names, fmt.Sprintf("%q", e.Key.Value))
	}
	if len(names) == 1 {
		return names[0] + " stands beside it"
	}
	return strings.Join(names, ", ") + " stand beside it"
}

// read reads an entry of a declaration, and returns its key. Unknown keys are errors: a
// typo must not silently weaken validation.
func (p *parser) read(d *Declaration, e yamltext.Entry, known []string) string {
	name := p.word(e.Key)
	read, ok := keys[name.text]
	if !ok {
		if name.set {
			p.errorWith(name.respelt(known), e.Key, diag.UnknownKey, UnknownKeyHint(name.text, known), "unknown key %q in a union declaration", name.text)
		}
		return ""
	}
	p.key = name.text
	read(p, d, e.Key, e.Value)
	p.key = ""
	return name.text
}

// UnknownKeyHint is what to write instead of a key that is none of those known.
func UnknownKeyHint(name string, known []string) string {
	if best := spelling.Closest(name, known); best != "" {
		return fmt.Sprintf("write %q", best)
	}
	return "the keys are " + strings.Join(known, ", ")
}

// entries returns the entries of a mapping; anything else is an error, and so
// are keys that are no scalars.
func (p *parser) entries(n *yaml.Node) []yamltext.Entry {
	m := yamltext.Resolve(n)
	if m.Kind != yaml.MappingNode {
		p.wrong(m, "a mapping")
		return nil
	}
	for i := 0; i < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Kind != yaml.ScalarNode {
			p.errorf(k, diag.MalformedDeclaration, "write the key out", "want a string as key, not %s", yamltext.Describe(k))
		}
	}
	return yamltext.Entries(m)
}

// word returns the string that n is; the zero word with an error when it is
// none. An empty string is a word too.
func (p *parser) word(n *yaml.Node) word {
	n = yamltext.Resolve(n)
	if n.Kind != yaml.ScalarNode || n.Value == "" && n.ShortTag() == "!!null" {
		p.wrong(n, "a string")
		return word{}
	}
	s, err := yamltext.String(n)
	if err != nil {
		quoted := yamltext.Quoted(n)
		p.errorWith(diag.Replace(n.Line, n.Column, p.written(n), quoted), n, diag.AmbiguousScalar, "quote it: "+quoted, "%v", err)
		return word{}
	}
	return word{s, p.pos(n), true, p.written(n)}
}

// words returns the strings of a list; with single, of one string too.
func (p *parser) words(n *yaml.Node, single bool) []word {
	r := yamltext.Resolve(n)
	if r.Kind == yaml.ScalarNode && single {
		return []word{p.word(n)}
	}
	if r.Kind != yaml.SequenceNode {
		want := "a list of strings"
		if single {
			want = "a string or a list of strings"
		}
		p.wrong(r, want)
		return nil
	}
	var l []word
	for _, item := range r.Content {
		l = append(l, p.word(item))
	}
	return l
}

// wrong reports a value of the wrong type, with an example of the right one.
func (p *parser) wrong(n *yaml.Node, want string) {
	at, hint := "", "write it like {members: [a, b]}"
	if p.key != "" {
		at, hint = p.key+": ", fmt.Sprintf("write it like %s: %s", p.key, examples[p.key])
	}
	p.errorf(n, diag.MalformedDeclaration, hint, "%swant %s, not %s", at, want, yamltext.Describe(n))
}

// Example is a value of a key of declarations, for hints.
func Example(key string) string { return examples[key] }

// examples are values of the keys, for hints.
var examples = map[string]string{
	"discriminator":              "type",
	"fields-to-discriminateBy":   "{http: HTTP, tcp: [TCP, TLS]}",
	"deduceInvalidDiscriminator": "true",
	"members":                    "[a, b]",
	"name":                       "backend",
	"cardinality":                "ExactlyOne",
	"optionalMembers":            "[tcp]",
	"emptyIsUnset":               "[http]",
	"unmappedValues":             "Forbid",
	"discriminatorChange":        "Clear",
	"allowedChanges":             "{HTTP: [TCP]}",
	"ratchet":                    "true",
	"handWrittenRules":           "Replace",
}

func (p *parser) boolean(n *yaml.Node) bool {
	n = yamltext.Resolve(n)
	// Other spellings of a boolean are booleans to some readers only.
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		p.wrong(n, "true or false")
		if meant, ok := booleans[strings.ToLower(n.Value)]; ok && n.Kind == yaml.ScalarNode {
			last := &p.diags[len(p.diags)-1]
			last.Hint = fmt.Sprintf("write it like %s: %s", p.key, meant)
			last.Edits = diag.Replace(n.Line, n.Column, p.written(n), meant)
		}
	}
	return n.Value == "true"
}

// booleans are words for what must be true or false, in quotes or not.
var booleans = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

func enumeration[T comparable](p *parser, values names[T], key, n *yaml.Node) T {
	w := p.word(n)
	v, ok := values[w.text]
	if !ok && w.set {
		hint, known := "", slices.Sorted(maps.Keys(values))
		if best := spelling.Closest(w.text, known); best != "" {
			hint = fmt.Sprintf("write %q", best)
		}
		p.errorWith(w.respelt(known), yamltext.Resolve(n), diag.MalformedDeclaration, hint, "%s must be one of %s", key.Value, values.list())
	}
	return v
}
