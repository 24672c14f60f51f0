package change

import (
	"context"
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
type Write string

// The writes. All except Within leave the invalid values unchanged.
const (
	// Rewrite replaces the object with itself, as a storage migration does.
	Rewrite Write = "rewrite"
	// Status replaces the status with itself through the subresource.
	Status Write = "status"
	// Metadata adds an annotation. Adding a label or removing a finalizer is equivalent.
	Metadata Write = "metadata"
	// Apply adds the annotation by server-side apply.
	Apply Write = "apply"
	// Elsewhere changes a field outside of the invalid values. This is a field of the spec if
	// possible.
	Elsewhere Write = "elsewhere"
	// Items adds an item to a list that has an invalid item, or that violates a rule.
	Items Write = "items"
	// StatusElsewhere changes another field of an invalid status, or adds an item to an invalid list in it, as
	// controllers do.
	StatusElsewhere Write = "report"
	// Within changes a field in values that violate constraints.
	Within Write = "within"
)

// outside are the writes except Within, in order.
var outside = []Write{Rewrite, Status, Metadata, Apply, Elsewhere, Items, StatusElsewhere}

// Writes returns all writes, in order. The caller owns the result.
func Writes() []Write { return append(slices.Clone(outside), Within) }

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
				each = [][]edit{c.report(p, c.faults(found))}
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

// edit is a change of a stored object: another value at a place, or none if the value is nil.
type edit struct {
	at    place
	value any
}

// edited returns the stored object after an edit, or nil if it is the same when the version is read.
func (c *inquiry) edited(e edit) map[string]any {
	changed := runtime.DeepCopyJSON(c.stored)
	parent, _ := e.at[:len(e.at)-1].Lookup(changed)
	switch step := e.at[len(e.at)-1].(type) {
	case string:
		if o := parent.(map[string]any); e.value != nil {
			o[step] = e.value
		} else {
			delete(o, step)
		}
	case int:
		parent.([]any)[step] = e.value
	}
	if read, err := c.kind.Read(changed, c.version); err != nil || reflect.DeepEqual(read, c.read) {
		return nil
	}
	return changed
}

// change tries writes that change something. The server validates only the new object, and compares
// it with the old one. So the stored object, whose problems are known, serves as the new object,
// and the edited one serves as the old object.
func (c *inquiry) change(ctx context.Context, edits []edit, status bool) (possible bool, refused []Problem, err error) {
	ask := c.replace
	if status && c.kind.HasStatus(c.version) {
		ask = c.replaceStatus
	}
	tried := 0
	for _, e := range edits {
		old := c.edited(e)
		if old == nil {
			continue
		}
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
	return p.Constraint.Keyword == TransitionRule || p.Constraint.Keyword == EvaluationError && p.Constraint.readsOld()
}

func (c *inquiry) replace(ctx context.Context, object, old map[string]any) ([]Problem, error) {
	return c.problems(func(k *server.Kind) (server.Answer, error) { return k.Update(ctx, object, old) })
}

func (c *inquiry) replaceStatus(ctx context.Context, object, old map[string]any) ([]Problem, error) {
	return c.problems(func(k *server.Kind) (server.Answer, error) { return k.UpdateStatus(ctx, object, old) })
}

// elsewhere returns edits of one field outside the faults each, beginning with the fields of the spec.
func (c *inquiry) elsewhere(found []Problem) (l []edit) {
	at := place{"spec"}
	if _, ok := c.stored["spec"].(map[string]any); !ok {
		at = nil
	}
	faults := c.faults(found)
	for {
		l = append(l, c.siblings(at, faults)...)
		// Fields alongside a single fault, in the same field, count, too.
		if len(faults) != 1 || len(at)+1 >= len(faults[0]) || !hasPrefix(faults[0], at) {
			return l
		}
		at = faults[0][:len(at)+1]
	}
}

// report returns edits of one field of the status each, or of a list in it that gets another item,
// beginning with the fields closest to a fault in the status.
func (c *inquiry) report(p Problem, faults []place) (l []edit) {
	for at := p.at; inStatus(at); at = at[:len(at)-1] {
		l = slices.Concat(l, c.siblings(at, faults), c.addition(at))
	}
	return l
}

// siblings returns edits that add or remove one field of the object at a path each. The fields do
// not lead to a fault.
func (c *inquiry) siblings(at place, faults []place) (l []edit) {
	v, _ := at.Lookup(c.stored)
	object, ok := v.(map[string]any)
	if !ok {
		return nil
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
		var value any
		if _, ok := object[name]; !ok {
			value = anyValue(s.Properties[name])
		}
		l = append(l, edit{to, value})
	}
	return l
}

// items returns, for each list outside the status that has an invalid item or violates a rule, the
// edit that adds an item.
func (c *inquiry) items(p Problem) (l [][]edit) {
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

// addition returns the edit that adds an item to the list at a path, or none if the value there is
// no list with items, a list in a list, or only in the version of the write.
func (c *inquiry) addition(at place) []edit {
	value, _ := at.Lookup(c.stored)
	list, isList := value.([]any)
	if !isList || len(list) == 0 {
		return nil
	}
	if _, named := at[len(at)-1].(string); !named {
		return nil
	}
	added := runtime.DeepCopyJSONValue(list[len(list)-1])
	if item, ok := added.(map[string]any); ok {
		for _, key := range c.schemaOf(at).XListMapKeys {
			item[key] = another(item[key])
		}
	} else {
		added = another(added)
	}
	return []edit{{at, append(slices.Clone(list), added)}}
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

// variations returns edits of one scalar in the faulty values each.
func (c *inquiry) variations(found []Problem) (l []edit) {
	for _, p := range found {
		v, _ := p.at.Lookup(c.stored)
		for _, leaf := range leaves(p.at, v) {
			if was, _ := leaf.Lookup(c.stored); len(leaf) > len(p.at) {
				l = append(l, edit{leaf, another(was)})
			}
		}
	}
	return l
}

// leaves returns the scalars in a value. The deepest scalars come first, because they are least
// likely to identify the object.
func leaves(at place, v any) (l []place) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(at) > 0 || !slices.Contains(ownFields, name) {
				l = append(l, leaves(at.Child(name), v[name])...)
			}
		}
	case []any:
		for i := range v {
			l = append(l, leaves(at.Child(i), v[i])...)
		}
	default:
		return []place{at}
	}
	slices.SortStableFunc(l, func(a, b place) int { return len(b) - len(a) })
	return l
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
