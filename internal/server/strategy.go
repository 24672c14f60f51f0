package server

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kube "k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// This file corresponds to pkg/registry/customresource of the API server: strategy.go,
// status_strategy.go and validator.go.

// prepareStatusUpdate is PrepareForUpdate of the status strategy.
func prepareStatusUpdate(u, old *unstructured.Unstructured) {
	written := u.Object
	*u = *old.DeepCopy()
	copyStatus(u.Object, written)
}

func copyStatus(to, from map[string]any) {
	if status, ok := from["status"]; ok {
		to["status"] = status
	} else {
		delete(to, "status")
	}
}

// prepareUpdate is PrepareForUpdate.
func (v *kindVersion) prepareUpdate(u, old *unstructured.Unstructured) {
	if v.withStatus {
		copyStatus(u.Object, old.Object)
	}
	was, is := maps.Clone(old.Object), maps.Clone(u.Object)
	delete(was, "metadata")
	delete(is, "metadata")
	if !equality.Semantic.DeepEqual(is, was) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
}

// validate is Validate of the strategy.
func (v *kindVersion) validate(ctx context.Context, u *unstructured.Unstructured) field.ErrorList {
	l := v.validateMeta(ctx, operation.Create, u, nil)
	l = append(l, validation.ValidateCustomResource(nil, u.Object, v.schema)...)
	l = append(l, v.validateScaleSpec(u)...)
	l = append(l, v.validateScaleStatus(u)...)
	l = append(l, objectmeta.Validate(ctx, nil, u.Object, v.structural, false)...)
	l = append(l, listtype.ValidateListSetsAndMaps(nil, v.structural, u.Object)...)
	return append(l, v.validateRules(ctx, l, u.Object, nil)...)
}

// validateUpdate is ValidateUpdate of the strategy.
func (v *kindVersion) validateUpdate(ctx context.Context, u, old *unstructured.Unstructured) field.ErrorList {
	schema, rules := v.ratchets(kube.MajorMinor(1, 30), v.correlated(u, old))
	l := v.validateMeta(ctx, operation.Update, u, old)
	l = append(l, validation.ValidateCustomResourceUpdate(nil, u.Object, old.Object, v.schema, schema...)...)
	l = append(l, v.validateScaleSpec(u)...)
	l = append(l, v.validateScaleStatus(u)...)
	l = append(l, objectmeta.Validate(ctx, nil, u.Object, v.structural, false)...)
	l = append(l, v.validateLists(u, old)...)
	return append(l, v.validateRules(ctx, l, u.Object, old.Object, rules...)...)
}

// validateStatusUpdate is ValidateUpdate of the status strategy.
func (v *kindVersion) validateStatusUpdate(ctx context.Context, u, old *unstructured.Unstructured) field.ErrorList {
	same := v.correlated(u, old)
	schema, _ := v.ratchets(kube.MajorMinor(1, 33), same.Key("status"))
	_, rules := v.ratchets(kube.MajorMinor(1, 33), same)
	l := v.validateMeta(ctx, operation.Update, u, old)
	if status, ok := u.Object["status"]; ok {
		l = append(l, validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old.Object["status"], v.status, schema...)...)
	}
	l = append(l, v.validateScaleStatus(u)...)
	l = append(l, v.validateLists(u, old)...)
	return append(l, v.validateRules(ctx, l, u.Object, old.Object, rules...)...)
}

func (v *kindVersion) correlated(u, old *unstructured.Unstructured) *common.CorrelatedObject {
	return common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: v.structural})
}

// ratchets returns the options that ratchet errors in unchanged values, which servers do since a version.
func (v *kindVersion) ratchets(since *kube.Version, same *common.CorrelatedObject) ([]validation.ValidationOption, []cel.Option) {
	if !v.server.AtLeast(since) {
		return nil, nil
	}
	return []validation.ValidationOption{validation.WithRatcheting(same)}, []cel.Option{cel.WithRatcheting(same)}
}

// validateLists validates lists that are sets or maps, unless such lists of the old object are
// invalid.
func (v *kindVersion) validateLists(u, old *unstructured.Unstructured) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, old.Object)) > 0 {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, v.structural, u.Object)
}

// NotEvaluated is the server's error when other errors prevent the evaluation of rules. Callers
// must not modify it.
var NotEvaluated = field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")

// blocked reports whether found has an error that prevents the evaluation of rules.
func blocked(found field.ErrorList) bool {
	return slices.ContainsFunc(found, func(e *field.Error) bool {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
		return false
	})
}

