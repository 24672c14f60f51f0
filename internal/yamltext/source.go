package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Helm is the hint for a file that looks like a Helm template.
const Helm = "this looks like a Helm template: render it first, such as with helm template CHART"

// ParseManifest splits a text into documents. If the text is malformed or exceeds a limit, it returns a
// diagnostic about the file name.
func ParseManifest(name string, text []byte, limits Limits) (*File, *diag.Diagnostic) {
	limits = limits.OrDefault()
	if wrong := TooMuch(name, text, limits); wrong != nil {
		return nil, wrong
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) == 0 {
		return nil, new(diag.New(codes.EmptyInput, diag.Pos{File: name}, "the file is empty"))
	}
	if at := invalidUTF8(text); at < len(text) {
		line := bytes.Count(text[:at], []byte("\n")) + 1
		col := utf8.RuneCount(bytes.TrimPrefix(text[bytes.LastIndexByte(text[:at], '\n')+1:at], []byte("\ufeff"))) + 1
		return nil, new(diag.New(codes.InvalidUTF8, diag.Pos{File: name, Line: line, Col: col}, "byte 0x%02x is not UTF-8", text[at]).
			Hinted("save the file as UTF-8"))
	}
	file, err := Parse(text)
	if err == nil {
		for _, d := range file.Docs {
			if n := deepest(d.Root, limits.Depth); n != nil {
				return nil, new(diag.New(codes.OverLimit, diag.Pos{File: name, Line: n.Line, Col: n.Column},
					"lists and mappings are nested more deeply here than the limit of %d", limits.Depth).
					Hinted(LimitHint("depth")))
			}
		}
		return file, nil
	}
	d := diag.New(codes.Syntax, diag.Pos{File: name}, "%v", err)
	if bytes.Contains(text, []byte("{{")) {
		d.Hint = Helm
	}
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		d.Pos.Line, d.Pos.Col, d.Message = syntax.Line, syntax.Column, syntax.Msg
		lines := bytes.Split(text, []byte("\n"))
		if at := syntax.Line - 1; d.Hint == "" && at < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at], " "), []byte("\t")) {
			d.Hint = "YAML does not allow tabs in indentation: use spaces"
		}
	}
	return nil, &d
}

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// Duplicates reports the duplicate keys in the mappings at n and below. Different keys that kubectl
// reads as the same are reported as ambiguous.
func Duplicates(name string, n *yaml.Node) diag.List {
	var l diag.List
	for _, keys := range DuplicateKeys(n) {
		first, k := Resolve(keys[0]), Resolve(keys[1])
		if first.Value != k.Value {
			for _, key := range []*yaml.Node{first, k} {
				if _, err := String(key); err != nil {
					l = append(l, ambiguous(name, key, fmt.Sprintf("%v, so that %s and %s are the same key", err, first.Value, k.Value)))
				}
			}
			continue
		}
		l = append(l, diag.New(codes.DuplicateKey, diag.Pos{File: name, Line: keys[1].Line, Col: keys[1].Column},
			"key %q occurs twice in this mapping", k.Value).
			Hinted("delete one of them"))
	}
	return l
}

func ambiguous(name string, key *yaml.Node, message string) diag.Diagnostic {
	quoted := Quoted(key)
	return diag.Diagnostic{Code: codes.AmbiguousScalar, Pos: diag.Pos{File: name, Line: key.Line, Col: key.Column}, Message: message,
		Hint: "quote it: " + quoted, Edits: diag.Replace(key.Line, key.Column, Written(key), quoted)}
}

// Misread reports the properties, in the schemas at n and below, that a rule names and that kubectl
// reads under another name.
func Misread(name string, n *yaml.Node) (l diag.List) {
	named := sync.OnceValue(func() map[string]bool { return fields(n) })
	for m := range All(n) {
		for k, properties := range Pairs(m) {
			if k.Value != "properties" {
				continue
			}
			for key := range Pairs(properties) {
				if _, err := String(key); err != nil && key.Kind == yaml.ScalarNode && named()[key.Value] {
					l = append(l, ambiguous(name, key, fmt.Sprintf("%v, and a rule names the property %q", err, key.Value)))
				}
			}
		}
	}
	return l
}

// selection matches the selection of a field in CEL, or else a string or comment, which selects none.
var selection = english.Pattern(`(?s)[rR]?"""(?:\\.|[^\\])*?"""|[rR]?'''(?:\\.|[^\\])*?'''|[rR]"[^"]*"|[rR]'[^']*'|` +
	`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|//[^\n]*|\.(\w+)`)

// fields returns the names of the fields that the rules at n and below select.
func fields(n *yaml.Node) map[string]bool {
	names := map[string]bool{}
	for m := range All(n) {
		for _, key := range []string{"rule", "messageExpression"} {
			for _, found := range selection().FindAllStringSubmatch(Text(m, key), -1) {
				names[found[1]] = true
			}
		}
	}
	delete(names, "") // for strings and comments
	return names
}

// ReadAsKubectl reads a document as kubectl does, and returns it as JSON and as data. It is not strict,
// because strict decoding rejects keys that override merged keys; Duplicates finds real duplicates.
func ReadAsKubectl(document []byte) (data []byte, v any, err error) {
	Readings.Add(1)
	defer func() {
		if r := recover(); r != nil { // the library panics on some malformed documents
			err = fmt.Errorf("invalid YAML: %v", r)
		}
	}()
	if data, err = JSON(document); err == nil {
		err = json.Unmarshal(data, &v)
	}
	return data, v, err
}

// KubectlValue reads a document of a file, and shares the result with later calls. Callers must not modify
// it. The diagnostic explains why kubectl cannot read the document.
func KubectlValue(name string, file *File, d *Document) (data []byte, v any, wrong *diag.Diagnostic) {
	data, v, err := d.Read(func() ([]byte, any, error) { return ReadAsKubectl(file.Src[d.Start:d.End]) })
	if err == nil {
		return data, v, nil
	}
	text := file.Src[d.Start:d.End]
	reason, hint := Unreadable(err, text)
	wrong = new(diag.New(codes.Syntax, diag.Pos{File: name, Line: d.Root.Line, Col: d.Root.Column},
		"kubectl cannot read this document: %s", reason).
		Hinted(hint))
	if hint == Helm {
		wrong.Pos.Line, wrong.Pos.Col = file.Position(d.Start + bytes.Index(text, []byte("{{")))
	}
	return nil, nil, wrong
}

// Unreadable returns the reason for an error of [Read], and a hint or "".
func Unreadable(err error, document []byte) (reason, hint string) {
	const key = "invalid map key" // followed by a Go value
	reason = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if before, _, ok := strings.Cut(reason, key); ok {
		if reason = before + key; bytes.Contains(document, []byte("{{")) {
			hint = Helm
		}
	}
	return reason, hint
}
