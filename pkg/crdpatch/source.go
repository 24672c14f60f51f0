package crdpatch

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Source is a CRD of a file as its author wrote it: without what compiling did.
type Source struct {
	// CRD is the manifest as the API server reads it.
	CRD *apiextensionsv1.CustomResourceDefinition

	*manifest
	external []union.External
}

// Sources returns the CRDs of a file, with unions or without, within limits. The list is sorted;
// when it has errors, the result is nil.
func Sources(name string, src []byte, limits limit.Limits) ([]Source, diag.List) {
	return Open(name, src, Options{Limits: limits}).Sources()
}

// Sources is the function of that name for an open file.
func (f *File) Sources() ([]Source, diag.List) {
	j := f.begin()
	base := j.base()
	if base == nil {
		return nil, j.diags.Sort()
	}
	var l []Source
	for _, m := range base.manifests() {
		in, ok := j.input(m, nil)
		if !ok || j.tooManyRules(m) {
			continue
		}
		kind := m.kind()
		crd, _, err := kind.Decode(in.JSON)
		if err != nil {
			j.errorf(m.node, diag.UndecodableCRD, "compare it with kubectl explain "+strings.ToLower(kind.Kind)+".spec --recursive",
				"the API server cannot read this %s: %v", kind.Kind, err)
			continue
		}
		l = append(l, Source{CRD: crd, manifest: m, external: base.external[m.key()]})
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return l, j.diags.Sort()
}

// tooManyRules reports a schema that has more rules than the limit.
func (j *job) tooManyRules(m *manifest) bool {
	most := j.limits.OrDefault().Rules
	var over func(n *yaml.Node) *yaml.Node
	over = func(n *yaml.Node) *yaml.Node {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == validationsKey && len(n.Content[i+1].Content) > most {
				return c
			}
			if found := over(c); found != nil {
				return found
			}
		}
		return nil
	}
	key := over(m.node)
	if key != nil {
		j.errorf(key, diag.OverLimit, limit.Hint("rules"), "the schema has more rules than the limit of %d", most)
	}
	return key != nil
}

// Schema says where in the file the schema at a path in a version begins, and
// whether unions are declared for it, there or in the annotation.
func (s Source) Schema(version string, path schemapath.Path) (at diag.Pos, declares bool) {
	at = s.pos(s.node)
	if _, n := s.schema(version, path); n != nil {
		at = s.pos(n)
		_, _, _, declares = yamltext.Lookup(n, union.Key)
	}
	return at, declares || slices.ContainsFunc(s.external, func(e union.External) bool { return e.Covers(version, path) })
}

// Keyword says where in the file a keyword of that schema is. It is where the schema
// begins, or what is nearest around it and there, when it is nowhere else.
func (s Source) Keyword(version string, path schemapath.Path, key string) diag.Pos {
	for len(path) > 0 {
		if _, n := s.schema(version, path); n != nil {
			break
		}
		path, key = path[:len(path)-1], ""
	}
	at, _ := s.Schema(version, path)
	if _, n := s.schema(version, path); n != nil && key != "" {
		if k, _, _, ok := yamltext.Lookup(n, key); ok {
			at = s.pos(k)
		}
	}
	return at
}

// Constraint says where in the file a constraint of that schema is: the text of a rule,
// or the value of the keyword. It is where the schema begins when it is nowhere else.
func (s Source) Constraint(version string, path schemapath.Path, c verify.Constraint) diag.Pos {
	at, _ := s.Schema(version, path)
	_, n := s.schema(version, path)
	_, v, _, ok := yamltext.Lookup(n, c.Key)
	if !ok {
		return at
	}
	if v = yamltext.Resolve(v); v.Kind == yaml.SequenceNode && c.Index < len(v.Content) && (c.Key == "x-kubernetes-validations" || c.Key == "allOf") {
		v = v.Content[c.Index]
		if _, rule, _, ok := yamltext.Lookup(v, "rule"); ok {
			v = rule
		}
	}
	return s.pos(v)
}
