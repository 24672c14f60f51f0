package change

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// Write is a way to write a stored object.
type Write int

// The writes. All except Within leave the invalid values unchanged.
const (
	// Rewrite replaces the object with itself, as a storage migration does.
	Rewrite Write = iota
	// Status replaces the status with itself through the subresource.
	Status
	// Metadata adds an annotation. Adding a label or removing a finalizer is equivalent.
	Metadata
	// Apply adds the annotation by server-side apply.
	Apply
	// Elsewhere changes a field outside of the invalid values. This is a field of the spec if
	// possible.
	Elsewhere
	// Items adds an item to a list that has an invalid item, or that violates a rule.
	Items
	// StatusElsewhere changes another field of an invalid status, or adds an item to an invalid list in it, as
	// controllers do.
	StatusElsewhere
	// Within changes a field in values that violate constraints.
	Within
)

var writes = []string{"rewrite", "status", "metadata", "apply", "elsewhere", "items", "report", "within"}

// Writes returns all writes, in order. The caller owns the result.
func Writes() []Write {
	return []Write{Rewrite, Status, Metadata, Apply, Elsewhere, Items, StatusElsewhere, Within}
}

// String returns the name of the write in lower case.
func (w Write) String() string { return writes[w] }

// MarshalText returns the same text as String.
func (w Write) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// attempts bounds the changes that are tried until the server accepts one. The server may reject
// the first change for an unrelated reason.
const attempts = 12

// write tries a write of an object with problems. possible is false if there is nothing to change.
func (c *inquiry) write(ctx context.Context, w Write, found []Problem) (possible bool, refused []Problem, err error) {
	switch w {
	case Rewrite:
		refused, err := c.replace(ctx, c.read, c.stored)
		return true, refused, err
	case Status:
		if !c.kind.HasStatus(c.version) {
			return false, nil, nil
		}
		refused, err := c.replaceStatus(ctx, c.read, c.stored)
		return true, refused, err
	case Metadata:
		labelled := unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.read)}
		annotations := labelled.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["unioncel.dev/asked"] = ""
		labelled.SetAnnotations(annotations)
		refused, err := c.replace(ctx, labelled.Object, c.stored)
		return true, refused, err
	case Apply: // the result is validated in the same way as for Metadata
		refused, err := c.problems(func(k *server.Kind) (server.Answer, error) { return k.Applicable(c.read) })
		return true, refused, err
	case Elsewhere:
		return c.change(ctx, c.elsewhere(found), false)
	case Items, StatusElsewhere:
		for _, p := range found {
			each := c.items(p)
			if w == StatusElsewhere {
				each = []iter.Seq[map[string]any]{c.report(p, c.faults(found))}
			}
			for _, changed := range each {
				asked, l, err := c.change(ctx, changed, w == StatusElsewhere)
				if err != nil || len(l) > 0 {
					return asked, l, err
				}
				possible = possible || asked
			}
		}
		return possible, nil, nil
	}
	return c.change(ctx, c.variations(found), len(found) > 0 && !slices.ContainsFunc(found, func(p Problem) bool { return !inStatus(p.at) }))
}

func inStatus(p place) bool { return len(p) > 0 && p[0] == "status" }

// change tries writes that change something. The server validates only the new object, and compares
// it with the old one. So the stored object, whose problems are known, serves as the new object,
// and a variation of it serves as the old object.
func (c *inquiry) change(ctx context.Context, changed iter.Seq[map[string]any], status bool) (possible bool, refused []Problem, err error) {
	ask := c.replace
	if status && c.kind.HasStatus(c.version) {
		ask = c.replaceStatus
	}
	tried := 0
	for old := range changed {
		l, err := ask(ctx, c.read, old)
		if err != nil {
			return false, nil, err
		}
		if tried++; tried == 1 || len(l) < len(refused) {
			refused = l
		}
		if tried == attempts || !slices.ContainsFunc(l, readsWhatChanges) {
			break
		}
	}
	return tried > 0, refused, nil
}

// readsWhatChanges reports whether another change may avoid the problem, because a rule compares
// the change with the old object. Ratcheting does not depend on the change.
func readsWhatChanges(p Problem) bool {
	return p.Constraint.Keyword == TransitionRule || p.Constraint.Keyword == EvaluationError && ReadsOld(p.Constraint.Rule)
}

func (c *inquiry) replace(ctx context.Context, object, old map[string]any) ([]Problem, error) {
	return c.problems(func(k *server.Kind) (server.Answer, error) { return k.Update(ctx, object, old) })
}

func (c *inquiry) replaceStatus(ctx context.Context, object, old map[string]any) ([]Problem, error) {
	return c.problems(func(k *server.Kind) (server.Answer, error) { return k.UpdateStatus(ctx, object, old) })
}

// elsewhere returns variations of the object that change one field outside the faults each,
// beginning with the fields of the spec.
func (c *inquiry) elsewhere(found []Problem) iter.Seq[map[string]any] {
	at := place{"spec"}
	if _, ok := c.stored["spec"].(map[string]any); !ok {
		at = nil
	}
	faults := c.faults(found)
	return func(yield func(map[string]any) bool) {
		for {
			for changed := range c.siblings(at, faults) {
				if !yield(changed) {
					return
				}
			}
			// Fields alongside a single fault, in the same field, count, too.
			if len(faults) != 1 || len(at)+1 >= len(faults[0]) || !hasPrefix(faults[0], at) {
				return
			}
			at = faults[0][:len(at)+1]
		}
	}
}

