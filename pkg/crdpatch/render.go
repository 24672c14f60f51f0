package crdpatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/rules"
)

// A value to write is one of: string, bool, list, table. Tables keep the order
// of their keys, which a Go map would not.
type (
	list  []any
	table []pair
	pair  struct {
		key   string
		value any
	}
)

// entry is what is put into a collection: a key with its value, or items of a
// sequence when key is empty. dash is how much sequences in block style are
// indented below their key.
type entry struct {
	key   string
	value any
	dash  int
	// short writes short lists and tables of scalars in flow style.
	short bool
}

// ruleTable is a rule as it is written, its keys in the order of the API
// server, which is alphabetical.
func ruleTable(r rules.Rule) table {
	var t table
	add := func(key, value string) {
		if value != "" {
			t = append(t, pair{key, value})
		}
	}
	add("fieldPath", r.FieldPath)
	add("message", r.Message)
	add("messageExpression", r.MessageExpression)
	if r.OptionalOldSelf {
		t = append(t, pair{"optionalOldSelf", true})
	}
	add("reason", string(r.Reason))
	add("rule", r.Rule)
	return t
}

// block renders e as lines in block style.
func (e entry) block(indent int) []string {
	if e.key == "" {
		return e.blockItems(indent, e.value.(list))
	}
	return e.blockPair(indent, pair{e.key, e.value})
}

func (e entry) blockPair(indent int, p pair) []string {
	head := strings.Repeat(" ", indent) + scalarYAML(p.key) + ":"
	if text := flowYAML(p.value); e.short && text != "" && len(text) <= maxShort {
		return []string{head + " " + text}
	}
	switch v := p.value.(type) {
	case table:
		if len(v) == 0 {
			return []string{head + " {}"}
		}
		lines := []string{head}
		for _, q := range v {
			lines = append(lines, e.blockPair(indent+2, q)...)
		}
		return lines
	case list:
		if len(v) == 0 {
			return []string{head + " []"}
		}
		return append([]string{head}, e.blockItems(indent+e.dash, v)...)
	}
	return []string{head + " " + scalarYAML(p.value)}
}

func (e entry) blockItems(indent int, l list) []string {
	var lines []string
	for _, item := range l {
		first := len(lines)
		if t, ok := item.(table); ok && len(t) > 0 {
			for _, q := range t {
				lines = append(lines, e.blockPair(indent+2, q)...)
			}
		} else {
			text := scalarYAML(item)
			switch item.(type) {
			case list, table:
				text = layout{}.value(item)
			}
			lines = append(lines, strings.Repeat(" ", indent+2)+text)
		}
		lines[first] = lines[first][:indent] + "-" + lines[first][indent+1:]
	}
	return lines
}

// maxShort is the length up to which a list or table in flow style is short.
const maxShort = 72

// flowYAML writes a list or table of scalars in the flow style of YAML; it is empty
// for anything else.
func flowYAML(v any) string {
	scalar := func(v any) (string, bool) {
		switch v.(type) {
		case list, table:
			return "", false
		}
		return scalarYAML(v), true
	}
	var texts []string
	switch v := v.(type) {
	case list:
		for _, item := range v {
			text, ok := scalar(item)
			if !ok {
				return ""
			}
			texts = append(texts, text)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case table:
		for _, p := range v {
			text, ok := scalar(p.value)
			if !ok {
				return ""
			}
			texts = append(texts, scalarYAML(p.key)+": "+text)
		}
		return "{" + strings.Join(texts, ", ") + "}"
	}
	return ""
}

// layout is how a collection in flow style is laid out.
type layout struct {
	// indent is the indentation of its entries and unit one more level of it. All
	// stands on one line when there is no unit.
	indent, unit string
	// tight leaves out the spaces of that line, as compact JSON does.
	tight bool
}

func (l layout) inner() layout { return layout{l.indent + l.unit, l.unit, l.tight} }

// comma is what stands between two entries.
func (l layout) comma() string {
	switch {
	case l.unit != "":
		return ",\n" + l.indent
	case l.tight:
		return ","
	}
	return ", "
}

// flow renders e in flow style, as JSON. Lines are broken by \n; the first one
// is indented already.
func (e entry) flow(l layout) string {
	if e.key != "" {
		return l.pair(pair{e.key, e.value})
	}
	items := e.value.(list)
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = l.value(item)
	}
	return strings.Join(texts, l.comma())
}

func (l layout) pair(p pair) string {
	colon := ": "
	if l.tight {
		colon = ":"
	}
	return jsonString(p.key) + colon + l.value(p.value)
}

func (l layout) value(v any) string {
	inner := l.inner()
	var texts []string
	brackets := "[]"
	switch v := v.(type) {
	case table:
		brackets = "{}"
		for _, p := range v {
			texts = append(texts, inner.pair(p))
		}
	case list:
		for _, item := range v {
			texts = append(texts, inner.value(item))
		}
	case string:
		return jsonString(v)
	default:
		return fmt.Sprint(v)
	}
	text := strings.Join(texts, inner.comma())
	if l.unit != "" {
		text = "\n" + inner.indent + text + "\n" + l.indent
	}
	return brackets[:1] + text + brackets[1:]
}

// jsonString quotes s for JSON, with escapes for whatever does not print.
func jsonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings and bytes.Buffer do not fail
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

// scalarYAML writes a scalar in block style: plain when every reader takes it for
// the same string, else in whichever quotes need less escaping.
func scalarYAML(v any) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	if isName(s) {
		if same, err := yamltext.String(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}); err == nil && same == s {
			return s
		}
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

// isName reports whether s is made of the characters of names and paths only.
func isName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 && r != '.' || !strings.ContainsRune("0123456789_-./", r)) {
			return false
		}
	}
	return strings.Trim(s, ".0123456789") != ""
}
