package yamltext

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/english"

	"github.com/unioncel/unioncel/pkg/diag"
)

// ConfigReader reads the values in a file and collects diagnostics.
type ConfigReader struct {
	// File is the name of the file in diagnostics.
	File string
	// At, unless nil, is the position of all diagnostics. Callers set it for nodes that do not come
	// from a user's file.
	At *diag.Pos
	// SchemaPath, unless nil, is the path in all diagnostics, in place of the path of the value.
	SchemaPath *string
	// Code is the code of diagnostics. If set, UnknownKey is the code for unknown keys, and
	// Ambiguous the code for scalars that some YAML readers do not read as strings.
	Code, UnknownKey, Ambiguous diag.Code
	// Diags are the diagnostics so far.
	Diags diag.List
}

// ConfigKey is a key of a mapping, with an example of its value.
type ConfigKey struct{ Name, Example string }

// ConfigMapping describes the keys of a mapping.
type ConfigMapping struct {
	// Name is the name of the mapping in messages, with an article.
	Name string
	Keys []ConfigKey
	// Hints are hints for some unknown keys.
	Hints map[string]string
}

// Names returns the names of the keys.
func (m ConfigMapping) Names() []string {
	var l []string
	for _, k := range m.Keys {
		l = append(l, k.Name)
	}
	return l
}

// ConfigValue is a value with its position. The zero Value is an absent value: it reads as the zero value
// of any type, without diagnostics.
type ConfigValue struct {
	// Node is never an alias.
	Node *yaml.Node
	// Path leads from the root of the document to the value, such as lint.ignore[0].
	Path string

	reader *ConfigReader
	key    ConfigKey // the key of the value or of its nearest ancestor with a key
}

// Value returns the value of a node without a key. example is an example of such a value.
func (r *ConfigReader) Value(n *yaml.Node, example string) ConfigValue {
	return ConfigValue{Resolve(n), "", r, ConfigKey{Example: example}}
}

// Pos returns the position of a node.
func (r *ConfigReader) Pos(n *yaml.Node) diag.Pos {
	if r.At != nil {
		return *r.At
	}
	return diag.Pos{File: r.File, Line: n.Line, Col: n.Column}
}

// Pos returns the position of the value.
func (v ConfigValue) Pos() diag.Pos { return v.reader.Pos(v.Node) }

// At returns the position of the value for messages, or "" if it is absent.
func (v ConfigValue) At() string {
	if v.Node == nil {
		return ""
	}
	return v.Pos().String()
}

// Errorf reports a problem of the value. The caller may modify the returned diagnostic until it
// reports the next one.
func (v ConfigValue) Errorf(hint, format string, args ...any) *diag.Diagnostic {
	r := v.reader
	r.Diags = append(r.Diags, v.problem(hint, format, args...))
	return &r.Diags[len(r.Diags)-1]
}

// problem returns the diagnostic that Errorf reports.
func (v ConfigValue) problem(hint, format string, args ...any) diag.Diagnostic {
	r := v.reader
	d := diag.New(r.Code, v.Pos(), format, args...).At(v.Path).Hinted(hint)
	if r.SchemaPath != nil {
		d.Path = *r.SchemaPath
	}
	return d
}

// wrong reports an invalid value. The hint has an example of a valid value.
func (v ConfigValue) wrong(format string, args ...any) *diag.Diagnostic {
	at := ""
	if v.key.Name != "" {
		at = v.key.Name + ": "
	}
	return v.Errorf("write it like "+at+v.key.Example, "%s", at+fmt.Sprintf(format, args...))
}

// want reports a value of the wrong type.
func (v ConfigValue) want(what string) *diag.Diagnostic {
	return v.wrong("want %s, not %s", what, Describe(v.Node))
}

// written returns the source text of a scalar, or "" if the node has no position in a file.
func (v ConfigValue) written() string {
	if v.reader.At != nil {
		return ""
	}
	return Written(v.Node)
}

// ConfigEntry is a key of a mapping with its value.
type ConfigEntry struct {
	Name       string // the name of the key; set by Known
	Key, Value ConfigValue
}

// Entries returns the entries of a mapping, including merged ones.
func (v ConfigValue) Entries() []ConfigEntry {
	switch {
	case v.Node == nil:
		return nil
	case v.Node.Kind != yaml.MappingNode:
		v.want("a mapping")
		return nil
	}
	for i := 0; i < len(v.Node.Content); i += 2 {
		if k := v.Node.Content[i]; k.Kind != yaml.ScalarNode {
			ConfigValue{k, v.Path, v.reader, v.key}.Errorf("write the key out", "want a string as key, not %s", Describe(k))
		}
	}
	var l []ConfigEntry
	for _, e := range Entries(v.Node) {
		l = append(l, ConfigEntry{"", v.child(e.Key.Value, e.Key), v.child(e.Key.Value, e.Value)})
	}
	return l
}

