package crdpatch

import (
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// Source is a CRD of a file as its author wrote it: without what compiling did.
type Source struct {
	// CRD is the manifest as the API server reads it.
	CRD *apiextensionsv1.CustomResourceDefinition

	patcher  *patcher
	manifest manifest
	external []union.External
}

// Sources returns the CRDs of a file, with unions or without, within limits. The list is sorted;
// when it has errors, the result is nil.
func Sources(name string, src []byte, limits limit.Limits) ([]Source, diag.List) {
	p := &patcher{name: name, opts: Options{Limits: limits}}
	base, ok := p.undo(ended(src))
	if !ok || base.changed && !p.parse(base.text) {
		return nil, p.diags.Sort()
	}
	p.back = base.position
	var l []Source
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			input, ok := p.input(d, m, nil, &value)
			if !ok {
				continue
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := json.Unmarshal(input.JSON, crd); err != nil {
				p.errorf(m.node, diag.UndecodableCRD, "compare it with kubectl explain customresourcedefinition.spec --recursive",
					"the API server cannot read this CustomResourceDefinition: %v", err)
				continue
			}
			l = append(l, Source{CRD: crd, patcher: p, manifest: m, external: p.externals(i, m)})
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return l, p.diags.Sort()
}

// Schema says where in the file the schema at steps of a version begins, and
// whether unions are declared for it, there or in the annotation.
func (s Source) Schema(version string, steps []string) (at diag.Pos, declares bool) {
	at = s.patcher.pos(s.manifest.node)
	if _, n := findSchema(s.manifest.node, schemaRecord{Version: version, Path: steps}); n != nil {
		at = s.patcher.pos(n)
		_, _, _, declares = yamltext.Lookup(n, union.Key)
	}
	declares = declares || slices.ContainsFunc(s.external, func(e union.External) bool { return e.Covers(version, steps) })
	at.Line, at.Col, _ = s.patcher.position(at)
	return at, declares
}
