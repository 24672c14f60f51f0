package product

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// unread returns a function that reports files at a key of the configuration as unreadable.
func (r *run) unread(key string) func(i int, hint, message string) {
	return func(i int, hint, message string) {
		r.misconfigured(fmt.Sprintf("%s[%d]", key, i), hint, "%s", message)
	}
}

// read returns the files at a key of the configuration.
func (r *run) read(key string, names []string) []*piece {
	var l []*piece
	for _, f := range r.files.read(names, func(fsys fs.FS, name string) ([]byte, error) { return yamltext.ReadFile(fsys, name, r.host.Limits) }, r.unread(key)) {
		r.concern(f.name, resultSubject{file: f.name, text: f.text})
		l = append(l, &piece{name: f.name, text: f.text, found: f.found, limits: r.host.Limits})
	}
	return l
}

// isOther reports whether a file with these diagnostics is not meant for the function.
func (w *piece) isOther(l diag.List) bool { return w.found && yamltext.IsOther(w.text, l) }

// skip turns the errors of an unrelated file into warnings, in case the file is needed. An empty
// file is never needed.
func (w *piece) skip() {
	w.diags = slices.DeleteFunc(slices.Clone(w.diags), func(d diag.Diagnostic) bool { return d.Code == codes.EmptyInput })
	for i := range w.diags {
		w.diags[i].Severity = diag.Warning
		w.diags[i].Message += ": the file is skipped"
		w.diags[i].Hint = "correct it if it is needed; otherwise name files instead of a directory"
	}
}

// unreadable reports whether a file is unrelated and cannot be read.
func (w *piece) unreadable() bool {
	_, wrong := yamltext.ParseManifest(w.name, w.text, w.limits)
	return wrong != nil && w.isOther(diag.List{*wrong})
}

// generate adds the resources in the documents of a compiled file.
func (w *piece) generate(docs []*yaml.Node) {
	for i, d := range docs {
		w.take(i, "this document", yaml.NewRNode(d))
	}
}

// take adds the resource of a document. For a list whose items crdpatch compiles, it adds the
// items, like kustomize. It omits configurations of kustomize and unioncel. Unless the file is in
// the configuration itself, it also omits values that are not objects.
func (w *piece) take(document int, what string, n *yaml.RNode) {
	kind := word(n, yaml.KindField)
	items, list := listed(n)
	missing := notAnObject(n)
	switch {
	case yamltext.IsList(kind) && list:
		for i, item := range items {
			w.take(document, fmt.Sprintf("items[%d] of this %s", i, kind), item)
		}
	case missing == "" && isTooling(n):
	case missing == "":
		w.items = append(w.items, n)
	case w.found && !yamltext.MayHold(kind):
	default:
		w.diags = append(w.diags, diag.New(codes.BadFunctionConfig, w.placeOf(document), "%s %s", what, missing).
			Hinted("files contain Kubernetes objects, which have an apiVersion and a kind: write them, or take the file out of the list of files"))
	}
}

// notAnObject describes why a value is not a Kubernetes object. It is "" for an object.
func notAnObject(n *yaml.RNode) string {
	switch {
	case n.YNode().Kind != yaml.MappingNode:
		return "is " + yamltext.Describe(n.YNode()) + ", not an object"
	case word(n, yaml.KindField) == "":
		return "has no kind"
	case word(n, yaml.APIVersionField) == "":
		return "has no apiVersion"
	}
	return ""
}

// placeOf returns the position in the file of a non-empty document, by its index. Compiling may
// move documents, but keeps their order.
func (w *piece) placeOf(document int) diag.Pos {
	at := diag.Pos{File: w.name}
	if docs, wrong := documents(w.name, w.text, yamltext.Unlimited()); wrong == nil && document < len(docs) {
		at.Line, at.Col = docs[document].Line, docs[document].Column
	}
	return at
}

// isTooling reports whether a document configures unioncel or kustomize.
func isTooling(n *yaml.RNode) bool {
	group, _, _ := strings.Cut(word(n, yaml.APIVersionField), "/")
	return group == "unioncel.dev" || group == "kustomize.config.k8s.io"
}

// listed returns the items of a list. It returns false if there are none but an empty list.
func listed(n *yaml.RNode) ([]*yaml.RNode, bool) {
	f := n.Field(itemsKey)
	if f == nil || f.Value.YNode().Kind != yaml.SequenceNode {
		return nil, f != nil && yaml.IsMissingOrNull(f.Value)
	}
	items, err := f.Value.Elements()
	return items, err == nil
}

func identify(n *yaml.RNode) yaml.ResourceIdentifier {
	name := func(key string) string { return word(n, yaml.MetadataField, key) }
	return yaml.ResourceIdentifier{TypeMeta: yaml.TypeMeta{APIVersion: word(n, yaml.APIVersionField), Kind: word(n, yaml.KindField)},
		NameMeta: yaml.NameMeta{Namespace: name(yaml.NamespaceField), Name: name(yaml.NameField)}}
}

// joined returns the items of all pieces. If a file generates an object that is an item already, it
// is not added again: the function may run twice. An error is reported if the two objects differ.
func (r *run) joined(work []*piece) []*yaml.RNode {
	var l []*yaml.RNode
	known := map[yaml.ResourceIdentifier]*yaml.RNode{}
	from := map[yaml.ResourceIdentifier]string{}
	for _, w := range work {
		for _, item := range w.items {
			id := identify(item)
			other := known[id]
			if w.item != nil || other == nil || id.Name == "" {
				l = append(l, item)
				if other == nil {
					known[id], from[id] = item, w.name
				}
				continue
			}
			if !reflect.DeepEqual(data(item), data(other)) {
				r.report(diag.New(codes.BadFunctionConfig, diag.Pos{File: w.name},
					"%s %s is already among the items with other content (%s)", id.Kind, id.Name, from[id]).
					Hinted("list the file in one place: among the resources, or in the files of one " + r.kind.name))
			}
		}
	}
	return l
}

// data returns an item as data, without tracking annotations.
func data(n *yaml.RNode) any {
	n, _, err := untracked(n)
	var v any
	if err == nil {
		err = n.YNode().Decode(&v)
	}
	if err != nil {
		return err.Error()
	}
	return v
}
