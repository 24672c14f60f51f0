package crdpatch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Annotation is the key of the annotation that records the compilation of a CRD.
const Annotation = "unioncel.dev/unions"

// recordFormat is the only version of the annotation's content that this package writes and reads.
const recordFormat = 2

// record is the content of the annotation. Anyone may have written it: it is checked
// (check, claims.go) before it is used.
type record struct {
	Format int `json:"format"`
	// Annotations is nil if metadata had a mapping of annotations, "" if the key was absent,
	// else the text of its null value, starting with the colon.
	Annotations *string `json:"annotations,omitempty"`
	// JSON is true if the document was JSON, apart from declarations.
	JSON bool `json:"json,omitempty"`
	// Encoding and KubeVersion are the options of the compilation, which are needed to write
	// the rules again.
	Encoding    compile.Encoding `json:"encoding,omitempty"`
	KubeVersion string           `json:"kubeVersion,omitempty"`
	// Schemas are the changed schemas, in document order.
	Schemas []schemaRecord `json:"schemas"`
}

// schemaRecord records the edit of one schema.
type schemaRecord struct {
	Version string          `json:"version"`
	Path    schemapath.Path `json:"path,omitempty"`
	// Unions is the value of the declaration; empty for a schema that only got removal
	// guards. It is omitted if Source holds the same value.
	Unions json.RawMessage `json:"unions,omitempty"`
	// Extend is the list of external extensions of these unions.
	Extend json.RawMessage `json:"extend,omitempty"`
	// External is true if the declaration was not in the schema.
	External bool `json:"external,omitempty"`
	// Source is the exact text of the removed declaration. At is its distance from the
	// start of the schema's mapping, in the text without any of our edits.
	Source string `json:"source,omitempty"`
	At     int    `json:"at,omitempty"`
	// Empty is true if the schema had an empty list of rules.
	Empty bool `json:"empty,omitempty"`
	// Rules are the sums of our rules.
	Rules []string `json:"rules,omitempty"`
}

// sumOf returns the checksum of a rule over all its keys. It only identifies the rule and detects
// edits. A forged rule with the same sum is not ours, since the union does not write it, so 8
// digits are enough.
func sumOf(rule any) string {
	data, err := json.Marshal(rule) // maps are marshalled with sorted keys
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:sumBytes])
}

const sumBytes = 4

// String returns the annotation's value: ASCII, so that it survives every tool.
func (r record) String() (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	r.Schemas = slices.Clone(r.Schemas)
	for i, s := range r.Schemas {
		if told, err := declarationIn(s.Source); err == nil && bytes.Equal(told, s.Unions) {
			r.Schemas[i].Unions = nil
		}
	}
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

// errOldFormat is the error for annotations of format 1.
var errOldFormat = errors.New("it was written by an older version of unioncel")

// parseRecord reads the annotation's value.
func parseRecord(s string) (record, error) {
	var probe struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal([]byte(s), &probe); err != nil {
		return record{}, err
	}
	if probe.Format == 1 {
		return record{}, errOldFormat
	}
	if probe.Format != recordFormat {
		return record{}, fmt.Errorf("it has format %d; this version of unioncel reads format %d", probe.Format, recordFormat)
	}
	var r record
	err := json.Unmarshal([]byte(s), &r)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return record{}, fmt.Errorf("%s: %s expected, found %s", wrong.Field, cmp.Or(jsonKinds[wrong.Type.Kind()], wrong.Type.Kind().String()), wrong.Value)
	}
	if err != nil {
		return record{}, err
	}
	if r.Encoding, err = compile.ParseEncoding(string(cmp.Or(r.Encoding, "auto"))); err != nil {
		return record{}, fmt.Errorf("encoding: %w", err)
	}
	if r.KubeVersion, err = compile.ParseKubeVersion(r.KubeVersion); err != nil {
		return record{}, fmt.Errorf("kubeVersion: %w", err)
	}
	for i := range r.Schemas {
		if s := &r.Schemas[i]; s.Source != "" && len(s.Unions) == 0 {
			unions, err := declarationIn(s.Source)
			if err != nil {
				return record{}, fmt.Errorf("schemas[%d].source: %w", i, err)
			}
			s.Unions = unions
		}
	}
	return r, r.check()
}

// jsonKinds maps kinds of Go values to their names in JSON.
var jsonKinds = map[reflect.Kind]string{reflect.Slice: "array", reflect.Struct: "object"}

