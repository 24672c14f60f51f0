package union

import (
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// ValueType is the type of a discriminator. Values of any type are texts in a union and its states,
// such as "true" or "8080"; methods of ValueType convert them.
type ValueType int

const (
	StringValue ValueType = iota
	BooleanValue
	IntegerValue
)

// valueTypes are the names of the types in a schema.
var valueTypes = names[ValueType]{"string": StringValue, "boolean": BooleanValue, "integer": IntegerValue}

// String returns the name of the type in a schema.
func (t ValueType) String() string { return valueTypes.name(t) }

// Text returns the text of a JSON value; "" for null, "" and values of other types.
func (t ValueType) Text(v any) string {
	switch v := v.(type) {
	case string:
		if t == StringValue {
			return v
		}
	case bool:
		if t == BooleanValue {
			return strconv.FormatBool(v)
		}
	case int64:
		if t == IntegerValue {
			return strconv.FormatInt(v, 10)
		}
	case float64: // JSON, or 8080.0
		if t == IntegerValue && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
	}
	return ""
}

// Value returns the JSON value with a text: a string, bool or int64. The text is a value of the type.
func (t ValueType) Value(text string) any {
	switch t {
	case BooleanValue:
		return text == "true"
	case IntegerValue:
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	}
	return text
}

// Values returns the JSON values with the texts. The caller owns the result.
func (t ValueType) Values(texts []string) []any {
	l := make([]any, len(texts))
	for i, text := range texts {
		l[i] = t.Value(text)
	}
	return l
}

// Quoted returns a text for messages: strings are in quotes.
func (t ValueType) Quoted(text string) string {
	if t != StringValue {
		return text
	}
	return "'" + text + "'"
}

// has reports whether a text is a value of the type.
func (t ValueType) has(text string) bool {
	switch t {
	case BooleanValue:
		return text == "true" || text == "false"
	case IntegerValue:
		return yamltext.Decimal(text)
	}
	return true
}

// node returns the value with a text as YAML.
func (t ValueType) node(text string) *yaml.Node {
	if text == "" || !t.has(text) {
		return yamltext.StringNode(text)
	}
	return scalarNode(t.Value(text))
}

// nodes returns a list of values in flow style.
func (t ValueType) nodes(texts []string) *yaml.Node {
	list := yamltext.StringsNode()
	for _, text := range texts {
		list.Content = append(list.Content, t.node(text))
	}
	return list
}

// ValueTypeOf returns the type of a discriminator with a schema. ok is false if the schema is of no
// such type.
func ValueTypeOf(s *apiextensionsv1.JSONSchemaProps) (t ValueType, ok bool) {
	t, ok = valueTypes[s.Type]
	return t, ok && !s.XIntOrString && !(t == StringValue && slices.Contains(typedFormats, s.Format))
}

// EnumStrings returns the texts of the values in the enum of a schema. A boolean without an enum has
// the values true and false.
func EnumStrings(prop *apiextensionsv1.JSONSchemaProps) []string {
	if prop.Type == "boolean" && len(prop.Enum) == 0 {
		return []string{"true", "false"}
	}
	t := valueTypes[prop.Type]
	var l []string
	for _, raw := range prop.Enum {
		var v any
		if json.Unmarshal(raw.Raw, &v) != nil {
			continue
		}
		if text := t.Text(v); text != "" || v == any("") {
			l = append(l, text)
		}
	}
	return l
}

// ValueOf returns the text of the discriminator for the value v of the property, which is nil if it is
// unset.
func (u *Union) ValueOf(v any) string {
	if text := u.Type.Text(v); text != "" {
		return text
	}
	return u.Unset
}

// Accepted returns the values of the discriminator in values, and "" if the discriminator may be unset
// in their place. The caller owns the result.
func (u *Union) Accepted(values []string) []string {
	if u.Unset != "" && slices.Contains(values, u.Unset) {
		return append(slices.Clone(values), "")
	}
	return slices.Clone(values)
}

// typed reports values of the declaration that do not have the type of the discriminator.
func (r *resolver) typed() {
	t := r.u.Type
	for _, w := range r.d.values() {
		switch {
		case !w.Set || w.Text == "":
		case w.Plain == "" || w.Plain == t.String():
			if !t.has(w.Text) {
				r.errorf(w.Pos, codes.ValueNotInEnum, t.hint(w),
					"value %q is not a value of %q, which is of type %s", w.Text, r.u.Discriminator, t)
			}
		case t == StringValue:
			r.diags = append(r.diags, *w.Ambiguous)
		default:
			r.errorf(w.Pos, codes.ValueNotInEnum, t.hint(w), "%s is not a value of %q, which is of type %s", w.Text, r.u.Discriminator, t)
		}
	}
}

// hint returns the hint for a word that is not a value of the type.
func (t ValueType) hint(w word) string {
	if t == BooleanValue {
		return "write true or false"
	}
	if w.Plain == "number" {
		if n, err := strconv.ParseInt(w.Text, 0, 64); err == nil {
			return "write " + strconv.FormatInt(n, 10)
		}
	}
	switch f, err := strconv.ParseFloat(w.Text, 64); {
	case err != nil:
	case math.Abs(f) >= 1<<63:
		return "write an integer of at most 64 bits"
	case w.Plain == "number" && t.Text(f) != "":
		return "write " + t.Text(f)
	}
	return "write a decimal integer"
}

// values returns the values of the discriminator in the declaration.
func (d *Declaration) values() []word {
	l := []word{d.key("unset").Value.Scalar()}
	for _, f := range d.fields {
		l = append(l, f.values...)
	}
	for _, f := range optionalMembers(d.key("optionalMembers").Value) {
		l = append(l, f.values...)
	}
	for _, f := range byValue(d.key("allowedChanges").Value) {
		l = append(append(l, f.name), f.values...)
	}
	return l
}

// unset checks the value of an unset discriminator.
func (r *resolver) unset(prop *apiextensionsv1.JSONSchemaProps) {
	d, u := r.d, r.u
	if !d.has("unset") {
		return
	}
	w, enum := d.key("unset").Value.Scalar(), EnumStrings(prop)
	hint := "delete unset, or make the discriminator optional"
	switch {
	case w.Text == "":
		r.errorf(w.Pos, codes.EmptyValue, "write a value of the discriminator, or delete unset", "unset names no value")
	case len(enum) > 0 && !slices.Contains(enum, w.Text):
		r.unknown(w, enum, nil, codes.ValueNotInEnum, "value %q of unset is not in the enum of %q", w.Text, u.Discriminator)
	case u.Deduce:
		r.errorf(w.Pos, codes.Contradiction, "delete one of the two", "unset gives an unset discriminator the value %s, deduceInvalidDiscriminator deduces the value", w.Text)
	case d.union.Cardinality == ExactlyOne:
		r.errorf(d.posOf("cardinality"), codes.Contradiction, "delete cardinality: with unset, the discriminator always has a value", "ExactlyOne requires that %q is set, unset lets it be left out", u.Discriminator)
	case Requires(r.schema, u.Path(u.Discriminator)):
		r.errorf(w.Pos, codes.Contradiction, hint, "unset is about a %q that is left out, but the schema requires it", u.Discriminator)
	case u.ForbidUnmapped && !slices.Contains(u.MemberValues(), w.Text):
		r.errorf(w.Pos, codes.Contradiction, "delete unset to allow an unset discriminator, or delete unmappedValues", "unmappedValues: Forbid rejects %s, the value of an unset discriminator", w.Text)
	case prop.Default != nil && u.Type.Text(decoded(prop.Default.Raw)) != w.Text && u.Type.Text(decoded(prop.Default.Raw)) != "":
		r.errorf(w.Pos, codes.Contradiction, "write the default, or delete one of the two", "%q has the default %s, but unset means %s", u.Discriminator, prop.Default.Raw, w.Text)
	case len(enum) == 0 && r.slip(w):
		r.misspelt(w, u.MemberValues(), nil, codes.ValueNotInEnum, "value %q of unset is not a known value of %q", w.Text, u.Discriminator)
	default:
		r.excludes(prop, w, "of unset")
		if !slices.Contains(u.Values, w.Text) {
			u.Values = append(u.Values, w.Text)
		}
	}
}

func decoded(raw []byte) (v any) {
	_ = json.Unmarshal(raw, &v) // the API server reports invalid JSON
	return v
}
