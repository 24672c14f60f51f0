package union

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// ItemKey is a key of a list item and its value: a string, int64 or bool.
type ItemKey struct {
	Name  string
	Value any
}

// OfItems reports whether the members are items of a list. The union object is then the list,
// and keys identify the items.
func (u *Union) OfItems() bool { return len(u.Members) > 0 && u.Members[0].Item != nil }

// item returns the item of an unstructured list that has the given keys, or nil.
func item(list any, keys []ItemKey) any {
	l, _ := list.([]any)
	for _, v := range l {
		object, _ := v.(map[string]any)
		if object != nil && !slices.ContainsFunc(keys, func(k ItemKey) bool { return !k.is(object[k.Name]) }) {
			return v
		}
	}
	return nil
}

// is reports whether v, a value of unstructured JSON, is the value of the key.
func (k ItemKey) is(v any) bool {
	if f, ok := v.(float64); ok {
		n, isNumber := k.Value.(int64)
		return isNumber && float64(n) == f
	}
	return k.Value == v
}

func (k ItemKey) isJSON(j apiextensionsv1.JSON) bool {
	var v any
	return json.Unmarshal(j.Raw, &v) == nil && k.is(v)
}

// itemName returns the name of an item in messages and in other keys of the declaration: the values
// of its keys. Values with control characters and ambiguous values are quoted.
func itemName(keys []ItemKey) string {
	var l []string
	for _, k := range keys {
		text := fmt.Sprint(k.Value)
		if strings.ContainsFunc(text, unicode.IsControl) || strings.HasPrefix(text, `"`) || len(keys) > 1 && strings.Contains(text, "/") {
			text = strconv.Quote(text)
		}
		l = append(l, text)
	}
	return strings.Join(l, "/")
}

// items resolves a union whose members are list items.
func (r *resolver) items() {
	d, s := r.d, r.schema
	for _, key := range []string{"discriminator", "deduceInvalidDiscriminator", "unmappedValues", "optionalMembers", "emptyIsUnset"} {
		if pos := d.posOf(key); pos.Line > 0 {
			r.errorf(pos, codes.Contradiction, "delete "+key, "the members are items of a list, which have no use for %s", key)
		}
	}
	if s.Type == "array" && (s.XListType == nil || *s.XListType != "map") {
		r.errorf(d.Pos, codes.NotAnObject, "give it x-kubernetes-list-type: map, with x-kubernetes-list-map-keys (in Go, +listType=map and +listMapKey)",
			"items are told apart by the keys of a list, and this one is not x-kubernetes-list-type: map")
		return
	}
	if s.Type != "array" || s.Items == nil || s.Items.Schema == nil || len(s.Items.Schema.Properties) == 0 {
		r.errorf(d.Pos, codes.NotAnObject, "declare it on the list that has the items",
			"items are told apart by the keys of a list of objects; this schema %s", describe(s))
		return
	}
	for _, name := range s.XListMapKeys {
		p := s.Items.Schema.Properties[name]
		if !expressible(name) {
			r.errorf(d.Pos, codes.InexpressibleName, "rename the property", "CEL cannot express the name of the key %q", name)
		} else if scalarOf(&p) == nil {
			r.errorf(d.Pos, codes.InvisibleProperty, "use keys that are strings without a format, integers or booleans", "items cannot be told apart by the key %q: it %s", name, describe(&p))
		}
	}
	if r.diags.HasErrors() {
		return
	}
	for i, f := range d.fields {
		m := Member{Item: r.itemKeys(f)}
		m.Name = itemName(m.Item)
		switch {
		case m.Item == nil:
			continue
		case slices.ContainsFunc(r.u.Members, func(o Member) bool { return o.Name == m.Name }):
			r.errorf(f.name.Pos, codes.MemberShared, "", "the item %s is listed twice", m.Name)
			continue
		}
		d.fields[i].name.Text = m.Name
		r.u.Members = append(r.u.Members, m)
	}
}

