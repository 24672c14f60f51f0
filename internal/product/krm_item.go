package product

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// piece is an item or a file together with its result.
type piece struct {
	name  string      // the name in diagnostics
	item  *yaml.RNode // nil for a file
	asIs  bool        // stays unchanged
	found bool        // found in a directory in the configuration, instead of in the configuration itself
	text  []byte      // the text to convert
	// limits apply to the text if the piece is a file.
	limits yamltext.Limits
	// tracking are the annotations of an item that text omits.
	tracking []*yaml.Node
	items    []*yaml.RNode       // the result
	declared []*compile.Declared // the CRDs with unions, if they were read
	diags    diag.List
}

// isConfig reports whether an item is the functionConfig. kustomize passes the functionConfig to a
// generator so that the list has an item, and drops local items in the end. A functionConfig from a
// file is an ordinary item.
func (r *run) isConfig(item *yaml.RNode) bool {
	return isLocal(item) && r.list.config != nil && identify(item) == identify(r.list.config) && filePath(item) == ""
}

// needsItems reports that kustomize runs a function as a generator with nothing to generate.
func (r *run) needsItems(path, hint string) {
	if l := r.list.items; len(l) == 1 && r.isConfig(l[0]) {
		r.misconfigured(path, hint, "as a generator this %s has nothing to generate", r.kind.name)
	}
}

// received returns the items of the input except the functionConfig. Items that are not wanted stay
// unchanged.
func (r *run) received(wanted func(item *yaml.RNode) bool) []*piece {
	var l []*piece
	for i, item := range r.list.items {
		if r.isConfig(item) {
			continue
		}
		w := &piece{name: nameOf(item, i), item: item, asIs: !wanted(item), items: []*yaml.RNode{item}}
		l = append(l, w)
		if !w.asIs {
			r.concern(w.name, resultSubject{resource: resourceOf(item), file: filePath(item), index: annotation(item, kioutil.IndexAnnotation, legacyIndex)})
		}
	}
	return l
}

// encode sets the text of an item to its YAML.
func (w *piece) encode() {
	if w.asIs || w.item == nil {
		return
	}
	item, tracking, err := untracked(w.item)
	var text []byte
	if err == nil {
		text, err = encode(item.YNode())
	}
	if err != nil {
		w.diags = append(w.diags, diag.New(codes.Unproved, diag.Pos{File: w.name}, "%v", err))
		return
	}
	w.text, w.tracking = text, tracking
}

// nameOf returns the name of an item in diagnostics.
func nameOf(item *yaml.RNode, i int) string {
	id := identify(item)
	name := id.Kind
	switch {
	case id.Name == "":
		name += fmt.Sprintf(" items[%d]", i)
	case id.Namespace == "":
		name += "/" + id.Name
	default:
		name += "/" + id.Namespace + "/" + id.Name
	}
	if file := filePath(item); file != "" {
		name += " (" + file + ")"
	}
	return name
}

// takes sets the diagnostics of a piece. It reports whether the piece has a result, which means
// that there are no errors.
func (w *piece) takes(diags diag.List) bool {
	if w.item != nil {
		diags = w.unplaced(diags)
	}
	w.diags = diags
	if w.isOther(diags) {
		w.skip()
		return false
	}
	return !diags.HasErrors()
}

// convert sets the result of a piece.
func (w *piece) convert(to func(name string, src []byte) ([]byte, diag.List)) {
	if w.asIs {
		return
	}
	out, diags := to(w.name, w.text)
	if !w.takes(diags) || w.item != nil && bytes.Equal(out, w.text) {
		return
	}
	docs, wrong := documents(w.name, out, yamltext.Unlimited())
	if wrong != nil {
		w.diags = append(w.diags, *wrong)
		if w.isOther(w.diags) {
			w.skip()
		}
		return
	}
	if w.item == nil {
		w.generate(docs)
		return
	}
	w.items = []*yaml.RNode{yaml.NewRNode(docs[0])}
	if err := track(w.items[0], w.tracking); err != nil {
		w.diags = append(w.diags, diag.New(codes.Unproved, diag.Pos{File: w.name}, "%v", err))
	}
}

// unplaced replaces lines with paths in diagnostics for an item, whose text users do not see.
func (w *piece) unplaced(l diag.List) diag.List {
	var root *yaml.Node
	if len(l) > 0 {
		if file, wrong := yamltext.ParseManifest(w.name, w.text, yamltext.Unlimited()); wrong == nil {
			root = file.Docs[0].Root
		}
	}
	l = slices.Clone(l)
	for i := range l {
		d := &l[i]
		if d.Pos.File == w.name {
			if d.Path == "" {
				d.Path = pathAt(root, d.Pos)
			}
			d.Pos.Line, d.Pos.Col = 0, 0
		}
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			if at := &d.Related[j].Pos; at.File == w.name {
				*at = diag.Pos{File: pathAt(root, *at)}
			}
		}
	}
	return l
}

// pathAt returns the path of the last node at or before a position.
func pathAt(root *yaml.Node, at diag.Pos) string {
	found := ""
	var visit func(n *yaml.Node, path string)
	visit = func(n *yaml.Node, path string) {
		if n.Line > at.Line || n.Line == at.Line && n.Column > at.Col {
			return
		}
		found = path
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				visit(c, fmt.Sprintf("%s[%d]", path, i))
			case i%2 == 1:
				key := n.Content[i-1]
				p := strings.TrimPrefix(path+"."+key.Value, ".")
				visit(key, p)
				visit(c, p)
			}
		}
	}
	if root != nil && at.Line > 0 {
		visit(root, "")
	}
	return found
}
