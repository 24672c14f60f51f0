package crdpatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// base is a CRD without an earlier compilation, for some external declarations: without the rules and
// the annotation that compiling added, and with its declarations.
type base struct {
	*stage
	*annotated // nil for a CRD that was not compiled
	externals  union.Externals
	given      given
	// forget makes rules that cannot be confirmed hand-written ones, without an error.
	forget bool
	// declared are the declarations to restore in schemas. external are recorded external
	// declarations, including extensions.
	declared, external []union.External
	// claims are the schemas of the record.
	claims []*claim
	diags  diag.List

	unrecorded []ruled
}

// given are external declarations for a CRD.
type given struct {
	declarations []union.External
	// all reports whether these are all external declarations for a version.
	all func(version string) bool
}

// base returns the CRD without an earlier compilation. With errors in its diags the CRD is unmodified.
func (c *CRD) base() *base {
	externals := c.Options().External
	for _, b := range c.m.bases {
		if b.forget == c.opts.Forget && b.externals.Same(externals) {
			return b
		}
	}
	b := c.unmodified()
	b.externals, b.forget, b.diags = externals, c.opts.Forget, c.m.marred
	c.m.bases = append(c.m.bases, b)
	if b.annotated != nil {
		b.revert()
	}
	return b
}

// unmodified returns the CRD as it is, without its recorded declarations.
func (c *CRD) unmodified() *base {
	l, all := c.Options().External.Select(c.Target())
	return &base{stage: c.m.asIs, annotated: c.m.annotated, given: given{l, all}}
}

// recorded returns the CRD as it is with its recorded declarations, whether or not the rules are still
// there. It reports schemas that are gone, and external declarations that are no longer given.
func (c *CRD) recorded() *base {
	r := c.unmodified()
	if r.annotated == nil {
		return r
	}
	for _, s := range r.schemas {
		switch {
		case s.unions != nil:
			r.declare(&s)
		case s.node == nil && len(s.Unions) > 0:
			r.gone(s)
		}
	}
	return r
}

// revert removes the confirmed additions of the compiler from the CRD, and restores declarations. A
// declaration in a schema overrides the recorded declaration. Missing or edited rules are errors.
func (r *base) revert() {
	r.stage = newStage(r.m, nil, runtime.DeepCopyJSON(r.source()))
	r.copies()
	r.locate()
	r.dropAnnotation()
	r.confirm()
	if r.diags.HasErrors() {
		r.stage, r.annotated, r.claims = r.m.asIs, nil, nil
		return
	}
	for _, c := range r.claims {
		if r.declare(c); c.restored() {
			var declaration any
			_ = json.Unmarshal(c.Unions, &declaration) // the record was checked
			c.value[union.Key] = declaration
		}
	}
	r.stage.node = r.pruned()
	r.declares = compile.Declares(r.stage.node)
}

func (r *base) report(d diag.Diagnostic) { r.diags = append(r.diags, d) }

// dropAnnotation removes the annotation from the value.
func (r *base) dropAnnotation() {
	metadata, _ := r.value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, Annotation)
	if was := r.record.Annotations; len(annotations) > 0 || was == nil {
		return
	} else if strings.HasPrefix(*was, ":") {
		metadata["annotations"] = nil
	} else if len(metadata) > 1 { // empty metadata would become null
		delete(metadata, "annotations")
	}
}

// pruned returns the manifest without the claimed items.
func (r *base) pruned() *yaml.Node {
	drop := map[*yaml.Node]bool{}
	for _, c := range r.claims {
		for _, i := range c.ours {
			drop[c.list.Content[i]] = true
		}
		if c.whole() {
			drop[c.head] = true
		}
	}
	return yamltext.Omit(r.manifest.node, drop)
}

