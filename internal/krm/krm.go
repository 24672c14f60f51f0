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

// Compiler turns the text of a file into what it compiles to, like
// [crdpatch.Compile]; name is what diagnostics call the file.
type Compiler func(name string, src []byte) ([]byte, diag.List)

// Host is what a run takes from the world around it.
type Host struct {
	// Files are those that the configuration can name. It must not lead out of the
	// directory that they are relative to. Nil: there are none.
	Files fs.FS
	// Compiler returns the compiler with these options; verify asks it to prove its
	// rules. Nil stands for [crdpatch.Compile], which proves nothing.
	Compiler func(opts crdfile.Options, verify bool) Compiler
	// Limits bound what the input and files may ask for.
	Limits limit.Limits
}

// Report is what came of a run. The caller owns it.
type Report struct {
	// Output is the ResourceList to print. Its results are the diagnostics.
	Output []byte
	// Diagnostics are sorted. When there is an error among them, the items in the
	// output are those of the input.
	Diagnostics diag.List
	// Sources are the files that were read, by the name that diagnostics use.
	Sources map[string][]byte
}

// Run reads a ResourceList and does with it what its functionConfig says. Diagnostics
// about items, which an orchestrator has formatted anew, have no line: they are about
// a file by the name of "Kind/name". The error says why there is nothing to print:
// the input is no ResourceList, or cannot be written again.
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
	out, err := list.with(items, results)
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
	// subjects are what diagnostics are about, by the name of the file.
	subjects map[string]subject
}

func (r *run) report(d ...diag.Diagnostic) { r.diags = append(r.diags, d...) }

// about notes what the diagnostics with a name are about.
func (r *run) about(name string, s subject) {
	if r.subjects == nil {
		r.subjects = map[string]subject{}
	}
	r.subjects[name] = s
}

// convert replaces the pieces by what a conversion makes of their texts. It is false when
// something is wrong.
func (r *run) convert(work []*piece, to func(name string, src []byte) ([]byte, diag.List)) bool {
	each(work, func(w *piece) { w.convert(to) })
	return r.gather(work)
}

// each does something with each of the pieces, several at a time.
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

// gather takes the diagnostics of all pieces. It is false when anything was wrong until
// now.
func (r *run) gather(work []*piece) bool {
	for _, w := range work {
		r.report(w.diags...)
		w.diags = nil
	}
	return !r.diags.HasErrors()
}

// missing reports declarations for CRDs that are nowhere in the work.
func (r *run) missing(work []*piece, opts crdfile.Options) {
	if len(opts.External.Declarations) == 0 {
		return
	}
	var crds []union.Target
	for _, w := range work {
		if w.asIs {
			continue
		}
		found, ok := crdfile.Open(w.name, w.text).Within(r.host.Limits).Targets()
		if !ok && w.unreadable() {
			continue
		}
		if !ok {
			return // compiling it says why; who knows what it has
		}
		crds = append(crds, found...)
	}
	r.report(opts.External.Missing(crds)...)
}
