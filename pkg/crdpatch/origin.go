package crdpatch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Origin is where the manifest of a CRD comes from.
type Origin int

const (
	// Authored is a CRD that an author or a generator wrote, or any that declares unions.
	Authored Origin = iota
	// Compiled is a CRD with the annotation that Compile writes.
	Compiled
	// Live is a CRD that an API server printed, compiled or not.
	Live
)

// CRD is a CRD of a file as an API server gets it.
type CRD struct {
	*apiextensionsv1.CustomResourceDefinition
	// Pos is where the manifest is.
	Pos diag.Pos
	// Compiled says that unions were compiled, so that the manifest differs.
	Compiled bool

	key string // of the manifest; empty if that is not read for unions
}

// Installed returns the CRDs of a file as an API server gets them. Authored CRDs are
// compiled. Compiled and live ones keep their rules, edited ones included, unless
// Options.InUse declares unions for them. The list is sorted; when it has errors, the result
// is nil.
func (f *File) Installed() ([]CRD, diag.List) {
	j := (&File{opened: f.opened, opts: f.opts, was: &reverted{}, installing: true}).begin()
	r := j.revision()
	if r == nil {
		return nil, j.diags.Sort()
	}
	objects, wrong := f.Objects()
	j.diags = append(j.diags, wrong...)
	if objects == nil {
		return nil, j.diags.Sort()
	}
	manifests, revised := map[diag.Pos]*manifest{}, r.of.manifests()
	for i, m := range f.source.manifests() {
		j.tooManyRules(m)
		manifests[f.source.pos(m.node)] = revised[i]
	}
	var l []CRD
	for _, o := range objects.Objects {
		kind, _ := carrier.Of(o.GroupVersion().String(), o.Kind)
		if kind == nil {
			continue
		}
		c, value := CRD{Pos: o.Pos(nil)}, o.Value
		if m := manifests[c.Pos]; m != nil {
			want, edited := r.want[m.index]
			if !edited {
				_, want, _ = m.document.value()
			}
			value, c.key = m.in(want), m.key()
			c.Compiled = !reflect.DeepEqual(value, o.Value)
		}
		data, err := json.Marshal(value)
		if err == nil {
			c.CustomResourceDefinition, _, err = kind.Decode(data)
		}
		if err != nil {
			j.diags = append(j.diags, diag.Diagnostic{Code: diag.UndecodableCRD, Pos: c.Pos, Message: fmt.Sprintf("the API server cannot read this %s: %v", o.Kind, err)})
			continue
		}
		l = append(l, c)
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return l, j.diags.Sort()
}

// Explanation returns the explanation of the CRD among those of its file, or nil.
func (c CRD) Explanation(l []Explanation) *Explanation {
	if i := slices.IndexFunc(l, func(e Explanation) bool { return e.of == c.key }); i >= 0 {
		return &l[i]
	}
	return nil
}

// Source returns the source of the CRD among those of its file, or nil.
func (c CRD) Source(l []Source) *Source {
	if i := slices.IndexFunc(l, func(s Source) bool { return s.key() == c.key }); i >= 0 {
		return &l[i]
	}
	return nil
}

// Withheld is a CRD in use that Options.External declares unions for and Options.InUse does
// not.
type Withheld struct {
	union.Target
	// Origin is Compiled or Live.
	Origin Origin
	// Outdated says that Options.External declares other unions than the CRD was compiled
	// with.
	Outdated bool
}

// Withheld returns the CRDs from which Options.InUse withholds external declarations, in
// order of the text; none when the file cannot be read.
func (f *File) Withheld() []Withheld {
	if f.opts.InUse == nil || len(f.opts.External.Declarations) == 0 {
		return nil
	}
	if f.parse(); f.source == nil {
		return nil
	}
	var l []Withheld
	for _, m := range f.source.manifests() {
		if crd := m.names(); f.opts.External.Concern(crd) && f.settled(m) {
			l = append(l, Withheld{Target: crd, Origin: f.origin(m)})
		}
	}
	if !slices.ContainsFunc(l, func(w Withheld) bool { return w.Origin == Compiled }) {
		return l
	}
	opts := f.opts
	opts.InUse = nil
	recorded, _ := f.Resolved()
	declared, _ := f.With(opts).Resolved()
	for i, w := range l {
		l[i].Outdated = w.Origin == Compiled && !sameUnions(recorded, declared, w.Name)
	}
	return l
}

// sameUnions reports whether two readings of a file have the same unions in a CRD.
func sameUnions(a, b []compile.Declared, crd string) bool {
	objects := func(l []compile.Declared) []compile.Object {
		if i := slices.IndexFunc(l, func(d compile.Declared) bool { return d.Name == crd }); i >= 0 {
			return l[i].Objects
		}
		return nil
	}
	return slices.EqualFunc(objects(a), objects(b), func(x, y compile.Object) bool {
		return x.Is(y.Place) && reflect.DeepEqual(x.Unions, y.Unions)
	})
}

// origin tells the origin of a CRD by its annotation, and by the metadata and status that
// only an API server writes.
func (f *opened) origin(m *manifest) Origin {
	if f.origins == nil {
		f.origins = map[string]Origin{}
		for _, m := range f.source.manifests() {
			f.origins[m.key()] = f.originOf(m)
		}
	}
	return f.origins[m.key()]
}

func (f *opened) originOf(m *manifest) Origin {
	metadata, stored := yamltext.Value(m.node, "metadata"), yamltext.Value(yamltext.Value(m.node, "status"), "storedVersions")
	switch {
	case compile.Declares(m.node):
		return Authored
	case textAt(metadata, "uid") != "", textAt(metadata, "resourceVersion") != "", stored != nil && len(stored.Content) > 0:
		return Live
	case f.compiled(m) != nil:
		return Compiled
	}
	return Authored
}

// compiled returns the annotation of a CRD, or nil.
func (f *opened) compiled(m *manifest) *annotatedCRD {
	l := f.compiledCRDs().crds
	if i := slices.IndexFunc(l, func(c *annotatedCRD) bool { return c.key() == m.key() }); i >= 0 {
		return l[i]
	}
	return nil
}

// optionsFor returns the options that count for a CRD.
func (f *File) optionsFor(m *manifest) Options {
	opts, recorded := f.opts, f.opts.AsRecorded
	if opts.InUse != nil && f.origin(m) != Authored {
		used := *opts.InUse
		opts.KubeVersion, opts.Encoding, opts.Describe, opts.External = used.KubeVersion, used.Encoding, used.Describe, used.External
		recorded = true
	}
	if c := f.compiled(m); recorded && c != nil {
		return opts.or(c.options())
	}
	return opts
}

// declaredFor returns the external declarations that Options have for a CRD, and whether
// they are all there are for one of its versions.
func (f *File) declaredFor(m *manifest) (l []union.External, all func(version string) bool) {
	return f.optionsFor(m).External.Of(m.names())
}

// settled reports whether Installed leaves a CRD as it is.
func (f *File) settled(m *manifest) bool {
	return f.origin(m) != Authored && !f.optionsFor(m).External.Concern(m.names())
}
