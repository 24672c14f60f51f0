package declared

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// catalog describes the covered kinds and their Go types.
type catalog struct {
	kinds map[schema.GroupVersionKind]*goType
	types map[reflect.Type]*goType
}

// goType describes a Go type.
type goType struct {
	schema *apiextensionsv1.JSONSchemaProps
	// defaults returns the function that sets the defaults of a kind.
	defaults func() func(object map[string]any)
	// places are the unions of the type's values, and of values nested in them.
	places []typePath
}

// typePath is a path below a Go type with its unions.
type typePath struct {
	path   schemapath.Path
	unions *yaml.Node
}

// all describes the types of all kinds. It is computed only once.
var all = sync.OnceValue(func() *catalog {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		utilruntime.Must(add(scheme))
	}
	c := &catalog{kinds: map[schema.GroupVersionKind]*goType{}, types: map[reflect.Type]*goType{}}
	for gvk, t := range scheme.AllKnownTypes() {
		if _, isObject := reflect.New(t).Interface().(metav1.Object); isObject && gvk.Version != runtime.APIVersionInternal {
			g := c.typeOf(t)
			g.defaults = sync.OnceValue(func() func(map[string]any) { return server.Defaults(g.schema) })
			c.kinds[gvk] = g
		}
	}
	return c
})

// typeOf describes a Go type in its JSON form.
func (c *catalog) typeOf(t reflect.Type) *goType {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	g, ok := c.types[t]
	if !ok {
		// Where a type contains itself, its unions are omitted.
		c.types[t] = &goType{schema: unknown()}
		g = c.describe(t)
		c.types[t] = g
	}
	return g
}

// unknown returns the schema of a value with irrelevant properties.
func unknown() *apiextensionsv1.JSONSchemaProps {
	preserve := true
	return &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}
}

func (c *catalog) describe(t reflect.Type) *goType {
	if t == reflect.TypeFor[metav1.ObjectMeta]() {
		return &goType{schema: unknown()}
	}
	if s, ok := reflect.New(t).Interface().(interface{ OpenAPISchemaType() []string }); ok && len(s.OpenAPISchemaType()) > 0 {
		// Some of these types, such as Quantity, also allow numbers.
		return &goType{schema: &apiextensionsv1.JSONSchemaProps{XIntOrString: s.OpenAPISchemaType()[0] == "string", Type: s.OpenAPISchemaType()[0]}}
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return &goType{schema: unknown()}
	}
	s := &apiextensionsv1.JSONSchemaProps{}
	g := &goType{schema: s}
	switch t.Kind() {
	case reflect.Struct:
		c.structure(g, t)
	case reflect.Map:
		s.Type, s.AdditionalProperties = "object", &apiextensionsv1.JSONSchemaPropsOrBool{Schema: c.add(g, t.Elem(), schemapath.Values)}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			s.Type, s.Format = "string", "byte"
			break
		}
		s.Type, s.Items = "array", &apiextensionsv1.JSONSchemaPropsOrArray{Schema: c.add(g, t.Elem(), schemapath.Items)}
	case reflect.String:
		s.Type = "string"
	case reflect.Bool:
		s.Type = "boolean"
	case reflect.Float32, reflect.Float64:
		s.Type = "number"
	default:
		s.Type = "integer"
	}
	return g
}

// structure adds the fields of a struct.
func (c *catalog) structure(g *goType, t reflect.Type) {
	s := g.schema
	s.Type, s.Properties = "object", map[string]apiextensionsv1.JSONSchemaProps{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && (f.Anonymous || options == "inline"):
			inline := c.typeOf(f.Type)
			for name, p := range inline.schema.Properties {
				s.Properties[name] = p
			}
			g.places = append(g.places, inline.places...)
		default:
			p := *c.add(g, f.Type, schemapath.Property(name))
			if key := f.Tag.Get("patchMergeKey"); key != "" && p.Type == "array" {
				listType := "map"
				p.XListType, p.XListMapKeys = &listType, []string{key}
			}
			s.Properties[name] = p
		}
	}
	for _, d := range declarations {
		if d.of != t {
			continue
		}
		unions := d.node()
		g.places = append(g.places, typePath{unions: unions})
		if d.value != "" {
			discriminator := yamltext.Value(unions.Content[0], "discriminator").Value
			p := s.Properties[discriminator]
			p.Default = &apiextensionsv1.JSON{Raw: []byte(`"` + d.value + `"`)}
			s.Properties[discriminator] = p
		}
	}
}

// add adds the unions of a component type to g, and returns the schema of the component.
func (c *catalog) add(g *goType, t reflect.Type, step schemapath.Step) *apiextensionsv1.JSONSchemaProps {
	part := c.typeOf(t)
	for _, p := range part.places {
		g.places = append(g.places, typePath{schemapath.Path{step}.Append(p.path...), p.unions})
	}
	return part.schema
}
