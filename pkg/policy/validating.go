package policy

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Actions are what the binding of a policy that rejects can do.
var Actions = []string{string(admissionv1.Audit), string(admissionv1.Deny), string(admissionv1.Warn)}

// Validating returns the policy that rejects what the unions of a kind forbid, and its
// binding; of kinds see [Mutating]. It has the rules of pkg/rules. ratchet has no
// effect: that is what notes say.
func Validating(versions []kinds.Kind, opts Options) (policies []*admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding, notes []string) {
	for _, k := range versions {
		p := &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: nameOf(k, "unions")},
			Spec:       admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: matching(k), FailurePolicy: new(admissionv1.Fail)},
		}
		if opts.FailurePolicy != "" {
			*p.Spec.FailurePolicy = opts.FailurePolicy
		}
		for _, o := range k.Objects {
			for _, u := range o.Unions {
				v, left := validations(o, u, (*variables)(&p.Spec.Variables))
				p.Spec.Validations = append(p.Spec.Validations, v...)
				for _, what := range left {
					notes = append(notes, fmt.Sprintf("%s of %s: %s", o.Path, k.Kind, what))
				}
			}
		}
		if len(p.Spec.Validations) == 0 {
			continue
		}
		if i := slices.IndexFunc(policies, func(q *admissionv1.ValidatingAdmissionPolicy) bool {
			return slices.Equal(p.Spec.Variables, q.Spec.Variables) && slices.EqualFunc(p.Spec.Validations, q.Spec.Validations, func(a, b admissionv1.Validation) bool { return a.Expression == b.Expression && a.Message == b.Message })
		}); i >= 0 {
			addVersion(policies[i].Spec.MatchConstraints, k.Version)
			continue
		}
		if slices.ContainsFunc(policies, func(q *admissionv1.ValidatingAdmissionPolicy) bool { return q.Name == p.Name }) {
			p.Name += "-" + k.Version
		}
		actions := opts.Actions
		if len(actions) == 0 {
			actions = []admissionv1.ValidationAction{admissionv1.Deny}
		}
		policies = append(policies, p)
		bindings = append(bindings, &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: p.Name},
			Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: p.Name, ValidationActions: slices.Clone(actions), MatchResources: selecting(opts)},
		})
	}
	return policies, bindings, notes
}

// validations are those of one union.
func validations(o kinds.Object, u *union.Union, vars *variables) (l []admissionv1.Validation, left []string) {
	static := *u
	if static.Ratchet {
		static.Ratchet = false
		left = append(left, "ratchet has no effect in a policy")
	}
	at := "object"
	if len(o.Path) > 0 {
		at = o.Path.String()
	}
	add := func(r rules.Rule, expression string) {
		v := admissionv1.Validation{Expression: expression, Message: at + ": " + r.Message, Reason: new(metav1.StatusReasonInvalid)}
		if r.Reason == rules.ReasonForbidden {
			*v.Reason = metav1.StatusReasonForbidden
		}
		l = append(l, v)
	}
	name := "object"
	if names := o.Path.Properties(); len(names) > 0 {
		name = variableName(names[len(names)-1])
	}
	for _, r := range rules.Static(&static, rules.Paired) {
		add(r, vars.declare(name, objects(o.Path, u))+".all(self,\n  "+r.Rule+")")
	}
	if !u.Guarded() {
		return l, left
	}
	for _, r := range rules.Transition(u, rules.Comparison{}) {
		add(r, vars.declare(name+"Changes", changes(o, u))+".all(change, [change[0]].all(oldSelf, [change[1]].all(self,\n  "+r.Rule+")))")
	}
	return l, left
}

