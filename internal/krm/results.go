package krm

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/pkg/diag"
)

// krmResult is an item of results, with keys from the functions specification.
type krmResult struct {
	Message     string            `yaml:"message"`
	Severity    string            `yaml:"severity"`
	ResourceRef *resource         `yaml:"resourceRef,omitempty"`
	Field       *field            `yaml:"field,omitempty"`
	File        *itemPlace        `yaml:"file,omitempty"`
	Tags        map[string]string `yaml:"tags"`
}

type resource struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Namespace  string `yaml:"namespace,omitempty"`
	Name       string `yaml:"name"`
}

type field struct {
	Path string `yaml:"path"`
}

type itemPlace struct {
	Path  string `yaml:"path"`
	Index int    `yaml:"index,omitempty"`
}

// resultSubject is the subject of the diagnostics with a file name.
type resultSubject struct {
	resource *resource    // nil if the text determines the resource
	path     string       // the field, unless the diagnostic has a path
	file     string       // the source file
	index    string       // the index of the document in the file
	text     []byte       // the text of the file
	objects  []fileObject // the objects in the text, read on first use
}

// resourceOf returns a reference to an object, or nil if it lacks an apiVersion, kind or name.
func resourceOf(n *yaml.Node) *resource {
	id := identify(n)
	if id.apiVersion == "" || id.kind == "" || id.name == "" {
		return nil
	}
	return &resource{id.apiVersion, id.kind, id.namespace, id.name}
}

// results converts diagnostics to the results of the list. It is nil if there are none.
func (r *run) results(l diag.List) (*yaml.Node, error) {
	if len(l) == 0 {
		return nil, nil
	}
	var results []krmResult
	for _, d := range l {
		results = append(results, r.result(d))
	}
	n := &yaml.Node{}
	if err := n.Encode(results); err != nil {
		return nil, fmt.Errorf("the results cannot be written: %w", err)
	}
	return n, nil
}

func (r *run) result(d diag.Diagnostic) krmResult {
	s := r.subjects[d.Pos.File]
	res := krmResult{Message: diag.Escape(d.Message), Severity: d.Severity.String(), Tags: map[string]string{"code": string(d.Code)}}
	if d.Hint != "" {
		res.Message += "\nhint: " + diag.Escape(d.Hint)
	}
	if d.Pos.Line > 0 {
		res.Tags["line"] = strconv.Itoa(d.Pos.Line)
	}
	if d.Pos.Line > 0 && d.Pos.Col > 0 {
		res.Tags["column"] = strconv.Itoa(d.Pos.Col)
	}
	if s.file != "" {
		res.File = &itemPlace{Path: s.file}
		res.File.Index, _ = strconv.Atoi(s.index)
	}
	res.ResourceRef = s.resource
	if s.text != nil && d.Pos.Line > 0 {
		res.ResourceRef, res.File.Index = r.objectAt(d.Pos)
	}
	// A result with a field requires a resource.
	if path := cmp.Or(s.path, d.Schema, d.Path); path != "" && res.ResourceRef != nil {
		res.Field = &field{property.ReplaceAllString(path, "properties.$1")}
	}
	return res
}

// property matches a property in the API server's form of a schema path.
var property = regexp.MustCompile(`\bproperties\[([A-Za-z0-9_-]+)\]`)

// fileObject is an object in a file.
type fileObject struct {
	line int
	ref  *resource
}

// objectAt returns the object at a line of a file, and the index of its document.
func (r *run) objectAt(at diag.Pos) (*resource, int) {
	s := r.subjects[at.File]
	if s.objects == nil {
		s.objects = objectsOf(s.text)
		r.concern(at.File, s)
	}
	i := 0
	for i+1 < len(s.objects) && s.objects[i+1].line <= at.Line {
		i++
	}
	if i == len(s.objects) {
		return nil, 0
	}
	return s.objects[i].ref, i
}

func objectsOf(text []byte) []fileObject {
	l := []fileObject{}
	file, wrong := source.Parse("", text, limit.None())
	if wrong != nil {
		return l
	}
	for _, d := range file.Docs {
		if d.Root != nil {
			l = append(l, fileObject{d.Root.Line, resourceOf(d.Root)})
		}
	}
	return l
}
