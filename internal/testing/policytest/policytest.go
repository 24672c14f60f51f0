// Package policytest evaluates admission policies in tests with the API server's own packages.
package policytest

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Server evaluates a policy as the API server does.
type Server struct {
	compiler   *plugincel.CompositedCompiler
	patchers   []patch.Patcher              // of a mutating policy
	conditions plugincel.ConditionEvaluator // of a validating policy
	rule       admissionv1.Rule
}

// New returns a server with a mutating policy, which must compile.
func New(t testing.TB, p *admissionv1.MutatingAdmissionPolicy) *Server {
	t.Helper()
	s := newServer(t, p.Spec.MatchConstraints, p.Spec.Variables)
	for _, m := range p.Spec.Mutations {
		e := s.compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, plugincel.OptionalVariableDeclarations{HasAuthorizer: true, HasPatchTypes: true}, environment.NewExpressions)
		if errs := e.CompilationErrors(); len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, m.JSONPatch.Expression)
		}
		s.patchers = append(s.patchers, patch.NewJSONPatcher(e))
	}
	return s
}

// NewValidating returns a server with a validating policy, which must compile.
func NewValidating(t testing.TB, p *admissionv1.ValidatingAdmissionPolicy) *Server {
	t.Helper()
	s := newServer(t, p.Spec.MatchConstraints, p.Spec.Variables)
	var conditions []plugincel.ExpressionAccessor
	for _, v := range p.Spec.Validations {
		conditions = append(conditions, &validating.ValidationCondition{Expression: v.Expression})
	}
	s.conditions = s.compiler.CompileCondition(conditions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
	if errs := s.conditions.CompilationErrors(); len(errs) > 0 {
		t.Fatalf("%v\n%v", errs, p.Spec.Validations)
	}
	return s
}

func newServer(t testing.TB, match *admissionv1.MatchResources, variables []admissionv1.Variable) *Server {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables {
		if r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions); r.Error != nil {
			t.Fatalf("%s: %v", v.Expression, r.Error)
		}
	}
	return &Server{compiler: compiler, rule: match.ResourceRules[0].Rule}
}

// request returns a request that creates an object, or replaces old.
func (s *Server) request(old, new runtime.Object) (*admission.VersionedAttributes, schema.GroupVersionResource) {
	resource := schema.GroupVersionResource{Group: s.rule.APIGroups[0], Version: s.rule.APIVersions[0], Resource: s.rule.Resources[0]}
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	kind := new.GetObjectKind().GroupVersionKind()
	attrs := admission.NewAttributesRecord(new, old, kind, "", new.(*unstructured.Unstructured).GetName(), resource, "", operation, &metav1.CreateOptions{}, false, nil)
	return &admission.VersionedAttributes{Attributes: attrs, VersionedKind: kind, VersionedObject: admission.NewLazyObject(new), VersionedOldObject: admission.NewLazyObject(old)}, resource
}

// stored returns the stored object, or nil if there is none.
func stored(old map[string]any) runtime.Object {
	if old == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: old}
}

// Write returns the mutated object after a create, or after an update of old.
func (s *Server) Write(old, new map[string]any) (map[string]any, error) {
	object, scheme := runtime.Object(&unstructured.Unstructured{Object: runtime.DeepCopyJSON(new)}), runtime.NewScheme()
	for _, p := range s.patchers {
		attrs, resource := s.request(stored(old), object)
		got, err := p.Patch(s.compiler.CreateContext(context.Background()), patch.Request{
			MatchedResource:     resource,
			VersionedAttributes: attrs,
			ObjectInterfaces:    admission.NewObjectInterfacesFromScheme(scheme),
			OptionalVariables:   plugincel.OptionalVariableBindings{},
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err
		}
		object = got
	}
	return object.(*unstructured.Unstructured).Object, nil
}

// Accepts reports whether the policy allows an object to be created, or to replace old.
func (s *Server) Accepts(old, new map[string]any) (bool, error) {
	attrs, resource := s.request(stored(old), &unstructured.Unstructured{Object: new})
	request := plugincel.CreateAdmissionRequest(attrs.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(attrs.VersionedKind))
	results, _, err := s.conditions.ForInput(s.compiler.CreateContext(context.Background()), attrs, request, plugincel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return false, err
	}
	accepted := true
	for _, r := range results {
		if r.Error != nil {
			return false, r.Error
		}
		accepted = accepted && r.EvalResult.Value() == true
	}
	return accepted, nil
}
