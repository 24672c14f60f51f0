package crdpatch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// CRD is a CRD of a file, or another manifest that contains the schemas of a CRD, such as a
// CompositeResourceDefinition, with the options to compile it.
type CRD struct {
	m    *manifest
	opts Options
}

// inUse returns the origin of a CRD in use: compiled, or printed by an API server, whether compiled or not.
// It is "" for a CRD that an author or a generator wrote, and for any CRD that declares unions.
func (m *manifest) inUse() string {
	// Only an API server writes these metadata and this status.
	metadata, stored := yamltext.Value(m.node, "metadata"), yamltext.Value(yamltext.Value(m.node, "status"), "storedVersions")
	switch {
	case m.asIs.declares:
		return ""
	case yamltext.Text(metadata, "uid") != "", yamltext.Text(metadata, "resourceVersion") != "", stored != nil && len(stored.Content) > 0:
		return "from a cluster"
	case m.annotated != nil:
		return "compiled"
	}
	return ""
}

// Target returns the CRD's name, group and kind.
func (c *CRD) Target() union.Target { return c.m.target() }

// In returns the CRD in a file that edits have made from the file of the CRD, or nil if that file
// cannot be read.
func (c *CRD) In(f *File) *CRD {
	text, _ := f.parse()
	if text == nil {
		return nil
	}
	return &CRD{m: c.m.revised(text), opts: c.opts}
}

// Is reports whether two values are the same CRD of an open file.
func (c *CRD) Is(o *CRD) bool { return c.m == o.m }

// pos returns the position of the manifest.
func (c *CRD) pos() diag.Pos { return c.m.pos(c.m.node) }

// Options returns the effective options of the CRD, with InUse applied.
func (c *CRD) Options() Options {
	opts := c.opts
	if opts.InUse == nil || c.m.inUse() == "" {
		return opts
	}
	used := *opts.InUse
	opts.KubeVersion, opts.Encoding, opts.Origins, opts.External = used.KubeVersion, used.Encoding, used.Origins, used.External
	if c.m.annotated == nil {
		return opts
	}
	was := c.m.annotated.options()
	if opts.Encoding == compile.Auto {
		opts.Encoding, opts.Origins.Encoding = was.Encoding, was.Origins.Encoding
	}
	if opts.KubeVersion == "" {
		opts.KubeVersion, opts.Origins.KubeVersion = was.KubeVersion, was.Origins.KubeVersion
	}
	return opts
}

// Recompiled names the options that differ from those that the CRD was compiled with, or returns "".
func (c *CRD) Recompiled() string {
	if c.m.annotated == nil {
		return ""
	}
	var l []string
	differ := func(option, was, is, origin string) {
		if was != is {
			l = append(l, fmt.Sprintf("compiled with --%s %s, now %s (%s)", option, was, is, cmp.Or(origin, "the default")))
		}
	}
	was, is, linked := c.m.annotated.record, c.Options(), compile.Linked()
	differ("encoding", cmp.Or(string(was.Encoding), "auto"), cmp.Or(string(is.Encoding), "auto"), is.Origins.Encoding)
	differ("kube-version", cmp.Or(was.KubeVersion, linked), cmp.Or(is.KubeVersion, linked), is.Origins.KubeVersion)
	return strings.Join(l, "; ")
}

// With returns the CRD with other external declarations.
func (c *CRD) With(declarations []union.External) *CRD {
	opts := c.opts
	opts.External.Declarations = declarations
	return &CRD{m: c.m, opts: opts}
}

// mustStay reports whether the CRD is in use and must stay unchanged, because no declarations are
// given for it.
func (c *CRD) mustStay() bool {
	return c.m.inUse() != "" && !c.Options().External.Concern(c.Target())
}

// Withheld returns the reason why Options.InUse withholds external declarations from the CRD: it is
// compiled or from a cluster. Otherwise it returns "".
func (c *CRD) Withheld() string {
	if c.opts.InUse == nil || !c.opts.External.Concern(c.Target()) || !c.mustStay() {
		return ""
	}
	return c.m.inUse()
}

