package product

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Test is an object or an update with the expected answer of the API server.
type Test struct {
	// Name describes the test. It is unique among the tests of a union.
	Name string
	// Object is the whole resource. Old is the object that it replaces, or nil for a creation.
	Object, Old map[string]any
	// Status is set if the object is also written to the status subresource. Without Old, the
	// object was created without a status.
	Status bool
	// Errors are the expected errors, such as "spec.tcp: Required value: …". It is empty if the
	// object is accepted. Each must be a part of an error of the server.
	Errors []string
	// Stored, unless nil, is the object that the server has to store. Metadata is ignored.
	Stored map[string]any

	// foreign is set for tests that run as in OpenShift: unknown fields are dropped, and an error
	// is a part of the whole error text, possibly in the format of servers before 1.35.
	foreign bool
	pos     diag.Pos
}

// SuiteTests returns tests for the unions of a CRD in its served versions. crd is the compiled CRD of
// the plan. Every run returns the same tests.
func SuiteTests(ctx context.Context, plan compile.Plan, crd *apiextensionsv1.CustomResourceDefinition) ([]Test, error) {
	judge := server.NewKind(crd)
	var l []Test
	for _, u := range plan.Unions {
		if !crd.Spec.Versions[u.Place.Version].Served {
			continue
		}
		tests, err := testsOf(ctx, u, plan.Tried(), withoutRules(crd, u), unionsAt(plan, u.Place), judge)
		if err != nil {
			return nil, err
		}
		l = append(l, tests...)
	}
	return l, nil
}

// unionsAt returns all unions of the object at a place.
func unionsAt(plan compile.Plan, at schemapath.Place) []*union.Union {
	var l []*union.Union
	for _, o := range plan.Unions {
		if o.Place.Is(at) {
			l = append(l, o.Union)
		}
	}
	return l
}

// inStatus reports whether a union is in the status, and the status is a subresource.
func inStatus(u compile.UnionPlan, judge *server.Kind) bool {
	top := u.Place.Path.Properties()
	return len(top) > 0 && top[0] == "status" && judge.HasStatus(u.Place.Name)
}

// withoutRules returns a CRD without the rules of a union. It keeps the rules of other unions,
// because the objects must not violate them.
func withoutRules(crd *apiextensionsv1.CustomResourceDefinition, u compile.UnionPlan) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for _, r := range u.Rules {
		r.Place.Path.Edit(crd.Spec.Versions[r.Place.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
			s.XValidations = slices.DeleteFunc(s.XValidations, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == r.Rule.Rule })
		})
	}
	return crd
}

// testsOf returns the tests of one union, for up to tried members. crd is the CRD for finding
// objects. unions are all unions of the same object.
func testsOf(ctx context.Context, plan compile.UnionPlan, tried int, crd *apiextensionsv1.CustomResourceDefinition, unions []*union.Union, judge *server.Kind) ([]Test, error) {
	u := plan.Union
	x, err := verify.NewExamples(ctx, crd, plan.Place.Version, plan.Place.Path, u, unions)
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx, u: u, place: plan.Place.String(), judge: judge, status: inStatus(plan, judge)}
	members := min(len(u.Members), tried)
	w.legal(x.Legal(-1))
	for i := range members {
		w.legal(x.Legal(i))
		if len(u.Members[i].Optional) > 0 {
			w.legal(x.Omitting(i))
		}
	}
	conditions := []union.Violation{{Condition: union.Selected, Member: -1}, {Condition: union.Unmapped, Member: -1}}
	for i := range members {
		conditions = append(conditions, union.Violation{Condition: union.Forbidden, Member: i}, union.Violation{Condition: union.Required, Member: i})
	}
	conditions = append(conditions, union.Violation{Condition: union.TooMany, Member: -1}, union.Violation{Condition: union.TooFew, Member: -1})
	for _, v := range conditions {
		e, err := x.Violating(v)
		w.violating(v, e, err)
	}
	for i := range max(members-1, 0) {
		w.legal(x.Switching(i, i+1))
		w.legal(x.Switching(i+1, i))
	}
	for i := -1; i < members; i++ {
		w.legal(x.Keeping(i))
	}
	for _, unset := range []bool{false, true} {
		for _, c := range []union.Condition{union.NotCleared, union.NotAllowed} {
			e, err := x.Changing(c, unset)
			w.violating(union.Violation{Condition: c, Member: -1}, e, err)
		}
	}
	for _, r := range plan.Rules {
		if r.Kind == compile.Guard && len(r.Place.Path) < len(plan.Place.Path) {
			link := plan.Place.Path[:len(r.Place.Path)+1]
			if e, err := x.Removing(link); e != nil || err != nil {
				w.add(false, e, err, func() string { return link.String() + " is removed" })
			}
		}
	}
	return w.tests, w.err
}

// writer collects the tests of a union.
type writer struct {
	ctx    context.Context
	u      *union.Union
	place  string
	judge  *server.Kind
	status bool // see inStatus
	tests  []Test
	err    error
}

