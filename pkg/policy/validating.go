package policy

import (
	"cmp"
	"slices"

	celtypes "github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Actions are the actions that the binding of a validating policy may have.
var Actions = []string{string(admissionv1.Audit), string(admissionv1.Deny), string(admissionv1.Warn)}

// Validating returns the policies that reject objects and changes violating the unions of a kind,
// and their bindings. versions are the versions of one kind. The policies enforce the rules of
// pkg/rules. They ratchet as the API server does for rules in a schema: unchanged union objects are
// not validated.
func Validating(versions []union.Kind, opts Options) (policies []*admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding) {
	actions := opts.Actions
	if len(actions) == 0 {
		actions = []admissionv1.ValidationAction{admissionv1.Deny}
	}
	for _, p := range validating(versions) {
		policies = append(policies, &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: p.name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: p.matches, Variables: p.variables, Validations: p.expressions, FailurePolicy: new(cmp.Or(opts.FailurePolicy, admissionv1.Fail)),
			},
		})
		bindings = append(bindings, &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: p.name},
			Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: p.name, ValidationActions: slices.Clone(actions), MatchResources: selecting(opts)},
		})
	}
	return policies, bindings
}

// validating returns the policies of [Validating].
func validating(versions []union.Kind) []*policy {
	return written(versions, "unions", celtypes.BoolType, func(k union.Kind, p *policy) {
		objects := slices.Concat(k.Objects, k.Lists)
		p.matches = matching(k, objects)
		for _, o := range objects {
			for _, u := range o.Unions {
				p.expressions = append(p.expressions, validations(o, u, &p.variables)...)
			}
		}
	})
}

// validations returns the rules of one union.
func validations(o union.Instances, u *union.Union, vars *variables) []admissionv1.Validation {
	at := ruledObject{o, o.Path, nil, u, vars}
	var l []admissionv1.Validation
	for _, r := range rules.Static(u, rules.Paired) {
		if u.Ratchet {
			l = append(l, at.transition(r))
		} else {
			l = append(l, at.static(r))
		}
	}
	if !u.Guarded() { // without a guard, a forbidden change also violates a static rule
		return l
	}
	for _, r := range rules.Transition(u, rules.Comparison{}) {
		l = append(l, at.transition(r))
	}
	for _, names := range o.Removable {
		if r, ok := rules.RemovalGuard(u, names); ok && expressible(names) {
			parent := ruledObject{o, o.Path[:len(o.Path)-len(names)], names, u, vars}
			l = append(l, parent.transition(r))
		}
	}
	return l
}

// expressible reports whether rules can read all properties with the given names.
func expressible(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := apiservercel.Escape(name); return !ok })
}

// ruledObject is the object that rules apply to: a union object or an ancestor of it.
type ruledObject struct {
	union.Instances
	path  schemapath.Path
	names []string // the properties from the object to the union object
	union *union.Union
	*variables
}

// The variables of rules, and of the expressions that apply them.
var (
	self    = cel.Var("self")
	oldSelf = cel.Var("oldSelf")
	change  = cel.Var("change") // a pair of old and new object
	each    = cel.Var("o")      // an item of a list
)

// halves returns the two objects of a pair.
func halves(pair cel.Expr) (old, new cel.Expr) { return pair.Index(cel.Int(0)), pair.Index(cel.Int(1)) }

func (s ruledObject) static(r rules.Rule) admissionv1.Validation {
	changes, name := s.changes()
	_, new := halves(change)
	return s.validation(r, s.declare(name, changes.Map(change, new)).All(self, cel.Raw(r.Rule)))
}

// transition applies a rule to the changed objects and their old versions.
func (s ruledObject) transition(r rules.Rule) admissionv1.Validation {
	changes, _ := s.changes()
	old, new := halves(change)
	holds := func(old cel.Expr) cel.Expr {
		return cel.List(old).All(oldSelf, cel.List(new).All(self, cel.Raw(r.Rule)))
	}
	created := old.Eq(cel.Null)
	if r.OptionalOldSelf {
		return s.validation(r, changes.All(change, holds(cel.If(created, optional.Call("none"), optional.Call("of", old)))))
	}
	return s.validation(r, changes.All(change, cel.Or(created, holds(old))))
}

// validation returns a validation for a rule. holds is the expression that applies the rule.
func (s ruledObject) validation(r rules.Rule, holds cel.Expr) admissionv1.Validation {
	at := "object"
	if len(s.path) > 0 {
		at = s.path.String()
	}
	v := admissionv1.Validation{Expression: holds.Layout(), Message: at + ": " + r.Message, Reason: new(metav1.StatusReasonInvalid)}
	if r.Reason == rules.ReasonForbidden {
		*v.Reason = metav1.StatusReasonForbidden
	}
	return v
}

