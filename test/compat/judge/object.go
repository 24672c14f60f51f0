package judge

import (
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// resource is a whole object as the server's handlers see it. It is immutable: several goroutines
// may validate it concurrently.
type resource struct {
	// sent is the object of a request, or nil if it is rejected as malformed.
	sent      map[string]any
	malformed string
	// stored is the object as read from etcd.
	stored map[string]any
}

// decode builds the whole object from an item of Request.Objects.
func (s *strategy) decode(raw []byte, spread [][]string) (*resource, error) {
	var value any
	if err := utiljson.Unmarshal(raw, &value); err != nil { // int64 and float64, as in requests
		return nil, fmt.Errorf("decode: %w", err)
	}
	whole, ok := value.(map[string]any)
	if spread != nil {
		whole = map[string]any{}
		for _, path := range spread {
			if err := place(whole, path, runtime.DeepCopyJSONValue(value)); err != nil {
				return nil, err
			}
		}
	} else if !ok {
		return nil, fmt.Errorf("not an object: %s", raw)
	}
	whole["apiVersion"] = s.apiVersion
	whole["kind"] = s.kind
	whole["metadata"] = map[string]any{
		"name":              "judged",
		"uid":               "5a1f3c0e-0000-4000-8000-000000000000",
		"creationTimestamp": "2024-01-01T00:00:00Z",
	}

	o := &resource{sent: runtime.DeepCopyJSON(whole)}
	if err := s.coerce(o.sent, false); err != nil {
		o.sent, o.malformed = nil, err.Error()
		if err := s.coerce(whole, true); err != nil {
			return nil, fmt.Errorf("read from etcd: %w", err)
		}
		o.stored = whole
		return o, nil
	}
	o.stored = o.sent // no malformed metadata was dropped
	return o, nil
}

// place sets the value at a path, and adds the maps on the way.
func place(whole map[string]any, path []string, value any) error {
	if len(path) == 0 {
		return fmt.Errorf("an empty path in spread")
	}
	for _, name := range path[:len(path)-1] {
		next, ok := whole[name]
		if !ok {
			next = map[string]any{}
			whole[name] = next
		}
		if whole, ok = next.(map[string]any); !ok {
			return fmt.Errorf("the path %q in spread leads through another", path)
		}
	}
	last := path[len(path)-1]
	if _, ok := whole[last]; ok {
		return fmt.Errorf("the path %q in spread leads to another", path)
	}
	whole[last] = value
	return nil
}

// coerce processes an object like the server's decoders, in the same order:
// unstructuredSchemaCoercer.apply in pkg/apiserver/customresource_handler.go, then
// unstructuredDefaulter.Default, both for requests and for etcd. Malformed metadata of embedded
// resources is dropped when reading from etcd; requests with it are rejected.
func (s *strategy) coerce(whole map[string]any, dropMalformed bool) error {
	structuralpruning.Prune(whole, s.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(whole, s.structural)
	if err := schemaobjectmeta.Coerce(nil, whole, s.structural, false, dropMalformed); err != nil {
		return err
	}
	structuraldefaulting.Default(whole, s.structural)
	return nil
}

// places finds the paths of Request.Spread in the fields of errors.
type places [][]string // each path in every notation

// places returns the paths to find.
func (s *strategy) places(spread [][]string) places {
	var all places
	for _, path := range spread {
		// Most errors have keys of maps in brackets, but errors of the OpenAPI schema write them
		// like properties.
		var keyed strings.Builder
		at := s.structural
		for i, name := range path {
			var property bool
			if at, property = child(at, name); property {
				if i > 0 {
					keyed.WriteByte('.')
				}
				keyed.WriteString(name)
			} else {
				fmt.Fprintf(&keyed, "[%s]", name)
			}
		}
		all = append(all, slices.Compact([]string{strings.Join(path, "."), keyed.String()}))
	}
	return all
}

// child returns the schema of a property, or of the value of a map. A name without a schema counts
// as a property.
func child(s *structuralschema.Structural, name string) (_ *structuralschema.Structural, property bool) {
	if s == nil {
		return nil, true
	}
	if p, ok := s.Properties[name]; ok {
		return &p, true
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural, false
	}
	return nil, true
}

// of returns the sorted indices of the paths with an error at or below them. The first index is -1
// if any error is at no path.
func (p places) of(errs []Error) []int {
	at := []int{}
	for _, err := range errs {
		found := false
		for i, ways := range p {
			if slices.ContainsFunc(ways, func(way string) bool {
				rest, ok := strings.CutPrefix(err.Field, way)
				return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
			}) {
				found = true
				at = append(at, i)
			}
		}
		if p == nil { // the whole object is the only path
			at = append(at, 0)
		} else if !found {
			at = append(at, -1)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}
