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

// Validating returns the policy that rejects objects and changes that break the unions of a
// kind, and its binding; of kinds see [Mutating]. It has the rules of pkg/rules, and ratchets as
// the API server does for rules in a schema: unchanged union objects are not checked.
func Validating(versions []kinds.Kind, opts Options) (policies []*admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding) {
	for _, k := range versions {
		objects := slices.Concat(k.Objects, k.Lists)
		p := &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: nameOf(k, "unions")},
			Spec:       admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: matching(k, objects), FailurePolicy: new(admissionv1.Fail)},
		}
		if opts.FailurePolicy != "" {
			*p.Spec.FailurePolicy = opts.FailurePolicy
		}
		for _, o := range objects {
			for _, u := range o.Unions {
				p.Spec.Validations = append(p.Spec.Validations, validations(o, u, (*variables)(&p.Spec.Variables))...)
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
	return policies, bindings
}

// validations returns the rules of one union.
func validations(o kinds.Object, u *union.Union, vars *variables) []admissionv1.Validation {
	at := subject{o, o.Path, nil, u, vars}
	var l []admissionv1.Validation
	for _, r := range rules.Static(u, rules.Paired) {
		if u.Ratchet {
			l = append(l, at.transition(r))
		} else {
			l = append(l, at.static(r))
		}
	}
	if !u.Guarded() { // no change breaks other rules alone
		return l
	}
	for _, r := range rules.Transition(u, rules.Comparison{}) {
		l = append(l, at.transition(r))
	}
	for _, names := range o.Removable {
		if r, ok := rules.RemovalGuard(u, names); ok && expressible(names) {
			parent := subject{o, o.Path[:len(o.Path)-len(names)], names, u, vars}
			l = append(l, parent.transition(r))
		}
	}
	return l
}

// expressible reports whether rules can read properties.
func expressible(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := apiservercel.Escape(name); return !ok })
}

// subject is the object that rules are on: a union object, or one from which properties lead to it.
type subject struct {
	kinds.Object
	path  schemapath.Path
	names []string // the properties from there to the union object
	union *union.Union
	*variables
}

// static is a rule on the objects alone.
func (s subject) static(r rules.Rule) admissionv1.Validation {
	changes, name := s.changes()
	return s.validation(r, s.declare(name, changes+".map(change, change[1])")+".all(self,\n  "+r.Rule+")")
}

// transition is a rule on the objects and their old selves.
func (s subject) transition(r rules.Rule) admissionv1.Validation {
	changes, _ := s.changes()
	old := "change[0] == null || [change[0]]"
	if r.OptionalOldSelf {
		old = "[change[0] == null ? optional.none() : optional.of(change[0])]"
	}
	return s.validation(r, changes+".all(change, "+old+".all(oldSelf, [change[1]].all(self,\n  "+r.Rule+")))")
}

// validation is a rule as an expression.
func (s subject) validation(r rules.Rule, expression string) admissionv1.Validation {
	at := "object"
	if len(s.path) > 0 {
		at = s.path.String()
	}
	v := admissionv1.Validation{Expression: expression, Message: at + ": " + r.Message, Reason: new(metav1.StatusReasonInvalid)}
	if r.Reason == rules.ReasonForbidden {
		*v.Reason = metav1.StatusReasonForbidden
	}
	return v
}

// changes is a variable with a pair for each changed object: its old self, which is null if there
// is none, and the object. It is followed by a name for other variables.
func (s subject) changes() (variable, name string) {
	name = "object"
	if names := s.path.Properties(); len(names) > 0 {
		name = variableName(names[len(names)-1])
	}
	const changed = "\n  .filter(o, o[1] != null && o[0] != o[1])"
	l, lists := "[[dyn(oldObject), dyn(object)]]", 0
	if len(s.path) == 0 {
		l += "\n  .map(o, o.map(o, o == null ? o : dyn(o.transformMap(k, v, k != 'metadata', v))))" + changed
	}
	for path := s.path; len(path) > 0; {
		names, rest := properties(path)
		switch {
		case len(names) > 0:
			l += "\n  .map(o, o.map(o, dyn(" + property("o", names) + ".orValue(null))))" + changed
		case path[0] == schemapath.Values:
			l += "\n  .map(o, o[1].transformList(k, v, [dyn(o[0] == null ? o[0] : o[0][?k].orValue(null)), dyn(v)])).flatten()" + changed
		case s.Keys[lists] == nil: // the list has changed, and its items have no old selves
			l += "\n  .map(o, o[1].map(o, [dyn(null), dyn(o)])).flatten()" + changed
		default:
			key := keyOf(s.Keys[lists], "o")
			l += "\n  .map(o, [o[0] == null ? dyn([]) : o[0], o[1]])" +
				"\n  .map(o, [o[0].map(o, " + key + ")].map(keys, o[1].map(o, " + key + ").transformList(i, key," +
				"\n    [dyn(o[0][?i < size(keys) && keys[i] == key ? i : keys.indexOf(key)].orValue(null)), o[1][i]]))[0]).flatten()" + changed
		}
		if path[0] == schemapath.Items {
			lists++
		}
		path = rest
	}
	return s.declare(name+"Changes", l+"\n  .map(o, o.map(o, o == null ? o : dyn("+plain("o", s.names, s.union, 0)+")))"), name
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

// plain removes nulls from an object, and from objects on the way to the union object, and gives
// their properties the names that rules use. It stands below so many comprehensions.
func plain(object string, names []string, u *union.Union, depth int) string {
	k, v := numbered("k", depth), numbered("v", depth)
	switch {
	case len(names) > 0:
		value := fmt.Sprintf("%s == %s ? dyn(%s) : %s", k, rules.Quote(names[0]), plain(v, names[1:], u, depth+1), v)
		return object + "." + entries(k, v, value, names[:1])
	case u.OfItems():
		var keys []string
		for _, key := range u.Members[0].Item {
			keys = append(keys, key.Name)
		}
		item := numbered("item", depth)
		return fmt.Sprintf("%s.filter(%s, %s != null).map(%s, %s.%s)", object, item, item, item, item, entries(k, v, v, keys))
	}
	return object + "." + plainIn(nil, u, depth)
}

// plainIn is plain for an object that properties lead to from the union object.
func plainIn(in []string, u *union.Union, depth int) string {
	k, v := numbered("k", depth), numbered("v", depth)
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
			value = fmt.Sprintf("%s == %s ? dyn(%s.%s) : %s", k, rules.Quote(holder[len(in)]), v, plainIn(holder, u, depth+1), value)
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