func (w *writer) legal(e *verify.Example, err error) {
	w.add(true, e, err, func() string {
		switch {
		case e.Was == nil:
			return w.u.Describe(*e.Is)
		case e.Was.Equal(*e.Is):
			return w.u.Describe(*e.Is) + ", before and after an update"
		}
		return w.u.Describe(*e.Was) + ", then " + w.u.Describe(*e.Is)
	})
}

func (w *writer) violating(v union.Violation, e *verify.Example, err error) {
	w.add(false, e, err, func() string { return w.u.DescribeViolation(v, e.Was, *e.Is) })
}

// add adds a test unless there is no example, the test exists already, or other rules change the
// answer of the server.
func (w *writer) add(accepted bool, e *verify.Example, err error, name func() string) {
	if w.err == nil {
		w.err = err
	}
	if e == nil || w.err != nil {
		return
	}
	t := Test{Name: name() + " (" + w.place + ")", Object: e.New, Old: e.Old, Status: w.status}
	if old := t.replaced(); old != nil {
		if a, err := w.judge.Legal(w.ctx, old); err != nil || a.Refused != nil {
			w.err = err
			return
		}
	}
	answer, err := t.Answer(w.ctx, w.judge)
	if err != nil {
		w.err = err
		return
	}
	if t.Errors = causes(answer); len(t.Errors) == 0 {
		t.Stored = unmarked(answer.Object)
	}
	there := slices.ContainsFunc(w.tests, func(o Test) bool {
		return o.Name == t.Name || sameObject(o.Object, t.Object) && sameObject(o.Old, t.Old)
	})
	if accepted == (len(t.Errors) == 0) && !there {
		w.tests = append(w.tests, t)
	}
}

func sameObject(a, b map[string]any) bool {
	// Both are JSON data, which can always be marshaled.
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Answer returns the API server's answer to the test.
func (t Test) Answer(ctx context.Context, k *server.Kind) (server.Answer, error) {
	object, old := t.Object, t.replaced()
	if t.foreign {
		if known, err := k.Read(object, t.version()); err == nil {
			object = known
		}
	}
	a, err := k.Answer(ctx, object, old)
	if old == nil || err != nil || a.Refused != nil || !t.Status || !k.HasStatus(t.version()) {
		return a, err
	}
	return k.UpdateStatus(ctx, object, a.Object)
}

// replaced returns the object that the update replaces.
func (t Test) replaced() map[string]any {
	if t.Old != nil || !t.Status {
		return t.Old
	}
	old := maps.Clone(t.Object)
	delete(old, "status")
	return old
}

// causes returns the errors of an answer.
func causes(a server.Answer) []string {
	var l []string
	for _, c := range a.Causes() {
		l = append(l, cause(c))
	}
	if l == nil && a.Refused != nil {
		l = append(l, a.Refused.Error())
	}
	return l
}

func cause(c metav1.StatusCause) string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }

// Run runs the test. It returns nil if the API server's answer is the expected one. Otherwise it
// returns a diagnostic at the position of the test.
func (t Test) Run(ctx context.Context, k *server.Kind) *diag.Diagnostic {
	wrong := func(format string, args ...any) *diag.Diagnostic {
		return new(diag.New(codes.TestFailed, t.pos, "%q: %s", t.Name, fmt.Sprintf(format, args...)))
	}
	answer, err := t.Answer(ctx, k)
	if err != nil {
		return wrong("the API server cannot validate it: %v", err)
	}
	got := causes(answer)
	for _, want := range t.Errors {
		if len(got) == 0 {
			return wrong("accepted, but the test expects the error: %s", want)
		}
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) && !(t.foreign && contains(answer.Refused.Error(), want)) {
			return wrong("rejected, but not with the expected error %s: %s", want, strings.Join(got, "; "))
		}
	}
	switch {
	case len(t.Errors) == 0 && len(got) > 0:
		return wrong("rejected, and should be accepted: %s", strings.Join(got, "; "))
	case t.Stored != nil && !sameObject(unmarked(answer.Object), unmarked(t.Stored)):
		stored, _ := json.Marshal(unmarked(answer.Object))
		return wrong("the API server stores something else: %s", stored)
	}
	return nil
}

// If a rule rejects a value, servers before 1.35 print the type of the value instead of the value.
// They also format null and objects differently.
var (
	typeOfValue = regexp.MustCompile(`Invalid value: "(array|boolean|integer|number|object|string)": `)
	asOfOld     = strings.NewReplacer("map[string]interface {}{", "{", `"null"`, "null", `", "`, `","`)
)

// contains reports whether an error contains a text, which may be in the format of older servers.
func contains(err, part string) bool {
	var pattern strings.Builder
	for i, between := range typeOfValue.Split(asOfOld.Replace(part), -1) {
		if i > 0 {
			pattern.WriteString("Invalid value: (.*: )?")
		}
		pattern.WriteString(regexp.QuoteMeta(between))
	}
	return regexp.MustCompile(pattern.String()).MatchString(asOfOld.Replace(err))
}

// unmarked returns an object without its metadata.
func unmarked(object map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, object)
	delete(out, "metadata")
	return out
}
