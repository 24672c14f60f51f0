package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// patching holds the flags of patch.
type patching struct {
	conversion
	kinds    kindFlags
	live     string
	kind     string
	base     []string
	explicit bool
}

func (a *app) patchCommand() *cobra.Command {
	var flags patching
	types := words(product.PatchTypes())
	cmd := &cobra.Command{
		Use:   "patch {--crd CRD | --builtin} (--live LIVE DESIRED | --explicit PATCH...)",
		Short: "Make patches that clear excluded members",
		Long: `Patch prints the patch that turns the object in LIVE into the one in DESIRED, and
clears the members that its unions exclude then, as normalize does. Fields that the server
sets, such as the status and metadata.uid, stay where DESIRED leaves them out.

With --explicit it rewrites the files of an overlay: each patch that sets a member, or
the discriminator, then sets the other members to null, which kustomize and the API
server understand; with --base, only members that the patched object has. Patches without
apiVersion and kind, and lists that are replaced as a whole, stay as they are.
docs/clear.md has the details.`,
		Example: `  # The patch for a live object
  kubectl get route web -o yaml > live.yaml
  unioncel patch --crd crd.yaml --live live.yaml web.yaml > patch.json
  kubectl patch route web --type merge --patch-file patch.json

  # Let the patches of an overlay clear the members that the base sets
  unioncel patch --crd crd.yaml --explicit --base base -w overlays/prod`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case flags.explicit && flags.live != "":
				return usagef("--explicit rewrites patches: it takes no --live")
			case flags.explicit && flags.kind == string(product.JSONPatch):
				return usagef("--explicit is for patches of type merge or strategic")
			case len(flags.base) > 0 && !flags.explicit:
				return usagef("--base is for --explicit")
			case flags.explicit:
				return a.makeExplicit(cmd, &flags, args)
			case flags.live == "":
				return usagef("--live or --explicit is missing")
			case len(args) > 1:
				return usagef("one object is patched: %s are too many", strings.Join(args, ", "))
			case flags.write || flags.preview.wanted():
				return usagef("-w, --check and --diff are for --explicit")
			}
			return a.patch(cmd, &flags, args)
		},
	}
	flags.register(a, cmd)
	flags.kinds.register(cmd, false)
	f := cmd.Flags()
	f.StringVar(&flags.live, "live", "", "the object to patch: a `FILE`")
	f.StringVar(&flags.kind, "type", "", "the type of the patch: "+alternatives(types)+" (default merge; with --explicit strategic)")
	choose(cmd, "type", types...)
	f.BoolVar(&flags.explicit, "explicit", false, "rewrite patches so that they clear the other members by themselves")
	f.StringArrayVar(&flags.base, "base", nil, "with --explicit, the objects to patch: a `FILE|DIR`; repeatable")
	return cmd
}

// makeExplicit rewrites the files of an overlay.
func (a *app) makeExplicit(cmd *cobra.Command, flags *patching, args []string) error {
	set, base, err := flags.kinds.readToClear(cmd, a, flags.base)
	if err != nil {
		return err
	}
	merges := product.BuiltIn
	if flags.kind == string(product.MergePatch) {
		merges = nil
	}
	return a.convert(cmd, &flags.conversion, &compilerFlags{}, func(f *crdpatch.File, in input) ([]byte, diag.List) {
		r := product.ExplicitPatches(set, in.name, f.Bytes(), base, merges, a.limits)
		return flags.kinds.rewritten(in, set, r.Known, r.Text, r.Diagnostics)
	}, args)
}

// patch prints the patch from one object to another.
func (a *app) patch(cmd *cobra.Command, flags *patching, args []string) error {
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	desires, err := a.findInputs([]string{name})
	if err != nil {
		return err
	}
	lives, err := a.findInputs([]string{flags.live})
	if err != nil {
		return err
	}
	set, _, err := flags.kinds.readToClear(cmd, a, nil)
	if err != nil {
		return err
	}
	live, err := a.one(cmd, "--live", flags.live, lives)
	if err != nil {
		return err
	}
	t := product.PatchType(cmp.Or(flags.kind, string(product.MergePatch)))
	k, ok := set.Lookup(live.GroupVersionKind)
	if !ok {
		return a.report(diag.List{flags.kinds.unknown(flags.live, set)})
	}
	written, err := a.one(cmd, "DESIRED", name, desires)
	if err != nil {
		return err
	}
	old := &yamltext.OldObjects{}
	old.Add([]*yamltext.Object{live})
	if same, _ := old.Find(written); same == nil || written.Version != live.Version {
		return fmt.Errorf("%s has %s of %s, and %s has %s of %s: a patch cannot turn one into the other", name, written, written.GroupVersion(), flags.live, live, live.GroupVersion())
	}
	desired := runtime.DeepCopyJSON(written.Value)
	changes, problems := product.NormalizeObject(k, live.Value, desired, product.NormalizeOptions{})
	var found diag.List
	for _, p := range problems {
		found = append(found, p.Diagnostic(written))
	}
	if err := a.report(found); err != nil {
		return err
	}
	for _, c := range changes {
		a.say("%s: %s: %s", name, c.At, c)
	}
	data, err := product.CreatePatch(live.GroupVersionKind, t, live.Value, desired)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return a.write(flags.output, b.Bytes())
}

// one returns the only object in a file.
func (a *app) one(cmd *cobra.Command, what, name string, inputs []input) (*yamltext.Object, error) {
	l, err := a.objects(cmd.Context(), inputs)
	if err != nil {
		return nil, err
	}
	if len(l) != 1 {
		return nil, fmt.Errorf("%s: want one object as %s, not %d", name, what, len(l))
	}
	return l[0], nil
}
