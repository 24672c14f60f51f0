package crdfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Stage is a CRD as data on its way to the compiler: as it is in the file, without an earlier
// compilation, or also without the hand-written rules that unions replace.
type Stage struct {
	// Node is the manifest, with its positions in the file.
	Node *yaml.Node
	// Value is the CRD as kubectl reads it. It is not to be changed.
	Value map[string]any

	data         []byte // Value as JSON
	compilations []*compiled.Compilation
}

// Base is a CRD without an earlier compilation.
type Base struct {
	*Stage
	// Reverted is nil for a CRD that was not compiled.
	Reverted *compiled.Reverted
	Diags    diag.List
	hints    map[diag.Pos]string
	replaced *replaced // the last one
}

// stage is the CRD as it is in the file, and the error of kubectl when it reads that. It is read
// when that is first asked for, which is never for most CRDs without unions.
func (m *manifest) stage() (*Stage, diag.List) {
	if m.asIs.Value != nil || m.unread != nil {
		return m.asIs, m.unread
	}
	data, value, wrong := m.Manifest.Value()
	if wrong != nil {
		m.unread = diag.List{*wrong}
		return m.asIs, m.unread
	}
	if m.asIs.Value = m.Of(value); !m.Listed() {
		m.asIs.data = data
	}
	return m.asIs, nil
}

// JSON is Value as JSON.
func (s *Stage) JSON() []byte {
	if s.data == nil {
		s.data, _ = json.Marshal(s.Value) // it was read as JSON
	}
	return s.data
}

func (s *Stage) manifest(m *manifest, external []union.External) compile.Manifest {
	return compile.Manifest{File: m.Name, Node: s.Node, JSON: s.JSON(), External: external, Limits: m.Limits}
}

// compilation returns the compilation of the CRD, which is the same for the same declarations and
// options.
func (s *Stage) compilation(m *manifest, external []union.External, opts compile.Options) *compiled.Compilation {
	for _, c := range s.compilations {
		if c.Is(external, opts) {
			return c
		}
	}
	c := &compiled.Compilation{Compilation: compile.New(s.manifest(m, external), opts), External: external, Options: opts}
	s.compilations = append(s.compilations, c)
	return c
}

// decode returns the CRD as the API server reads it.
func (s *Stage) decode(c *CRD, l diag.List) (*apiextensionsv1.CustomResourceDefinition, diag.List) {
	if wrong := c.m.tooManyRules(s.Node); wrong != nil {
		return nil, append(l, *wrong)
	}
	kind := c.m.Kind()
	crd, _, err := kind.Decode(s.JSON())
	if err != nil {
		return nil, append(l, diag.Diagnostic{Code: diag.UndecodableCRD, Pos: c.At(), Message: "the API server cannot read this " + kind.Kind + ": " + err.Error(),
			Hint: "compare it with kubectl explain " + strings.ToLower(kind.Kind) + ".spec --recursive"})
	}
	return crd, l
}

// tooManyRules reports a schema that has more rules than the limit.
func (m *manifest) tooManyRules(crd *yaml.Node) *diag.Diagnostic {
	most := m.Limits.OrDefault().Rules
	var over func(n *yaml.Node) *yaml.Node
	over = func(n *yaml.Node) *yaml.Node {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == compiled.Validations && len(n.Content[i+1].Content) > most {
				return c
			}
			if found := over(c); found != nil {
				return found
			}
		}
		return nil
	}
	key := over(crd)
	if key == nil {
		return nil
	}
	return &diag.Diagnostic{Code: diag.OverLimit, Pos: m.Pos(key), Message: fmt.Sprintf("the schema has more rules than the limit of %d", most), Hint: limit.Hint("rules")}
}

// TooManyRules returns an error if a schema has more rules than the limit.
func (c *CRD) TooManyRules() *diag.Diagnostic { return c.m.tooManyRules(c.m.Node) }

// given are the external declarations in the options that count.
func (c *CRD) given() compiled.Given {
	l, all := c.Options().External.Of(c.Target())
	return compiled.Given{Declarations: l, All: all}
}

