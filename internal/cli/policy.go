package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// clears are the values of --clear.
var clears = []string{"CarriedOver", "Unselected"}

func (a *app) policyCommand() *cobra.Command {
	var (
		known                                           kindFlags
		opts                                            policy.Options
		clear, algorithm, failure, reinvocation, output string
		actions                                         []string
		validating                                      bool
		only                                            selection
	)
	cmd := &cobra.Command{
		Use:   "policy {--crd CRD | --builtin}",
		Short: "Write admission policies that clear what unions exclude",
		Long: `Policy writes a MutatingAdmissionPolicy, and its binding, for each kind with unions.
In the API server it clears, for every client, what normalize clears in files: who
sets a new member, or changes the discriminator, need not clear the others. It needs
Kubernetes 1.36.

--clear Unselected, the default, follows KEP-1027: what the discriminator does not
select is cleared, whoever wrote it. With CarriedOver only that is cleared which the
old object has as well, and with a discriminator only when that changes: nothing that
the request itself wrote, but the same request again may then be rejected.

With --validate it writes a ValidatingAdmissionPolicy instead, which rejects what the
unions forbid, for kinds whose schema may not be edited. --action Warn or Audit is how
to begin.`,
		Example: `  # Let the API server clear the members of routes
  unioncel policy --crd crd.yaml | kubectl apply -f -

  # In namespaces with a label, and never in the way of a request
  unioncel policy --crd crd.yaml --match-labels unions=clear --failure-policy Ignore

  # For the strategy of Deployments
  unioncel policy --builtin --kind Deployment --path spec.strategy

  # Warn of what the unions forbid
  unioncel policy --crd crd.yaml --validate --action Warn`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd, &output); err != nil {
				return err
			}
			for _, f := range []struct {
				name, value string
				values      []string
			}{
				{"clear", clear, clears}, {"algorithm", algorithm, union.AlgorithmNames()},
				{"failure-policy", failure, []string{"Fail", "Ignore"}}, {"reinvocation", reinvocation, []string{"Never", "IfNeeded"}},
			} {
				if f.value != "" && !slices.Contains(f.values, f.value) {
					return usagef("--%s is %s, not %q", f.name, alternatives(f.values), f.value)
				}
			}
			for _, action := range actions {
				if !slices.Contains(policy.Actions, action) {
					return usagef("--action is %s, not %q", alternatives(policy.Actions), action)
				}
				opts.Actions = append(opts.Actions, admissionv1.ValidationAction(action))
			}
			if len(actions) > 0 && !validating {
				return usagef("--action is for policies that reject: --validate")
			}
			if known.builtin && len(only.kinds) == 0 {
				return usagef("--builtin has many kinds: name those that you want policies for with --kind")
			}
			opts.CarriedOver = clear == "CarriedOver"
			opts.Algorithm, _ = union.AlgorithmNamed(algorithm)
			opts.FailurePolicy = admissionv1.FailurePolicyType(failure)
			opts.Reinvocation = admissionv1.ReinvocationPolicyType(reinvocation)
			set, _, err := known.read(cmd, a)
			if err != nil {
				return err
			}
			selected, err := only.of(set)
			if err != nil {
				return err
			}
			var objects []any
			var costly diag.List
			for _, versions := range selected {
				check := policy.CheckMutating
				if validating {
					check = policy.CheckValidating
				}
				l, err := check(versions, opts)
				if err != nil {
					return err
				}
				costly = append(costly, l...)
				if validating {
					policies, bindings, notes := policy.Validating(versions, opts)
					for i := range policies {
						objects = append(objects, policies[i], bindings[i])
					}
					for _, n := range notes {
						a.note(n)
					}
					continue
				}
				policies, bindings, err := policy.Mutating(versions, opts)
				if err != nil {
					return err
				}
				for i := range policies {
					objects = append(objects, policies[i], bindings[i])
				}
			}
			if len(objects) == 0 {
				a.complain("no kind has a union that a policy is for")
				return errFindings
			}
			if err := a.report([]result{{diagnostics: costly}}, "text"); err != nil {
				return err
			}
			out, err := policy.YAML(objects...)
			if err != nil {
				return err
			}
			return a.write(output, out)
		},
	}
	known.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&only.kinds, "kind", nil, "write policies for this kind only, as in Route or Route.example.com: `KIND`; may be repeated")
	f.StringArrayVar(&only.paths, "path", nil, "for the unions at this place only, as in spec.backends[*]: `PATH`; may be repeated")
	f.BoolVar(&validating, "validate", false, "write policies that reject what the unions forbid, instead")
	f.StringVar(&clear, "clear", "Unselected", "what is cleared: "+strings.Join(clears, " or "))
	f.StringVar(&algorithm, "algorithm", "", "the algorithm for all unions: "+alternatives(union.AlgorithmNames()))
	f.StringArrayVar(&actions, "action", nil, "what a policy that rejects does: "+alternatives(policy.Actions)+"; may be repeated (default Deny)")
	f.StringVar(&failure, "failure-policy", "Fail", "what becomes of a request when a policy fails: Fail or Ignore")
	f.StringVar(&reinvocation, "reinvocation", "Never", "whether a policy that clears runs again after others: Never or IfNeeded")
	f.StringToStringVar(&opts.MatchLabels, "match-labels", nil, "the labels of the namespaces in which the policies apply: `KEY=VALUE`,...")
	f.StringVarP(&output, "output", "o", "", "write to this `FILE` instead of standard output")
	return cmd
}

// selection says for which of the kinds, and of their unions, policies are written.
type selection struct{ kinds, paths []string }

// of returns what is selected of a set, by kind. It is an error when something selects
// nothing.
func (s selection) of(set *kinds.Set) ([][]kinds.Kind, error) {
	used := map[string]bool{}
	selects := func(l []string, is func(string) bool) bool {
		found := len(l) == 0
		for _, x := range l {
			if is(x) {
				found, used[x] = true, true
			}
		}
		return found
	}
	var l [][]kinds.Kind
	for _, versions := range set.ByKind() {
		if !selects(s.kinds, func(name string) bool {
			return name == versions[0].Kind || name == versions[0].Kind+"."+versions[0].Group
		}) {
			continue
		}
		for i := range versions {
			versions[i].Objects = slices.DeleteFunc(slices.Clone(versions[i].Objects), func(o kinds.Object) bool {
				return !selects(s.paths, func(path string) bool { return path == o.Path.String() })
			})
		}
		l = append(l, versions)
	}
	for _, name := range s.kinds {
		if !used[name] {
			return nil, usagef("no kind called %s has unions: they are those of %s", name, strings.Join(set.Names(), ", "))
		}
	}
	for _, path := range s.paths {
		if !used[path] {
			return nil, usagef("no union is at %s", path)
		}
	}
	return l, nil
}
