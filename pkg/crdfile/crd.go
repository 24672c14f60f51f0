package crdfile

import (
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// CRD is a CRD of a file, or a manifest that a CRD is made of, such as a
// CompositeResourceDefinition, with the options to compile it with.
type CRD struct {
	m    *manifest
	view *view
	opts Options
}

// Origin says who wrote the manifest of a CRD.
type Origin int

const (
	// Authored is a CRD that an author or a generator wrote, or any that declares unions.
	Authored Origin = iota
	// Compiled is a CRD with the annotation.
	Compiled
	// Live is a CRD that an API server printed, compiled or not.
	Live
)

// origin tells the origin of a CRD by its annotation, and by the metadata and status that
// only an API server writes.
func (m *manifest) origin() Origin {
	metadata, stored := yamltext.Value(m.Node, "metadata"), yamltext.Value(yamltext.Value(m.Node, "status"), "storedVersions")
	switch {
	case m.asIs.declares:
		return Authored
	case crdtext.ScalarAt(metadata, "uid") != "", crdtext.ScalarAt(metadata, "resourceVersion") != "", stored != nil && len(stored.Content) > 0:
		return Live
	case m.annotated != nil:
		return Compiled
	}
	return Authored
}

// Origin says who wrote the manifest.
func (c *CRD) Origin() Origin { return c.m.origin() }

// Target has the CRD's name, group and kind.
func (c *CRD) Target() union.Target { return c.m.Target() }

// At is the position of the manifest.
func (c *CRD) At() diag.Pos { return c.m.Pos(c.m.Node) }

// Manifest is the CRD in the text of its file.
func (c *CRD) Manifest() *crdtext.Manifest { return c.m.Manifest }

// Options returns the options that count for the CRD.
func (c *CRD) Options() Options {
	opts, recorded := c.opts, c.opts.AsRecorded
	if opts.InUse != nil && c.m.origin() != Authored {
		used := *opts.InUse
		opts.KubeVersion, opts.Encoding, opts.Describe, opts.External = used.KubeVersion, used.Encoding, used.Describe, used.External
		recorded = true
	}
	if was := c.Recorded(); recorded && was != nil {
		return opts.or(*was)
	}
	return opts
}

// Encoded is the CRD, to be compiled in another encoding.
func (c *CRD) Encoded(e compile.Encoding) *CRD {
	other := *c
	other.opts.Encoding = e
	return &other
}

// Recorded returns the options that the CRD was compiled with, nil if it was not compiled.
func (c *CRD) Recorded() *Options {
	if c.m.annotated == nil {
		return nil
	}
	was := c.m.annotated.Options()
	return &Options{Encoding: was.Encoding, KubeVersion: was.KubeVersion, Describe: c.m.annotated.Described()}
}

// Settled reports whether the CRD is in use, and is to stay as it is: no declarations are given
// for it.
func (c *CRD) Settled() bool {
	return c.m.origin() != Authored && !c.Options().External.Concern(c.Target())
}

// Withheld reports whether Options.InUse withholds external declarations from the CRD.
func (c *CRD) Withheld() bool {
	return c.opts.InUse != nil && c.opts.External.Concern(c.Target()) && c.Settled()
}

// Outdated reports whether Options.External declares other unions than the CRD was compiled with.
func (c *CRD) Outdated() bool {
	if c.m.origin() != Compiled {
		return false
	}
	given := *c
	given.opts.InUse = nil
	given.view = &view{opts: given.opts, reverted: map[*manifest]*Base{}}
	objects := func(c *CRD) []compile.Object {
		if d, _ := c.Resolved(); d != nil {
			return d.Objects
		}
		return nil
	}
	return !slices.EqualFunc(objects(c), objects(&given), sameObject)
}

// node is the schema at a place, as an author wrote it, or nil.
func (c *CRD) node(p schemapath.Place) *yaml.Node {
	return crdtext.Schema(c.Base().node, p)
}

// Schema says where in the file a schema begins, and whether unions are declared for it, there
// or in the annotation.
func (c *CRD) Schema(p schemapath.Place) (at diag.Pos, declares bool) {
	at = c.At()
	if n := c.node(p); n != nil {
		at = c.m.Pos(n)
		_, _, _, declares = yamltext.Lookup(n, union.Key)
	}
	return at, declares || slices.ContainsFunc(c.Base().recorded(), func(e union.External) bool { return e.Covers(p.Name, p.Path) })
}

// Keyword says where in the file a keyword of that schema is. It is where the schema
// begins, or the nearest schema around it, when it is nowhere else.
func (c *CRD) Keyword(p schemapath.Place, key string) diag.Pos {
	for len(p.Path) > 0 && c.node(p) == nil {
		p, key = p.Up(len(p.Path)-1), ""
	}
	at, _ := c.Schema(p)
	if n := c.node(p); n != nil && key != "" {
		if k, _, _, ok := yamltext.Lookup(n, key); ok {
			at = c.m.Pos(k)
		}
	}
	return at
}

// Constraint says where in the file a constraint of that schema is: the text of a rule,
// or the value of the keyword. It is where the schema begins when it is nowhere else.
func (c *CRD) Constraint(p schemapath.Place, constraint verify.Constraint) diag.Pos {
	at, _ := c.Schema(p)
	_, v, _, ok := yamltext.Lookup(c.node(p), constraint.Key)
	if !ok {
		return at
	}
	if v = yamltext.Resolve(v); v.Kind == yaml.SequenceNode && constraint.Index < len(v.Content) && (constraint.Key == "x-kubernetes-validations" || constraint.Key == "allOf") {
		v = v.Content[constraint.Index]
		if _, rule, _, ok := yamltext.Lookup(v, "rule"); ok {
			v = rule
		}
	}
	return c.m.Pos(v)
}

// Source returns the CRD as its author wrote it, without compiled rules, as the API server reads
// it. With errors the result is nil.
func (c *CRD) Source() (*apiextensionsv1.CustomResourceDefinition, diag.List) {
	b, diags := c.readable()
	if diags.HasErrors() {
		return nil, diags
	}
	return b.decode(c, diags)
}
