package policy

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options say how policies are written.
type Options struct {
	// Algorithm is that for all unions; zero is for each the one that suits it.
	Algorithm union.Algorithm
	// CarriedOver clears only what was carried over; see [normalize.Options].
	CarriedOver bool
	// FailurePolicy is what happens to a request when a policy fails; empty is Fail.
	FailurePolicy admissionv1.FailurePolicyType
	// Reinvocation says whether a policy that clears runs again after others; empty is
	// Never.
	Reinvocation admissionv1.ReinvocationPolicyType
	// MatchLabels selects the namespaces in which a policy applies, unless it is empty.
	MatchLabels map[string]string
	// Actions are what a binding of a policy that rejects does; empty is Deny.
	Actions []admissionv1.ValidationAction
}

// Mutating returns the policy that clears in the API server what the unions of a kind
// exclude, and its binding. Versions of the kind with the same unions share a policy:
// kinds are the versions of one kind. The policy does what [normalize.Plan] does, but for
// what that leaves to validation, which follows in the server.
//
// It is an error when a union cannot be normalized by a policy.
func Mutating(versions []kinds.Kind, opts Options) ([]*admissionv1.MutatingAdmissionPolicy, []*admissionv1.MutatingAdmissionPolicyBinding, error) {
	var policies []*admissionv1.MutatingAdmissionPolicy
	var bindings []*admissionv1.MutatingAdmissionPolicyBinding
	var errs []error
	for _, k := range versions {
		p := &admissionv1.MutatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: nameOf(k, "normalize")},
			Spec: admissionv1.MutatingAdmissionPolicySpec{
				MatchConstraints:   matching(k),
				FailurePolicy:      new(admissionv1.Fail),
				ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			},
		}
		if opts.FailurePolicy != "" {
			*p.Spec.FailurePolicy = opts.FailurePolicy
		}
		if opts.Reinvocation != "" {
			p.Spec.ReinvocationPolicy = opts.Reinvocation
		}
		// Inner unions first: what they clear may be gone with an outer one.
		objects := slices.Clone(k.Objects)
		slices.SortStableFunc(objects, func(a, b kinds.Object) int { return len(b.Path) - len(a.Path) })
		for _, o := range objects {
			for _, u := range o.Unions {
				if opts.Algorithm.For(u) == union.KEP2019 && u.Discriminator != "" && u.SharesValues() {
					errs = append(errs, fmt.Errorf("%s of %s: kep-2019 sets the discriminator by the member, and a value here selects several members: use kep-2022", o.Path, k.Kind))
				}
			}
			// AtLeastOne is not a union to the KEP, and there may be no members yet.
			o.Unions = slices.DeleteFunc(slices.Clone(o.Unions), func(u *union.Union) bool { return u.Cardinality == union.AtLeastOne || len(u.Members) == 0 })
			if len(o.Unions) == 0 {
				continue
			}
			m := &mutation{Object: o, opts: opts, variables: (*variables)(&p.Spec.Variables)}
			text := m.expression()
			p.Spec.Mutations = append(p.Spec.Mutations, admissionv1.Mutation{
				PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: text},
			})
		}
		if len(p.Spec.Mutations) == 0 {
			continue
		}
		p.Spec.Variables = slices.DeleteFunc(p.Spec.Variables, func(v admissionv1.Variable) bool {
			read := regexp.MustCompile(`variables\.` + v.Name + `\b`)
			return !slices.ContainsFunc(p.Spec.Mutations, func(m admissionv1.Mutation) bool { return read.MatchString(m.JSONPatch.Expression) })
		})
		if i := slices.IndexFunc(policies, func(q *admissionv1.MutatingAdmissionPolicy) bool {
			return slices.Equal(p.Spec.Variables, q.Spec.Variables) && slices.EqualFunc(p.Spec.Mutations, q.Spec.Mutations, func(a, b admissionv1.Mutation) bool { return a.JSONPatch.Expression == b.JSONPatch.Expression })
		}); i >= 0 {
			addVersion(policies[i].Spec.MatchConstraints, k.Version)
			continue
		}
		if slices.ContainsFunc(policies, func(q *admissionv1.MutatingAdmissionPolicy) bool { return q.Name == p.Name }) {
			p.Name += "-" + k.Version
		}
		policies = append(policies, p)
		bindings = append(bindings, &admissionv1.MutatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: p.Name},
			Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: p.Name, MatchResources: selecting(opts)},
		})
	}
	return policies, bindings, errors.Join(errs...)
}

// nameOf is the name of a policy for a kind.
func nameOf(k kinds.Kind, what string) string {
	if k.Group == "" {
		return k.Resource + "-" + what
	}
	return k.Resource + "." + k.Group + "-" + what
}

// matching are the requests that write objects of a kind, in exactly its version: the
// expressions are about that. The status is written by requests of its own.
func matching(k kinds.Kind) *admissionv1.MatchResources {
	resources := []string{k.Resource}
	if slices.ContainsFunc(k.Objects, func(o kinds.Object) bool {
		return len(o.Path) > 0 && o.Path[0] == schemapath.Property("status")
	}) {
		resources = append(resources, k.Resource+"/status")
	}
	return &admissionv1.MatchResources{
		MatchPolicy: new(admissionv1.Exact),
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{k.Group}, APIVersions: []string{k.Version}, Resources: resources},
		}}},
	}
}

func addVersion(m *admissionv1.MatchResources, version string) {
	r := &m.ResourceRules[0].Rule
	r.APIVersions = append(r.APIVersions, version)
}

// selecting are the namespaces in which a binding applies.
func selecting(opts Options) *admissionv1.MatchResources {
	if len(opts.MatchLabels) == 0 {
		return nil
	}
	return &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(opts.MatchLabels)}}
}
