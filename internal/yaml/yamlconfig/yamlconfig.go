// Package yamlconfig reads what users configure in YAML: declarations of unions, UnionSets,
// the configuration of a project, that of the function for kustomize.
//
// A [Reader] reports whatever is wrong, at its place and with what to write instead, and
// the methods of [Value] return what is right: Fields reads a mapping whose keys are
// known, Entries one with others, Items, Word, Text, Bool and OneOf what their values are.
package yamlconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Reader reports what is wrong with the values of a file.
type Reader struct {
	// File is its name in diagnostics.
	File string
	// At, unless nil, is the position of all diagnostics: the nodes have none in a file
	// that the user knows.
	At *diag.Pos
	// SchemaPath, unless nil, is the path of all diagnostics, in place of that of the value.
	SchemaPath *string
	// Code is that of diagnostics; unknown keys and scalars that are no strings to every
	// reader of YAML may have another.
	Code, UnknownKey, Ambiguous diag.Code
	// Diags are the diagnostics.
	Diags diag.List
}

// Key is a key of a mapping, with an example of its value.
type Key struct{ Name, Example string }

// Mapping says which keys a mapping has.
type Mapping struct {
	// Name is what messages call it, with an article.
	Name string
	Keys []Key
	// Hints say what to do instead of writing some other keys.
	Hints map[string]string
}

// Names returns the names of the keys.
func (m Mapping) Names() []string {
	var l []string
	for _, k := range m.Keys {
		l = append(l, k.Name)
	}
	return l
}

// Value is a value, with its place. The zero Value is one that is absent: it reads as the
// zero value of any type, and nothing is wrong with it.
type Value struct {
	// Node is not an alias.
	Node *yaml.Node
	// Path leads to the value from the root of the document, like lint.ignore[0].
	Path string

	reader *Reader
	key    Key // whose value it is, or is in
}

// Value returns the value of a node that no key has, and of which this is an example.
func (r *Reader) Value(n *yaml.Node, example string) Value {
	return Value{yamltext.Resolve(n), "", r, Key{Example: example}}
}

// Pos returns where a node starts.
func (r *Reader) Pos(n *yaml.Node) diag.Pos {
	if r.At != nil {
		return *r.At
	}
	return diag.Pos{File: r.File, Line: n.Line, Col: n.Column}
}

// Pos returns where the value starts.
func (v Value) Pos() diag.Pos { return v.reader.Pos(v.Node) }

// Errorf reports that something is wrong with the value. The result is that of the reader
// until something else is.
func (v Value) Errorf(hint, format string, args ...any) *diag.Diagnostic {
	r := v.reader
	d := diag.Diagnostic{Code: r.Code, Pos: v.Pos(), Path: v.Path, Message: fmt.Sprintf(format, args...), Hint: hint}
	if r.SchemaPath != nil {
		d.Path = *r.SchemaPath
	}
	r.Diags = append(r.Diags, d)
	return &r.Diags[len(r.Diags)-1]
}

// wrong reports a value that is not what it must be, with an example of what is.
func (v Value) wrong(format string, args ...any) *diag.Diagnostic {
	at := ""
	if v.key.Name != "" {
		at = v.key.Name + ": "
	}
	return v.Errorf("write it like "+at+v.key.Example, "%s", at+fmt.Sprintf(format, args...))
}

// want reports a value of another type.
func (v Value) want(what string) *diag.Diagnostic {
	return v.wrong("want %s, not %s", what, yamltext.Describe(v.Node))
}

// written returns how a scalar is written in the file, "" when it does not.
func (v Value) written() string {
	if v.reader.At != nil {
		return ""
	}
	return yamltext.Written(v.Node)
}

// Entry is a key of a mapping, and its value.
type Entry struct {
	Name       string // of the key, when it is Known
	Key, Value Value
}

// Entries returns the entries of a mapping, merged ones too.
func (v Value) Entries() []Entry {
	switch {
	case v.Node == nil:
		return nil
	case v.Node.Kind != yaml.MappingNode:
		v.want("a mapping")
		return nil
	}
	for i := 0; i < len(v.Node.Content); i += 2 {
		if k := v.Node.Content[i]; k.Kind != yaml.ScalarNode {
			Value{k, v.Path, v.reader, v.key}.Errorf("write the key out", "want a string as key, not %s", yamltext.Describe(k))
		}
	}
	var l []Entry
	for _, e := range yamltext.Entries(v.Node) {
		l = append(l, Entry{"", v.at(e.Key.Value, e.Key), v.at(e.Key.Value, e.Value)})
	}
	return l
}

// at returns a node at a key of a mapping as a value.
func (v Value) at(key string, n *yaml.Node) Value {
	if v.Path != "" {
		key = v.Path + "." + key
	}
	return Value{yamltext.Resolve(n), key, v.reader, v.key}
}

// Field returns the value at one key of a mapping, which may have others.
func (v Value) Field(k Key) Value {
	if v.Node != nil && v.Node.Kind != yaml.MappingNode {
		v.want("a mapping")
	}
	_, n, _, _ := yamltext.Lookup(v.Node, k.Name)
	field := v.at(k.Name, n)
	field.key = k
	return field
}

