package yamltext

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
)

// PlainNode returns a copy of a declaration without aliases and merge keys. Its scalars are strings,
// booleans and integers.
func PlainNode(n *yaml.Node) *yaml.Node {
	switch n = Resolve(n); n.Kind {
	case yaml.MappingNode:
		m := MappingNode()
		for _, e := range Entries(n) {
			m.Content = append(m.Content, StringNode(e.Key.Value), PlainNode(e.Value))
		}
		return m
	case yaml.SequenceNode:
		l := ListNode()
		for _, item := range n.Content {
			l.Content = append(l.Content, PlainNode(item))
		}
		return l
	}
	switch n.ShortTag() {
	case "!!bool":
		return BoolNode(n.Value == "true")
	case "!!int":
		return IntNode(n.Value)
	}
	return StringNode(n.Value)
}

// DataOf returns the value that kubectl reads from a tree built by this package.
func DataOf(n *yaml.Node) any {
	var v any
	_ = json.Unmarshal([]byte(JSONOnOneLine(n)), &v) // always valid
	return v
}

// JSONOnOneLine returns a tree of nodes as JSON on one line.
func JSONOnOneLine(n *yaml.Node) string { return Layout{}.Value(n) }

// NewEntry is an addition to a collection: a key with its value or, if Key is empty, the items of a
// sequence. Dash is the indentation of block sequences relative to their keys.
type NewEntry struct {
	Key   string
	Value *yaml.Node
	Dash  int
	// Short writes short lists and mappings of scalars in flow style.
	Short bool
	// Plain omits the quotes of the key in flow style, if the neighbouring keys have none.
	Plain bool
}

// Block renders e as lines in block style.
func (e NewEntry) Block(indent int) []string {
	if e.Key == "" {
		return e.BlockItems(indent, e.Value)
	}
	return e.blockPair(indent, StringNode(e.Key), e.Value)
}

func (e NewEntry) blockPair(indent int, key, value *yaml.Node) []string {
	head := strings.Repeat(" ", indent) + ScalarText(key) + ":"
	if text := flowYAML(value); e.Short && text != "" && len(text) <= maxShort {
		return []string{head + " " + text}
	}
	switch {
	case value.Kind == yaml.ScalarNode:
		return []string{head + " " + ScalarText(value)}
	case len(value.Content) == 0:
		return []string{head + " " + JSONOnOneLine(value)}
	}
	lines := []string{head}
	if value.Kind == yaml.SequenceNode {
		return append(lines, e.BlockItems(indent+e.Dash, value)...)
	}
	return append(lines, e.blockPairs(indent+2, value)...)
}

// blockPairs renders the entries of a mapping.
func (e NewEntry) blockPairs(indent int, m *yaml.Node) (lines []string) {
	for k, v := range Pairs(m) {
		lines = append(lines, e.blockPair(indent, k, v)...)
	}
	return lines
}

// BlockItems renders the items of a list as lines in block style.
func (e NewEntry) BlockItems(indent int, list *yaml.Node) []string {
	var lines []string
	for _, item := range list.Content {
		first := len(lines)
		switch {
		case item.Kind == yaml.MappingNode && len(item.Content) > 0:
			lines = append(lines, e.blockPairs(indent+2, item)...)
		case item.Kind == yaml.ScalarNode:
			lines = append(lines, strings.Repeat(" ", indent+2)+ScalarText(item))
		default:
			lines = append(lines, strings.Repeat(" ", indent+2)+JSONOnOneLine(item))
		}
		lines[first] = lines[first][:indent] + "-" + lines[first][indent+1:]
	}
	return lines
}

// maxShort is the maximum length of a short list or mapping in flow style.
const maxShort = 72

// flowYAML returns a list or mapping of scalars in YAML's flow style, and "" for any other node.
func flowYAML(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode || slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Kind != yaml.ScalarNode }) {
		return ""
	}
	var texts []string
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			texts = append(texts, ScalarText(item))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	for k, v := range Pairs(n) {
		texts = append(texts, ScalarText(k)+": "+ScalarText(v))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// Layout describes the layout of a collection in flow style.
type Layout struct {
	// indent is the indentation of the entries, and unit is one level of indentation. If unit is
	// "", the collection is on one line.
	indent, unit string
	// Tight omits spaces in a collection on one line, like compact JSON.
	Tight bool
}

func (l Layout) inner() Layout { return Layout{l.indent + l.unit, l.unit, l.Tight} }

// comma returns the separator of two entries.
func (l Layout) comma() string {
	switch {
	case l.unit != "":
		return ",\n" + l.indent
	case l.Tight:
		return ","
	}
	return ", "
}

// Flow renders e in flow style, as JSON. Lines are separated by \n. The first line is not indented.
func (e NewEntry) Flow(l Layout) string {
	if e.Key != "" {
		text := l.pair(StringNode(e.Key), e.Value)
		if quoted := jsonString(e.Key); e.Plain {
			text = ScalarText(StringNode(e.Key)) + strings.TrimPrefix(text, quoted)
		}
		return text
	}
	texts := make([]string, len(e.Value.Content))
	for i, item := range e.Value.Content {
		texts[i] = l.Value(item)
	}
	return strings.Join(texts, l.comma())
}

func (l Layout) pair(key, value *yaml.Node) string {
	colon := ": "
	if l.Tight {
		colon = ":"
	}
	return jsonString(key.Value) + colon + l.Value(value)
}

// Value returns a tree of nodes in flow style.
func (l Layout) Value(n *yaml.Node) string {
	inner := l.inner()
	var texts []string
	brackets := "[]"
	switch n.Kind {
	case yaml.MappingNode:
		brackets = "{}"
		for k, v := range Pairs(n) {
			texts = append(texts, inner.pair(k, v))
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			texts = append(texts, inner.Value(item))
		}
	default:
		if n.Tag == "!!str" {
			return jsonString(n.Value)
		}
		return n.Value
	}
	text := strings.Join(texts, inner.comma())
	if l.unit != "" {
		text = "\n" + inner.indent + text + "\n" + l.indent
	}
	return brackets[:1] + text + brackets[1:]
}

// jsonString quotes s for JSON and escapes characters that are not printable.
func jsonString(s string) string {
	var b bytes.Buffer
	enc := stdjson.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings are always valid, and bytes.Buffer does not fail
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case r < utf8.RuneSelf && r != 0x7f || unicode.IsPrint(r) || r > 0xFFFF:
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// ScalarText returns a scalar in block style. A string of common characters is plain if every YAML
// reader reads it back. Other strings are quoted in the style that needs less escaping.
func ScalarText(n *yaml.Node) string {
	s := n.Value
	if n.Tag != "!!str" {
		return s
	}
	if isName(s) && StringNode(s).Style == 0 {
		return s
	}
	double := jsonString(s)
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return double
		}
	}
	if single := "'" + strings.ReplaceAll(s, "'", "''") + "'"; len(single) < len(double) {
		return single
	}
	return double
}

// isName reports whether s consists of characters that are common in names and paths.
func isName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 && r != '.' || !strings.ContainsRune("0123456789_-./", r)) {
			return false
		}
	}
	return strings.Trim(s, ".0123456789") != ""
}
