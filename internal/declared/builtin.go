package declared

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// BuiltinName stands for the file name of the declarations in messages.
const BuiltinName = "--builtin"

// Builtin returns all unions of the covered kinds, sorted by kind. The caller must not modify
// their nodes, which have no positions in a file.
func Builtin() []union.External {
	var l []union.External
	for _, gvk := range covered() {
		for _, p := range all().kinds[gvk].places {
			l = append(l, union.External{
				Target: union.Target{Group: gvk.Group, Kind: gvk.Kind}, Version: gvk.Version,
				Path: p.path, Value: p.unions, File: BuiltinName,
			})
		}
	}
	return l
}

// BuiltinKinds returns the covered kinds that have declarations, and the declarations for other kinds.
// Kinds(Declarations()) returns all unions of Kubernetes' own types. If there are errors, it
// returns no kinds.
func BuiltinKinds(declarations []union.External) (l []union.Kind, others []union.External, diags diag.List) {
	of := map[schema.GroupVersionKind][]union.External{}
	for _, e := range declarations {
		var versions []string
		for gvk := range all().kinds {
			if e.Kind == gvk.Kind && e.Group == gvk.Group {
				versions = append(versions, gvk.Version)
			}
		}
		if e.Version != "" && len(versions) > 0 && !slices.Contains(versions, e.Version) {
			slices.Sort(versions)
			diags = append(diags, diag.New(codes.NoSuchSchema, e.NamedAt(), "%s is not known in version %q", e.Target, e.Version).At(e.Path.String()).
				Hinted("the version known is "+strings.Join(versions, ", ")))
			continue
		}
		if len(versions) == 0 {
			others = append(others, e)
		}
		for _, v := range versions {
			if e.Version == "" || e.Version == v {
				gvk := schema.GroupVersionKind{Group: e.Group, Version: v, Kind: e.Kind}
				of[gvk] = append(of[gvk], e)
			}
		}
	}
	for _, gvk := range covered() {
		if len(of[gvk]) == 0 {
			continue
		}
		objects, more := declare(all().kinds[gvk].schema, of[gvk])
		diags = append(diags, more...)
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		var files []string
		for _, e := range of[gvk] {
			files = append(files, e.File)
		}
		slices.Sort(files)
		l = append(l, union.Kind{GroupVersionKind: gvk, Resource: plural.Resource, Objects: objects, Default: all().kinds[gvk].defaults(), Origin: strings.Join(slices.Compact(files), ", ")})
	}
	if diags.HasErrors() {
		return nil, others, diags
	}
	return l, others, diags
}

// covered returns the sorted kinds of the groups, including kinds without unions.
func covered() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(all().kinds), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
}

// node returns the unions as a node.
func (d declaration) node() *yaml.Node {
	var doc yaml.Node
	utilruntime.Must(yaml.Unmarshal([]byte(d.unions), &doc))
	for n := range yamltext.All(&doc) {
		n.Line, n.Column = 0, 0
	}
	return doc.Content[0]
}
