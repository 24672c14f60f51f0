package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"

	"github.com/unioncel/unioncel/pkg/diag"
)

// ObjectItem is an object in a file that is read in parts.
type ObjectItem struct {
	Pos   diag.Pos
	Value map[string]any
}

// whole is the size, in bytes, of the largest JSON file that is read as a whole.
const whole = 1 << 20

// StreamObjects reads the objects of a file like [Parse]. A large file whose first bytes are JSON objects is
// read in parts: one object, or one item of a list in the form of kubectl, is in memory at a time,
// and the limits apply to each part. Lines with --- may separate the objects.
//
// The error comes from reading or from yield. yield may keep the item. The diagnostics describe
// problems of the file. Some objects may have been yielded before a problem was found.
func StreamObjects(name string, r io.Reader, limits Limits, yield func(ObjectItem) error) (diag.List, error) {
	limits = limits.OrDefault()
	head, err := io.ReadAll(io.LimitReader(r, whole+1))
	if err != nil {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(head), r)
	if len(head) > whole && isJSONStream(head) {
		return inParts(name, r, limits, yield)
	}
	text, err := limits.Read(r)
	if err != nil {
		return nil, err
	}
	if wrong := TooMuch(name, text, limits); wrong != nil {
		if len(text) > limits.Size {
			wrong.Message = "the file is larger than the limit of " + bytesOf(limits.Size)
		}
		if !isJSONStream(head) {
			wrong.Hint = "split the file, or use kubectl get -o json: JSON objects are read one at a time; " + wrong.Hint
		}
		return diag.List{*wrong}, nil
	}
	f, l := ParseObjects(name, text, limits)
	if f == nil {
		return l, nil
	}
	if len(f.Objects) == 0 && !slices.ContainsFunc(f.Docs, func(d *Document) bool {
		kind := Value(d.Root, "kind")
		return kind != nil && isList(kind.Value)
	}) {
		return append(l, noObject(name)), nil
	}
	for _, d := range f.Docs {
		if token := Value(Value(d.Root, "metadata"), "continue"); token != nil && token.Value != "" {
			return append(l, onePage(diag.Pos{File: name, Line: token.Line, Col: token.Column})), nil
		}
	}
	items := make([]ObjectItem, len(f.Objects)) // without the nodes, which take most of the memory
	for i, o := range f.Objects {
		items[i] = ObjectItem{o.Pos(nil), o.Value}
	}
	for _, i := range items {
		if err := yield(i); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// noObject reports a file without objects. An empty list tells that there are none.
func noObject(name string) diag.Diagnostic {
	return diag.New(codes.UnusableFact, diag.Pos{File: name}, "the file has no Kubernetes object, and no list").
		Hinted("give the output of kubectl get -A -o yaml, which is a list even if there are no objects")
}

// onePage reports a list that the API server has not sent as a whole.
func onePage(at diag.Pos) diag.Diagnostic {
	return diag.New(codes.UnusableFact, at, "this list has a continue token: it is one page of a longer list").
		Hinted("give the output of kubectl get -A -o yaml, which reads all pages")
}

// isJSONStream reports whether a text begins with JSON objects. It may end anywhere in them.
func isJSONStream(text []byte) bool {
	d := json.NewDecoder(newReader(bytes.NewReader(text), len(text)+1))
	began, depth := false, 0
	for {
		t, err := d.Token()
		switch {
		case err != nil:
			return began && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
		case depth == 0 && t != json.Delim('{'):
			return false
		case t == json.Delim('{') || t == json.Delim('['):
			began = true
			depth++
		case t == json.Delim('}') || t == json.Delim(']'):
			depth--
		}
	}
}

// bytesOf returns a size in words.
func bytesOf(n int) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// parts reads a file in parts.
type parts struct {
	name   string
	limits Limits
	yield  func(ObjectItem) error
	found  bool // an object or a list
}

// inParts reads a sequence of JSON objects in parts.
func inParts(name string, r io.Reader, limits Limits, yield func(ObjectItem) error) (diag.List, error) {
	p := &parts{name: name, limits: limits, yield: yield}
	err := p.json(newReader(r, limits.Size))
	var wrong *partError
	if errors.As(err, &wrong) {
		return diag.List{wrong.Diagnostic}, nil
	}
	if err == nil && !p.found {
		return diag.List{noObject(name)}, nil
	}
	return nil, err
}

// partError reports that a file cannot be read.
type partError struct{ diag.Diagnostic }

func (e *partError) Error() string { return e.Message }

func (p *parts) wrong(line int, format string, args ...any) *partError {
	return &partError{diag.New(codes.Syntax, diag.Pos{File: p.name, Line: line, Col: 1}, format, args...)}
}

// read parses the part that begins on a line.
func (p *parts) read(line int, text []byte) (any, error) {
	if wrong := TooMuch(p.name, text, p.limits); wrong != nil {
		wrong.Pos.Line, wrong.Pos.Col = line, 1
		return nil, &partError{*wrong}
	}
	_, v, err := ReadAsKubectl(text)
	if err != nil {
		reason, hint := Unreadable(err, text)
		wrong := p.wrong(line, "kubectl cannot read the object that begins here: %s", reason)
		wrong.Hint = hint
		return nil, wrong
	}
	return v, nil
}

// objects yields v, or the items of v if it is a list.
func (p *parts) objects(pos diag.Pos, v any) error {
	value, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	kind, _ := value["kind"].(string)
	if items, ok := value["items"].([]any); ok && isList(kind) {
		if err := p.whole(pos, value); err != nil {
			return err
		}
		p.found = true
		for _, item := range items {
			if err := p.objects(pos, item); err != nil {
				return err
			}
		}
		return nil
	}
	if apiVersion, _ := value["apiVersion"].(string); kind == "" || apiVersion == "" {
		return nil
	}
	p.found = true
	return p.yield(ObjectItem{pos, value})
}

// isList reports whether the objects of a kind are lists of other objects.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// ended returns an error if the object with the yielded items is not a list.
func (p *parts) ended(line int, list any) error {
	value, _ := list.(map[string]any)
	if kind, _ := value["kind"].(string); !isList(kind) {
		wrong := p.wrong(line, "this was read as a list, since it has items, and is of kind %q", kind)
		wrong.Hint = "write the kind above the items"
		return wrong
	}
	p.found = true
	return p.whole(diag.Pos{File: p.name, Line: line, Col: 1}, value)
}

// whole returns an error for a list that is only one page.
func (p *parts) whole(at diag.Pos, list map[string]any) error {
	metadata, _ := list["metadata"].(map[string]any)
	if token, _ := metadata["continue"].(string); token != "" {
		return &partError{onePage(at)}
	}
	return nil
}
