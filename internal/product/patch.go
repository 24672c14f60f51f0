package product

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	diffpatch "gomodules.xyz/jsonpatch/v2"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// PatchType is a type of patch.
type PatchType string

// The types of patches of kubectl patch and the API server.
const (
	JSONPatch      PatchType = "json"      // RFC 6902
	MergePatch     PatchType = "merge"     // RFC 7386
	StrategicPatch PatchType = "strategic" // for Kubernetes' own types only
)

// PatchTypes returns the types of patches. The caller owns the result.
func PatchTypes() []PatchType { return []PatchType{JSONPatch, MergePatch, StrategicPatch} }

// CreatePatch returns the patch of a type that turns an object of a kind into another object, both as
// unstructured JSON. It is empty, {} or [], if they are equal. Fields that the server sets,
// including the namespace, stay if the other object omits them. Create applies the patch to verify
// its result.
func CreatePatch(gvk schema.GroupVersionKind, t PatchType, from, to map[string]any) ([]byte, error) {
	from = withoutServers(from, to)
	a, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	var patch []byte
	switch t {
	case JSONPatch:
		var operations []diffpatch.Operation
		if operations, err = diffpatch.CreatePatch(a, b); err == nil {
			patch, err = inOrder(operations, from, to)
		}
	case MergePatch:
		patch, err = jsonpatch.CreateMergePatch(a, b)
	case StrategicPatch:
		var made map[string]any
		if made, err = strategic(gvk, func(typed any) (strategicpatch.JSONMap, error) {
			return strategicpatch.CreateTwoWayMergeMapPatch(from, runtime.DeepCopyJSON(to), typed)
		}); err == nil {
			patch, err = json.Marshal(made)
		}
	}
	if err != nil {
		return nil, err
	}
	got, err := ApplyPatch(gvk, t, from, patch)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(kubectlNumbers(got), kubectlNumbers(to)) {
		return nil, fmt.Errorf("a patch of type %s cannot express this change", t)
	}
	return patch, nil
}

// inOrder returns a JSON patch with sorted operations, where their order does not matter. The input
// has an arbitrary order, except for operations on the same list.
func inOrder(operations []diffpatch.Operation, from, to map[string]any) ([]byte, error) {
	sorted := slices.SortedStableFunc(slices.Values(operations), func(a, b diffpatch.Operation) int { return strings.Compare(a.Path, b.Path) })
	backwards := slices.Clone(sorted)
	slices.Reverse(backwards)
	for _, l := range [][]diffpatch.Operation{sorted, backwards, operations} {
		patch, err := json.Marshal(append([]diffpatch.Operation{}, l...))
		if err != nil {
			return nil, err
		}
		if got, err := ApplyPatch(schema.GroupVersionKind{}, JSONPatch, from, patch); err == nil && reflect.DeepEqual(kubectlNumbers(got), kubectlNumbers(to)) {
			return patch, nil
		}
	}
	return nil, errors.New("a patch of type json cannot express this change")
}

// ApplyPatch returns the result of applying a patch to an object of a kind. It returns an error if the
// API server would reject the patch.
func ApplyPatch(gvk schema.GroupVersionKind, t PatchType, object map[string]any, patch []byte) (map[string]any, error) {
	original, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if first := bytes.TrimLeft(patch, " \t\r\n"); t != JSONPatch && !bytes.HasPrefix(first, []byte("{")) {
		return nil, fmt.Errorf("a patch of type %s must be an object; a list of operations has type %s", t, JSONPatch)
	}
	var data []byte
	var result map[string]any
	switch t {
	case JSONPatch:
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(patch); err == nil {
			data, err = p.Apply(original)
		}
	case MergePatch:
		data, err = jsonpatch.MergePatch(original, patch)
	case StrategicPatch:
		var fields map[string]any
		if err = utiljson.Unmarshal(patch, &fields); err == nil {
			result, err = strategic(gvk, func(typed any) (strategicpatch.JSONMap, error) {
				return strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(object), fields, typed)
			})
		}
	default:
		err = fmt.Errorf("no type of patch is called %q", t)
	}
	if err == nil && data != nil {
		err = utiljson.Unmarshal(data, &result)
	}
	if err != nil {
		return nil, err
	}
	if kubectlNumbers(result); result == nil {
		return nil, errors.New("the result is no object")
	}
	return result, nil
}

// strategic runs a function of the strategic merge patch library for one of Kubernetes' own kinds.
// The Go type of the kind defines how its lists merge. The library panics for lists that do not fit
// the type, so strategic returns an error.
func strategic(gvk schema.GroupVersionKind, run func(typed any) (strategicpatch.JSONMap, error)) (result map[string]any, err error) {
	typed, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, fmt.Errorf("%s has no strategic merge patch: only Kubernetes' own types have; use merge or json", gvk.Kind)
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the API server cannot merge these lists: %v", cause)
		}
	}()
	return run(typed)
}

// BuiltIn reports whether a kind is one of Kubernetes' own.
func BuiltIn(gvk schema.GroupVersionKind) bool { return scheme.Scheme.Recognizes(gvk) }

// withoutServers returns an object without the fields that the server sets and that to omits. They
// include the namespace.
func withoutServers(object, to map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if _, ok := to["status"]; !ok {
		delete(object, "status")
	}
	metadata, _ := object["metadata"].(map[string]any)
	other, _ := to["metadata"].(map[string]any)
	for _, key := range []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "namespace", "resourceVersion", "selfLink", "uid"} {
		if _, ok := other[key]; !ok {
			delete(metadata, key)
		}
	}
	return object
}

// kubectlNumbers returns JSON data with the number types that kubectl uses.
func kubectlNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = kubectlNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = kubectlNumbers(v[i])
		}
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	}
	return v
}
