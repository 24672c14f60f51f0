package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/unionset"
)

// elsewhereFlags say where declarations stand that do not stand in CRDs.
type elsewhereFlags struct {
	packages    []string
	kubebuilder bool
	sets        []string
}

func (f *elsewhereFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.packages, "go", nil,
		"read unions from the markers in the Go packages of this `PATTERN`, such as ./api/...; repeatable")
	cmd.Flags().BoolVar(&f.kubebuilder, "kubebuilder", false,
		"with --go, compile +kubebuilder:validation:ExactlyOneOf, AtMostOneOf and AtLeastOneOf too, and\nreplace the rules that controller-gen has written for them")
	cmd.Flags().StringArrayVar(&f.sets, "unions", nil, "read unions from this `FILE`, a UnionSet; repeatable")
}

// outside is what the flags lead to.
type outside struct {
	union.Elsewhere
	files []result // that were read, with what is wrong with them
}

// read reads what the flags name. Only what cannot be read is an error; what is
// wrong with it is among the diagnostics of the files.
func (f *elsewhereFlags) read() (outside, error) {
	var e outside
	if f.kubebuilder && len(f.packages) == 0 {
		return e, usagef("--kubebuilder needs --go: it says which Go packages have the markers")
	}
	for _, name := range f.sets {
		src, err := os.ReadFile(name)
		if err != nil {
			return e, fileError(name, err)
		}
		set, diags := unionset.Parse(name, src)
		e.files = append(e.files, result{input: input{name: name}, src: src, diagnostics: diags})
		if set != nil {
			e.add(set)
		}
	}
	if len(f.packages) > 0 {
		set, diags := markers.Load(markers.Options{Kubebuilder: f.kubebuilder}, f.packages...)
		if set != nil {
			e.add(set)
		}
		e.files = append(e.files, sources(set, diags)...)
	}
	return e, nil
}

func (e *outside) add(more *union.Elsewhere) {
	e.Externals = append(e.Externals, more.Externals...)
	e.Scopes = append(e.Scopes, more.Scopes...)
}

// sources are the Go files that diagnostics are about, or may come to be.
func sources(set *union.Elsewhere, diags diag.List) []result {
	var names []string
	for _, d := range diags {
		names = append(names, d.Pos.File)
	}
	if set != nil {
		for _, e := range set.Externals {
			names = append(names, e.Pos().File)
		}
	}
	slices.Sort(names)
	l := []result{{diagnostics: diags}}
	for _, name := range slices.Compact(names) {
		// Without its source a diagnostic has no excerpt, that is all.
		if src, err := os.ReadFile(name); err == nil {
			l = append(l, result{input: input{name: name}, src: src})
		}
	}
	return l
}

// failed reports whether there are errors in what was read.
func (e outside) failed() bool {
	return slices.ContainsFunc(e.files, func(r result) bool { return r.diagnostics.HasErrors() })
}

// missing reports declarations for CRDs that no input has.
func (e *outside) missing(results []result) {
	if len(e.Externals) == 0 {
		return
	}
	var crds []union.Target
	for _, r := range results {
		crds = append(crds, crdpatch.CRDs(r.name, r.src)...)
	}
	var l diag.List
	for _, x := range e.Externals {
		if slices.ContainsFunc(crds, func(t union.Target) bool { return x.Is(t.Name, t.Group, t.Kind) }) {
			continue
		}
		l = append(l, diag.Diagnostic{Code: diag.NoSuchCRD, Pos: x.NamedAt(),
			Message: fmt.Sprintf("no input has the CustomResourceDefinition %s, which this union is for", x.Name),
			Hint:    "correct its name, or give the file that has it, too"})
	}
	e.files = append(e.files, result{diagnostics: l})
}

// stale says what is likely wrong when a CRD has not what its Go types have.
func stale(l diag.List) {
	missing := []diag.Code{diag.UnknownMember, diag.UnknownDiscriminator, diag.NoSuchSchema}
	for i, d := range l {
		if filepath.Ext(d.Pos.File) == ".go" && slices.Contains(missing, d.Code) {
			l[i].Hint = "the CRD is not that of these types: run controller-gen first"
		}
	}
}
