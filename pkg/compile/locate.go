package compile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// location is a union object in the YAML, before its declarations are read.
type location struct {
	Object
	own     *yaml.Node       // the key x-kubernetes-unions, or the node in its place in a compiled CRD; else nil
	written []union.External // the declarations; several only if they are external
	extends []union.External // their extensions
	frames  []*yaml.Node     // from the root schema to this one
}

// value returns the value of x-kubernetes-unions.
func (l location) value() *yaml.Node {
	if len(l.written) == 1 {
		return l.written[0].Value
	}
	all := yamltext.ListNode()
	for _, w := range l.written {
		all.Content = append(all.Content, yamltext.Resolve(w.Value).Content...)
	}
	return all
}

// locator finds the declarations in the schemas of a CRD.
type locator struct {
	file    string
	objects []location
	diags   diag.List

	place  schemapath.Place
	frames []*yaml.Node
	// holds caches whether a node contains a declaration. The walk enters no other
	// subtrees, so large schemas and aliases stay cheap.
	holds map[*yaml.Node]bool
	// judged are the keys of declarations that the walk has handled.
	judged map[*yaml.Node]bool
}

func locate(m Manifest) *locator {
	l := &locator{file: m.File, objects: []location{}, holds: map[*yaml.Node]bool{}, judged: map[*yaml.Node]bool{}}
	if !m.Undeclared {
		l.walk(m)
		l.misplaced(m.Node, "")
	}
	return l
}

// add adds a location for the current schema n.
func (l *locator) add(n *yaml.Node, o location) {
	o.Place, o.Node, o.frames = l.place, n, slices.Clone(l.frames)
	o.Path = slices.Clone(o.Path)
	l.objects = append(l.objects, o)
}

// walk locates the declarations in the schemas of all versions.
func (l *locator) walk(m Manifest) {
	if !l.declares(m.Node) {
		return
	}
	spec := l.child(m.Node, "spec")
	versions := l.child(spec, "versions")
	if versions == nil || versions.Kind != yaml.SequenceNode {
		return
	}
	for i, v := range versions.Content {
		v = l.follow(v, "this version")
		schema := l.child(l.child(v, "schema"), "openAPIV3Schema")
		if schema == nil || !l.declares(schema) {
			continue
		}
		l.place = schemapath.Place{Version: i, Name: yamltext.Text(v, "name")}
		l.schema(schema, "")
	}
}

// index returns the index of the object at a place, well-formed or not, or -1.
func (l *locator) index(p schemapath.Place) int {
	return slices.IndexFunc(l.objects, func(o location) bool { return o.Is(p) })
}

// declares reports whether n contains the key x-kubernetes-unions.
func (l *locator) declares(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	if known, ok := l.holds[n]; ok {
		return known
	}
	l.holds[n] = false // ends cycles of aliases
	found := false
	switch n.Kind {
	case yaml.AliasNode:
		found = l.declares(n.Alias)
	case yaml.MappingNode:
		for k, v := range yamltext.Pairs(n) {
			found = k.Value == union.Key || l.declares(v) || found
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			found = l.declares(item) || found
		}
	}
	l.holds[n] = found
	return found
}

// child returns the value of a key of n if it contains declarations, or nil.
func (l *locator) child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	switch e := yamltext.Lookup(n, key); {
	case !l.declares(e.Value):
		return nil
	case e.Index < 0:
		l.shared(e.Key, e.Value, "a merge key")
		return nil
	default:
		return l.follow(e.Value, key)
	}
}

// follow returns n, or nil for an alias: rules cannot be added to shared content. It reports
// aliases of declarations.
func (l *locator) follow(n *yaml.Node, what string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if l.declares(n) {
			l.shared(n, n.Alias, "the alias *"+n.Value+" ("+what+")")
		}
		return nil
	}
	return n
}

// shared reports at n that shared content declares unions.
func (l *locator) shared(n, content *yaml.Node, through string) {
	for inner := range yamltext.All(content) {
		for k := range yamltext.Pairs(inner) {
			if k.Value == union.Key {
				l.judged[k] = true
			}
		}
	}
	l.errorf(n, codes.SharedContent, "write out the schema at each path",
		"a union is declared in content shared through %s: an edit would change the other uses too", through)
}

func (l *locator) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	d := diag.New(code, diag.Pos{File: l.file, Line: n.Line, Col: n.Column}, format, args...).Hinted(hint)
	if len(l.frames) > 0 {
		d.Path, d.Schema = l.place.String(), l.place.Structural()
	}
	l.diags = append(l.diags, d)
}

// edit adds an edit to the last diagnostic, which replaces a scalar by text.
func (l *locator) edit(n *yaml.Node, text string) {
	l.diags[len(l.diags)-1].Edits = diag.Replace(n.Line, n.Column, yamltext.Written(n), text)
}

// compositions are the schema keys below which a union is impossible: the API server
// evaluates no rules there, or drops the key.
var compositions = append([]string{"allOf", "anyOf", "oneOf", "not", "additionalItems"}, namedSchemas...)

// namedSchemas are the compositions that map names to schemas.
var namedSchemas = []string{"definitions", "dependencies", "patternProperties"}

