package compiled

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options are the options for reverting a CRD.
type Options struct {
	Given
	// Forget keeps rules that cannot be confirmed, without an error.
	Forget bool
	// Decompile confirms only rules that enforce exactly the recorded unions, not rules that
	// other unions imply: the decompiled CRD has only declarations in schemas.
	Decompile bool
	// Proofs counts the work of proofs in a file against its limit.
	Proofs *int
}

// Reverted is a CRD, as data, without the rules and the annotation that compiling added. Its owner
// may change Value.
type Reverted struct {
	*Annotated
	// Node is the manifest with its positions in the file, without restored declarations.
	Node *yaml.Node
	// Value is the CRD as kubectl reads it, with its declarations.
	Value map[string]any
	// Declared are the declarations to restore in schemas. External are recorded external
	// declarations, including extensions.
	Declared, External []union.External
	// Again, unless nil, is the compilation of the recorded unions on the reverted CRD.
	Again *Compilation
	// Claims are the schemas of the record.
	Claims []*Claim
	// Reworded are the confirmed items that compiling writes differently now.
	Reworded []Reworded
	// Hints are hints for errors in recorded declarations, by position.
	Hints map[diag.Pos]string
	Diags diag.List
}

// Reworded is an item of an earlier compilation that compiling writes differently now. Replaced is the
// diagnostic for its replacement.
type Reworded struct {
	schemapath.Place
	Item     any
	Replaced diag.Diagnostic
}

// Earlier returns the rules that were removed from schemas whose unions equal the recorded unions.
func (r *Reverted) Earlier() []compile.Addition {
	var l []compile.Addition
	for _, c := range r.Claims {
		if !c.asRecorded {
			continue
		}
		a := compile.Addition{Place: c.Place}
		for _, item := range c.Items() {
			var rule rules.Rule
			if json.Unmarshal([]byte(JSON(item)), &rule) == nil {
				a.Rules = append(a.Rules, rule)
			}
		}
		if len(a.Rules) > 0 {
			l = append(l, a)
		}
	}
	return l
}

// Compilation is a compilation with external declarations.
type Compilation struct {
	*compile.Compilation
	External []union.External
	Options  compile.Options
}

// Is reports whether the compilation has these declarations and options.
func (c *Compilation) Is(external []union.External, opts compile.Options) bool {
	return c != nil && c.Options == opts && slices.EqualFunc(c.External, external, union.External.Same)
}

type reverter struct {
	*Reverted
	opts       Options
	own        []union.External // recorded for schemas without a declaration
	unrecorded []ruled
}

func (c *Annotated) reverter(opts Options) *reverter {
	return &reverter{Reverted: &Reverted{Annotated: c, Hints: map[diag.Pos]string{}}, opts: opts}
}

// Revert removes the confirmed additions of the compiler from the CRD, and restores declarations. A
// declaration in a schema overrides the recorded declaration. Missing or edited rules are errors.
// With errors only Diags and Hints of the result are valid.
func (c *Annotated) Revert(opts Options) *Reverted {
	r := c.reverter(opts)
	r.Value, _ = runtime.DeepCopyJSONValue(r.source()).(map[string]any)
	r.copies()
	r.claim()
	r.dropAnnotation()
	r.confirm()
	if r.Diags.HasErrors() {
		return r.Reverted
	}
	r.Hints[r.keyPos()] = "the declaration is external, and the annotation " + Annotation + " keeps it: correct it at its source, and give it again (--go, --unions)"
	for _, c := range r.Claims {
		c.asRecorded = r.asRecorded(c)
		r.keep(c.recorded)
		if c.Restored = !c.fresh && !c.Schema.External && c.unions != nil; c.Restored {
			r.Hints[r.Pos(c.Node)] = "the declaration is in the annotation " + Annotation + ": run unioncel decompile to edit it"
			r.Declared = append(r.Declared, *c.unions)
		}
	}
	r.Node = r.pruned()
	for _, c := range r.Claims {
		if c.Restored {
			var declaration any
			_ = json.Unmarshal(c.Unions, &declaration) // the record was checked
			c.value[union.Key] = declaration
		}
	}
	return r.Reverted
}

// source returns the CRD as kubectl reads it. The result is read-only.
func (c *Annotated) source() map[string]any {
	_, value, _ := c.Manifest.Value()
	return c.Select(value)
}

func (r *reverter) report(d diag.Diagnostic) { r.Diags = append(r.Diags, d) }

// dropAnnotation removes the annotation from the value.
func (r *reverter) dropAnnotation() {
	metadata, _ := r.Value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, Annotation)
	if was := r.Record.Annotations; len(annotations) > 0 || was == nil {
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
	for _, c := range r.Claims {
		for _, i := range c.Ours {
			drop[c.List.Content[i]] = true
		}
		if c.Whole() {
			drop[c.Head] = true
		}
	}
	return yamltext.Omit(r.Manifest.Node, drop)
}

// keep adds the external declarations of a schema to the result. It reports declarations that
// are no longer given.
func (r *reverter) keep(s recorded) {
	var kept []union.External
	if s.External && crdtext.IndexOf(s.Node, union.Key) < 0 {
		kept = append(kept, *s.unions)
	}
	if s.extension != nil {
		kept = append(kept, *s.extension)
	}
	for _, e := range kept {
		if r.opts.All(s.Version) {
			r.forgotten(s.Schema, e)
		}
	}
	r.External = append(r.External, kept...)
}

// forgotten reports unions of a recorded declaration that share no name with the unions given for
// the schema, and an extension if none is given.
func (r *reverter) forgotten(s Schema, kept union.External) {
	lost := func(message string) {
		r.report(diag.Diagnostic{Code: codes.Forgotten, Severity: diag.Warning, Pos: *kept.At, Path: placeOf(s.Path), Message: message,
			Hint: "if that was not intended, give all declarations of a CRD in one command (--go, --kubebuilder and --unions)"})
	}
	var named []string
	extended := false
	for _, e := range r.opts.Declarations {
		switch {
		case !e.Covers(s.Version, s.Path):
		case e.Extend:
			extended = true
		default:
			named = append(named, slices.Concat(namesOf(e)...)...)
		}
	}
	if kept.Extend {
		if !extended {
			lost("the extension of unions, which an earlier compilation took from a UnionSet, is no longer declared: they are compiled without it")
		}
		return
	}
	for _, properties := range namesOf(kept) {
		if !slices.ContainsFunc(properties, func(name string) bool { return slices.Contains(named, name) }) {
			lost(fmt.Sprintf("the union of %s, which was declared outside the CRD when it was last compiled, is no longer declared: its rules are removed", strings.Join(properties, ", ")))
		}
	}
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
