package policy

import (
	"fmt"
	"slices"
	"strings"

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
// effect, and rules on changes are left out where lists or maps lead to the union
// object: that is what notes say.
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
		name = names[len(names)-1]
	}
	for _, r := range rules.Static(&static, rules.Paired) {
		add(r, vars.declare(name, objects("object", o.Path, u))+".all(self, "+r.Rule+")")
	}
	if !u.Guarded() {
		return l, left
	}
	if o.Path.HasElements() {
		return l, append(left, "rules on changes are left out, since lists and maps lead to it")
	}
	for _, r := range rules.Transition(u, rules.Comparison{}) {
		before := vars.declare(old(name), objects("[oldObject].filter(o, o != null)", o.Path, u))
		add(r, vars.declare(name, objects("object", o.Path, u))+".all(self, "+before+".all(oldSelf, "+r.Rule+"))")
	}
	return l, left
}

// objects is a list of the union objects that a path leads to from an object, or from a
// list of objects. What is null in them is left out, as in the API server's rules on
// schemas, and names that CEL escapes there are escaped.
func objects(from string, path schemapath.Path, u *union.Union) string {
	l := from
	if !strings.HasPrefix(l, "[") {
		l = "[" + l + "]"
	}
	for i := 0; i < len(path); {
		if name, ok := path[i].Property(); ok {
			read := optional("o", name)
			for i++; i < len(path); i++ {
				if name, ok = path[i].Property(); !ok {
					break
				}
				read = optional(read, name)
			}
			l += ".map(o, dyn(" + read + ".orValue(null))).filter(o, o != null)"
			continue
		}
		if path[i] == schemapath.Values {
			l += ".map(o, o.transformList(k, v, v))"
		}
		l = "dyn(" + l + ".flatten()).filter(o, o != null)"
		i++
	}
	return l + ".map(o, o." + plain("k", "v", u) + ")"
}

// plain turns an object into one without nulls, and with the names that rules know.
func plain(k, v string, u *union.Union) string {
	names := u.MemberNames()
	if u.Discriminator != "" {
		names = append(names, u.Discriminator)
	}
	value := v
	for _, m := range u.Members {
		if m.Empty == union.EmptyObject {
			value = fmt.Sprintf("%s == %s ? dyn(%s.%s) : %s", k, rules.Quote(m.Name), v, entries("f", "w", "w", m.Fields), value)
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
