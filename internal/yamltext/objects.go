package yamltext

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/codes"

	"github.com/unioncel/unioncel/pkg/diag"
)

// ObjectFile is a file with objects.
type ObjectFile struct {
	*File
	Name    string
	Objects []*Object
}

// Object is an object in a file.
type Object struct {
	EditedText
	// Node is the mapping of the object, and Value the object as kubectl reads it. Callers must not
	// modify them.
	Node  *yaml.Node
	Value map[string]any

	schema.GroupVersionKind
	Namespace, Name string

	file string
	// text is the string that contains the object if edits in the string are not possible.
	text *yaml.Node
	// aliased returns the nodes of the document that an alias shares.
	aliased func() map[*yaml.Node]bool
}

// ParseObjects reads a file. Documents and items without apiVersion and kind are skipped. The diagnostics
// describe problems of the file; if they contain errors, the returned File is nil.
func ParseObjects(name string, src []byte, limits Limits) (*ObjectFile, diag.List) {
	parsed, wrong := ParseManifest(name, src, limits)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	return ObjectsFromText(name, parsed)
}

// ObjectsFromText is [Parse] for a file that has been parsed already.
func ObjectsFromText(name string, parsed *File) (*ObjectFile, diag.List) {
	f := &ObjectFile{File: parsed, Name: name}
	var l diag.List
	for _, d := range parsed.Docs {
		if d.Root == nil || d.Root.Kind != yaml.MappingNode {
			continue
		}
		l = append(l, Duplicates(name, d.Root)...)
		_, v, wrong := KubectlValue(name, parsed, d)
		if wrong != nil {
			l = append(l, *wrong)
			continue
		}
		if value, _ := v.(map[string]any); value["apiVersion"] != nil && value["kind"] == nil {
			if _, ok := value["items"].([]any); ok {
				l = append(l, diag.New(codes.Syntax, diag.Pos{File: name, Line: d.Root.Line, Col: d.Root.Column},
					"this has apiVersion and items, but no kind").
					Hinted("kubectl prints the kind of a list last: the list may be cut off"))
			}
		}
		f.find(d, d.Root, v, sync.OnceValue(func() map[*yaml.Node]bool { return Aliased(d.Root) }))
	}
	if l.HasErrors() {
		return nil, l
	}
	return f, l
}

// find adds the objects of a document to the file: n itself or, if n is a list, its items.
func (f *ObjectFile) find(d *Document, n *yaml.Node, v any, aliased func() map[*yaml.Node]bool) {
	n = Resolve(n)
	value, ok := v.(map[string]any)
	if !ok || n.Kind != yaml.MappingNode {
		return
	}
	kind, _ := value["kind"].(string)
	items, ok := value["items"].([]any)
	if list := Value(n, "items"); ok && isList(kind) && list != nil && len(Resolve(list).Content) == len(items) {
		for i, item := range Resolve(list).Content {
			f.find(d, item, items[i], aliased)
		}
		return
	}
	apiVersion, _ := value["apiVersion"].(string)
	if kind == "" || apiVersion == "" {
		return
	}
	o := &Object{EditedText: EditedText{File: f.File, Document: d}, Node: n, Value: value, file: f.Name, aliased: aliased}
	o.GroupVersionKind = schema.FromAPIVersionAndKind(apiVersion, kind)
	metadata, _ := value["metadata"].(map[string]any)
	o.Namespace, _ = metadata["namespace"].(string)
	o.Name, _ = metadata["name"].(string)
	f.Objects = append(f.Objects, o)
}

// Is reports whether two objects have the same group, kind, namespace and name.
func (o *Object) Is(p *Object) bool {
	return o.GroupKind() == p.GroupKind() && o.Namespace == p.Namespace && o.Name == p.Name
}

// String returns the kind, namespace and name of the object for messages.
func (o *Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return strings.TrimSpace(o.Kind + " " + name)
}

// Lookup returns the node at a path, or nil. shared reports whether the path leads through an alias
// or a merge key, so that other paths share the node.
func (o *Object) Lookup(p ObjectPath) (n *yaml.Node, shared bool) {
	n, _, shared = o.find(p)
	return n, shared
}

// find is Lookup that also returns the node to point at: the key or item at the path, or at its
// longest part that exists.
func (o *Object) find(p ObjectPath) (n, at *yaml.Node, shared bool) {
	n, at = o.Node, o.Node
	for _, step := range p {
		n = Resolve(n)
		switch step := step.(type) {
		case string:
			e := Lookup(n, step)
			if e.Key == nil {
				return nil, at, false
			}
			n, at, shared = e.Value, e.Key, shared || e.Index < 0
		case int:
			if n.Kind != yaml.SequenceNode || step >= len(n.Content) {
				return nil, at, false
			}
			n = n.Content[step]
			at = n
		}
		shared = shared || n.Kind == yaml.AliasNode
	}
	return Resolve(n), at, shared
}