// schema walks one schema. misplaced, unless empty, names the enclosing key that makes a
// declaration an error.
func (l *locator) schema(n *yaml.Node, misplaced string) {
	if n == nil || n.Kind != yaml.MappingNode || !l.declares(n) {
		return
	}
	l.frames = append(l.frames, n)
	defer func() { l.frames = l.frames[:len(l.frames)-1] }()
	for _, e := range yamltext.Entries(n) {
		key := e.Key.Value
		if key != union.Key && !l.declares(e.Value) {
			continue
		}
		if key == union.Key {
			l.judged[e.Key] = true
		}
		if e.Index < 0 {
			l.shared(e.Key, e.Value, "a merge key")
			continue
		}
		switch {
		case key == union.Key && misplaced == "metadata":
			l.errorf(e.Key, codes.InsideMetadata, "delete it", "a union cannot be inside metadata: the API server runs no rules there")
		case key == union.Key && misplaced != "":
			l.errorf(e.Key, codes.InsideComposition, "declare the union on the object itself", "a union cannot be inside %s: the API server reads no rules there", misplaced)
		case key == union.Key && l.outdented(n, e.Value):
		case key == union.Key:
			l.add(n, location{own: e.Key, written: []union.External{{Value: e.Value, File: l.file}}})
		case key == "properties":
			l.properties(n, l.follow(e.Value, key), misplaced)
		case key == "items" && yamltext.Resolve(e.Value).Kind == yaml.SequenceNode:
			l.all(e.Value, "items with a list of schemas")
		case key == "items" || key == "additionalProperties":
			step := schemapath.Items
			if key != "items" {
				step = schemapath.Values
			}
			l.step(l.follow(e.Value, key), misplaced, step)
		case slices.Contains(compositions, key):
			l.all(e.Value, key)
		}
	}
}

// outdented reports keys of a declaration that are in the schema, alongside
// x-kubernetes-unions.
func (l *locator) outdented(schema, declarations *yaml.Node) bool {
	empty := yamltext.Resolve(declarations).Tag == "!!null"
	for _, e := range yamltext.Entries(schema) {
		key := e.Key.Value
		// discriminator is a key of OpenAPI, too.
		if !slices.Contains(union.Keys(), key) || key == "discriminator" && !empty {
			continue
		}
		hint := "indent it like the other keys of that item"
		if empty {
			hint = fmt.Sprintf(`begin the line with a dash, "- %s", and indent the other keys of the item like this one`, key)
		}
		l.errorf(e.Key, codes.Misplaced, hint, "%s belongs in an item of %s, not next to it", key, union.Key)
		return true
	}
	return false
}

func (l *locator) properties(owner, n *yaml.Node, misplaced string) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for _, e := range yamltext.Entries(n) {
		if !l.declares(e.Value) {
			continue
		}
		if e.Index < 0 {
			l.shared(e.Key, e.Value, "a merge key")
			continue
		}
		name, err := yamltext.String(e.Key)
		if err != nil {
			quoted := yamltext.Quoted(e.Key)
			l.errorf(e.Key, codes.AmbiguousScalar, "quote it: "+quoted, "%v", err)
			l.edit(e.Key, quoted)
			continue
		}
		within := misplaced
		if l.inMetadata(owner, name) {
			within = "metadata"
		}
		l.step(l.follow(e.Value, name), within, schemapath.Property(name))
	}
}

// all reports every declaration below a key where unions are impossible.
func (l *locator) all(n *yaml.Node, within string) {
	n = l.follow(n, within)
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			l.schema(l.follow(item, within), within)
		}
	case slices.Contains(namedSchemas, within):
		for _, e := range yamltext.Entries(n) {
			l.schema(l.follow(e.Value, within), within)
		}
	default:
		l.schema(n, within)
	}
}

func (l *locator) step(n *yaml.Node, misplaced string, step schemapath.Step) {
	l.place.Path = append(l.place.Path, step)
	l.schema(n, misplaced)
	l.place.Path = l.place.Path[:len(l.place.Path)-1]
}

// misplaced reports keys of declarations, and likely misspellings, that the walk has not
// reached: otherwise a mistake in indentation or spelling would silently leave a union
// unenforced. n is the value of the key parent.
func (l *locator) misplaced(n *yaml.Node, parent string) {
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			l.misplaced(item, parent)
		}
	case yaml.MappingNode:
		for k, v := range yamltext.Pairs(n) {
			// A property may have any name; its schema is a mapping.
			property := parent == "properties" && v.Kind == yaml.MappingNode
			switch {
			case l.judged[k], looksDeclaring(k) && property:
			case k.Kind == yaml.AliasNode && looksDeclaring(k):
				l.errorf(k, codes.Misplaced, fmt.Sprintf("write %q", union.Key), "the key of a declaration is written as the alias *%s", k.Value)
			case k.Value == union.Key:
				l.errorf(k, codes.Misplaced, "put it next to the properties that are its members, indented like \"properties:\"",
					"%s is not in a schema here: it would have no effect", union.Key)
			case looksDeclaring(k):
				l.errorf(k, codes.Misplaced, fmt.Sprintf("write %q", union.Key), "unknown key %q", k.Value)
				l.edit(k, yamltext.Respelt(yamltext.Written(k), english.Certain(k.Value, []string{union.Key})))
			}
			if property || !slices.Contains(data, k.Value) {
				l.misplaced(v, k.Value)
			}
		}
	}
}

// data are the keys whose values are data, not schemas.
var data = []string{"default", "example", "enum", "annotations", "managedFields", "status"}

// looksDeclaring reports whether a key is x-kubernetes-unions, or may be a misspelling of it.
func looksDeclaring(k *yaml.Node) bool {
	if k = yamltext.Resolve(k); len(k.Value) < len("x-k8s-union") || k.Value[0] != 'x' && k.Value[0] != 'X' {
		return false
	}
	name := strings.ToLower(k.Value)
	return strings.HasPrefix(name, "x-") && strings.Contains(name, "kubernetes") && strings.Contains(name, "union")
}

// Declares reports whether a manifest contains the key x-kubernetes-unions, or one that looks
// like it.
func Declares(manifest *yaml.Node) bool {
	for n := range yamltext.All(manifest) {
		for k := range yamltext.Pairs(n) {
			if looksDeclaring(k) {
				return true
			}
		}
	}
	return false
}
