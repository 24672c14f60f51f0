package change

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Input is a CRD to compare.
type Input struct {
	// CRD is the object that the API server receives, with its unions compiled.
	*apiextensionsv1.CustomResourceDefinition
	// Unions are the unions declared in the CRD. Each lists only rules that the CRD has: a compiled
	// CRD may have lost rules.
	Unions []compile.UnionPlan
	// KubeVersion is the version of the target API server, such as "1.30"; "" is the latest.
	KubeVersion string
	// Pos is the position of the CRD in its file; zero without a file.
	Pos diag.Pos
	// Compiled is true if the file had declared unions that had to be compiled.
	Compiled bool

	at func(p schemapath.Place, keyword string) diag.Pos
}

// InputOf returns an Input for a CRD that was not read from a file. It has no unions and no
// positions.
func InputOf(crd *apiextensionsv1.CustomResourceDefinition) *Input {
	return &Input{CustomResourceDefinition: crd}
}

// ReadInputs reads the CRDs of a file and compiles their unions. The list contains errors, in which case
// the result is nil, or warnings about rules that do not compile, and about compiled CRDs whose rules
// differ from the rules of their unions.
func ReadInputs(f *crdpatch.File, opts crdpatch.Options) ([]*Input, diag.List) {
	installed, wrong := crdpatch.Install(f, opts)
	wrong = slices.DeleteFunc(wrong, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	var l []*Input
	for _, in := range installed {
		c := InputOf(in.CustomResourceDefinition)
		c.Pos, c.Compiled, c.KubeVersion = in.At, in.Compiled, opts.KubeVersion
		if l = append(l, c); in.CRD == nil {
			continue
		}
		plan, claims := in.CRD.Plan()
		for _, d := range slices.Concat(claims, in.CRD.Faults(in.CustomResourceDefinition)) {
			if d.Severity == diag.Error {
				d.Severity = diag.Warning
				wrong = append(wrong, d)
			}
		}
		c.at = in.CRD.Keyword
		if plan == nil {
			continue // use the CRD as it is, without unions
		}
		for _, u := range plan.Unions {
			u.Rules = slices.DeleteFunc(slices.Clone(u.Rules), func(r compile.RulePlan) bool { return !c.has(r) })
			c.Unions = append(c.Unions, u)
		}
	}
	return l, wrong
}

// has reports whether the CRD contains a rule.
func (c *Input) has(r compile.RulePlan) bool {
	schema := r.Schema(c.CustomResourceDefinition)
	return schema != nil && slices.ContainsFunc(schema.XValidations, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == r.Rule.Rule })
}

// pos returns the position of a keyword of a schema. If there is no such version, it returns the
// position of the CRD.
func (c *Input) pos(name string, path schemapath.Path, keyword string) diag.Pos {
	i := versionIndex(c.CustomResourceDefinition, name)
	if c.at == nil || i < 0 {
		return c.Pos
	}
	return c.at(schemapath.Place{Version: i, Name: name, Path: path}, keyword)
}

// Kinds returns the unions of the CRD, in each version.
func (c *Input) Kinds() (*union.KindSet, error) {
	var declared []union.Object
	for _, u := range c.Unions {
		declared = append(declared, union.Object{Place: u.Place, Unions: []*union.Union{u.Union}})
	}
	set := &union.KindSet{}
	return set, set.Add(compile.Kinds(c.CustomResourceDefinition, declared, c.Name)...)
}
