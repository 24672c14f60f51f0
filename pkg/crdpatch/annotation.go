package crdpatch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
)

// Annotation is the key under which a compiled CRD keeps what compiling did.
const Annotation = "unioncel.dev/unions"

// format is the version of the annotation's content that this package writes,
// and the only one it reads.
const format = 1

// record is the content of the annotation.
type record struct {
	Format int `json:"format"`
	// Annotations is what metadata had instead of annotations: nil when it had
	// some, "" when the key was absent, else the text of its null value, from the
	// colon on.
	Annotations *string `json:"annotations,omitempty"`
	// JSON says that the document was JSON, apart from declarations.
	JSON bool `json:"json,omitempty"`
	// Encoding and KubeVersion are the options it was compiled with, for Explain.
	Encoding    compile.Encoding `json:"encoding,omitempty"`
	KubeVersion string           `json:"kubeVersion,omitempty"`
	// Schemas are the schemas that were changed, in order of the text.
	Schemas []schemaRecord `json:"schemas"`
}

// schemaRecord is what compiling did to one schema.
type schemaRecord struct {
	Version string   `json:"version"`
	Path    []string `json:"path,omitempty"`
	// Unions is the value of the declaration; null for a schema that only got
	// removal guards.
	Unions json.RawMessage `json:"unions,omitempty"`
	// External says that the declaration did not stand in the schema.
	External bool `json:"external,omitempty"`
	// Source is the exact text that was cut out, and At where: its distance from
	// the start of the schema's mapping in the text without any of our edits.
	Source string `json:"source,omitempty"`
	At     int    `json:"at,omitempty"`
	// Kept says that the declaration was left in.
	Kept bool `json:"kept,omitempty"`
	// Empty says that the schema had a list of rules, without rules in it.
	Empty bool `json:"empty,omitempty"`
	// Rules are ours.
	Rules []ruleRecord `json:"rules,omitempty"`
	// EmptyAllOf says that the schema had an allOf, without schemas in it.
	EmptyAllOf bool `json:"emptyAllOf,omitempty"`
	// AllOf are the sums of those schemas in allOf that are ours.
	AllOf []string `json:"allOf,omitempty"`
}

// ruleRecord identifies a rule: its text, which is unique in a schema, and a sum
// over all its keys, which tells whether it was edited.
type ruleRecord struct {
	Rule string `json:"rule"`
	Sum  string `json:"sum"`
}

// sumOf is the sum of a rule as data.
func sumOf(rule any) string {
	data, err := json.Marshal(rule) // maps are marshalled in order of their keys
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}

// asData turns a table or list into maps and slices.
func asData(v any) any {
	switch v := v.(type) {
	case table:
		m := map[string]any{}
		for _, p := range v {
			m[p.key] = asData(p.value)
		}
		return m
	case list:
		l := make([]any, len(v))
		for i, item := range v {
			l[i] = asData(item)
		}
		return l
	}
	return v
}

// String returns the annotation's value: ASCII, so that it survives every tool.
func (r record) String() (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return "", err
	}
	var out strings.Builder
	for _, c := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case c < utf8.RuneSelf && c != 0x7f:
			out.WriteRune(c)
		case c > 0xFFFF:
			c -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+c>>10, 0xDC00+c&0x3FF)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	return out.String(), nil
}

// parseRecord reads the annotation's value.
func parseRecord(s string) (record, error) {
	var probe struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal([]byte(s), &probe); err != nil {
		return record{}, err
	}
	if probe.Format != format {
		return record{}, fmt.Errorf("it has format %d; this version of unioncel reads format %d", probe.Format, format)
	}
	var r record
	err := json.Unmarshal([]byte(s), &r)
	return r, err
}

// ordered converts a declaration's node to a value that keeps the order of keys.
func ordered(n *yaml.Node) any {
	n = yamltext.Resolve(n)
	switch n.Kind {
	case yaml.MappingNode:
		t := table{}
		for _, e := range yamltext.Entries(n) {
			t = append(t, pair{e.Key.Value, ordered(e.Value)})
		}
		return t
	case yaml.SequenceNode:
		l := list{}
		for _, item := range n.Content {
			l = append(l, ordered(item))
		}
		return l
	}
	if n.Tag == "!!bool" {
		return n.Value == "true"
	}
	return n.Value
}

// orderedJSON reads JSON into a value that keeps the order of keys.
func orderedJSON(data []byte) (any, error) {
	return orderedValue(json.NewDecoder(bytes.NewReader(data)))
}

func orderedValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		l := list{}
		for dec.More() {
			v, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		_, err = dec.Token()
		return l, err
	case json.Delim('{'):
		t := table{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			t = append(t, pair{fmt.Sprint(key), v})
		}
		_, err = dec.Token()
		return t, err
	}
	return token, nil
}
