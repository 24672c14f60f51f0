package krm

import (
	"errors"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/ordered"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Compiler compiles the text of a file, like [crdpatch.Compile]; name is the file's name in
// diagnostics.
type Compiler func(name string, src []byte) ([]byte, diag.List)

// Host is the environment of a run.
type Host struct {
	// Files has the files that the configuration can name. It must not lead outside their base
	// directory. Nil means no files.
	Files fs.FS
	// Compiler returns the compiler for these options; with verify, it proves its rules. Nil stands
	// for [crdpatch.Compile], which proves nothing.
	Compiler func(opts crdfile.Options, verify bool) Compiler
	// Limits bound the resources that the input and files may use.
	Limits limit.Limits
}

// Report is the result of a run. The caller owns it.
type Report struct {
	// Output is the ResourceList to print. Its results are the diagnostics.
	Output []byte
	// Diagnostics are sorted. If they have an error, the items in the output are the items of the
	// input.
	Diagnostics diag.List
	// Sources are the files that were read, by their names in diagnostics.
	Sources map[string][]byte
}

// Run reads a ResourceList and runs the function that its functionConfig selects. Diagnostics about
// items have no line, since an orchestrator has reformatted the items; their file is named
// "Kind/name". Run returns an error if there is no output: the input is not a ResourceList, or
// cannot be encoded again.
func Run(in []byte, host Host) (*Report, error) {
	list, err := readList(in, host.Limits)
	if err != nil {
		return nil, err
	}
	r := &run{host: host, list: list, files: fileReader{fsys: host.Files, sources: map[string][]byte{}}}
	f := r.config()
	var items []*yaml.Node
	if !r.diags.HasErrors() {
		items = f.items(r)
	}
	diags := r.diags.Sort()
	if diags.HasErrors() {
		items = list.nodes()
	}
	results, err := r.results(diags)
	if err != nil {
		return nil, err
	}
	out, err := list.encode(items, results)
	if err != nil {
		return nil, err
	}
	return &Report{Output: out, Diagnostics: diags, Sources: r.files.sources}, nil
}

// run is one run of the function.
type run struct {
	host  Host
	list  *resourceList
	kind  configKind // of the functionConfig
	files fileReader
	diags diag.List
	// subjects are the subjects of diagnostics, by file name.
	subjects map[string]resultSubject
}

func (r *run) report(d ...diag.Diagnostic) { r.diags = append(r.diags, d...) }

// concern records the subject of the diagnostics with a file name.
func (r *run) concern(name string, s resultSubject) {
	if r.subjects == nil {
		r.subjects = map[string]resultSubject{}
	}
	r.subjects[name] = s
}

// convert replaces the pieces by the results of converting their texts. It returns false if there
// are errors.
func (r *run) convert(work []*piece, to func(name string, src []byte) ([]byte, diag.List)) bool {
	each(work, func(w *piece) { w.convert(to) })
	return r.gather(work)
}

// each calls do for the pieces, several at a time.
func each(work []*piece, do func(*piece)) {
	ordered.Each(slices.Values(work), len(work), func(w *piece) (none struct{}, _ error) {
		do(w)
		return none, nil
	}, func(w *piece, _ struct{}, err error) {
		if p := (*ordered.Panic)(nil); errors.As(err, &p) {
			w.diags = append(w.diags, p.Diagnostic(w.name))
		}
	})
}

// gather collects the diagnostics of all pieces. It returns false if there have been errors so far.
func (r *run) gather(work []*piece) bool {
	for _, w := range work {
		r.report(w.diags...)
		w.diags = nil
	}
	return !r.diags.HasErrors()
}

// missing reports declarations for CRDs that are in none of the pieces.
func (r *run) missing(work []*piece, opts crdfile.Options) {
	if len(opts.External.Declarations) == 0 {
		return
	}
	var crds []union.Target
	for _, w := range work {
		if w.asIs {
			continue
		}
		found, ok := crdfile.Open(w.name, w.text).WithLimits(r.host.Limits).Targets()
		if !ok && w.unreadable() {
			continue
		}
		if !ok {
			return // compiling reports the error; the file may have any CRD
		}
		crds = append(crds, found...)
	}
	r.report(opts.External.Missing(crds)...)
}