// Fields returns the values of a mapping by key. Unknown keys are errors: a misspelt one
// must not pass for one that is absent. The result is nil when it is no mapping.
func (v Value) Fields(m Mapping) map[string]Value {
	if v.Node != nil && v.Node.Kind != yaml.MappingNode {
		v.Errorf("its keys are "+strings.Join(m.Names(), ", "), "%s must be a mapping, not %s", m.Name, yamltext.Describe(v.Node))
		return nil
	}
	fields := map[string]Value{}
	for _, e := range v.Entries() {
		if e, ok := e.Known(m); ok {
			fields[e.Name] = e.Value
		}
	}
	return fields
}

// Known returns the entry with its name, which must be one of the mapping's keys.
func (e Entry) Known(m Mapping) (Entry, bool) {
	name := e.Key.Word()
	if !name.Set {
		return e, false
	}
	i := slices.IndexFunc(m.Keys, func(k Key) bool { return k.Name == name.Text })
	if i < 0 {
		known := m.Names()
		hint := cmp.Or(m.Hints[name.Text], spelling.Hint(name.Text, known, "the keys are "+strings.Join(known, ", ")))
		d := e.Key.Errorf(hint, "unknown key %q in %s", name.Text, m.Name)
		d.Code, d.Edits = cmp.Or(e.Key.reader.UnknownKey, d.Code), name.Respelt(known)
		return e, false
	}
	e.Name, e.Value.key = name.Text, m.Keys[i]
	return e, true
}

// Items returns the items of a list.
func (v Value) Items() []Value {
	if v.Node != nil && v.Node.Kind != yaml.SequenceNode {
		v.want("a list")
	}
	return v.items()
}

func (v Value) items() []Value {
	if v.Node == nil || v.Node.Kind != yaml.SequenceNode {
		return nil
	}
	var l []Value
	for i, n := range v.Node.Content {
		l = append(l, Value{yamltext.Resolve(n), fmt.Sprintf("%s[%d]", v.Path, i), v.reader, v.key})
	}
	return l
}

// Word is a string, with its place. The zero Word is none.
type Word struct {
	Text string
	Pos  diag.Pos
	Set  bool // it is one, if an empty one

	written string // how it is written at Pos; empty when it does not
}

// Respelt is the edit that writes the name that is certainly meant, unless that is taken.
func (w Word) Respelt(known []string, taken ...string) []diag.Edit {
	best := spelling.Certain(w.Text, known)
	if slices.Contains(taken, best) {
		return nil
	}
	return diag.Replace(w.Pos.Line, w.Pos.Col, w.written, yamltext.Respelt(w.written, best))
}

// Word returns the string that the value is to every reader of YAML.
func (v Value) Word() Word {
	n := v.Node
	if n == nil {
		return Word{}
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" && n.ShortTag() == "!!null" {
		v.want("a string")
		return Word{}
	}
	s, err := yamltext.String(n)
	if err != nil {
		quoted := yamltext.Quoted(n)
		hint := "quote it: " + quoted
		if strings.HasPrefix(v.key.Example, `"`) { // another tool may have made 1.3 of 1.30
			hint = "quote it, like " + v.key.Example
		}
		d := v.Errorf(hint, "%v", err)
		d.Code, d.Edits = cmp.Or(v.reader.Ambiguous, d.Code), diag.Replace(n.Line, n.Column, v.written(), quoted)
		return Word{}
	}
	return Word{s, v.Pos(), true, v.written()}
}

// Words returns the strings of a list.
func (v Value) Words() []Word {
	if v.Node != nil && v.Node.Kind != yaml.SequenceNode {
		v.want("a list of strings")
	}
	var l []Word
	for _, item := range v.items() {
		l = append(l, item.Word())
	}
	return l
}

// OneOrMore returns the strings of a list, or the only one.
func (v Value) OneOrMore() []Word {
	switch {
	case v.Node == nil || v.Node.Kind == yaml.SequenceNode:
		return v.Words()
	case v.Node.Kind == yaml.ScalarNode:
		return []Word{v.Word()}
	}
	v.want("a string or a list of strings")
	return nil
}

// Text returns a string that is not empty; "" is none.
func (v Value) Text() string {
	if n := v.Node; n != nil && n.Kind == yaml.ScalarNode && (n.Value == "" || n.ShortTag() == "!!null") {
		v.want("a string")
		return ""
	}
	return v.Word().Text
}

// Parse returns what parse makes of a text, the zero value of none.
func Parse[T any](v Value, parse func(string) (T, error)) (t T) {
	if s := v.Text(); s != "" {
		var err error
		if t, err = parse(s); err != nil {
			v.wrong("%v", err)
		}
	}
	return t
}

// Bool returns true or false; absent is what it is when absent.
func (v Value) Bool(absent bool) bool {
	n := v.Node
	if n == nil {
		return absent
	}
	// Other spellings of a boolean are booleans to some readers only.
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		d := v.want("true or false")
		if meant, ok := booleans[strings.ToLower(n.Value)]; ok && n.Kind == yaml.ScalarNode {
			d.Hint = fmt.Sprintf("write it like %s: %s", v.key.Name, meant)
			d.Edits = diag.Replace(n.Line, n.Column, v.written(), meant)
		}
	}
	return n.Value == "true"
}

// booleans are words for what must be true or false, in quotes or not.
var booleans = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

// OneOf returns which of these words the value is, or "". hint is for one that is like none
// of them.
func (v Value) OneOf(words []string, hint string) string {
	w := v.Word()
	if w.Set && !slices.Contains(words, w.Text) {
		v.Errorf(spelling.Hint(w.Text, words, hint), "%s must be one of %s", v.key.Name, strings.Join(words, ", ")).Edits = w.Respelt(words)
		return ""
	}
	return w.Text
}
