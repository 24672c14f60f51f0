package krm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// unread reports what cannot be read of the files at a key of the configuration.
func (r *run) unread(key string) func(i int, hint, message string) {
	return func(i int, hint, message string) {
		r.misconfigured(fmt.Sprintf("%s[%d]", key, i), hint, "%s", message)
	}
}

// file is the work on a file.
func (r *run) file(f file) *piece {
	r.about(f.name, subject{file: f.name, text: f.text})
	return &piece{name: f.name, text: f.text}
}

// flattened returns the resources in the documents of a file: the items of the lists in
// which crdpatch finds CRDs, as kustomize does with resources, and not what configures
// kustomize and this compiler.
func (w *piece) flattened(docs []*yaml.Node) []*yaml.Node {
	var l []*yaml.Node
	for len(docs) > 0 {
		n := docs[0]
		docs = docs[1:]
		items := lookup(n, itemsKey)
		switch {
		case n.Kind != yaml.MappingNode:
			w.diags = append(w.diags, diag.Diagnostic{Code: diag.BadUnionCompiler, Pos: diag.Pos{File: w.name},
				Message: "a document in this file is " + yamltext.Describe(n) + ", not an object", Hint: "files hold Kubernetes objects: take this one out of the list of files"})
		case isTooling(n):
		case isList(n) && items != nil && (items.Kind == yaml.SequenceNode || isNull(items)):
			docs = append(slices.Clone(items.Content), docs...)
		default:
			l = append(l, n)
		}
	}
	return l
}

// isTooling reports whether a document is for unioncel or for kustomize.
func isTooling(n *yaml.Node) bool {
	group, _, _ := strings.Cut(word(n, "apiVersion"), "/")
	return group == "unioncel.dev" || group == "kustomize.config.k8s.io"
}

// identity is what tells an item from others.
type identity struct{ apiVersion, kind, namespace, name string }

func identify(n *yaml.Node) identity {
	return identity{word(n, "apiVersion"), word(n, "kind"), word(n, "metadata", "namespace"), word(n, "metadata", "name")}
}

// joined returns the items of all pieces. What a file generates and is an item already
// is not added, lest running twice doubles it; it is an error when the two differ.
func (r *run) joined(work []*piece) []*yaml.Node {
	l := []*yaml.Node{}
	known := map[identity]*yaml.Node{}
	from := map[identity]string{}
	for _, w := range work {
		for _, item := range w.items {
			id := identify(item)
			other := known[id]
			if w.item != nil || other == nil || id.name == "" {
				l = append(l, item)
				if other == nil {
					known[id], from[id] = item, w.name
				}
				continue
			}
			if !reflect.DeepEqual(data(item), data(other)) {
				r.report(diag.Diagnostic{Code: diag.BadUnionCompiler, Pos: diag.Pos{File: w.name},
					Message: id.kind + " " + id.name + " is among the items already, and differs (" + from[id] + ")",
					Hint:    "list the file in one place: among the resources, or in the files of one " + Kind})
			}
		}
	}
	return l
}

// data is an item as data, without the annotations that an orchestrator adds.
func data(n *yaml.Node) any {
	n, _ = untracked(n)
	var v any
	if err := n.Decode(&v); err != nil {
		return err.Error()
	}
	return v
}
