package report

import (
	"fmt"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// lintedUnion is a union with its CRD and file, for checks.
type lintedUnion struct {
	file   string // the file of the CRD
	crd    *compile.Declared
	object *compile.Object
	schema *apiextensionsv1.JSONSchemaProps // of the union object
	// unnamed returns union.Unnamed of schema, computed once for all unions of the object.
	unnamed func() (path string, ok bool)
	at      int // index among the object's unions
	*union.Union
	// item is the declaration if the file has a node for it. It is nil for declarations in Go and
	// in the annotation of a compiled CRD.
	item *yaml.Node
	// remembered is set if the declaration is in the annotation.
	remembered bool
}

func subjects(file string, d *compile.Declared) []*lintedUnion {
	var l []*lintedUnion
	for i := range d.Objects {
		o := &d.Objects[i]
		items, schema := yamltext.Resolve(o.Value).Content, o.Schema(d.CRD)
		unnamed := sync.OnceValues(func() (string, bool) { return union.Unnamed(schema) })
		for k, u := range o.Unions {
			s := &lintedUnion{file: file, crd: d, object: o, schema: schema, unnamed: unnamed, at: k, Union: u}
			pos := o.Declarations[k].Pos
			switch {
			case k < len(items) && items[k].Line == pos.Line && items[k].Column == pos.Col:
				s.item = yamltext.Resolve(items[k])
			case pos.File == file:
				s.remembered = true
			}
			l = append(l, s)
		}
	}
	return l
}

// pos returns the position of the declaration or, in a compiled CRD, of the union object.
func (s *lintedUnion) pos() diag.Pos {
	if s.remembered {
		return s.node(s.object.Node)
	}
	return s.object.Declarations[s.at].Pos
}

func (s *lintedUnion) node(n *yaml.Node) diag.Pos {
	return diag.Pos{File: s.file, Line: n.Line, Col: n.Column}
}

// discriminatorAt returns the position of the discriminator in the declaration.
func (s *lintedUnion) discriminatorAt() diag.Pos {
	return s.named(s.Discriminator, func() *yaml.Node { return yamltext.Value(s.item, "discriminator") })
}

// memberAt returns the position of a member in the declaration.
func (s *lintedUnion) memberAt(name string) diag.Pos {
	return s.named(name, func() *yaml.Node {
		for _, e := range yamltext.Entries(yamltext.Value(s.item, "fields-to-discriminateBy")) {
			if e.Key.Value == name {
				return e.Key
			}
		}
		if members := yamltext.Value(s.item, "members"); members != nil {
			for _, n := range members.Content {
				if yamltext.Resolve(n).Value == name {
					return n
				}
			}
		}
		return nil
	})
}

// named returns the position of a name in the declaration, at the node that find returns. For a
// compiled CRD, it returns the position of the property instead.
func (s *lintedUnion) named(property string, find func() *yaml.Node) diag.Pos {
	pos := s.pos()
	if s.item != nil {
		if n := find(); n != nil && n.Line > 0 {
			pos.Line, pos.Col = n.Line, n.Column
		}
	} else if n := s.property(property); s.remembered && n != nil {
		return s.node(n)
	}
	return pos
}

// changesAt returns the position of the declaration's key that restricts updates.
func (s *lintedUnion) changesAt() diag.Pos {
	for _, d := range s.object.Declarations[s.at].Demands() {
		if d.Key != "ratchet" && !s.remembered {
			return d.Pos
		}
	}
	return s.pos()
}

// property returns the key of a property of the union object or of an object in it, or nil.
func (s *lintedUnion) property(name string) (key *yaml.Node) {
	at := s.object.Node
	for _, step := range s.Path(name).Properties() {
		e := yamltext.Lookup(yamltext.Value(at, "properties"), step)
		key, at = e.Key, e.Value
	}
	return key
}

// find returns a diagnostic with the severity of its code. It adds the positions of properties as
// related positions.
func (s *lintedUnion) find(code diag.Code, at diag.Pos, properties []string, hint, format string, args ...any) diag.List {
	d := diag.New(code, at, format, args...).In(s.object.Place).Hinted(hint)
	for _, name := range properties {
		if n := s.property(name); n != nil && s.node(n) != at {
			d.Related = append(d.Related, diag.Related{Pos: s.node(n), Message: fmt.Sprintf("the schema of %q", name)})
		}
	}
	return diag.List{d}
}

// quotedList lists names or values for a message.
func quotedList(l []string) string { return english.List(english.Each(l, strconv.Quote), "and") }
