package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// program is a policy compiled by the API server's compiler.
type program struct {
	compiler    *plugincel.CompositedCompiler
	expressions []plugincel.MutatingEvaluator // MutatingEvaluator evaluates any expression
}

// compile compiles the variables and expressions of a policy in the API server's CEL environment.
// The error names the expression that the API server would reject.
func compile(text *policy) (*program, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	opts := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range text.variables {
		if r := compiler.CompileAndStoreVariable(expression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}}, opts, environment.NewExpressions); r.Error != nil {
			return nil, fmt.Errorf("%s: %w", v.Expression, r.Error)
		}
	}
	p := &program{compiler: compiler}
	opts.HasPatchTypes = text.returns == patches
	for _, e := range text.expressions {
		r := compiler.CompileCELExpression(expression{"", e.Expression, []*cel.Type{text.returns}}, opts, environment.NewExpressions)
		if r.Error != nil {
			return nil, fmt.Errorf("%s: %w", e.Expression, r.Error)
		}
		p.expressions = append(p.expressions, plugincel.NewMutatingEvaluator(r))
	}
	return p, nil
}

// cost returns the cost of the most expensive expression, including its variables, for an update
// from old to new.
func (p *program) cost(k union.Kind, old, new map[string]any) (int64, error) {
	before, after := &unstructured.Unstructured{Object: old}, &unstructured.Unstructured{Object: new}
	resource := k.GroupVersion().WithResource(k.Resource)
	attrs := admission.NewAttributesRecord(after, before, k.GroupVersionKind, "", "", resource, "", admission.Update, &metav1.UpdateOptions{}, false, nil)
	versioned := &admission.VersionedAttributes{Attributes: attrs, VersionedKind: k.GroupVersionKind, VersionedObject: admission.NewLazyObject(after), VersionedOldObject: admission.NewLazyObject(before)}
	request := plugincel.CreateAdmissionRequest(attrs, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(k.GroupVersionKind))
	var most int64
	for _, e := range p.expressions {
		r, left, err := e.ForInput(p.compiler.CreateContext(context.Background()), versioned, request, plugincel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
		if err == nil && r.Error != nil {
			err = r.Error
		}
		if err != nil {
			return 0, err
		}
		most = max(most, celconfig.RuntimeCELCostBudget-left)
	}
	return most, nil
}

// CheckMutating compiles the policies that [Mutating] returns for the versions of a kind, with the
// API server's compiler. It reports unions that the policies do not normalize, and the path where
// the smallest number of union objects exceeds the server's cost limit. The error is about a policy
// that the server rejects.
func CheckMutating(versions []union.Kind, opts Options) (diag.List, error) {
	write := func(versions []union.Kind) []*policy {
		l, _ := mutating(versions, opts) // callers of Mutating report the error
		return l
	}
	return check(versions, opts, write, mutatingGaps)
}

// CheckValidating is [CheckMutating] for the policies that [Validating] returns. It reports the
// rules that the policies do not enforce.
func CheckValidating(versions []union.Kind, opts Options) (diag.List, error) {
	return check(versions, opts, validating, validatingGaps)
}

// patches is the type of the expressions of a mutating policy.
var patches = cel.ListType(cel.ObjectType("JSONPatch"))

// expression is an expression of a policy in the form that the API server's compiler expects. The
// server's own types are in packages that import every client of the API.
type expression struct {
	name  string // empty unless the expression is a variable
	text  string
	types []*cel.Type // the allowed return types
}

func (e expression) GetName() string          { return e.name }
func (e expression) GetExpression() string    { return e.text }
func (e expression) ReturnTypes() []*cel.Type { return e.types }

func check(versions []union.Kind, opts Options, write func([]union.Kind) []*policy, gaps func(union.Kind) diag.List) (diag.List, error) {
	for _, p := range write(versions) {
		if _, err := compile(p); err != nil {
			return nil, fmt.Errorf("the API server does not accept policy %s: %w", p.name, err)
		}
	}
	var l, cost diag.List
	least := math.MaxInt
	for _, k := range versions {
		l = append(l, gaps(k)...)
		for _, alone := range k.Split() {
			o := slices.Concat(alone.Objects, alone.Lists)[0]
			for _, p := range write([]union.Kind{alone}) {
				n, err := longest(p, alone, o)
				if err != nil {
					return nil, fmt.Errorf("policy %s: %w", p.name, err)
				}
				if n < least && !o.Bounded(n) {
					least, cost = n, diag.List{costly(k, o, n, opts)}
				}
			}
		}
	}
	return append(l, cost...), nil
}

// costly reports that more than n union objects exceed the cost limit.
func costly(k union.Kind, o union.Instances, n int, opts Options) diag.Diagnostic {
	for unit := 1; n >= 10*unit; unit *= 10 {
		n -= n % unit // keep two digits
	}
	d := diag.New(codes.CostlyPolicy, diag.Pos{File: k.Origin},
		"with more than about %d of these objects, a %s exceeds the cost limit of the policy and is rejected", n, k.Kind).At(o.Path.String()).
		Hinted("to let it pass as it is, use --failure-policy Ignore")
	if opts.FailurePolicy == admissionv1.Ignore {
		d.Severity, d.Message, d.Hint = diag.Info, strings.Replace(d.Message, "is rejected", "passes as it is", 1), ""
	}
	return d
}

// longest returns the number of union objects at the path of o for which an expression reaches the
// API server's cost limit. It measures the cost of a few objects and extrapolates with a polynomial
// of the second degree.
func longest(text *policy, k union.Kind, o union.Instances) (int, error) {
	n := math.MaxInt
	if !o.Path.HasElements() {
		return n, nil
	}
	p, err := compile(text)
	if err != nil {
		return 0, err
	}
	for _, f := range fillings(o) {
		var costs [3]float64
		for i := range costs {
			f.n = measured * (i + 1)
			cost, err := p.cost(k, f.object(o, false), f.object(o, true))
			if err != nil {
				return 0, err
			}
			costs[i] = float64(cost)
		}
		n = min(n, reaches(costs))
	}
	return n, nil
}

// measured is the number of union objects in the first measurement. Each further measurement adds
// as many.
const measured = 30

// reaches returns the number of union objects at which the cost reaches the limit.
func reaches(costs [3]float64) int {
	a := (costs[2] - 2*costs[1] + costs[0]) / (2 * measured * measured)
	b := (costs[1]-costs[0])/measured - 3*measured*a
	c := costs[0] - measured*b - measured*measured*a - celconfig.PerCallLimit
	n := math.Inf(1)
	switch d := b*b - 4*a*c; {
	case a > 0:
		n = (math.Sqrt(d) - b) / (2 * a)
	case b > 0:
		n = -c / b
	}
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return int(n)
}

// filling describes an object with n union objects, and a change to them.
type filling struct {
	n int
	// outer spreads the union objects over n items of the outermost list or map. Otherwise a single
	// innermost list or map contains all of them.
	outer bool
	// switched also sets the last member of each union, and reversed reverses the order of lists.
	switched, reversed bool
}

// fillings returns the fillings whose cost may be the highest.
func fillings(o union.Instances) []filling {
	var l []filling
	for _, outer := range []bool{false, true} {
		l = append(l, filling{outer: outer}, filling{outer: outer, switched: true}, filling{outer: outer, switched: true, reversed: true})
	}
	if elementsOn(o.Path) == 1 {
		return l[:3]
	}
	return l
}

// elementsOn returns the number of lists and maps on a path.
func elementsOn(p schemapath.Path) int { return len(p) - len(p.Properties()) }

// object returns the object before the change or, if changed is true, after it.
func (f filling) object(o union.Instances, changed bool) map[string]any {
	return f.fill(o, o.Path, 0, 0, changed).(map[string]any) // the path starts with a property
}

// fill returns the value at path, the rest of the path of o. elements counts the lists and maps
// above it, and lists only the lists.
func (f filling) fill(o union.Instances, path schemapath.Path, elements, lists int, changed bool) any {
	if len(path) == 0 {
		return unionObject(o, f.switched && changed)
	}
	if name, ok := path[0].Property(); ok {
		return map[string]any{name: f.fill(o, path[1:], elements, lists, changed)}
	}
	n := 1
	if f.outer && elements == 0 || !f.outer && elements == elementsOn(o.Path)-1 {
		n = f.n
	}
	if path[0] == schemapath.Values {
		m := map[string]any{}
		for i := range n {
			m[fmt.Sprintf("a-typical-name-%05d", i)] = f.fill(o, path[1:], elements+1, lists, changed)
		}
		return m
	}
	var l []any
	for i := range n {
		item := f.fill(o, path[1:], elements+1, lists+1, changed)
		if object, ok := item.(map[string]any); ok && lists < len(o.Keys) {
			for _, key := range o.Keys[lists] {
				object[key] = fmt.Sprintf("a-typical-name-%05d", i)
			}
		}
		l = append(l, item)
	}
	if f.reversed && changed {
		slices.Reverse(l)
	}
	return l
}

// unionObject has the first member of each union and, if switched is true, also the last one.
func unionObject(o union.Instances, switched bool) any {
	if u := o.Unions[0]; u.OfItems() {
		list := []any{itemOf(u.Members[0])}
		if switched {
			list = append(list, itemOf(u.Members[len(u.Members)-1]))
		}
		return list
	}
	object := map[string]any{}
	for _, u := range o.Unions {
		if len(u.Members) == 0 {
			continue
		}
		set := u.Members[:1]
		if switched {
			set = []union.Member{u.Members[0], u.Members[len(u.Members)-1]}
		}
		for _, m := range set {
			u.Put(object, m.Name, valueOf(m))
			if u.Discriminator != "" && len(m.Values) > 0 {
				u.Put(object, u.Discriminator, u.Type.Value(m.Values[0]))
			}
		}
	}
	return object
}

// itemOf returns the list item that is member m.
func itemOf(m union.Member) map[string]any {
	item := map[string]any{}
	for _, key := range m.Item {
		item[key.Name] = key.Value
	}
	return item
}

// valueOf returns a value that sets member m.
func valueOf(m union.Member) any {
	switch m.Empty {
	case union.EmptyCollection:
		return []any{"x"}
	case union.EmptyObject:
		return map[string]any{m.Fields[0]: "x"}
	case union.EmptyBoolean:
		return true
	case union.EmptyInteger, union.EmptyNumber:
		return int64(1)
	}
	return "x"
}
