package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) validateCommand() *cobra.Command {
	var (
		flags  = compilerFlags{judges: true, loud: true}
		output printing
		crds   []string
		old    []string
		suites []string
	)
	cmd := &cobra.Command{
		Use:   "validate [--crd CRD] [--old OLD] [FILE|DIR|-]...",
		Short: "Predict the API server's answers to objects",
		Long: `Validate validates custom objects as the API server does, without one: strict decoding,
pruning, defaults, metadata, schema, list types, embedded resources, CEL rules. The
code is the API server's own, and so are the errors; each has its position in the file.

The CRDs are those of --crd and those among the inputs. An object is created, unless --old
has one of its kind, namespace and name. Then it replaces that object, as kubectl replace
does: rules that compare with the old object are evaluated, and unchanged values are
ratcheted as in the API server.

Objects of kinds without a CRD are counted, not validated. The exit code is 1 if an
object is rejected, if it is of a group that has CRDs and none of them is for it, or if no
object was validated; with --suite, if a test fails. Subresources, admission and conversion
webhooks are out of scope.`,
		Example: `  unioncel validate --crd config/crd config/samples

  # Would the live objects accept the change?
  kubectl get routes.example.com -A -o yaml > live.yaml
  unioncel validate --crd config/crd --old live.yaml manifests

  # What a chart makes, CRDs included
  helm template chart | unioncel validate

  # Run the tests that testdata wrote
  unioncel validate --crd config/crd --suite test/unions`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(suites) > 0 {
				if len(args)+len(old) > 0 {
					return usagef("--suite has its own objects: leave out --old and the arguments")
				}
				return a.runSuites(cmd.Context(), &flags, &output, crds, suites)
			}
			return a.validateAll(cmd.Context(), &flags, &output, crds, old, args)
		},
	}
	cmd.Flags().StringArrayVar(&crds, "crd", nil, "the CustomResourceDefinitions of the objects: a `FILE|DIR`; repeatable")
	cmd.Flags().StringArrayVar(&old, "old", nil, "the objects that are replaced: a `FILE|DIR`; repeatable")
	cmd.Flags().StringArrayVar(&suites, "suite", nil, "run the tests in a `DIR|FILE` that testdata wrote, or in suites of OpenShift; repeatable")
	flags.register(cmd)
	output.register(cmd, "the answers", report.DiagnosticFormats...)
	return cmd
}

// manifest is the content of an input of validate.
type manifest struct {
	crds      []definition
	installed []crdpatch.Installed
	objects   []*yamltext.Object // without CRDs
}

// definition is a CRD; crd is nil if it cannot be used.
type definition struct {
	kind schema.GroupKind
	pos  diag.Pos
	crd  *apiextensionsv1.CustomResourceDefinition
}

// validateAll validates the objects of all inputs, and prints the findings together.
func (a *app) validateAll(ctx context.Context, flags *compilerFlags, output *printing, crds, old, args []string) error {
	files, l, err := a.readManifests(ctx, flags, crds, old, args)
	if err != nil {
		return err
	}
	found, tally := diagnosticsOf(append(l.files(), resultsOf(files)...)), ""
	if !l.failed() {
		var said diag.List
		said, tally = judge(ctx, files)
		if ctx.Err() != nil {
			return errInterrupted
		}
		found = append(found, said...)
	}
	return a.showAnswers(output, found, tally)
}

// showAnswers prints the findings and, in text format, a tally unless it is empty.
func (a *app) showAnswers(output *printing, found diag.List, tally string) error {
	failed := found.HasErrors()
	err := a.showReport(output, report.Report{Diagnostics: a.loud(found, diag.Warning)})
	if output.format == "text" && tally != "" {
		a.note(tally)
	}
	if err == nil && failed {
		return errFindings
	}
	return err
}

// readManifests reads all inputs, each with its diagnostics.
func (a *app) readManifests(ctx context.Context, flags *compilerFlags, crds, old, args []string) ([]answer[manifest], scopes, error) {
	var inputs []input
	for _, group := range []struct {
		role
		args []string
	}{{forCRDs, crds}, {forOld, old}, {forObjects, args}} {
		if len(group.args) == 0 && group.role != forObjects {
			continue
		}
		more, err := a.findInputs(group.args)
		if err != nil {
			return nil, nil, err
		}
		for _, in := range more {
			in.role = group.role
			inputs = append(inputs, in)
		}
	}
	l, files, err := load(ctx, a, inputs, flags, a.objectsIn)
	if err != nil || l.failed() {
		return nil, l, err
	}
	l.missing(resultsOf(files))
	return files, l, nil
}

