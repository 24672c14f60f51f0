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
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// revertOptions are the options for reverting a CRD.
type revertOptions struct {
	given
	// forget keeps rules that cannot be confirmed, without an error.
	forget bool
}

// reverted is a CRD, as data, without the rules and the annotation that compiling added. Its owner
// may change value.
type reverted struct {
	*annotated
	// node is the manifest with its positions in the file, without restored declarations.
	node *yaml.Node
	// value is the CRD as kubectl reads it, with its declarations.
	value map[string]any
	// declared are the declarations to restore in schemas. external are recorded external
	// declarations, including extensions.
	declared, external []union.External
	// again, unless nil, is the compilation of the recorded unions on the reverted CRD.
	again *cachedCompilation
	// claims are the schemas of the record.
	claims []*claim
	// hints are hints for errors in recorded declarations, by position.
	hints map[diag.Pos]string
	diags diag.List
}

// cachedCompilation is a compilation with external declarations.
type cachedCompilation struct {
	*compile.Compilation
	external []union.External
	opts     compile.Options
}

// is reports whether the compilation has these declarations and options.
func (c *cachedCompilation) is(external []union.External, opts compile.Options) bool {
	return c != nil && c.opts.Same(opts) && slices.EqualFunc(c.external, external, union.External.Same)
}

type reverter struct {
	*reverted
	opts       revertOptions
	own        []union.External // recorded for schemas without a declaration
	unrecorded []ruled
}

func (c *annotated) reverter(opts revertOptions) *reverter {
	return &reverter{reverted: &reverted{annotated: c, hints: map[diag.Pos]string{}}, opts: opts}
}

// revert removes the confirmed additions of the compiler from the CRD, and restores declarations. A
// declaration in a schema overrides the recorded declaration. Missing or edited rules are errors.
// With errors only diags and hints of the result are valid.
func (c *annotated) revert(opts revertOptions) *reverted {
	r := c.reverter(opts)
	r.value, _ = runtime.DeepCopyJSONValue(r.source()).(map[string]any)
	r.copies()
	r.claim()
	r.dropAnnotation()
	if r.opts.forget {
		r.forget()
	}
	r.confirm()
	if r.diags.HasErrors() {
		return r.reverted
	}
	r.hints[r.keyPos()] = "the declaration is external, and the annotation " + Annotation + " keeps it: correct it at its source, and give it again (--go, --unions)"
	for _, c := range r.claims {
		r.keep(c.recorded)
		if c.restored = !c.fresh && !c.schemaRecord.External && c.unions != nil; c.restored {
			r.hints[r.pos(c.Node)] = "the declaration is in the annotation " + Annotation + ": run unioncel decompile to edit it"
			r.declared = append(r.declared, *c.unions)
		}
	}
	r.node = r.pruned()
	for _, c := range r.claims {
		if c.restored {
			var declaration any
			_ = json.Unmarshal(c.Unions, &declaration) // the record was checked
			c.value[union.Key] = declaration
		}
	}
	return r.reverted
}

// source returns the CRD as kubectl reads it. The result is read-only.
func (c *annotated) source() map[string]any {
	_, value, _ := c.manifest.read()
	return c.selected(value)
}

func (r *reverter) report(d diag.Diagnostic) { r.diags = append(r.diags, d) }

// dropAnnotation removes the annotation from the value.
func (r *reverter) dropAnnotation() {
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
func (r *reverter) pruned() *yaml.Node {
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

// keep adds the external declarations of a schema to the result, and reports recorded unions that
// are declared nowhere any more. For commands that write, the warnings are errors (see crdpatch).
func (r *reverter) keep(s recorded) {
	if !r.opts.forget {
		report := func(at diag.Pos, subject string) {
			r.report(diag.New(codes.Forgotten, at, "%s declared nowhere any more", subject).At(placeOf(s.Path)).As(diag.Warning).
				Hinted("declare it again, with all declarations of the CRD in one command (--go, --kubebuilder and --unions); or keep its rules as hand-written ones with compile --forget; or remove them with decompile"))
		}
		lost, extension := r.lost(s)
		if extension {
			report(*s.extension.At, "the extension of unions that the annotation records is")
		}
		for _, i := range lost {
			report(*s.unions.At, fmt.Sprintf("the union of %s, which the annotation records, is", strings.Join(namesOf(*s.unions)[i], ", ")))
		}
	}
	if s.External && indexOf(s.Node, union.Key) < 0 {
		r.external = append(r.external, *s.unions)
	}
	if s.extension != nil {
		r.external = append(r.external, *s.extension)
	}
}

// lost returns the indices of recorded unions that share no name with the unions now declared for the
// schema, and whether an extension is no longer given. Declarations in the schema override the
// recorded ones, and so do given declarations, if these are all of a version.
func (r *reverter) lost(s recorded) (unions []int, extension bool) {
	if s.unions == nil {
		return nil, false
	}
	var named []string
	extended := false
	add := func(e union.External) { named = append(named, slices.Concat(namesOf(e)...)...) }
	_, own, _, declared := yamltext.Lookup(s.Node, union.Key)
	if declared {
		add(union.External{Value: yamltext.Resolve(own)})
	}
	for _, e := range r.opts.declarations {
		switch {
		case !e.Covers(s.Version, s.Path):
		case e.Extend:
			extended = true
		default:
			add(e)
		}
	}
	all := r.opts.all(s.Version)
	if declared || s.External && all {
		for i, properties := range namesOf(*s.unions) {
			if !slices.ContainsFunc(properties, func(name string) bool { return slices.Contains(named, name) }) {
				unions = append(unions, i)
			}
		}
	}
	return unions, s.extension != nil && all && !extended
}

// forget drops the claims on the rules of lost unions, which become hand-written ones. With an
// extension, all unions of its schema are lost.
func (r *reverter) forget() {
	for _, c := range r.claims {
		lost, extension := r.lost(c.recorded)
		if len(lost) == 0 && !extension {
			continue
		}
		declaration, value := *c.unions, *c.unions.Value
		if !extension {
			value.Content = nil
			for _, i := range lost {
				value.Content = append(value.Content, c.unions.Value.Content[i])
			}
		}
		declaration.Value = &value
		declarations := []union.External{declaration}
		if c.extension != nil {
			declarations = append(declarations, *c.extension)
		}
		w := newRegenerated()
		w.writing = []*cachedCompilation{{Compilation: compile.New(r.manifestOf(r.value, declarations), r.annotated.options())}}
		w.possible()
		for _, around := range r.claims {
			around.ours = slices.DeleteFunc(around.ours, func(i int) bool { return w.has(around, around.present[i]) })
			around.missing = slices.DeleteFunc(around.missing, func(sum string) bool { return w.rule(around, sum) != nil })
		}
	}
}

// removed returns a warning for each schema with compiled rules that are not among the additions.
func (r *reverted) removed(additions []compile.Addition) (l diag.List) {
	w := newRegenerated()
	for _, a := range additions {
		w.add(a.Place, a.Rules...)
	}
	for _, c := range r.claims {
		var removed []string
		at := c.at
		for _, i := range slices.Backward(c.ours) {
			if !w.has(c, c.present[i]) {
				removed, at = append(removed, strconv.Quote(ruleOf(c.present[i]))), c.item(i)
			}
		}
		if len(removed) > 0 {
			slices.Reverse(removed)
			l = append(l, diag.New(codes.RuleRemoved, r.pos(at),
				"the output lacks rules compiled from a recorded union: %s", strings.Join(removed, ", ")).In(c.Place).
				Hinted("nothing needs to be done, unless a person wrote this rule"))
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