// Mapping returns the mapping at a path, for an edit. It returns an error if the mapping cannot be
// edited, or if the edit would also change other paths.
func (o *Object) Mapping(p ObjectPath) (*yaml.Node, error) {
	n, shared := o.Lookup(p)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, errors.New("it is not written out")
	}
	if o.text != nil {
		return nil, errors.New("the patch is in a string in quotes, folded or shared: write it as a literal block (|-)")
	}
	if shared || o.aliased()[n] {
		return nil, errors.New("it is shared with other places by an alias or a merge key")
	}
	return n, nil
}

// Anchored reports whether an alias elsewhere in the document refers to a node of the object or to
// one of its descendants.
func (o *Object) Anchored(n *yaml.Node) bool {
	if len(o.aliased()) == 0 {
		return false
	}
	within := map[*yaml.Node]bool{}
	for m := range All(n) {
		within[m] = true
	}
	for m := range All(o.Document.Root) {
		if within[m.Alias] && !within[m] {
			return true
		}
	}
	return false
}

// Pos returns the position of the value at a path: the key of a property, or the item of a list. If
// the path does not exist, it returns the position of the nearest existing ancestor.
func (o *Object) Pos(p ObjectPath) diag.Pos {
	_, at, _ := o.find(p)
	if o.text != nil {
		at = o.text
	}
	return diag.Pos{File: o.file, Line: at.Line, Col: at.Column}
}

// ObjectPath leads to a value in an object. Its steps are keys (string) and indices (int).
type ObjectPath []any

// Child returns the path extended by a key or an index. It does not share memory with p.
func (p ObjectPath) Child(step any) ObjectPath { return append(slices.Clip(slices.Clone(p)), step) }

// Property returns the path extended by properties. It does not share memory with p.
func (p ObjectPath) Property(names ...string) ObjectPath {
	p = slices.Clip(slices.Clone(p))
	for _, name := range names {
		p = append(p, name)
	}
	return p
}

// String returns the path with dots before keys and brackets around indices, such as
// spec.volumes[0].name. The root is the empty string.
func (p ObjectPath) String() string {
	var at *field.Path
	for _, step := range p {
		switch step := step.(type) {
		case string:
			if at == nil {
				at = field.NewPath(step)
			} else {
				at = at.Child(step)
			}
		case int:
			if at == nil {
				at = field.NewPath("")
			}
			at = at.Index(step)
		}
	}
	if at == nil {
		return ""
	}
	return at.String()
}

// Lookup returns the value at the path in v; ok is false if there is none.
func (p ObjectPath) Lookup(v any) (any, bool) {
	for _, step := range p {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			value, ok := m[step]
			if !ok {
				return nil, false
			}
			v = value
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil, false
			}
			v = l[step]
		default:
			panic(fmt.Sprintf("resource: a step of type %T", step))
		}
	}
	return v, true
}

// Find returns the path in the form that the API server prints, such as
// spec.rules[1].backends[web].port. Keys may follow a dot or stand in brackets, and may contain any
// character. The path ends at the last existing value.
func (o *Object) Find(text string) ObjectPath {
	p, _ := longestPath(o.Value, "."+strings.TrimPrefix(text, "."))
	return p
}

// longestPath returns the longest path in a value that matches the start of text, and the length of the
// rest of text. Among matches of the same length, the shortest keys win.
func longestPath(v any, text string) (longest ObjectPath, left int) {
	left = len(text)
	try := func(step, inner any, rest string) {
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			return
		}
		if below, n := longestPath(inner, rest); n < left {
			longest, left = append(ObjectPath{step}, below...), n
		}
	}
	switch v := v.(type) {
	case map[string]any:
		rests := map[string]string{}
		for k := range v {
			for _, written := range []string{"." + k, "[" + k + "]", "['" + k + "']"} {
				if rest, ok := strings.CutPrefix(text, written); ok {
					rests[k] = rest
				}
			}
		}
		for _, k := range slices.SortedFunc(maps.Keys(rests), func(a, b string) int { return len(a) - len(b) }) {
			try(k, v[k], rests[k])
		}
	case []any:
		digits := strings.TrimLeft(text, ".[")
		end := strings.IndexFunc(digits+"]", func(r rune) bool { return r < '0' || r > '9' })
		if i, err := strconv.Atoi(digits[:end]); err == nil && i < len(v) {
			try(i, v[i], strings.TrimPrefix(digits[end:], "]"))
		}
	}
	return longest, left
}
