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
	// Unselected clears every member that the KEP clears, even if the same request wrote it, and
	// keeps those that it keeps. Otherwise nothing is undone that the request wrote, as with
	// CarriedOver of [normalize.Options].
	Unselected bool
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

// Mutating returns the policy that normalizes the unions of a kind in the API server, and its
// binding. Versions of the kind with the same unions share a policy: kinds are the versions of
// one kind. The policy changes requests exactly as [normalize.Plan] does.
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
				MatchConstraints:   matching(k, k.Objects),
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
		// Outer unions first: they read the request as it was written, and cleared members have no unions.
		objects := slices.Clone(k.Objects)
		slices.SortStableFunc(objects, func(a, b kinds.UnionObject) int { return len(a.Path) - len(b.Path) })
		for _, o := range objects {
			for _, u := range o.Unions {
				switch {
				case !opts.setsValue(u):
				case u.SharesValues():
					errs = append(errs, fmt.Errorf("%s of %s: kep-2019 sets the discriminator by the member, and a value here selects several members: use kep-2022", o.Path, k.Kind))
				case slices.Contains(o.ItemKeys(), u.Discriminator):
					errs = append(errs, fmt.Errorf("%s of %s: kep-2019 sets the discriminator, and here it is a key of the list: use kep-2022", o.Path, k.Kind))
				}
			}
			for _, m := range mutations(o, opts) {
				m.variables = (*variables)(&p.Spec.Variables)
				p.Spec.Mutations = append(p.Spec.Mutations, admissionv1.Mutation{
					PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: m.expression()},
				})
			}
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

// setsValue reports whether a union is normalized by the algorithm that sets the discriminator.
func (o Options) setsValue(u *union.Union) bool {
	return u.Discriminator != "" && o.Algorithm.OrDefault(u) == union.KEP2019
}

// mutations are those for the unions of an object. Unions have mutations of their own
//   - in a list without keys, if their discriminator is set: they leave items alone that have moved;
//   - with members in an object below, which the mutation of another one may add.
func mutations(o kinds.UnionObject, opts Options) []mutation {
	unkeyed := slices.ContainsFunc(o.Keys, func(keys []string) bool { return keys == nil })
	var setting, others []*union.Union
	var below [][]*union.Union
	for _, u := range o.Unions {
		switch {
		case o.Set || !u.Exclusive() || len(u.Members) == 0: // there may be none yet
		case len(u.Paths) > 0:
			below = append(below, []*union.Union{u})
		case unkeyed && opts.setsValue(u):
			setting = append(setting, u)
		default:
			others = append(others, u)
		}
	}
	var l []mutation
	for _, unions := range append(below, setting, others) {
		if len(unions) > 0 {
			m := mutation{UnionObject: o, all: o.Unions, opts: opts}
			m.Unions = unions
			l = append(l, m)
		}
	}
	return l
}

// nameOf is the name of a policy for a kind.
func nameOf(k kinds.Kind, what string) string {
	if k.Group == "" {
		return k.Resource + "-" + what
	}
	return k.Resource + "." + k.Group + "-" + what
}

// matching are the requests that write union objects of a kind, in exactly its version: the
// expressions are about that. Some fields are written by requests of their own.
func matching(k kinds.Kind, objects []kinds.UnionObject) *admissionv1.MatchResources {
	resources := []string{k.Resource}
	if slices.ContainsFunc(objects, func(o kinds.UnionObject) bool { return unionsBelow(o, schemapath.New("status")) }) {
		resources = append(resources, k.Resource+"/status")
	}
	if k.Group == "" && slices.ContainsFunc(objects, func(o kinds.UnionObject) bool { return unionsBelow(o, schemapath.New("spec", "ephemeralContainers")) }) {
		resources = append(resources, k.Resource+"/ephemeralcontainers")
	}
	return &admissionv1.MatchResources{
		MatchPolicy: new(admissionv1.Exact),
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{k.Group}, APIVersions: []string{k.Version}, Resources: resources},
		}}},
	}
}

// unionsBelow reports whether something of the unions is below a path.
func unionsBelow(o kinds.UnionObject, path schemapath.Path) bool {
	return slices.ContainsFunc(o.Unions, func(u *union.Union) bool {
		return slices.ContainsFunc(u.Names(), func(name string) bool {
			at := o.Path.Append(u.Path(name)...)
			return len(at) >= len(path) && at[:len(path)].Equal(path)
		})
	})
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
