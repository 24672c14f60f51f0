package declared

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// The apiVersion and kind of a document. Other ones are rejected.
const (
	APIVersion   = yamltext.APIVersion
	UnionSetKind = "UnionSet"
)

// ParseUnionSet reads a file with one or more UnionSet documents. name is the file's name in diagnostics.
// The list is sorted; the result is nil if and only if the list has errors. The caller owns the
// result. Parse neither modifies nor retains src.
//
// Declarations has an entry for each item and version in the file. The entries share nodes with the
// parsed file. Scopes has each named CRD and kind once, in the order of the text, including CRDs
// declared to have no unions.
func ParseUnionSet(name string, src []byte) (*union.Externals, diag.List) {
	r := &yamltext.ConfigReader{File: name, Code: codes.BadUnionSet, Ambiguous: codes.AmbiguousScalar}
	var entries []setEntry
	for _, root := range r.Open(src, UnionSetKind, "; CRDs are arguments") {
		entries = append(entries, document(r, root)...)
	}
	return externals(r, entries)
}

// InlineUnionSet reads the value of schemas in the configuration with a name. Diagnostics have no lines, and
// each declaration is at the name, followed by the path of its item, such as schemas[0].
func InlineUnionSet(name string, schemas *yaml.Node) (*union.Externals, diag.List) {
	r := &yamltext.ConfigReader{File: name, At: &diag.Pos{File: name}, Code: codes.BadUnionSet, Ambiguous: codes.AmbiguousScalar}
	return externals(r, document(r, yamltext.MappingNode(yamltext.StringNode("apiVersion"), yamltext.StringNode(APIVersion),
		yamltext.StringNode("kind"), yamltext.StringNode(UnionSetKind), yamltext.StringNode("schemas"), schemas)))
}

// externals returns the declarations of items, unless there are errors.
func externals(r *yamltext.ConfigReader, entries []setEntry) (*union.Externals, diag.List) {
	overlaps(entries)
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sort()
	}
	set := &union.Externals{}
	for _, e := range entries {
		t := e.target
		if scope := (union.Scope{Target: t}); !slices.Contains(set.Scopes, scope) {
			set.Scopes = append(set.Scopes, scope)
		}
		versions := e.versions
		if len(versions) == 0 {
			versions = []string{""}
		}
		named, at := e.item.Pos(), (*diag.Pos)(nil)
		if r.At != nil {
			named, at = diag.Pos{}, &diag.Pos{File: r.File + " " + e.item.Path}
		}
		for _, v := range versions {
			for _, value := range []*yaml.Node{e.unions, e.extends} {
				if value != nil {
					set.Declarations = append(set.Declarations, union.External{Target: t, Version: v, Path: slices.Clone(e.to), Value: value, File: r.File, At: at,
						Extend: value == e.extends, Named: named})
				}
			}
		}
	}
	return set, r.Diags.Sort()
}

// HoldsUnionSet reports whether one of the documents of a file is a UnionSet.
func HoldsUnionSet(src []byte) bool {
	if !bytes.Contains(src, []byte(UnionSetKind)) {
		return false
	}
	file, wrong := yamltext.ParseManifest("", src, yamltext.Limits{})
	return wrong == nil && slices.ContainsFunc(file.Docs, func(d *yamltext.Document) bool {
		return yamltext.Text(d.Root, "kind") == UnionSetKind && yamltext.Text(d.Root, "apiVersion") == APIVersion
	})
}

var setKeys = yamltext.ConfigMapping{
	Name:  "a " + UnionSetKind,
	Keys:  []yamltext.ConfigKey{{Name: "metadata", Example: "{name: backups}"}, {Name: "schemas", Example: "[{crd: backups.example.com, path: spec, " + union.Key + ": [...]}]"}},
	Hints: map[string]string{"CustomResourceDefinition": "give CRDs as arguments"},
}

// document returns the valid items of a document.
func document(r *yamltext.ConfigReader, root *yaml.Node) []setEntry {
	fields := r.Object(root, UnionSetKind, setKeys)
	if fields == nil {
		return nil
	}
	schemas, ok := fields["schemas"]
	if !ok {
		r.Value(root, "").Errorf("list the schemas with unions: schemas: "+setKeys.Keys[1].Example, "this %s has no schemas", UnionSetKind)
	}
	var l []setEntry
	for _, item := range schemas.Items() {
		before := len(r.Diags)
		if e := readUnionSet(r, item); len(r.Diags) == before {
			l = append(l, e)
		}
	}
	return l
}