// validateAll is validate, but evaluates rules despite other errors, unless a value has the wrong
// type.
func (v *kindVersion) validateAll(ctx context.Context, u *unstructured.Unstructured) field.ErrorList {
	l := v.validate(ctx, u)
	wrongType := func(e *field.Error) bool { return e.Type == field.ErrorTypeTypeInvalid }
	if slices.Contains(l, NotEvaluated) && !slices.ContainsFunc(l, wrongType) {
		l = slices.DeleteFunc(l, func(e *field.Error) bool { return e == NotEvaluated })
		return append(l, v.validateRules(ctx, nil, u.Object, nil)...)
	}
	return l
}

// validateRules evaluates the rules, unless an error in found prevents it.
func (v *kindVersion) validateRules(ctx context.Context, found field.ErrorList, object, old map[string]any, opts ...cel.Option) field.ErrorList {
	if v.rules == nil {
		return nil
	}
	if blocked(found) {
		return field.ErrorList{NotEvaluated}
	}
	var before any
	if old != nil {
		before = old
	}
	more, _ := v.rules.Validate(ctx, nil, v.structural, object, before, celconfig.RuntimeCELCostBudget, opts...)
	return more
}

// validateMeta is validateObjectMetaDeclaratively; old is nil for a creation.
func (v *kindVersion) validateMeta(ctx context.Context, op operation.Type, u, old *unstructured.Unstructured) field.ErrorList {
	meta, errs := metaOf(u)
	if len(errs) > 0 {
		return errs
	}
	var before *metav1.ObjectMeta
	var name apivalidation.ValidateNameFunc
	if old == nil {
		name = apivalidation.NameIsDNSSubdomain
	} else if before, errs = metaOf(old); len(errs) > 0 {
		return errs
	}
	return apivalidation.ValidateObjectMetaDeclaratively(ctx, op, meta, before, v.namespaced(), name, field.NewPath("metadata"),
		utilfeature.DefaultFeatureGate.Enabled(features.DeclarativeValidationBeta))
}

func metaOf(u *unstructured.Unstructured) (*metav1.ObjectMeta, field.ErrorList) {
	meta := &metav1.ObjectMeta{}
	raw := u.Object["metadata"]
	if raw == nil {
		return meta, nil
	}
	m, ok := raw.(map[string]any)
	if !ok {
		return nil, field.ErrorList{field.Invalid(field.NewPath("metadata"), raw, fmt.Sprintf("expected map[string]interface{}, got %T", raw))}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, meta); err != nil {
		return nil, field.ErrorList{field.Invalid(field.NewPath("metadata"), raw, err.Error())}
	}
	return meta, nil
}

// validateScaleSpec is the server's function of the same name.
func (v *kindVersion) validateScaleSpec(u *unstructured.Unstructured) field.ErrorList {
	if v.scale == nil {
		return nil
	}
	return replicas(u, v.scale.SpecReplicasPath)
}

// validateScaleStatus is the server's function of the same name.
func (v *kindVersion) validateScaleStatus(u *unstructured.Unstructured) field.ErrorList {
	if v.scale == nil {
		return nil
	}
	l := replicas(u, v.scale.StatusReplicasPath)
	if path := v.scale.LabelSelectorPath; path != nil {
		if selector, _, err := unstructured.NestedString(u.Object, fields(*path)...); err != nil {
			l = append(l, field.Invalid(field.NewPath(*path), selector, err.Error()))
		}
	}
	return l
}

func replicas(u *unstructured.Unstructured, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(u.Object, fields(path)...)
	switch at := field.NewPath(path); {
	case err != nil:
		return field.ErrorList{field.Invalid(at, n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(at, n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// finalizerWarnings returns the warnings about finalizers that are not in the old object, which may
// be nil.
func finalizerWarnings(u, old *unstructured.Unstructured) []string {
	var known []string
	if old != nil {
		known = old.GetFinalizers()
	}
	var l []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(u.GetFinalizers()))) {
		if slices.Contains(known, name) {
			continue
		}
		for _, wrong := range utilvalidation.IsQualifiedName(name) {
			l = append(l, fmt.Sprintf("metadata.finalizers: %q: %s", name, wrong))
		}
		switch name {
		case metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes):
			continue
		}
		switch {
		case strings.Contains(name, "/"):
		case strings.Contains(name, "."):
			l = append(l, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers", name))
		default:
			l = append(l, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", name))
		}
	}
	return l
}