// Base returns the CRD without an earlier compilation. With errors in its list it is as it is in
// the file.
func (c *CRD) Base() *Base {
	if b := c.view.reverted[c.m]; b != nil {
		return b
	}
	b := &Base{}
	c.view.reverted[c.m] = b
	b.Stage = c.m.asIs
	if b.Diags = c.m.marred; c.m.annotated == nil {
		return b
	}
	r := c.m.annotated.Revert(compiled.Options{Given: c.given(), Forget: c.opts.Forget, Decompile: c.view.decompile, Proofs: &c.view.proofs})
	if b.Diags, b.hints = r.Diags, r.Hints; !r.Diags.HasErrors() {
		b.Reverted, b.Stage = r, &Stage{Node: r.Node, Value: r.Value}
		if r.Again != nil {
			b.compilations = append(b.compilations, r.Again)
		}
	}
	return b
}

// readable is Base, for those who need its value.
func (c *CRD) readable() (*Base, diag.List) {
	_, wrong := c.m.stage()
	b := c.Base()
	return b, slices.Concat(b.Diags, wrong)
}

// recorded are the declarations that only the annotation has.
func (b *Base) recorded() []union.External {
	if b.Reverted == nil {
		return nil
	}
	return slices.Concat(b.Reverted.Declared, b.Reverted.External)
}

// external are the declarations for a CRD that are not in the manifest: recorded ones, and those
// given, which are all there are for their versions.
func (c *CRD) external(own, recorded []union.External) []union.External {
	given := c.given()
	l := slices.Concat(own, given.Declarations)
	for _, e := range recorded {
		if !given.All(e.Version) {
			l = append(l, e)
		}
	}
	return l
}

// declared are the declarations for the CRD that are not in the manifest.
func (c *CRD) declared() []union.External {
	b := c.Base()
	if b.Reverted == nil {
		return c.external(nil, nil)
	}
	return c.external(b.Reverted.Declared, b.Reverted.External)
}

// Replaced returns the CRD without an earlier compilation and without the hand-written rules that
// unions replace, which are listed.
func (c *CRD) Replaced(opts compile.Options) (*Stage, []compile.Removal, diag.List) {
	b, external := c.Base(), c.declared()
	if len(external) == 0 && !compile.Declares(b.Node) {
		return b.Stage, nil, nil
	}
	_, _ = c.m.stage() // compiling reports errors
	compilation := b.compilation(c.m, external, opts)
	removals, diags := compilation.Replaced()
	if len(removals) == 0 {
		return b.Stage, nil, diags
	}
	if b.replaced == nil || b.replaced.of != compilation {
		b.replaced = &replaced{b.without(removals), compilation}
	}
	return b.replaced.Stage, removals, diags
}

// replaced is the stage without the rules that the unions of a compilation replace.
type replaced struct {
	*Stage
	of *compiled.Compilation
}

// without is the CRD without hand-written rules.
func (s *Stage) without(removals []compile.Removal) *Stage {
	drop, value := map[*yaml.Node]bool{}, runtime.DeepCopyJSON(s.Value)
	for _, removal := range removals {
		whole, items := compiled.Remove(removal, crdtext.SchemaIn(value, removal.Place))
		n := crdtext.Schema(s.Node, removal.Place)
		for _, key := range whole {
			k, _, _, _ := yamltext.Lookup(n, key)
			drop[k] = true
		}
		for key, indices := range items {
			_, list, _, _ := yamltext.Lookup(n, key)
			for i, item := range yamltext.Resolve(list).Content {
				if slices.Contains(indices, i) {
					drop[item] = true
				}
			}
		}
	}
	return &Stage{Node: yamltext.Without(s.Node, drop), Value: value}
}

// hinted adds hints to errors in recorded declarations.
func (b *Base) hinted(l diag.List) diag.List {
	out := slices.Clone(l)
	for i, d := range out {
		if hint := b.hints[d.Pos]; hint != "" {
			if out[i].Edits = nil; d.Severity == diag.Error {
				out[i].Hint = strings.TrimPrefix(d.Hint+"; "+hint, "; ")
			}
		}
	}
	return out
}