// child returns the value at a key of the mapping.
func (v ConfigValue) child(key string, n *yaml.Node) ConfigValue {
	if v.Path != "" {
		key = v.Path + "." + key
	}
	return ConfigValue{Resolve(n), key, v.reader, v.key}
}

// Field returns the value at a key of a mapping. It allows any other keys.
func (v ConfigValue) Field(k ConfigKey) ConfigValue {
	if v.Node != nil && v.Node.Kind != yaml.MappingNode {
		v.want("a mapping")
	}
	field := v.child(k.Name, Lookup(v.Node, k.Name).Value)
	field.key = k
	return field
}

// Fields returns the values of a mapping by key. Unknown keys are errors, because a misspelt key
// would count as absent. The result is nil if the value is not a mapping.
func (v ConfigValue) Fields(m ConfigMapping) map[string]ConfigValue {
	if v.Node != nil && v.Node.Kind != yaml.MappingNode {
		v.Errorf("its keys are "+strings.Join(m.Names(), ", "), "%s must be a mapping, not %s", m.Name, Describe(v.Node))
		return nil
	}
	fields := map[string]ConfigValue{}
	for _, e := range v.Entries() {
		if e, ok := e.Known(m); ok {
			fields[e.Name] = e.Value
		}
	}
	return fields
}

// Known sets the Name of an entry. It reports a key that m does not have.
func (e ConfigEntry) Known(m ConfigMapping) (ConfigEntry, bool) {
	name := e.Key.Word()
	if !name.Set {
		return e, false
	}
	i := slices.IndexFunc(m.Keys, func(k ConfigKey) bool { return k.Name == name.Text })
	if i < 0 {
		known := m.Names()
		hint := cmp.Or(m.Hints[name.Text], english.Hint(name.Text, known, "the keys are "+strings.Join(known, ", ")))
		d := e.Key.Errorf(hint, "unknown key %q in %s", name.Text, m.Name)
		d.Code, d.Edits = cmp.Or(e.Key.reader.UnknownKey, d.Code), name.Respelt(known)
		return e, false
	}
	e.Name, e.Value.key = name.Text, m.Keys[i]
	return e, true
}

// Items returns the items of a list.
func (v ConfigValue) Items() []ConfigValue {
	switch {
	case v.Node == nil:
		return nil
	case v.Node.Kind != yaml.SequenceNode:
		v.want("a list")
		return nil
	}
	var l []ConfigValue
	for i, n := range v.Node.Content {
		l = append(l, ConfigValue{Resolve(n), fmt.Sprintf("%s[%d]", v.Path, i), v.reader, v.key})
	}
	return l
}

// ConfigWord is a string with its position. The zero Word is an absent string.
type ConfigWord struct {
	Text string
	Pos  diag.Pos
	Set  bool // distinguishes an empty string from an absent one

	written string // the source text at Pos, or "" if it is unknown

	// Plain is the type of an unquoted boolean or integer that [Value.Scalar] has read, "number" for
	// an integer in another form, such as 0x10. Ambiguous is the diagnostic that [Value.Word] reports
	// for it.
	Plain     string
	Ambiguous *diag.Diagnostic
}

// Respelt returns the edit that corrects a misspelt word, or nil if the correct word is taken.
func (w ConfigWord) Respelt(known []string, taken ...string) []diag.Edit {
	best := english.Certain(w.Text, known)
	if slices.Contains(taken, best) {
		return nil
	}
	return diag.Replace(w.Pos.Line, w.Pos.Col, w.written, Respelt(w.written, best))
}

// Word returns the value if all YAML readers read it as the same string.
func (v ConfigValue) Word() ConfigWord { return v.certain(v.word()) }

// certain returns w, or reports that it is ambiguous.
func (v ConfigValue) certain(w ConfigWord) ConfigWord {
	if w.Ambiguous == nil {
		return w
	}
	v.reader.Diags = append(v.reader.Diags, *w.Ambiguous)
	return ConfigWord{}
}

