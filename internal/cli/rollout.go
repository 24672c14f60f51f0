package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// rolloutFlags name the files of a rollout, one each; empty if not given.
type rolloutFlags struct {
	sides                              map[role][]string
	live, objects, migrations, servers string
	flags, oldFlags                    string // for compiling, as words of a shell command
}

func (a *app) rolloutCommand() *cobra.Command {
	var (
		flags  = compilerFlags{judges: true, loud: true}
		files  rolloutFlags
		output printing
	)
	cmd := &cobra.Command{
		Use:   "rollout OLD NEW",
		Short: "Plan the change of a CRD that is in use",
		Long: `Rollout plans the change of a CRD: the steps before and after it is applied, in order,
with the commands, and whether now is the time. The verdict is also the exit code:

  go    0  take the next step: apply the CRD or, when that is done, the step after it
  stop  1  something is wrong with the change or the cluster: the API server would
           reject the CRD, no server understands its rules, or a migration failed
  wait  3  something else has to happen, or to be known, first; then ask again

The facts are files, as kubectl prints them. A fact that matters and is not given makes
the verdict wait; the plan says how to get it. OLD and NEW are as in unioncel diff, with one
CRD each. --servers takes a list, [v1.37.1, {name: a, version: v1.36.4}], or the output of
kubectl get --raw /version of each API server.`,
		Example: `  # Is it safe to apply?
  kubectl get crd routes.example.com -o yaml > old.yaml
  kubectl get routes.example.com -A -o yaml --show-managed-fields > objects.yaml
  kubectl get --raw /version > version.json
  unioncel rollout old.yaml new.yaml --objects objects.yaml --servers version.json

  # Before merging a branch
  unioncel rollout main:crds/routes.yaml crds/routes.yaml

  # What comes next, now that it is applied?
  kubectl get crd routes.example.com -o yaml > status.yaml
  unioncel rollout old.yaml new.yaml --crd-status status.yaml --objects objects.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("two arguments are needed, OLD and NEW, not %d", len(args))
			}
			files.sides = map[role][]string{oldSide: args[:1], newSide: args[1:]}
			// OLD is compiled without declarations outside it.
			own := []string{"kube-version", "encoding", "config", "no-config"}
			files.oldFlags = given(cmd, own)
			files.flags = given(cmd, append(own, "go", "kubebuilder", "unions"))
			return a.rollout(cmd.Context(), &flags, &output, files)
		},
	}
	f := cmd.Flags()
	f.StringVar(&files.live, "crd-status", "", "the CRD as it is in the cluster, with its status: a `FILE` (default OLD, if it has a status)")
	f.StringVar(&files.objects, "objects", "", "the stored objects: a `FILE|DIR`")
	f.StringVar(&files.migrations, "migrations", "", "the StorageVersionMigrations: a `FILE`")
	f.StringVar(&files.servers, "servers", "", "the versions of all API servers: a `FILE`")
	flags.register(cmd)
	output.register(cmd, "the plan", report.Formats(false)...)
	return cmd
}

// rollout makes a plan and prints it.
func (a *app) rollout(ctx context.Context, flags *compilerFlags, output *printing, files rolloutFlags) error {
	f := &change.Facts{}
	if err := a.rolloutCRDs(ctx, flags, files, f); err != nil {
		return err
	}
	if err := a.rolloutCluster(ctx, files, f); err != nil {
		return err
	}
	if files.objects != "" {
		if err := a.rolloutObjects(ctx, files.objects, f); err != nil {
			return err
		}
	}
	p := change.NewPlan(*f)
	if err := a.showReport(output, report.Report{Data: p, Document: change.PlanDocument(p)}); err != nil {
		return err
	}
	switch p.Verdict {
	case change.Stop:
		return errFindings
	case change.Wait:
		return errWait
	}
	return nil
}

// rolloutCRDs reads the CRDs, and compares them.
func (a *app) rolloutCRDs(ctx context.Context, flags *compilerFlags, files rolloutFlags, f *change.Facts) error {
	answers, _, err := a.readSides(ctx, flags, files.sides)
	if err != nil {
		return err
	}
	crds, of := map[role][]*change.Input{}, map[role]answer[side]{}
	all := diagnosticsOf(resultsOf(answers))
	for _, r := range answers {
		if crds[r.role] = append(crds[r.role], r.found.crds...); len(r.found.crds) > 0 {
			of[r.role] = r
		}
	}
	for _, which := range []role{oldSide, newSide} {
		name := files.sides[which][0]
		if name == "-" {
			name = stdinName
		}
		failed := slices.ContainsFunc(answers, func(r answer[side]) bool { return r.role == which && r.failed() })
		if n := len(crds[which]); n != 1 && !failed {
			all = append(all, diag.New(codes.UnusableFact, diag.Pos{File: name}, "%s here, and a plan is for one", plural(n, "CRD")).
				Hinted("give a file with one CRD"))
		}
	}
	if err := a.report(all); err != nil {
		return err
	}
	from, to := crds[oldSide][0], crds[newSide][0]
	f.From, f.To = from.CustomResourceDefinition, to.CustomResourceDefinition
	f.Names.CompileFrom, f.Names.CompileTo = from.Compiled, to.Compiled
	f.Names.Flags, f.Names.OldFlags = files.flags, files.oldFlags
	f.Names.From, f.Names.To, f.Names.Objects = fileName(of[oldSide].input), fileName(of[newSide].input), fileName(input{name: files.objects})
	if wrong := change.Contradictions(from, to); len(wrong) > 0 {
		return a.report(wrong)
	}
	if files.live == "" && len(f.From.Status.StoredVersions) > 0 {
		file, _ := of[oldSide].found.file.Objects() // its CRD has been read
		if wrong := f.ReadLive(file); len(wrong) > 0 {
			return a.report(wrong)
		}
	}
	if f.Kinds, err = to.Kinds(); err != nil {
		return err
	}
	report, err := comparison{old: from, new: to}.report(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return nil // the plan reports that the API server rejects one of them
	}
	f.Changes = &report
	return nil
}

// given returns those of the named flags that are on the command line, each with a space before it.
func given(cmd *cobra.Command, names []string) (words string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if l, ok := f.Value.(pflag.SliceValue); ok {
			values = l.GetSlice()
		}
		for _, v := range values {
			if slices.Contains(names, f.Name) {
				words += " --" + f.Name + "=" + report.ShellQuote(v)
			}
		}
	})
	return words
}

// fileName returns an input as a word of shell commands, or "" if it cannot be read again.
func fileName(in input) string {
	switch _, stream := streamOf(in.name); {
	case in.name == "" || in.name == stdinName || stream:
		return ""
	case in.blob != "":
		return "<(git show " + report.ShellQuote(in.name) + ")"
	}
	return report.ShellFile(in.name)
}

// oneInput returns the input of a flag that names a single file.
func (a *app) oneInput(name string) (input, error) {
	inputs, err := a.findInputs([]string{name})
	if err != nil {
		return input{}, err
	}
	if len(inputs) != 1 {
		return input{}, usagef("%s is %d files, and one is needed", name, len(inputs))
	}
	return inputs[0], nil
}

// rolloutCluster reads the facts about the cluster, and reports their diagnostics together.
func (a *app) rolloutCluster(ctx context.Context, files rolloutFlags, f *change.Facts) error {
	var all diag.List
	for _, read := range []struct {
		file string
		into func(name string, src []byte) diag.List
	}{
		{files.live, objectsOf(a, f.ReadLive)},
		{files.migrations, objectsOf(a, f.ReadMigrations)},
		{files.servers, func(name string, src []byte) (wrong diag.List) {
			f.Servers, wrong = change.ReadServers(name, src, a.limits)
			return wrong
		}},
	} {
		if read.file == "" {
			continue
		}
		in, err := a.oneInput(read.file)
		if err != nil {
			return err
		}
		src, err := a.open(ctx, in)
		if err != nil {
			return err
		}
		all = append(all, read.into(in.name, src)...)
	}
	return a.report(all)
}

// objectsOf reads a file as objects.
func objectsOf(a *app, read func(*yamltext.ObjectFile) diag.List) func(string, []byte) diag.List {
	return func(name string, src []byte) diag.List {
		file, wrong := yamltext.ParseObjects(name, src, a.limits)
		if file == nil {
			return wrong
		}
		return read(file)
	}
}

// rolloutObjects validates the stored objects.
func (a *app) rolloutObjects(ctx context.Context, name string, f *change.Facts) error {
	judge, err := f.Judge()
	if err != nil {
		return nil // reported by accepted
	}
	inputs, err := a.findInputs([]string{name})
	if err != nil {
		return err
	}
	objects := &change.Objects{}
	l, err := a.storedObjects(ctx, inputs, judges{judge.GroupKind(): judge}, func(o yamltext.ObjectItem, v change.Prediction) { objects.Add(v, o.Value) })
	if err != nil {
		return err
	}
	f.Objects = objects
	return a.report(l)
}