// check returns an error unless this package may have written the record.
func (r record) check() error {
	if r.Annotations != nil && *r.Annotations != "" && !isNullText(*r.Annotations) {
		return errors.New("annotations: this is not a null value")
	}
	seen := map[string]bool{}
	for i, s := range r.Schemas {
		if err := s.check(); err != nil {
			return fmt.Errorf("schemas[%d]%w", i, err)
		}
		key := fmt.Sprintf("%q", append([]string{s.Version}, s.Path.Fields()...))
		if seen[key] {
			return fmt.Errorf("schemas[%d] occurs twice", i)
		}
		seen[key] = true
	}
	return nil
}

func (s schemaRecord) check() error {
	switch {
	case s.Version == "":
		return errors.New(".version is missing")
	case slices.Contains(s.Path, schemapath.Elements):
		return errors.New(".path leads to no schema")
	case (s.External || s.Source != "") && len(s.Unions) == 0:
		return errors.New(".unions is missing")
	case len(s.Extend) > 0 && len(s.Unions) == 0:
		return errors.New(".extend has no unions to extend")
	case s.External && s.Source != "":
		return errors.New(" contradicts itself")
	case len(s.Unions) > 0 && !s.External && s.Source == "":
		return errors.New(".source is missing")
	}
	for _, sum := range s.Rules {
		if len(sum) != 2*sumBytes || strings.Trim(sum, "0123456789abcdef") != "" {
			return fmt.Errorf(": %q is not a checksum", sum)
		}
	}
	if len(s.Unions) == 0 {
		return nil
	}
	value, err := yamltext.FromJSON(s.Unions)
	if err != nil {
		return fmt.Errorf(": invalid declaration: %w", err)
	}
	if twice := yamltext.DuplicateKeys(value); len(twice) > 0 {
		return fmt.Errorf(".unions: key %q occurs twice", twice[0][1].Value)
	}
	declarations, diags := union.Parse("", "", value, nil)
	if diags.HasErrors() {
		return fmt.Errorf(": invalid declaration: %s", diags.Sort()[0].Message)
	}
	for _, d := range declarations {
		if !slices.ContainsFunc(d.Names(), func(name string) bool { return name != "" }) {
			return errors.New(": invalid declaration: it names no members")
		}
	}
	if len(s.Extend) == 0 {
		return nil
	}
	if value, err = yamltext.FromJSON(s.Extend); err != nil {
		return fmt.Errorf(".extend: %w", err)
	}
	if twice := yamltext.DuplicateKeys(value); len(twice) > 0 {
		return fmt.Errorf(".extend: key %q occurs twice", twice[0][1].Value)
	}
	extensions, diags := union.ParseExtensions("", "", value, nil)
	if diags = append(diags, union.Extend(declarations, extensions)...); diags.HasErrors() {
		return fmt.Errorf(".extend: %s", diags.Sort()[0].Message)
	}
	return nil
}

// isNullText reports whether a text that starts with a colon is a null value.
func isNullText(text string) bool {
	for _, whole := range []string{"\"a\"" + text, "{\"a\"" + text + "\n}"} {
		doc, err := onlyDocument(whole)
		if err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
			continue
		}
		var null *string
		if v := doc.Content[0].Content[1]; v.Kind == yaml.ScalarNode && v.Tag == "!!null" && v.Decode(&null) == nil {
			return strings.HasPrefix(text, ":")
		}
	}
	return false
}

// declarationIn returns the value of the declaration in a text that was cut out of a mapping: in
// block style, or in flow style with an adjacent comma.
func declarationIn(text string) (json.RawMessage, error) {
	n, err := onlyEntry(text)
	if err != nil {
		trimmed := strings.TrimSpace(text)
		trimmed = strings.TrimSuffix(strings.TrimPrefix(trimmed, ","), ",")
		if n, err = onlyEntry("{" + trimmed + "\n}"); err != nil {
			return nil, err
		}
	}
	if yamltext.HasAlias(n) {
		return nil, errors.New("the text has an alias")
	}
	return declarationJSON(n), nil
}

// declarationJSON returns a declaration as compact JSON.
func declarationJSON(n *yaml.Node) json.RawMessage {
	return json.RawMessage(yamltext.Layout{Tight: true}.Value(yamltext.PlainNode(n)))
}

// onlyEntry returns the value of x-kubernetes-unions in a text that holds nothing else.
func onlyEntry(text string) (*yaml.Node, error) {
	doc, err := onlyDocument(text)
	if err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) != 2 || doc.Content[0].Content[0].Value != union.Key {
		return nil, errors.New("the text is something other than a declaration")
	}
	if twice := yamltext.DuplicateKeys(doc.Content[0]); len(twice) > 0 {
		return nil, fmt.Errorf("key %q occurs twice", twice[0][1].Value)
	}
	return doc.Content[0].Content[1], nil
}

// onlyDocument parses a text with a single document.
func onlyDocument(text string) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the text is not YAML: %w", err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the text is more than a declaration")
	}
	return &doc, nil
}
