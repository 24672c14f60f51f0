package crdpatch

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// stage is a CRD as data before compiling: unmodified, without an earlier compilation, or also
// without the hand-written rules that unions replace.
type stage struct {
	m            *manifest
	node         *yaml.Node     // with positions in the file
	declares     bool           // the node declares unions
	value        map[string]any // as kubectl reads it; nil until it is read
	data         []byte         // value as JSON; nil until it is needed
	compilations []*cachedCompilation
}

func newStage(m *manifest, node *yaml.Node, value map[string]any) *stage {
	return &stage{m: m, node: node, declares: compile.Declares(node), value: value}
}

// cachedCompilation is a compilation with external declarations.
type cachedCompilation struct {
	*compile.Compilation
	external []union.External
	opts     compile.Options
	replaced *stage // without the hand-written rules that the unions replace, once it is needed
}

// read reads the value from the file lazily: most CRDs without unions are never read. It returns
// kubectl's error.
func (s *stage) read() diag.List {
	if s.value != nil {
		return nil
	}
	data, value, wrong := s.m.read()
	if wrong != nil {
		return diag.List{*wrong}
	}
	if s.value = s.m.selected(value); !s.m.listed() {
		s.data = data
	}
	return nil
}

// json returns the CRD as kubectl reads it, or null if kubectl cannot read it.
func (s *stage) json() []byte {
	if _ = s.read(); s.data == nil {
		s.data, _ = json.Marshal(s.value) // cannot fail: value was read as JSON
	}
	return s.data
}

// compile returns a compilation of the CRD.
func (s *stage) compile(external []union.External, opts compile.Options) *compile.Compilation {
	return compile.New(compile.Manifest{File: s.m.name, Node: s.node, JSON: s.json(), External: external, Limits: s.m.limits}, opts)
}

// compilation returns the compilation of the CRD. It caches compilations by declarations and
// options.
func (s *stage) compilation(external []union.External, opts compile.Options) *cachedCompilation {
	for _, c := range s.compilations {
		if c.opts.Same(opts) && slices.EqualFunc(c.external, external, union.External.Same) {
			return c
		}
	}
	c := &cachedCompilation{Compilation: s.compile(external, opts), external: external, opts: opts}
	s.compilations = append(s.compilations, c)
	return c
}

// tooManyRules reports the first schema with more rules than the limit.
func (m *manifest) tooManyRules(crd *yaml.Node) *diag.Diagnostic {
	most := m.limits.OrDefault().Rules
	for n := range yamltext.All(crd) {
		for key, rules := range yamltext.Pairs(n) {
			if key.Value == validations && len(rules.Content) > most {
				return new(diag.New(codes.OverLimit, m.pos(key), "the schema has more rules than the limit of %d", most).Hinted(yamltext.LimitHint("rules")))
			}
		}
	}
	return nil
}

// readable returns the base with its value read.
func (c *CRD) readable() (*base, diag.List) {
	b := c.base()
	return b, slices.Concat(b.diags, b.read())
}

// outside returns the declarations for the CRD from outside the manifest: restored and given ones, and
// recorded external ones unless the given ones replace them for their version.
func (b *base) outside() []union.External {
	l := slices.Concat(b.declared, b.given.declarations)
	for _, e := range b.external {
		if !b.given.all(e.Version) {
			l = append(l, e)
		}
	}
	return l
}

// Replaced returns the hand-written rules that the unions replace.
func (c *CRD) Replaced() []compile.Removal {
	if !c.Declares() {
		return nil
	}
	b := c.base()
	removals, _ := b.compilation(b.outside(), c.Options().compiler()).Replaced()
	return removals
}

// replace returns the stage without the hand-written rules that a compilation replaces.
func (s *stage) replace(c *cachedCompilation) (*stage, diag.List) {
	removals, diags := c.Replaced()
	if len(removals) == 0 {
		return s, diags
	}
	if c.replaced == nil {
		c.replaced = s.removing(removals)
	}
	return c.replaced, diags
}

// removing returns the CRD without the given hand-written rules.
func (s *stage) removing(removals []compile.Removal) *stage {
	drop, value := map[*yaml.Node]bool{}, runtime.DeepCopyJSON(s.value)
	for _, removal := range removals {
		whole, items := removeConstraints(removal, schemaIn(value, removal.Place))
		n := schemaAt(s.node, removal.Place)
		for _, key := range whole {
			drop[yamltext.Lookup(n, key).Key] = true
		}
		for key, indices := range items {
			for i, item := range yamltext.Value(n, key).Content {
				if slices.Contains(indices, i) {
					drop[item] = true
				}
			}
		}
	}
	return newStage(s.m, yamltext.Omit(s.node, drop), value)
}

// hint returns a hint for an error at the position of a recorded declaration, or "".
func (b *base) hint(at diag.Pos) string {
	switch {
	case b.annotated == nil:
		return ""
	case at == b.keyPos():
		return "the declaration is external, and the annotation " + Annotation + " keeps it: correct it at its source, and give it again (--go, --unions)"
	case slices.ContainsFunc(b.claims, func(c *claim) bool { return c.restored() && b.pos(c.node) == at }):
		return "the declaration is in the annotation " + Annotation + ": run unioncel decompile to edit it"
	}
	return ""
}

// hinted returns a list with hints added to errors in recorded declarations.
func (b *base) hinted(l diag.List) diag.List {
	out := slices.Clone(l)
	for i, d := range out {
		if hint := b.hint(d.Pos); hint != "" {
			if out[i].Edits = nil; d.Severity == diag.Error {
				out[i].Hint = strings.TrimPrefix(d.Hint+"; "+hint, "; ")
			}
		}
	}
	return out
}
