// Package policytest applies mutating admission policies, for tests, by the API server's own
// packages.
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

// Server applies a policy as the API server does, by its own packages.
type Server struct {
	compiler *plugincel.CompositedCompiler
	patchers []patch.Patcher
	resource admissionv1.Rule
}

// New returns a server with one policy, which has to compile.
func New(t testing.TB, p *admissionv1.MutatingAdmissionPolicy) *Server {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{compiler: compiler, resource: p.Spec.MatchConstraints.ResourceRules[0].Rule}
	opts := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range p.Spec.Variables {
		if r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, opts, environment.NewExpressions); r.Error != nil {
			t.Fatalf("%s: %v", v.Expression, r.Error)
		}
	}
	opts.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		e := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, opts, environment.NewExpressions)
		if errs := e.CompilationErrors(); len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, m.JSONPatch.Expression)
		}
		s.patchers = append(s.patchers, patch.NewJSONPatcher(e))
	}
	return s
}

// Write returns what becomes of an object that is created, or replaces old.
func (s *Server) Write(old, new map[string]any) (map[string]any, error) {
	resource := schema.GroupVersionResource{Group: s.resource.APIGroups[0], Version: s.resource.APIVersions[0], Resource: s.resource.Resources[0]}
	var before runtime.Object
	operation := admission.Create
	if old != nil {
		before, operation = &unstructured.Unstructured{Object: old}, admission.Update
	}
	created := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(new)}
	kind, object := created.GroupVersionKind(), runtime.Object(created)
	scheme := runtime.NewScheme()
	for _, p := range s.patchers {
		attrs := admission.NewAttributesRecord(object, before, kind, "", created.GetName(), resource, "", operation, &metav1.CreateOptions{}, false, nil)
		got, err := p.Patch(s.compiler.CreateContext(context.Background()), patch.Request{
			MatchedResource:     resource,
			VersionedAttributes: &admission.VersionedAttributes{Attributes: attrs, VersionedKind: kind, VersionedObject: admission.NewLazyObject(object), VersionedOldObject: admission.NewLazyObject(before)},
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
