package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Item is an object in a file that is read in parts.
type Item struct {
	Pos   diag.Pos
	Value map[string]any
}

// whole is the size, in bytes, of the largest file that is always read as a whole.
const whole = 1 << 20

// Stream reads the objects of a file like [Parse]. A large file is read in parts: one document, or
// one item of a list in the form of kubectl, is in memory at a time, and the limits apply to each
// part. If the file cannot be split, for example because a list contains an alias, and r can be
// rewound, the file is read as a whole.
//
// The error comes from reading or from yield. yield may keep the item. The diagnostics describe
// problems of the file. Some objects may have been yielded before a problem was found.
func Stream(name string, r io.Reader, limits limit.Limits, yield func(Item) error) (diag.List, error) {
	return stream(name, r, limits, whole, yield)
}

func stream(name string, r io.Reader, limits limit.Limits, whole int, yield func(Item) error) (diag.List, error) {
	head, err := io.ReadAll(io.LimitReader(r, int64(whole)+1))
	if err != nil {
		return nil, err
	}
	if len(head) <= whole {
		return parsed(name, head, limits, nil, yield)
	}
	var yielded []int // the line of each yielded object
	wrong, err := inParts(name, io.MultiReader(bytes.NewReader(head), r), limits, func(i Item) error {
		yielded = append(yielded, i.Pos.Line)
		return yield(i)
	})
	switch {
	case err != nil || wrong == nil:
		return nil, err
	case wrong.final:
		return diag.List{wrong.Diagnostic}, nil
	}
	if s, ok := r.(io.Seeker); ok {
		if _, err := s.Seek(0, io.SeekStart); err == nil {
			text, err := limits.Read(r)
			if err != nil {
				return nil, err
			}
			return parsed(name, text, limits, yielded, yield)
		}
	}
	if wrong.Hint == "" {
		wrong.Hint = "standard input and pipes are read in parts; if kubectl can read this, give it as a file, or as JSON"
	}
	return diag.List{wrong.Diagnostic}, nil
}

// parsed yields the objects in a text, except objects on the lines in yielded.
func parsed(name string, text []byte, limits limit.Limits, yielded []int, yield func(Item) error) (diag.List, error) {
	f, l := Parse(name, text, limits)
	if f == nil {
		return l, nil
	}
	for i, line := range yielded {
		if i >= len(f.Objects) || f.Objects[i].Pos(nil).Line != line {
			return diag.List{{Code: codes.Syntax, Pos: diag.Pos{File: name, Line: line, Col: 1}, Message: "this was read as an object in a list, and is none"}}, nil
		}
	}
	for _, o := range f.Objects[len(yielded):] {
		if err := yield(Item{o.Pos(nil), o.Value}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// inParts reads a file in parts if possible.
func inParts(name string, r io.Reader, limits limit.Limits, yield func(Item) error) (*partError, error) {
	p := &parts{name: name, limits: limits.OrDefault(), yield: yield}
	in := newReader(r, p.limits.Size)
	var err error
	if first := in.first(); first == '{' || first == '[' {
		err = p.json(in)
	} else {
		err = p.yaml(in)
	}
	var wrong *partError
	if errors.As(err, &wrong) {
		return wrong, nil
	}
	return nil, err
}

// parts reads a file in parts.
type parts struct {
	name   string
	limits limit.Limits
	yield  func(Item) error
}

// partError reports that a file cannot be read in parts.
type partError struct {
	diag.Diagnostic
	final bool // the file cannot be read as a whole, either
}

func (e *partError) Error() string { return e.Message }

func (p *parts) wrong(line int, format string, args ...any) *partError {
	return &partError{Diagnostic: diag.Diagnostic{Code: codes.Syntax, Pos: diag.Pos{File: p.name, Line: line, Col: 1}, Message: fmt.Sprintf(format, args...)}}
}

// read parses the part that begins on a line.
func (p *parts) read(line int, text []byte) (any, error) {
	if wrong := source.TooMuch(p.name, text, p.limits); wrong != nil {
		wrong.Pos.Line, wrong.Pos.Col = line, 1
		return nil, &partError{Diagnostic: *wrong}
	}
	_, v, err := source.Read(text)
	if err != nil {
		reason, hint := source.Unreadable(err, text)
		wrong := p.wrong(line, "kubectl cannot read the document that begins here: %s", reason)
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
	return p.yield(Item{pos, value})
}

// isList reports whether the objects of a kind are lists of other objects.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// ended returns an error if the mapping with the yielded items is not a list.
func (p *parts) ended(line int, list any) error {
	value, _ := list.(map[string]any)
	if kind, _ := value["kind"].(string); !isList(kind) {
		return &partError{final: true, Diagnostic: diag.Diagnostic{Code: codes.Syntax, Pos: diag.Pos{File: p.name, Line: line, Col: 1},
			Message: fmt.Sprintf("this was read as a list, since it has items, and is of kind %q", kind), Hint: "write the kind above the items"}}
	}
	return nil
}