// changes returns a variable: a list with a pair for each changed object. The pair is the old
// object, or null if there is none, and the new object. Names of further variables for these
// objects start with name.
func (s ruledObject) changes() (variable cel.Expr, name string) {
	name = "object"
	if names := s.path.Properties(); len(names) > 0 {
		name = variableName(names[len(names)-1])
	}
	old, new := halves(each)
	k, v := numbered("k", 0), numbered("v", 0)
	pairs, lists := cel.List(cel.List(cel.Dyn(cel.Var("oldObject")), cel.Dyn(cel.Var("object")))), 0
	if len(s.path) == 0 {
		pairs = changed(both(pairs, orItself(each, cel.Dyn(each.TransformMap(k, v, k.Ne(cel.String("metadata")), v)))))
	}
	for path := s.path; len(path) > 0; {
		names, rest := properties(path)
		switch {
		case len(names) > 0:
			pairs = both(pairs, cel.Dyn(orNull(each.Optional(names...))))
		case path[0] == schemapath.Values:
			was := orItself(old, orNull(old.OptionalAt(k)))
			pairs = flat(pairs, new.TransformList(k, v, cel.List(cel.Dyn(was), cel.Dyn(v))))
		case s.Keys[lists] == nil: // the list changed, and its items cannot be matched with old items
			pairs = flat(pairs, new.Map(each, cel.List(cel.Dyn(cel.Null), cel.Dyn(each))))
		default:
			pairs = flat(pairs.Map(each, cel.List(cel.If(old.Eq(cel.Null), cel.Dyn(emptyList), old), new)), itemPairs(s.Keys[lists]))
		}
		pairs = changed(pairs)
		if path[0] == schemapath.Items {
			lists++
		}
		path = rest
	}
	return s.declare(name+"Changes", both(pairs, orItself(each, cel.Dyn(plain(each, s.names, s.union, 0))))), name
}

// changed returns the pairs whose new object exists and differs from the old one.
func changed(pairs cel.Expr) cel.Expr {
	old, new := halves(each)
	return pairs.Filter(each, cel.And(new.Ne(cel.Null), old.Ne(new)))
}

// both applies the expression made to both objects of each pair.
func both(pairs, made cel.Expr) cel.Expr { return pairs.Map(each, each.Map(each, made)) }

// flat replaces each pair with a list of pairs and joins these lists.
func flat(pairs, list cel.Expr) cel.Expr { return pairs.Map(each, list).Call("flatten") }

// orItself returns null if value is null, and otherwise the second expression.
func orItself(value, otherwise cel.Expr) cel.Expr {
	return cel.If(value.Eq(cel.Null), value, otherwise)
}

// itemPairs pairs the items of two lists that have the same keys.
func itemPairs(names []string) cel.Expr {
	old, new := halves(each)
	keys, key, index := cel.Var("keys"), cel.Var("key"), cel.Var("i")
	of := func(list cel.Expr) cel.Expr { return list.Map(each, keyOf(names, each)) }
	was := orNull(old.OptionalAt(indexIn(keys, key, index)))
	return cel.Let(keys, of(old), of(new).TransformList(index, key, cel.List(cel.Dyn(was), new.Index(index))))
}

// properties returns the properties at the start of a path, and the rest of the path. If the path
// starts with another step, rest is the path after that step.
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

// plain removes nulls from the object and from the objects on the path names to the union object.
// Properties get their escaped names, as in rules. depth counts the enclosing comprehensions.
func plain(object cel.Expr, names []string, u *union.Union, depth int) cel.Expr {
	k, v := numbered("k", depth), numbered("v", depth)
	switch {
	case len(names) > 0:
		value := cel.If(k.Eq(cel.String(names[0])), cel.Dyn(plain(v, names[1:], u, depth+1)), v)
		return entries(object, k, v, value, names[:1])
	case u.OfItems():
		var keys []string
		for _, key := range u.Members[0].Item {
			keys = append(keys, key.Name)
		}
		item := numbered("item", depth)
		return object.Filter(item, item.Ne(cel.Null)).Map(item, entries(item, k, v, v, keys))
	}
	return plainIn(object, nil, u, depth)
}

// plainIn is plain for the object at path in of the union object.
func plainIn(object cel.Expr, in []string, u *union.Union, depth int) cel.Expr {
	k, v := numbered("k", depth), numbered("v", depth)
	value := v
	var names []string
	for _, m := range u.Members {
		if path := u.Path(m.Name).Properties(); m.Empty == union.EmptyObject && directlyIn(in, path) {
			f, w := cel.Var("f"), cel.Var("w")
			value = cel.If(k.Eq(cel.String(path[len(in)])), cel.Dyn(entries(v, f, w, w, m.Fields)), value)
		}
	}
	for _, name := range append(u.MemberNames(), u.Discriminator) {
		if path := u.Path(name).Properties(); directlyIn(in, path) && name != "" {
			names = append(names, path[len(in)])
		}
	}
	for _, holder := range u.Holders() {
		if directlyIn(in, holder) {
			names = append(names, holder[len(in)])
			value = cel.If(k.Eq(cel.String(holder[len(in)])), cel.Dyn(plainIn(v, holder, u, depth+1)), value)
		}
	}
	return entries(object, k, v, value, names)
}

// entries returns a map without nulls. Its keys are names as escaped in rules.
func entries(of, k, v, value cel.Expr, names []string) cel.Expr {
	key := k
	for _, name := range names {
		if escaped, _ := apiservercel.Escape(name); escaped != name {
			key = cel.If(k.Eq(cel.String(name)), cel.String(escaped), key)
		}
	}
	if key == k && value == v {
		return of.TransformMap(k, v, v.Ne(cel.Null), v)
	}
	return of.TransformMapEntry(k, v, v.Ne(cel.Null), cel.Map(key.Entry(value)))
}