// report returns variations of the object that change one field of the status each, or add an item
// to a list in it, beginning with the fields closest to a fault in the status.
func (c *inquiry) report(p Problem, faults []place) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for at := p.at; inStatus(at); at = at[:len(at)-1] {
			for _, changed := range []iter.Seq[map[string]any]{c.siblings(at, faults), c.addition(at)} {
				for changed := range changed {
					if !yield(changed) {
						return
					}
				}
			}
		}
	}
}

// siblings returns variations of the object at a path with one field added or removed each. The
// fields do not lead to a fault.
func (c *inquiry) siblings(at place, faults []place) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		v, _ := at.Lookup(c.stored)
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		s, keys := c.schemaOf(at), []string{}
		if len(at) > 0 {
			if _, item := at[len(at)-1].(int); item {
				keys = c.schemaOf(at[:len(at)-1]).XListMapKeys
			}
		}
		names := slices.Sorted(maps.Keys(object))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			to := at.Child(name)
			if len(at) == 0 && slices.Contains(ownFields, name) || slices.Contains(keys, name) || slices.ContainsFunc(faults, func(f place) bool { return hasPrefix(f, to) }) {
				continue
			}
			changed := runtime.DeepCopyJSON(c.stored)
			in, _ := at.Lookup(changed)
			if _, ok := object[name]; ok {
				delete(in.(map[string]any), name)
			} else {
				in.(map[string]any)[name] = anyValue(s.Properties[name])
			}
			if c.differs(changed) && !yield(changed) {
				return
			}
		}
	}
}

// items returns, for each list outside the status that has an invalid item or violates a rule, the
// variation of the object with an added item.
func (c *inquiry) items(p Problem) (l []iter.Seq[map[string]any]) {
	for i, step := range p.at {
		if _, ok := step.(int); ok && !inStatus(p.at) {
			l = append(l, c.addition(p.at[:i]))
		}
	}
	if p.Constraint.IsRule() && !inStatus(p.at) {
		l = append(l, c.addition(p.at))
	}
	return l
}

// addition returns the variation of the object with an item added to the list at a path, or none if
// the value there is no list with items.
func (c *inquiry) addition(at place) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		if len(at) == 0 {
			return
		}
		changed := runtime.DeepCopyJSON(c.stored)
		parent, _ := at[:len(at)-1].Lookup(changed)
		value, _ := at.Lookup(changed)
		object, inObject := parent.(map[string]any)
		list, isList := value.([]any)
		if !inObject || !isList || len(list) == 0 {
			return // a list of lists, or a field that only the version of the write has
		}
		added := runtime.DeepCopyJSONValue(list[len(list)-1])
		if item, ok := added.(map[string]any); ok {
			for _, key := range c.schemaOf(at).XListMapKeys {
				item[key] = another(item[key])
			}
		} else {
			added = another(added)
		}
		object[at[len(at)-1].(string)] = append(list, added)
		if c.differs(changed) {
			yield(changed)
		}
	}
}

// schemaOf returns the schema of a stored value, or an empty one.
func (c *inquiry) schemaOf(at place) *apiextensionsv1.JSONSchemaProps {
	root := c.rootOf(versionOf(c.stored))
	if s := pathOf(root, at).Schema(root); s != nil {
		return s
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

// ownFields are the fields of every object, and the status, which writes of the main resource do
// not change.
var ownFields = []string{"apiVersion", "kind", "metadata", "status"}

// faults returns the paths of the fields with problems.
func (c *inquiry) faults(found []Problem) []place {
	var l []place
	for _, p := range found {
		at := p.at
		if named := (&yamltext.Object{Value: c.read}).Find(p.Field); hasPrefix(named, at) {
			at = named
		}
		l = append(l, at)
	}
	return l
}

func hasPrefix(p, prefix place) bool {
	return len(p) >= len(prefix) && reflect.DeepEqual(p[:len(prefix)], prefix)
}

// differs reports whether an object differs from the stored one when the version is read.
func (c *inquiry) differs(changed map[string]any) bool {
	read, err := c.kind.Read(changed, c.version)
	return err == nil && !reflect.DeepEqual(read, c.read)
}

// anyValue returns a value of a type.
func anyValue(s apiextensionsv1.JSONSchemaProps) any {
	switch s.Type {
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	case "integer":
		return int64(0)
	case "number":
		return float64(0)
	case "boolean":
		return false
	}
	return "x"
}

// variations returns variations of the object that change one scalar in the faulty values each.
func (c *inquiry) variations(found []Problem) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, p := range found {
			v, _ := p.at.Lookup(c.stored)
			for _, leaf := range leaves(p.at, v) {
				changed := runtime.DeepCopyJSON(c.stored)
				parent, _ := leaf[:len(leaf)-1].Lookup(changed)
				switch step := leaf[len(leaf)-1].(type) {
				case string:
					o := parent.(map[string]any)
					o[step] = another(o[step])
				case int:
					o := parent.([]any)
					o[step] = another(o[step])
				}
				if c.differs(changed) && !yield(changed) {
					return
				}
			}
		}
	}
}

// leaves returns the scalars in an object or list. The deepest scalars come first, because they are
// least likely to identify the object.
func leaves(at place, v any) []place {
	var l []place
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(at) == 0 && slices.Contains(ownFields, name) {
				continue
			}
			l = append(l, scalarsBelow(at.Child(name), v[name])...)
		}
	case []any:
		for i := range v {
			l = append(l, scalarsBelow(at.Child(i), v[i])...)
		}
	}
	slices.SortStableFunc(l, func(a, b place) int { return len(b) - len(a) })
	return l
}

func scalarsBelow(at place, v any) []place {
	switch v.(type) {
	case map[string]any, []any:
		return leaves(at, v)
	case nil:
		return nil
	}
	return []place{at}
}

// another returns a different value of the same type.
func another(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case int64:
		return v + 1
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return v
}
