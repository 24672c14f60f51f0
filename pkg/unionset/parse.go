package unionset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// What a document says of itself. No other apiVersion or kind is read.
const (
	APIVersion = "unioncel.dev/v1alpha1"
	Kind       = "UnionSet"
)

// Parse reads a file of UnionSets, one or more documents. name is the file's name
// in diagnostics. The list is sorted; the result is nil exactly when it has errors.
// The caller owns the result; src is not modified, and not kept.
//
// Externals has an entry for each item and version that is named. They share nodes
// with the parsed file. Scopes are all CRDs that are named, also those said to have no
// unions, each once, in order of the text.
func Parse(name string, src []byte) (*union.Elsewhere, diag.List) {
	p := &parser{file: name}
	for _, d := range p.open(src) {
		p.document(d.Root)
	}
	p.overlaps()
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	set := &union.Elsewhere{}
	for _, e := range p.entries {
		t := union.Target{Name: e.crd}
		if scope := (union.Scope{Target: t}); !slices.Contains(set.Scopes, scope) {
			set.Scopes = append(set.Scopes, scope)
		}
		versions := e.versions
		if len(versions) == 0 {
			versions = []string{""}
		}
		for _, v := range versions {
			for _, value := range []*yaml.Node{e.unions, e.extends} {
				if value != nil {
					set.Externals = append(set.Externals, union.External{Target: t, Version: v, Path: slices.Clone(e.to), Value: value, File: name,
						Extend: value == e.extends, Named: diag.Pos{File: name, Line: e.node.Line, Col: e.node.Column}})
				}
			}
		}
	}
	return set, p.diags.Sort()
}

// Holds reports whether a UnionSet is among the documents of a file.
func Holds(src []byte) bool {
	if !bytes.Contains(src, []byte(Kind)) {
		return false
	}
	file, wrong := source.Parse("", src, limit.Limits{})
	return wrong == nil && slices.ContainsFunc(file.Docs, func(d *yamltext.Document) bool {
		_, kind, _, ok := yamltext.Lookup(d.Root, "kind")
		_, version, _, versioned := yamltext.Lookup(d.Root, "apiVersion")
		return ok && versioned && yamltext.Resolve(kind).Value == Kind && yamltext.Resolve(version).Value == APIVersion
	})
}

type parser struct {
	file    string
	path    string // of the entry that is being read
	entries []entry
	diags   diag.List
}

func (p *parser) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	p.report(code, diag.Pos{Line: n.Line, Col: n.Column}, hint, format, args...)
}

func (p *parser) report(code diag.Code, at diag.Pos, hint, format string, args ...any) {
	at.File = p.file
	p.diags = append(p.diags, diag.Diagnostic{Code: code, Pos: at, Path: p.path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// document reads one document.
func (p *parser) document(root *yaml.Node) {
	if !p.isUnionSet(root) {
		return
	}
	fields, ok := p.fields(root, "a "+Kind, "apiVersion", "kind", "metadata", "schemas")
	if !ok {
		return
	}
	// The rest of the metadata is other tools' business.
	if metadata, ok := fields["metadata"]; ok {
		if m := yamltext.Resolve(metadata); m.Kind != yaml.MappingNode {
			p.errorf(m, diag.BadUnionSet, "write it like metadata: {name: backups}, or delete it", "metadata: want a mapping, not %s", yamltext.Describe(m))
		} else if _, name, _, ok := yamltext.Lookup(m, "name"); ok {
			p.text(name, "name", "backups")
		}
	}
	schemas, ok := fields["schemas"]
	if !ok {
		p.errorf(root, diag.BadUnionSet, "list the schemas with unions: schemas: [{crd: backups.example.com, path: spec, "+union.Key+": [...]}]", "this %s has no schemas", Kind)
		return
	}
	list := yamltext.Resolve(schemas)
	if list.Kind != yaml.SequenceNode {
		p.errorf(list, diag.BadUnionSet, "write an item per schema: - crd: backups.example.com", "schemas: want a list, not %s", yamltext.Describe(list))
		return
	}
	for i, item := range list.Content {
		p.path = fmt.Sprintf("schemas[%d]", i)
		p.entry(item)
		p.path = ""
	}
}

// isUnionSet reports documents of another kind.
func (p *parser) isUnionSet(root *yaml.Node) bool {
	const hint = "write apiVersion: " + APIVersion + " and kind: " + Kind
	if root.Kind != yaml.MappingNode {
		p.errorf(root, diag.BadUnionSet, hint, "want a %s, not %s", Kind, yamltext.Describe(root))
		return false
	}
	said := map[string]string{}
	at := root
	for _, key := range []string{"kind", "apiVersion"} {
		_, v, _, ok := yamltext.Lookup(root, key)
		if !ok {
			p.errorf(root, diag.BadUnionSet, hint, "this document has no %s", key)
			return false
		}
		if at = yamltext.Resolve(v); at.Kind != yaml.ScalarNode {
			p.errorf(at, diag.BadUnionSet, hint, "%s: want a string, not %s", key, yamltext.Describe(at))
			return false
		}
		said[key] = at.Value
		switch {
		case key == "kind" && at.Value == "CustomResourceDefinition":
			p.errorf(at, diag.BadUnionSet, "give CRDs as arguments", "want a %s, not a %s", Kind, at.Value)
		case key == "kind" && at.Value != Kind:
			p.errorf(at, diag.BadUnionSet, hint, "documents of kind %s are read here, not %q", Kind, at.Value)
		case key == "apiVersion" && at.Value != APIVersion:
			p.errorf(at, diag.BadUnionSet, "write "+APIVersion, "a %s is read in apiVersion %s, not %q", Kind, APIVersion, at.Value)
		default:
			continue
		}
		return false
	}
	return true
}

// fields returns the values of a mapping by key. Keys other than those known are
// reported; ok is false when it is no mapping. what names the mapping in messages.
func (p *parser) fields(n *yaml.Node, what string, known ...string) (fields map[string]*yaml.Node, ok bool) {
	m := yamltext.Resolve(n)
	if m.Kind != yaml.MappingNode {
		p.errorf(m, diag.BadUnionSet, "its keys are "+strings.Join(known, ", "), "%s must be a mapping, not %s", what, yamltext.Describe(m))
		return nil, false
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Kind != yaml.ScalarNode {
			p.errorf(k, diag.BadUnionSet, "write the key out", "want a string as key, not %s", yamltext.Describe(k))
		}
	}
	fields = map[string]*yaml.Node{}
	for _, e := range yamltext.Entries(m) {
		key := e.Key.Value
		if slices.Contains(known, key) {
			fields[key] = e.Value
			continue
		}
		hint := "the keys are " + strings.Join(known, ", ")
		if best := spelling.Closest(key, known); best != "" {
			hint = fmt.Sprintf("write %q", best)
		} else if slices.Contains(union.Keys(), key) && slices.Contains(known, union.Key) {
			hint = "put it into an item of " + union.Key
		}
		p.errorf(e.Key, diag.BadUnionSet, hint, "unknown key %q in %s", key, what)
	}
	return fields, true
}

// text returns the string that a value is; anything else is reported.
func (p *parser) text(n *yaml.Node, key, example string) (string, bool) {
	n = yamltext.Resolve(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		p.errorf(n, diag.BadUnionSet, fmt.Sprintf("write it like %s: %s", key, example), "%s: want a string, not %s", key, yamltext.Describe(n))
		return "", false
	}
	s, err := yamltext.String(n)
	if err != nil {
		p.errorf(n, diag.AmbiguousScalar, "quote it: "+yamltext.Quoted(n), "%v", err)
		return "", false
	}
	return s, true
}