// node returns the schema at a place, without compiled rules, or nil.
func (c *CRD) node(p schemapath.Place) *yaml.Node {
	return schemaAt(c.base().stage.node, p)
}

// Schema returns the position of a schema in the file, and whether unions are declared for it: in
// the schema, externally or in the annotation, with or without errors.
func (c *CRD) Schema(p schemapath.Place) (at diag.Pos, declares bool) {
	n, _ := nearest(c.base().stage.node, p)
	declares = yamltext.Lookup(c.node(p), union.Key).Key != nil
	return c.m.pos(n), declares || slices.ContainsFunc(c.base().outside(), func(e union.External) bool { return e.Covers(p.Name, p.Path) })
}

// Declares reports whether unions are declared for the CRD: in a schema, externally or in the
// annotation, with or without errors.
func (c *CRD) Declares() bool {
	b := c.base()
	return b.declares || len(b.outside()) > 0
}

// Keyword returns the position of a keyword of a schema in the file. If there is none, it returns
// the position of the schema or of the nearest enclosing schema.
func (c *CRD) Keyword(p schemapath.Place, key string) diag.Pos {
	for len(p.Path) > 0 && c.node(p) == nil {
		p, key = p.Up(len(p.Path)-1), ""
	}
	at, _ := c.Schema(p)
	if n := c.node(p); n != nil && key != "" {
		if k := yamltext.Lookup(n, key).Key; k != nil {
			at = c.m.pos(k)
		}
	}
	return at
}

// Constraint returns the position of a constraint of a schema in the file: the text of a rule, or
// the value of the keyword. If there is none, it returns the position of the schema.
func (c *CRD) Constraint(p schemapath.Place, constraint verify.Constraint) diag.Pos {
	at, _ := c.Schema(p)
	v := yamltext.Value(c.node(p), constraint.Key)
	if v == nil {
		return at
	}
	if v.Kind == yaml.SequenceNode && constraint.Index < len(v.Content) && (constraint.Key == "x-kubernetes-validations" || constraint.Key == "allOf") {
		v = v.Content[constraint.Index]
		if rule := yamltext.Lookup(v, "rule").Value; rule != nil {
			v = rule
		}
	}
	return c.m.pos(v)
}

// Source returns the CRD without compiled rules, as the API server reads it. With errors the result
// is nil.
func (c *CRD) Source() (*apiextensionsv1.CustomResourceDefinition, diag.List) {
	b, diags := c.readable()
	if diags.HasErrors() {
		return nil, diags
	}
	if wrong := c.m.tooManyRules(b.stage.node); wrong != nil {
		return nil, append(diags, *wrong)
	}
	kind := c.m.kind()
	crd, _, err := kind.Decode(b.json())
	if err != nil {
		return nil, append(diags, diag.New(codes.UndecodableCRD, c.pos(), "the API server cannot read this %s: %v", kind.Kind, err).
			Hinted("compare it with kubectl explain "+strings.ToLower(kind.Kind)+".spec --recursive"))
	}
	return crd, diags
}

// Faults returns an error for each rule that the API server cannot compile. crd is the decoded CRD,
// with or without compiled rules.
func (c *CRD) Faults(crd *apiextensionsv1.CustomResourceDefinition) (l diag.List) {
	for _, f := range server.Faults(crd, nil) {
		pos, _ := c.Schema(f.Place)
		if rules := yamltext.Value(c.node(f.Place), validations); rules != nil {
			for _, n := range rules.Content {
				if yamltext.Text(n, "rule") == f.Rule.Rule {
					pos = c.m.pos(yamltext.Value(n, "rule"))
				}
			}
		}
		l = append(l, diag.New(codes.NotCompiling, pos,
			"%s", f.Message).At(fmt.Sprintf("%s.%s[%d].rule", f.Structural(), validations, f.Index)).
			Hinted(f.Hint))
	}
	return l
}
