package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) diffCommand() *cobra.Command {
	var (
		flags    = compilerFlags{judges: true}
		output   printing
		failOn   []string
		versions bool
		objects  []string
	)
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare the objects that two CRDs accept",
		Long: `Diff compares the objects that the API server accepts. It lists each union, rule and
keyword of the schemas that was added, removed, moved or changed, with its effect:

  same     no effect on the accepted objects
  looser   more objects are accepted
  tighter  some objects are rejected that were accepted
  both     looser and tighter
  unknown  undecided within --limit steps=N

Same is proved, and so is that looser rejects nothing. For the rest there is an object, or
an update of one, that the API server's own code has validated under both CRDs.

OLD and NEW are files, directories, - for standard input, or REV:PATH for a file or
directory at a revision of git. CRDs are matched by name. Declarations outside CRDs (--go,
--unions, ` + configFile + `) apply to sources: OLD, compiled and live CRDs, revisions and
standard input are taken as they are.

--objects adds the fate of stored objects under NEW, as kubectl get -A -o yaml prints them:
which writes the API server still accepts, the errors of the others, and patches that
repair them.

The exit code is 1 if something is tighter, or could not be decided, or if a stored object
is restricted or blocked. --fail-on selects other classes.`,
		Example: `  # What does this branch change?
  unioncel diff main:config/crd config/crd

  # In a pull request
  unioncel diff --format markdown origin/main:crds/routes.yaml crds/routes.yaml
  unioncel diff --format github origin/main:crds crds

  # And compared with the cluster?
  kubectl get crd routes.example.com -o yaml | unioncel diff - crds/routes.yaml

  # Which stored objects does the new CRD reject?
  kubectl get routes.example.com -A -o yaml | unioncel diff --objects - old.yaml new.yaml

  # Which objects does one version accept and another one reject?
  unioncel diff --versions crds/routes.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !versions && len(args) != 2 {
				return usagef("two arguments are needed, OLD and NEW, not %d; --versions compares the versions of one CRD", len(args))
			}
			if versions && len(objects) > 0 {
				return usagef("--objects are validated by NEW, and --versions has none")
			}
			return a.diff(cmd.Context(), &flags, &output, failOn, versions, objects, args)
		},
	}
	cmd.Flags().BoolVar(&versions, "versions", false, "compare the served versions of each CRD with each other")
	cmd.Flags().StringArrayVar(&objects, "objects", nil, "the stored objects: a `FILE|DIR|-`; repeatable")
	cmd.Flags().StringSliceVar(&failOn, "fail-on", []string{string(change.Tighter), string(change.Undecided)},
		"exit with 1 if something is of these `CLASSES`: tighter, looser, unknown; any; or never")
	choose(cmd, "fail-on", string(change.Tighter), string(change.Looser), string(change.Undecided), "any", "never")
	flags.register(cmd)
	output.register(cmd, "the differences", report.Formats(true)...)
	return cmd
}

// diff compares all CRDs, and prints the differences and the fate of stored objects.
func (a *app) diff(ctx context.Context, flags *compilerFlags, output *printing, failOn []string, versions bool, objects, args []string) error {
	var stored []input
	if len(objects) > 0 {
		var err error
		if stored, err = a.findInputs(objects); err != nil {
			return err
		}
	}
	pairs, found, err := a.readCRDs(ctx, flags, versions, args)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return a.report(found)
	}
	reports, err := a.compareCRDs(ctx, pairs)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	var summaries []*change.Summary
	if len(objects) > 0 {
		if summaries, err = a.summarize(ctx, pairs, stored, a.all || output.format == "json" || output.format == "sarif"); err != nil {
			return err
		}
	}
	if err := a.showReport(output, change.DiffReport(reports, summaries)); err != nil {
		return err
	}
	if err := a.report(found); err != nil {
		return err
	}
	restricted := func(s *change.Summary) bool { return s.Worst() >= change.Restricted }
	if slices.ContainsFunc(reports, func(r change.Comparison) bool { return fatal(r, failOn) }) ||
		slices.ContainsFunc(summaries, restricted) && !slices.Contains(failOn, "never") {
		return errFindings
	}
	return nil
}

// fatal reports whether a change is of one of the classes.
func fatal(r change.Comparison, failOn []string) bool {
	is := func(class change.Class) bool {
		return slices.Contains(failOn, string(class)) || slices.Contains(failOn, "any")
	}
	return !slices.Contains(failOn, "never") && slices.ContainsFunc(r.Changes, func(c change.Change) bool {
		return is(c.Class) || c.Class == change.Both && (is(change.Tighter) || is(change.Looser))
	})
}

// readCRDs reads the CRDs of the old and the new side, and matches them by name; with versions there
// is only the new side. CRDs that only one side has are left out if the other side has files with
// errors, which may contain them.
func (a *app) readCRDs(ctx context.Context, flags *compilerFlags, versions bool, args []string) (pairs []*comparison, diags diag.List, err error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	sides := map[role][]string{newSide: args}
	if !versions {
		sides = map[role][]string{oldSide: args[:1], newSide: args[1:]}
	}
	answers, l, err := a.readSides(ctx, flags, sides)
	if err != nil {
		return nil, nil, err
	}
	some, failed := map[role]bool{}, map[role]bool{}
	var repeated diag.List
	for _, r := range answers {
		for i, d := range r.diagnostics {
			if d.Code == codes.NotCompiling && r.role == newSide { // the fix of an old rule can be compared
				r.diagnostics[i].Severity, r.found.crds = diag.Error, nil
			}
		}
		failed[r.role] = failed[r.role] || r.failed()
		for _, c := range r.found.crds {
			some[r.role] = true
			i := slices.IndexFunc(pairs, func(p *comparison) bool { return p.name == c.Name })
			if i < 0 {
				i = len(pairs)
				pairs = append(pairs, &comparison{name: c.Name, versions: versions})
			}
			side := &pairs[i].new
			if r.role == oldSide {
				side = &pairs[i].old
			}
			if *side == nil {
				*side = c
				continue
			}
			repeated = append(repeated, diag.New(codes.TwoCRDs, c.Pos, "there are two CRDs named %s", c.Name).Hinted("remove one of them").
				With(diag.Related{Pos: (*side).Pos, Message: "the other one"}))
		}
	}
	for _, role := range []role{oldSide, newSide} {
		if names := sides[role]; len(names) > 0 && !some[role] && !failed[role] {
			return nil, nil, fmt.Errorf("no CRD in %s", strings.Join(names, ", "))
		}
	}
	diags = diagnosticsOf(append(l.files(), resultsOf(answers)...))
	if len(repeated) > 0 {
		return nil, append(diags, repeated...), nil
	}
	return slices.DeleteFunc(pairs, func(p *comparison) bool {
		return p.old == nil && failed[oldSide] || p.new == nil && failed[newSide]
	}), diags, nil
}

// side is a file of one side of a change.
type side struct {
	file *crdpatch.File
	crds []*change.Input
}

// readSides reads the CRDs of the sides of a change, whose arguments may name revisions.
func (a *app) readSides(ctx context.Context, flags *compilerFlags, sides map[role][]string) ([]answer[side], scopes, error) {
	var inputs []input
	for _, role := range []role{oldSide, newSide} {
		found, err := a.findRevisions(ctx, sides[role])
		if err != nil {
			return nil, nil, err
		}
		for _, in := range found {
			in.role = role
			inputs = append(inputs, in)
		}
	}
	return ask(ctx, a, inputs, flags, func(f *crdpatch.File, in input) (side, diag.List, error) {
		crds, wrong := change.ReadInputs(f, in.options())
		return side{f, crds}, wrong, nil
	})
}

// comparison is a pair of CRDs to compare, one of them nil if it was added or removed, or with
// versions a single CRD whose served versions are compared.
type comparison struct {
	name     string
	old, new *change.Input
	versions bool
}

// compareCRDs returns the reports on pairs, sorted by name.
func (a *app) compareCRDs(ctx context.Context, pairs []*comparison) ([]change.Comparison, error) {
	var reports []change.Comparison
	for _, c := range pairs {
		begin := time.Now()
		r, err := c.report(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		reports = append(reports, r)
		a.say("%s: %v", c.name, time.Since(begin).Round(time.Millisecond))
	}
	slices.SortStableFunc(reports, func(a, b change.Comparison) int { return strings.Compare(a.Name, b.Name) })
	return reports, nil
}

func (c comparison) report(ctx context.Context) (change.Comparison, error) {
	if c.versions {
		return change.CompareVersions(ctx, c.new)
	}
	return change.Compare(ctx, c.old, c.new)
}