// objectsIn reads an input, and compiles the CRDs in it.
func (a *app) objectsIn(open *crdpatch.File, r *result) (m manifest, err error) {
	f, wrong := open.Objects()
	if a.inspect(r, open, wrong); f == nil {
		return m, nil
	}
	var carriers []definition
	for _, o := range f.Objects {
		if k, _ := yamltext.LookupCarrier(o.GroupVersion().String(), o.Kind); k == nil {
			m.objects = append(m.objects, o)
			continue
		}
		d := definition{pos: o.Pos(nil)}
		d.kind.Group, _, _ = unstructured.NestedString(o.Value, "spec", "group")
		d.kind.Kind, _, _ = unstructured.NestedString(o.Value, "spec", "names", "kind")
		carriers = append(carriers, d)
	}
	if len(carriers) == 0 || r.role == forOld {
		return m, nil
	}
	installed, wrong := crdpatch.Install(open, r.options())
	for _, d := range wrong {
		// Other diagnostics concern the author of the CRD.
		if d.Severity == diag.Error || d.Code == codes.InvalidBefore {
			r.diagnostics = append(r.diagnostics, d)
		}
	}
	if installed == nil {
		m.crds = carriers
	}
	m.installed = installed
	for _, in := range installed {
		d := definition{pos: in.At, crd: in.CustomResourceDefinition}
		d.kind = schema.GroupKind{Group: d.crd.Spec.Group, Kind: d.crd.Spec.Names.Kind}
		if in.CRD != nil {
			if wrong := in.CRD.Faults(d.crd); len(wrong) > 0 {
				r.diagnostics, d.crd = unrepeated(append(r.diagnostics, wrong...)), nil
			}
		}
		m.crds = append(m.crds, d)
	}
	return m, nil
}

// judge validates the objects of files, and returns a tally of them.
func judge(ctx context.Context, files []answer[manifest]) (l diag.List, tally string) {
	set := &server.Set{}
	old := &yamltext.OldObjects{}
	for _, f := range files {
		for _, d := range f.found.crds {
			if wrong := set.Add(d.kind, d.crd, d.pos); wrong != nil {
				l = append(l, *wrong)
			}
		}
		if f.role == forOld {
			l = append(l, old.Add(f.found.objects)...)
		}
	}
	counts, others := map[server.Verdict]int{}, map[string]int{}
	for _, f := range files {
		if f.role != forObjects {
			continue
		}
		known := len(f.found.crds) > 0 || f.diagnostics.HasErrors()
		for _, o := range f.found.objects {
			if ctx.Err() != nil {
				return nil, ""
			}
			before, wrong := old.Find(o)
			l = append(l, wrong...)
			if wrong.HasErrors() {
				known = true
				continue
			}
			verdict, said := set.Object(ctx, o, before)
			l = append(l, said...)
			counts[verdict]++
			if verdict == server.Unknown {
				others[o.Kind+" of "+o.GroupVersion().String()]++
			} else {
				known = true
			}
		}
		if !known && !f.walk {
			l = append(l, diag.New(codes.NoCRD, diag.Pos{File: f.name}, "no object is of a kind that has a CRD").Hinted(withoutCRD(set)))
		}
	}
	l = append(l, old.Unused()...)
	total := 0
	for _, n := range counts {
		total += n
	}
	failed := l.HasErrors() || slices.ContainsFunc(files, func(f answer[manifest]) bool { return f.diagnostics.HasErrors() })
	if !failed && counts[server.Unknown] == total {
		l = append(l, diag.New(codes.NoCRD, diag.Pos{}, "no object is of a kind that has a CRD").Hinted(withoutCRD(set)))
	}
	tally = fmt.Sprintf("%s: %d accepted, %d rejected", plural(total, "object"), counts[server.Accepted], counts[server.Refused])
	if n := counts[server.Unjudged]; n > 0 {
		tally += fmt.Sprintf(", %d not validated", n)
	}
	if n := counts[server.Unknown]; n > 0 {
		tally += fmt.Sprintf(", %d without a CRD (%s)", n, few(slices.Sorted(maps.Keys(others))))
	}
	return l, tally
}

// withoutCRD returns the hint for objects without a CRD.
func withoutCRD(set *server.Set) string {
	names := set.Names()
	if len(names) == 0 {
		return "give the CRDs with --crd, or among the inputs"
	}
	return "the CRDs are for " + strings.Join(names, ", ")
}

// few lists the first few words.
func few(l []string) string {
	const most = 3
	if len(l) > most {
		return strings.Join(l[:most], ", ") + ", ..."
	}
	return strings.Join(l, ", ")
}