// word is Word without the report: an ambiguous value has a diagnostic.
func (v ConfigValue) word() ConfigWord {
	n := v.Node
	if n == nil {
		return ConfigWord{}
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" && n.ShortTag() == "!!null" {
		v.want("a string")
		return ConfigWord{}
	}
	s, err := String(n)
	if err == nil {
		return ConfigWord{Text: s, Pos: v.Pos(), Set: true, written: v.written()}
	}
	quoted := Quoted(n)
	hint := "quote it: " + quoted
	if strings.HasPrefix(v.key.Example, `"`) { // another tool may have turned 1.30 into 1.3
		hint = "quote it, like " + v.key.Example
	}
	d := v.problem(hint, "%v", err)
	d.Code, d.Edits = cmp.Or(v.reader.Ambiguous, d.Code), diag.Replace(n.Line, n.Column, v.written(), quoted)
	return ConfigWord{Text: n.Value, Pos: v.Pos(), Set: true, written: v.written(), Ambiguous: &d}
}

// Words returns the strings of a list.
func (v ConfigValue) Words() []ConfigWord {
	if v.Node != nil && v.Node.Kind != yaml.SequenceNode {
		v.want("a list of strings")
		return nil
	}
	return v.WordOrMore()
}

// Scalar is [Value.Word], but also reads true, false and integers without quotes.
func (v ConfigValue) Scalar() ConfigWord {
	w := v.word()
	if w.Ambiguous == nil {
		return w
	}
	switch tag := v.Node.ShortTag(); {
	case tag == "!!bool" && (w.Text == "true" || w.Text == "false"):
		w.Plain = "boolean"
	case tag == "!!int" && Decimal(w.Text):
		w.Plain = "integer"
	case tag == "!!int", tag == "!!float" && isWholeNumber(w.Text):
		w.Plain = "number"
	default:
		return v.certain(w)
	}
	return w
}

// Decimal reports whether a text is the decimal form of an int64.
func Decimal(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

// isWholeNumber reports whether a floating-point number is an integer.
func isWholeNumber(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f) && !math.IsInf(f, 0)
}

// ScalarOrMore returns the scalars of a list, or a single scalar as a list of one.
func (v ConfigValue) ScalarOrMore() []ConfigWord { return v.oneOrMore(ConfigValue.Scalar) }

// WordOrMore returns the strings of a list, or a single string as a list of one.
func (v ConfigValue) WordOrMore() []ConfigWord { return v.oneOrMore(ConfigValue.Word) }

func (v ConfigValue) oneOrMore(read func(ConfigValue) ConfigWord) []ConfigWord {
	switch {
	case v.Node == nil || v.Node.Kind == yaml.SequenceNode:
		var l []ConfigWord
		for _, item := range v.Items() {
			l = append(l, read(item))
		}
		return l
	case v.Node.Kind == yaml.ScalarNode:
		return []ConfigWord{read(v)}
	}
	v.want("a string or a list of strings")
	return nil
}

// Text returns a non-empty string, or "" if the value is absent or invalid.
func (v ConfigValue) Text() string {
	if n := v.Node; n != nil && n.Kind == yaml.ScalarNode && (n.Value == "" || n.ShortTag() == "!!null") {
		v.want("a string")
		return ""
	}
	return v.Word().Text
}

// ParseConfigValue returns the parsed text of the value, or the zero value if the value is absent or invalid.
func ParseConfigValue[T any](v ConfigValue, parse func(string) (T, error)) (t T) {
	if s := v.Text(); s != "" {
		var err error
		if t, err = parse(s); err != nil {
			v.wrong("%v", err)
		}
	}
	return t
}

// Bool returns the value or, if there is none, absent.
func (v ConfigValue) Bool(absent bool) bool {
	n := v.Node
	if n == nil {
		return absent
	}
	// Some YAML readers do not read other spellings as booleans.
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		d := v.want("true or false")
		if meant, ok := booleans[strings.ToLower(n.Value)]; ok && n.Kind == yaml.ScalarNode {
			d.Hint = fmt.Sprintf("write it like %s: %s", v.key.Name, meant)
			d.Edits = diag.Replace(n.Line, n.Column, v.written(), meant)
		}
	}
	return n.Value == "true"
}

// booleans maps words that users write for booleans, quoted or not, to the correct spelling.
var booleans = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

// OneOf returns the value if it is one of words, and "" otherwise. hint is the hint for values that
// resemble no word.
func (v ConfigValue) OneOf(words []string, hint string) string {
	w := v.Word()
	if w.Set && !slices.Contains(words, w.Text) {
		v.Errorf(english.Hint(w.Text, words, hint), "%s must be one of %s", v.key.Name, strings.Join(words, ", ")).Edits = w.Respelt(words)
		return ""
	}
	return w.Text
}