// objects is a list of the union objects that a path leads to. What is null in them is left
// out, as in the API server's rules on schemas, and names that CEL escapes there are escaped.
func objects(path schemapath.Path, u *union.Union) string {
	l := "[object]"
	for len(path) > 0 {
		names, rest := properties(path)
		switch {
		case len(names) > 0:
			l += "\n  .map(o, dyn(" + property("o", names) + ".orValue(null))).filter(o, o != null)"
		case path[0] == schemapath.Values:
			l = "dyn(" + l + "\n  .map(o, o.transformList(k, v, v)).flatten()).filter(o, o != null)"
		default:
			l = "dyn(" + l + "\n  .flatten()).filter(o, o != null)"
		}
		path = rest
	}
	return l + "\n  .map(o, o." + plain("k", "v", u) + ")"
}

// changes is a list of pairs, of what each of the union objects was, and what it is now; see
// objects. No list on the path is without keys, or a union could not have rules on changes.
func changes(o kinds.Object, u *union.Union) string {
	const both = ".filter(o, o[0] != null && o[1] != null)"
	l, lists := "[[dyn(oldObject), dyn(object)]]"+both, 0
	for path := o.Path; len(path) > 0; {
		names, rest := properties(path)
		switch {
		case len(names) > 0:
			l += "\n  .map(o, o.map(o, dyn(" + property("o", names) + ".orValue(null))))" + both
		case path[0] == schemapath.Values:
			l += "\n  .map(o, o[1].transformList(k, v, k in o[0], [dyn(o[0][k]), dyn(v)])).flatten()" + both
		default:
			l += "\n  .map(o, o[1].map(new, o[0].filter(old, " + keyOf(o.Keys[lists], "old") + " == " + keyOf(o.Keys[lists], "new") + ").map(old, [dyn(old), dyn(new)])).flatten()).flatten()"
			lists++
		}
		path = rest
	}
	return l + "\n  .map(o, o.map(o, o." + plain("k", "v", u) + "))"
}

// properties are those with which a path begins, or none and the rest after its first step.
func properties(path schemapath.Path) (names []string, rest schemapath.Path) {
	for i, step := range path {
		name, ok := step.Property()
		if !ok {
			return names, path[max(i, 1):]
		}
		names = append(names, name)
	}
	return names, nil
}

// plain turns an object into one without nulls, and with the names that rules know.
func plain(k, v string, u *union.Union) string { return plainIn(nil, k, v, u) }

// plainIn is plain for an object that properties lead to from the union object.
func plainIn(in []string, k, v string, u *union.Union) string {
	at := func(path []string) bool { return len(path) == len(in)+1 && slices.Equal(path[:len(in)], in) }
	value := v
	var names []string
	for _, m := range u.Members {
		if path := u.Path(m.Name).Properties(); m.Empty == union.EmptyObject && at(path) {
			value = fmt.Sprintf("%s == %s ? dyn(%s.%s) : %s", k, rules.Quote(path[len(in)]), v, entries("f", "w", "w", m.Fields), value)
		}
	}
	for _, name := range append(u.MemberNames(), u.Discriminator) {
		if path := u.Path(name).Properties(); at(path) && name != "" {
			names = append(names, path[len(in)])
		}
	}
	for _, holder := range u.Holders() {
		if at(holder) {
			names = append(names, holder[len(in)])
			depth := len(holder)
			value = fmt.Sprintf("%s == %s ? dyn(%s.%s) : %s", k, rules.Quote(holder[len(in)]), v, plainIn(holder, numbered("k", depth), numbered("v", depth), u), value)
		}
	}
	return entries(k, v, value, names)
}

// entries keeps what is not null of a map, under the names that rules know.
func entries(k, v, value string, names []string) string {
	key := k
	for _, name := range names {
		if escaped, _ := apiservercel.Escape(name); escaped != name {
			key = fmt.Sprintf("%s == %s ? %s : %s", k, rules.Quote(name), rules.Quote(escaped), key)
		}
	}
	if key == k && value == v {
		return fmt.Sprintf("transformMap(%s, %s, %s != null, %s)", k, v, v, v)
	}
	return fmt.Sprintf("transformMapEntry(%s, %s, %s != null, {%s: %s})", k, v, v, key, value)
}