// declare adds the recorded declarations of a schema to the result, and reports recorded unions that
// are declared nowhere any more. For commands that write, the warnings are errors (see job.forgotten).
func (r *base) declare(c *claim) {
	if !r.forget {
		report := func(at diag.Pos, subject string) {
			r.report(diag.New(codes.Forgotten, at, "%s declared nowhere any more", subject).At(placeOf(c.Path)).As(diag.Warning).
				Hinted("declare it again, with all declarations of the CRD in one command (--go, --kubebuilder and --unions); or keep its rules as hand-written ones with compile --forget; or remove them with decompile"))
		}
		lost, extension := r.lost(c)
		if extension {
			report(*c.extension.At, "the extension of unions that the annotation records is")
		}
		for _, i := range lost {
			report(*c.unions.At, fmt.Sprintf("the union of %s, which the annotation records, is", strings.Join(namesOf(*c.unions)[i], ", ")))
		}
	}
	switch {
	case c.restored():
		r.declared = append(r.declared, *c.unions)
	case c.External && !c.declared:
		r.external = append(r.external, *c.unions)
	}
	if c.extension != nil {
		r.external = append(r.external, *c.extension)
	}
}

// lost returns the indices of recorded unions that share no name with the unions now declared for the
// schema, and whether an extension is no longer given. Declarations in the schema override the
// recorded ones, and so do given declarations, if these are all of a version.
func (r *base) lost(c *claim) (unions []int, extension bool) {
	if c.unions == nil {
		return nil, false
	}
	var named []string
	extended := false
	add := func(e union.External) { named = append(named, slices.Concat(namesOf(e)...)...) }
	if c.declared {
		add(union.External{Value: yamltext.Value(c.node, union.Key)})
	}
	for _, e := range r.given.declarations {
		switch {
		case !e.Covers(c.Version, c.Path):
		case e.Extend:
			extended = true
		default:
			add(e)
		}
	}
	all := r.given.all(c.Version)
	if c.declared || c.External && all {
		for i, properties := range namesOf(*c.unions) {
			if !slices.ContainsFunc(properties, func(name string) bool { return slices.Contains(named, name) }) {
				unions = append(unions, i)
			}
		}
	}
	return unions, c.extension != nil && all && !extended
}

// standing returns the recorded declarations of a schema. If rules are to be forgotten, the unions that
// are declared nowhere any more are left out: their rules are hand-written ones. With an extension, all
// unions of its schema are left out.
func (r *base) standing(c *claim) []union.External {
	if c.unions == nil {
		return nil
	}
	unions := *c.unions
	if r.forget {
		lost, extension := r.lost(c)
		if extension || len(lost) == len(unions.Value.Content) {
			return nil
		}
		if len(lost) > 0 {
			value := *unions.Value
			value.Content = omit(value.Content, lost)
			unions.Value = &value
		}
	}
	if c.extension == nil {
		return []union.External{unions}
	}
	return []union.External{unions, *c.extension}
}

// removed returns a warning for each schema with compiled rules whose conditions the unions of a
// compilation write in no encoding.
func (r *base) removed(by *compile.Compilation) (l diag.List) {
	written := map[string][]string{}
	for _, a := range by.Possible(false) {
		for _, rule := range a.Rules {
			written[a.Structural()] = append(written[a.Structural()], rule.Rule)
		}
	}
	for _, c := range r.claims {
		var removed []diag.Related
		for _, i := range c.ours {
			if rule := ruleOf(c.present[i]); !slices.Contains(written[c.place.Structural()], rule) {
				removed = append(removed, diag.Related{Pos: r.pos(c.item(i)), Message: strconv.Quote(rule)})
			}
		}
		switch len(removed) {
		case 0:
		case 1:
			l = append(l, diag.New(codes.RuleRemoved, removed[0].Pos, "the output lacks a rule compiled from a recorded union: %s", removed[0].Message).
				In(c.place).Hinted("nothing needs to be done, unless a person wrote this rule"))
		default:
			l = append(l, diag.New(codes.RuleRemoved, removed[0].Pos, "the output lacks %s compiled from a recorded union", english.Plural(len(removed), "rule")).
				In(c.place).Hinted("nothing needs to be done, unless a person wrote one of these rules").With(removed...))
		}
	}
	return l
}

// namesOf returns the names in each union of a declaration.
func namesOf(e union.External) [][]string {
	var l [][]string
	declarations, _ := union.Parse("", "", e.Value, e.At)
	for _, d := range declarations {
		l = append(l, d.Names())
	}
	return l
}

// placeOf returns the path of a schema as [schemapath.Place.String] prints it.
func placeOf(path schemapath.Path) string { return schemapath.Place{Path: path}.String() }