// itemKeys returns the keys of a member in the order of the schema, or nil on errors.
func (r *resolver) itemKeys(f fieldValues) []ItemKey {
	names := r.schema.XListMapKeys
	example := "write it like {" + strings.Join(names, ": A, ") + ": A}"
	if f.item == nil {
		r.errorf(f.name.Pos, codes.BadItem, example, "a member of a list is an item, named by its keys")
		return nil
	}
	values := map[string]any{}
	ok := true
	for _, s := range f.item {
		if !slices.Contains(names, s.Name) {
			r.misspelt(s.Key.Word(), names, nil, codes.BadItem, "%q is not a key of the list", s.Name)
			ok = false
			continue
		}
		p := r.schema.Items.Schema.Properties[s.Name]
		v, err := scalarOf(&p)(s.Value.Node)
		hint := ""
		switch {
		case err == "" || s.Value.Node.Kind != yaml.ScalarNode:
		case p.Type == "string":
			hint = "write " + yamltext.Quoted(s.Value.Node)
		default:
			hint = "write it without quotes, like " + map[string]string{"integer": "80", "boolean": "true"}[p.Type]
		}
		if err == "" && len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, ItemKey{Value: v}.isJSON) {
			err, hint = fmt.Sprintf("%v is not in the enum of %q", v, s.Name), nearest(fmt.Sprint(v), EnumStrings(&p))
		}
		if err != "" {
			r.errorf(s.Value.Pos(), codes.BadItem, cmp.Or(hint, "give each value an item of its own"), "%s", err)
			ok = false
		}
		values[s.Name] = v
	}
	var keys []ItemKey
	for _, name := range names {
		if _, given := values[name]; !given && ok {
			r.errorf(f.name.Pos, codes.BadItem, example, "the item has no value for the key %q", name)
			ok = false
		}
		keys = append(keys, ItemKey{name, values[name]})
	}
	if ok && itemName(keys) == "" {
		r.errorf(f.name.Pos, codes.BadItem, "write another value", `the key of a member cannot be ""`)
	}
	if !ok || itemName(keys) == "" {
		return nil
	}
	return keys
}

// scalarOf returns a function that reads the value of a key with schema s, or describes why the
// value is invalid. The function is nil if CEL cannot compare such keys with a constant.
func scalarOf(s *apiextensionsv1.JSONSchemaProps) func(*yaml.Node) (v any, wrong string) {
	switch {
	case s.XIntOrString:
	case s.Type == "string" && !slices.Contains(typedFormats, s.Format):
		return func(n *yaml.Node) (any, string) {
			v, err := yamltext.String(n)
			if err != nil {
				return nil, err.Error()
			}
			return v, ""
		}
	case s.Type == "integer":
		return func(n *yaml.Node) (any, string) {
			if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) > 0 || !yamltext.Decimal(n.Value) {
				return nil, "want an integer, not " + yamltext.Describe(n)
			}
			v, _ := strconv.ParseInt(n.Value, 10, 64) // cannot fail: Decimal
			return v, ""
		}
	case s.Type == "boolean":
		return func(n *yaml.Node) (any, string) {
			if n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
				return nil, "want true or false, not " + yamltext.Describe(n)
			}
			return n.Value == "true", ""
		}
	}
	return nil
}

// typedFormats are the formats of strings that CEL reads as another type.
var typedFormats = []string{"byte", "date", "date-time", "duration"}

// scalarNode returns a string, int64 or bool as YAML.
func scalarNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return yamltext.StringNode(v)
	case bool:
		return yamltext.BoolNode(v)
	}
	return yamltext.IntNode(fmt.Sprint(v))
}

func itemNode(keys []ItemKey) *yaml.Node {
	m := yamltext.MappingNode()
	for _, k := range keys {
		m.Content = append(m.Content, yamltext.StringNode(k.Name), scalarNode(k.Value))
	}
	return m
}

// NamesItems reports whether a value of x-kubernetes-unions, well-formed or not, has members that
// are list items.
func NamesItems(declarations *yaml.Node) bool {
	if declarations == nil {
		return false
	}
	return slices.ContainsFunc(yamltext.Resolve(declarations).Content, func(d *yaml.Node) bool {
		members := yamltext.Resolve(yamltext.Value(d, "members"))
		return members != nil && slices.ContainsFunc(members.Content, func(m *yaml.Node) bool { return yamltext.Resolve(m).Kind == yaml.MappingNode })
	})
}
