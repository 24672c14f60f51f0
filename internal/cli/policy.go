package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// policyFlags are the flags of policy.
type policyFlags struct {
	known                                   kindFlags
	kinds, paths                            []string // empty for all
	clear, algorithm, failure, reinvocation string
	actions                                 []string
	validating                              bool
	matchLabels                             map[string]string
}

func (a *app) policyCommand() *cobra.Command {
	var (
		flags  policyFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   "policy [FILE|DIR|-]...",
		Short: "Write admission policies that clear excluded members",
		Long: `Policy writes a MutatingAdmissionPolicy, and its binding, for each kind with unions: of the
CRDs that are its arguments, or of Kubernetes itself (--builtin). A client that sets a new
member, or changes the discriminator, need not clear the other members: the API server
does, from Kubernetes 1.36. It leaves a union alone if the request does not change it, or if
clearing members would not make it legal. --clear selects the members to clear:

  CarriedOver  (default) members that the stored object has with the same value, when
               the union switches. Nothing that the request wrote is undone. But the
               same request again finds nothing to switch, and may be rejected.
  Unselected   every member that the discriminator does not select, as in KEP-1027. The
               same request again changes nothing.
               But values of the request are discarded silently.

With --validate it writes a ValidatingAdmissionPolicy instead, which rejects the objects that
compiled rules reject, for kinds whose schema cannot be edited; docs/clear.md has the
exceptions. Start with --action Warn or Audit.`,
		Example: `  # Let the API server clear the members of routes
  unioncel policy crd.yaml | kubectl apply -f -

  # In namespaces with a label, and never in the way of a request
  unioncel policy crd.yaml --match-labels unions=clear --failure-policy Ignore

  # For the strategy of Deployments
  unioncel policy --builtin --kind Deployment --path spec.strategy

  # Warn about objects that the unions forbid
  unioncel policy crd.yaml --validate --action Warn`,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.known.crds = args
			return a.writePolicies(cmd, &flags, output)
		},
	}
	flags.known.register(cmd, true)
	f := cmd.Flags()
	f.StringArrayVar(&flags.kinds, "kind", nil, "write policies for this kind only, as in Route or Route.example.com: `KIND`; repeatable")
	f.StringArrayVar(&flags.paths, "path", nil, "for the unions at this place only, as in spec.backends[*]: `PATH`; repeatable")
	f.BoolVar(&flags.validating, "validate", false, "write policies that reject objects, instead")
	f.StringVar(&flags.clear, "clear", "CarriedOver", "the members to clear: CarriedOver or Unselected; see above for the price")
	registerAlgorithm(cmd, &flags.algorithm)
	f.StringArrayVar(&flags.actions, "action", nil, "the action of a policy that rejects: "+alternatives(policy.Actions)+"; repeatable (default Deny)")
	f.StringVar(&flags.failure, "failure-policy", "Fail", "the answer to a request when a policy fails: Fail or Ignore")
	f.StringVar(&flags.reinvocation, "reinvocation", "Never", "whether a policy that clears runs again after others: Never or IfNeeded")
	f.StringToStringVar(&flags.matchLabels, "match-labels", nil, "the labels of the namespaces in which the policies apply: `KEY=VALUE`,...")
	choose(cmd, "clear", "CarriedOver", "Unselected")
	choose(cmd, "action", policy.Actions...)
	choose(cmd, "failure-policy", "Fail", "Ignore")
	choose(cmd, "reinvocation", "Never", "IfNeeded")
	registerOutput(cmd, &output, toFile)
	return cmd
}

// writePolicies writes the policies that the flags select.
func (a *app) writePolicies(cmd *cobra.Command, flags *policyFlags, output string) error {
	opts, err := flags.options(cmd)
	if err != nil {
		return err
	}
	set, err := flags.known.read(cmd, a)
	if err != nil {
		return err
	}
	selected, err := flags.choose(set)
	if err != nil {
		return err
	}
	objects, found, err := flags.policies(selected, opts)
	if err != nil {
		return err
	}
	if err := a.report(found); err != nil {
		return err
	}
	if len(objects) == 0 {
		a.complain("no kind has a union that a policy is for")
		return errFindings
	}
	out, err := policy.YAML(objects...)
	if err != nil {
		return err
	}
	return a.write(output, out)
}

// options returns the options of the policies.
func (f *policyFlags) options(cmd *cobra.Command) (policy.Options, error) {
	opts := policy.Options{
		Unselected: f.clear == "Unselected", FailurePolicy: admissionv1.FailurePolicyType(f.failure),
		Reinvocation: admissionv1.ReinvocationPolicyType(f.reinvocation), MatchLabels: f.matchLabels,
	}
	opts.Algorithm, _ = union.AlgorithmNamed(f.algorithm)
	for _, action := range f.actions {
		opts.Actions = append(opts.Actions, admissionv1.ValidationAction(action))
	}
	if len(f.actions) > 0 && !f.validating {
		return opts, usagef("--action is for policies that reject: --validate")
	}
	for _, name := range []string{"clear", "algorithm", "reinvocation"} {
		if f.validating && cmd.Flags().Changed(name) {
			return opts, usagef("--%s is for policies that clear: drop it, or --validate", name)
		}
	}
	if f.known.builtin && len(f.kinds) == 0 {
		return opts, usagef("--builtin has many kinds: name those that you want policies for with --kind")
	}
	return opts, nil
}

// policies returns the policies for kinds and their bindings, with diagnostics on gaps and cost.
func (f *policyFlags) policies(kinds [][]union.Kind, opts policy.Options) (objects []any, found diag.List, err error) {
	for _, versions := range kinds {
		var l diag.List
		if f.validating {
			l, err = policy.CheckValidating(versions, opts)
			policies, bindings := policy.Validating(versions, opts)
			for i := range policies {
				objects = append(objects, policies[i], bindings[i])
			}
		} else if l, err = policy.CheckMutating(versions, opts); err == nil {
			policies, bindings, wrong := policy.Mutating(versions, opts)
			for i := range policies {
				objects = append(objects, policies[i], bindings[i])
			}
			err = wrong
		}
		if err != nil {
			return nil, nil, err
		}
		found = append(found, l...)
	}
	return objects, found, nil
}

// choose returns the kinds of a set that the flags select. A selector that selects nothing is an error.
func (f *policyFlags) choose(set *union.KindSet) ([][]union.Kind, error) {
	used := map[string]bool{}
	selects := func(l []string, names ...string) bool {
		found := len(l) == 0
		for _, name := range names {
			used[name] = true
			found = found || slices.Contains(l, name)
		}
		return found
	}
	var l [][]union.Kind
	for _, versions := range set.ByKind() {
		if !selects(f.kinds, versions[0].Kind, versions[0].Kind+"."+versions[0].Group) {
			continue
		}
		for i := range versions {
			for _, objects := range []*[]union.Instances{&versions[i].Objects, &versions[i].Lists} {
				*objects = slices.DeleteFunc(slices.Clone(*objects), func(o union.Instances) bool {
					return !selects(f.paths, o.Path.String())
				})
			}
		}
		l = append(l, versions)
	}
	for _, name := range f.kinds {
		if !used[name] {
			return nil, usagef("no kind called %s has unions; these have: %s", name, strings.Join(set.Names(), ", "))
		}
	}
	for _, path := range f.paths {
		if !used[path] {
			return nil, usagef("no union is at %s", path)
		}
	}
	return l, nil
}
