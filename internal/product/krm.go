package product

import (
	"errors"
	"io/fs"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Host is the environment of a run.
type Host struct {
	// Files has the files that the configuration may name. It must not lead outside of their base
	// directory. If it is nil, there are no files.
	Files fs.FS
	// Limits bound the resources for the input and the files.
	Limits yamltext.Limits
}

// FunctionReport is the result of a run. The caller owns it.
type FunctionReport struct {
	// Output is the ResourceList to print. Its results are the diagnostics.
	Output []byte
	// Diagnostics are sorted. If they have an error, Output has the items of the input.
	Diagnostics diag.List
	// Sources are the files that were read, by their name in diagnostics.
	Sources map[string][]byte
}

// RunFunction reads a ResourceList and runs the function that its functionConfig selects. Diagnostics for
// items have the file name "Kind/name" and no line, because an orchestrator has formatted the
// items. Run returns an error if there is no output, because the input is not a ResourceList or
// cannot be encoded again.
func RunFunction(in []byte, host Host) (*FunctionReport, error) {
	list, err := readList(in, host.Limits)
	if err != nil {
		return nil, err
	}
	r := &run{host: host, list: list, files: fileReader{fsys: host.Files, sources: map[string][]byte{}}}
	f := r.config()
	var items []*yaml.RNode
	if !r.diags.HasErrors() {
		items = f.items(r)
	}
	diags := r.diags.Sort()
	if diags.HasErrors() {
		items = list.items
	}
	out, err := list.write(items, r.results(diags))
	if err != nil {
		return nil, err
	}
	return &FunctionReport{Output: out, Diagnostics: diags, Sources: r.files.sources}, nil
}

// run is a single run of the function.
type run struct {
	host  Host
	list  *resourceList
	kind  configKind // of the functionConfig
	files fileReader
	diags diag.List
	// subjects are the subjects of diagnostics, by their file name.
	subjects map[string]resultSubject
}

func (r *run) report(d ...diag.Diagnostic) { r.diags = append(r.diags, d...) }

// concern records the subject of the diagnostics that have a file name.
func (r *run) concern(name string, s resultSubject) {
	if r.subjects == nil {
		r.subjects = map[string]resultSubject{}
	}
	r.subjects[name] = s
}

// convert replaces the text of each piece with its converted text. It returns false if there are
// errors.
func (r *run) convert(work []*piece, to func(name string, src []byte) ([]byte, diag.List)) bool {
	eachPiece(work, func(w *piece) { w.convert(to) })
	return r.gather(work)
}

// eachPiece calls do for each piece, several at a time.
func eachPiece(work []*piece, do func(*piece)) {
	yamltext.EachInOrder(slices.Values(work), len(work), func(w *piece) (none struct{}, _ error) {
		do(w)
		return none, nil
	}, func(w *piece, _ struct{}, err error) {
		if p := (*yamltext.Panic)(nil); errors.As(err, &p) {
			w.diags = append(w.diags, p.Diagnostic(w.name))
		}
	})
}

// gather reports the diagnostics of all pieces. It returns false if any error was reported so far.
func (r *run) gather(work []*piece) bool {
	for _, w := range work {
		r.report(w.diags...)
		w.diags = nil
	}
	return !r.diags.HasErrors()
}

// missing reports declarations for CRDs that no piece contains.
func (r *run) missing(work []*piece, opts crdpatch.Options) {
	if len(opts.External.Declarations) == 0 {
		return
	}
	var crds []union.Target
	for _, w := range work {
		if w.asIs {
			continue
		}
		found, ok := crdpatch.Open(w.name, w.text).WithLimits(r.host.Limits).Targets()
		if !ok && w.unreadable() {
			continue
		}
		if !ok {
			return // compiling reports the error, and the file may contain any CRD
		}
		crds = append(crds, found...)
	}
	r.report(opts.External.Missing(crds)...)
}
