package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options configure the generated policies.
type Options struct {
	// Algorithm applies to all unions; zero selects an algorithm for each union.
	Algorithm union.Algorithm
	// Unselected clears and keeps members exactly as the KEP does, even members written by the same
	// request. Otherwise the policy never undoes a write of the request, as carried over in
	// [union.Union.Normalize].
	Unselected bool
	// FailurePolicy applies to requests for which the policy fails; empty is Fail.
	FailurePolicy admissionv1.FailurePolicyType
	// Reinvocation controls whether a mutating policy runs again after other plugins; empty is
	// Never.
	Reinvocation admissionv1.ReinvocationPolicyType
	// MatchLabels selects the namespaces of a policy; empty selects all.
	MatchLabels map[string]string
	// Actions are the actions of the binding of a validating policy; empty is Deny.
	Actions []admissionv1.ValidationAction
}

// Mutating returns the policies that normalize the unions of a kind in the API server, and their
// bindings. versions are the versions of one kind; versions with the same unions share a policy. A
// policy changes requests exactly as unioncel normalize changes objects.
//
// The error is about unions that a policy cannot normalize.
func Mutating(versions []union.Kind, opts Options) ([]*admissionv1.MutatingAdmissionPolicy, []*admissionv1.MutatingAdmissionPolicyBinding, error) {
	l, err := mutating(versions, opts)
	var policies []*admissionv1.MutatingAdmissionPolicy
	var bindings []*admissionv1.MutatingAdmissionPolicyBinding
	for _, p := range l {
		w := &admissionv1.MutatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: p.name},
			Spec: admissionv1.MutatingAdmissionPolicySpec{
				MatchConstraints:   p.matches,
				Variables:          p.variables,
				FailurePolicy:      new(cmp.Or(opts.FailurePolicy, admissionv1.Fail)),
				ReinvocationPolicy: cmp.Or(opts.Reinvocation, admissionv1.NeverReinvocationPolicy),
			},
		}
		for _, e := range p.expressions {
			w.Spec.Mutations = append(w.Spec.Mutations, admissionv1.Mutation{
				PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: e.Expression},
			})
		}
		policies = append(policies, w)
		bindings = append(bindings, &admissionv1.MutatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: p.name},
			Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: p.name, MatchResources: selecting(opts)},
		})
	}
	return policies, bindings, err
}

// policy is the content of a policy of either kind.
type policy struct {
	name      string
	matches   *admissionv1.MatchResources
	variables variables
	// expressions are validations, or lists of JSON patches without a message. returns is their type.
	expressions []admissionv1.Validation
	returns     *cel.Type
}

// written returns the policies for the versions of a kind. write adds the expressions for a version;
// versions with the same expressions share a policy.
func written(versions []union.Kind, purpose string, returns *cel.Type, write func(k union.Kind, p *policy)) []*policy {
	var l []*policy
	for _, k := range versions {
		p := &policy{name: nameOf(k, purpose), returns: returns}
		write(k, p)
		if len(p.expressions) == 0 {
			continue
		}
		if i := slices.IndexFunc(l, func(q *policy) bool {
			return slices.Equal(p.variables, q.variables) && slices.EqualFunc(p.expressions, q.expressions, func(a, b admissionv1.Validation) bool {
				return a.Expression == b.Expression && a.Message == b.Message
			})
		}); i >= 0 {
			r := &l[i].matches.ResourceRules[0].Rule
			r.APIVersions = append(r.APIVersions, k.Version)
			continue
		}
		if slices.ContainsFunc(l, func(q *policy) bool { return q.name == p.name }) {
			p.name += "-" + k.Version
		}
		l = append(l, p)
	}
	return l
}

// mutating returns the policies of [Mutating].
func mutating(versions []union.Kind, opts Options) ([]*policy, error) {
	var errs []error
	l := written(versions, "normalize", patches, func(k union.Kind, p *policy) {
		p.matches = matching(k, k.Objects)
		// Mutations of outer unions come first: they read the request as the client wrote it, and
		// cleared members need no mutation for the unions in them.
		objects := slices.Clone(k.Objects)
		slices.SortStableFunc(objects, func(a, b union.Instances) int { return len(a.Path) - len(b.Path) })
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
				m.variables = &p.variables
				p.expressions = append(p.expressions, admissionv1.Validation{Expression: m.expression()})
			}
		}
		p.variables = slices.DeleteFunc(p.variables, func(v admissionv1.Variable) bool {
			read := regexp.MustCompile(`variables\.` + v.Name + `\b`)
			return !slices.ContainsFunc(p.expressions, func(e admissionv1.Validation) bool { return read.MatchString(e.Expression) })
		})
	})
	return l, errors.Join(errs...)
}

// setsValue reports whether the algorithm for a union sets the discriminator.
func (o Options) setsValue(u *union.Union) bool {
	return u.Discriminator != "" && o.Algorithm.OrDefault(u) == union.KEP2019
}

// sharing reports, for each union, whether it has properties in common with others. A policy would
// clear members without regard to these.
func sharing(unions []*union.Union) []bool {
	l := make([]bool, len(unions))
	for _, group := range union.Sharing(unions) {
		for _, i := range group {
			l[i] = len(group) > 1
		}
	}
	return l
}

// mutations returns the mutations for the unions of an object. Some unions need their own mutation:
//   - unions in a list without keys whose discriminator is set: these mutations skip moved items;
//   - unions with members in a nested object, which another mutation may add.
func mutations(o union.Instances, opts Options) []mutation {
	unkeyed := slices.ContainsFunc(o.Keys, func(keys []string) bool { return keys == nil })
	var setting, others []*union.Union
	var below [][]*union.Union
	shares := sharing(o.Unions)
	for i, u := range o.Unions {
		switch {
		case o.Set || !u.Exclusive() || len(u.Members) == 0 || shares[i]: // a union may have no members yet
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
			m := mutation{Instances: o, all: o.Unions, opts: opts}
			m.Unions = unions
			l = append(l, m)
		}
	}
	return l
}

// nameOf returns the name of a policy for a kind.
func nameOf(k union.Kind, what string) string {
	if k.Group == "" {
		return k.Resource + "-" + what
	}
	return k.Resource + "." + k.Group + "-" + what
}

// matching returns the requests that write union objects of a kind. They match only the version of
// the kind, which the expressions assume, and include subresources that write a union.
func matching(k union.Kind, objects []union.Instances) *admissionv1.MatchResources {
	resources := []string{k.Resource}
	if slices.ContainsFunc(objects, func(o union.Instances) bool { return unionsBelow(o, schemapath.New("status")) }) {
		resources = append(resources, k.Resource+"/status")
	}
	if k.Group == "" && slices.ContainsFunc(objects, func(o union.Instances) bool { return unionsBelow(o, schemapath.New("spec", "ephemeralContainers")) }) {
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

// unionsBelow reports whether a member or discriminator of the unions is at or below a path.
func unionsBelow(o union.Instances, path schemapath.Path) bool {
	return slices.ContainsFunc(o.Unions, func(u *union.Union) bool {
		return slices.ContainsFunc(u.Names(), func(name string) bool {
			at := o.Path.Append(u.Path(name)...)
			return len(at) >= len(path) && at[:len(path)].Equal(path)
		})
	})
}

// selecting returns the namespaces that a binding applies to.
func selecting(opts Options) *admissionv1.MatchResources {
	if len(opts.MatchLabels) == 0 {
		return nil
	}
	return &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(opts.MatchLabels)}}
}
