package union

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// nested reports properties of the union that contain each other.
func (r *resolver) nested() {
	words := []word{r.d.discriminator()}
	for _, f := range r.fields {
		words = append(words, f.name)
	}
	var paths []schemapath.Path
	for _, w := range words {
		paths = append(paths, r.u.Path(w.Text))
	}
	for i, w := range words {
		inner := paths[i]
		for k, holder := range words {
			if outer := paths[k]; holder.Text != w.Text && len(outer) <= len(inner) && outer.Equal(inner[:len(outer)]) {
				r.errorf(w.Pos, codes.Contradiction, "declare the union on "+outer.String()+", or name properties that are not in each other", "%q is in %q, which the union names, too", w.Text, holder.Text)
			}
		}
	}
}

// property returns the schema of a property. It reports properties that rules cannot read.
func (r *resolver) property(w word, unknown diag.Code, role string) (*apiextensionsv1.JSONSchemaProps, bool) {
	path, prop := Property(r.schema, w.Text)
	if prop == nil || r.resource && path[0] == schemapath.Property("metadata") && len(path) > 1 {
		known := r.siblings(path)
		if free := except(known, r.d.Properties()); unknown == codes.UnknownDiscriminator && len(free) > 0 {
			known = free // a member is no discriminator
		}
		r.misspelt(w, known, r.d.Properties(), unknown, "%s %q is not a property of this object", role, w.Text)
		said := &r.diags[len(r.diags)-1]
		if dotted := r.dotted(w.Text); dotted != nil {
			said.Edits, said.Hint = nil, fmt.Sprintf("write %q", dotted)
		} else if len(said.Edits) == 0 {
			said.Hint = cmp.Or(r.elsewhere(w.Text), said.Hint)
		}
		return nil, false
	}
	for _, name := range path.Properties() {
		if !expressible(name) {
			r.errorf(w.Pos, codes.InexpressibleName, "rename the property: CEL names are letters, digits, '_', '-', '.' and '/', and start with no digit",
				"CEL cannot express the name of %s %q", role, w.Text)
			return nil, false
		}
	}
	if !visible(prop) {
		r.errorf(w.Pos, codes.InvisibleProperty, "give the property (and its items or values) a type",
			"CEL cannot see %s %q: its schema %s", role, w.Text, describe(prop))
		return nil, false
	}
	if len(path) > 1 {
		if r.u.Paths == nil {
			r.u.Paths = map[string]schemapath.Path{}
		}
		r.u.Paths[w.Text] = path
	}
	return prop, true
}

// expressible reports whether CEL can name a property, as k8s.io/apiserver/pkg/cel.Escape does.
func expressible(name string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	return name != "" && (name[0] < '0' || name[0] > '9') && strings.Trim(name, allowed) == ""
}

// dotted returns the path that a name denotes if property names may contain dots, or nil.
func (r *resolver) dotted(name string) (found schemapath.Path) {
	schemapath.Walk(r.schema, func(p schemapath.Path, _ *apiextensionsv1.JSONSchemaProps) bool {
		written := strings.Join(p.Properties(), ".")
		if written == name && len(p) > 1 && !p.HasElements() {
			found = p
		}
		return found == nil && strings.HasPrefix(name, written)
	})
	return found
}

// elsewhere returns a hint if exactly one nested object, list or map has a property with that name.
func (r *resolver) elsewhere(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	var found []schemapath.Path
	schemapath.Walk(r.schema, func(p schemapath.Path, _ *apiextensionsv1.JSONSchemaProps) bool {
		if len(p) > 1 && p[len(p)-1] == schemapath.Property(last) {
			found = append(found, p)
		}
		return len(p) < maxElsewhere && len(found) < 2
	})
	switch {
	case len(found) != 1:
		return ""
	case found[0].HasElements():
		return fmt.Sprintf("%s is in a list or map: declare the union on the object that has it", found[0])
	}
	return fmt.Sprintf("if %s is meant, write that", found[0])
}

// maxElsewhere is the depth to which elsewhere searches.
const maxElsewhere = 4

// siblings returns the names of the properties in the innermost existing object on the path of
// an unknown property.
func (r *resolver) siblings(path schemapath.Path) []string {
	for n := len(path) - 1; n > 0; n-- {
		if at := path[:n].Schema(r.schema); at != nil && len(at.Properties) > 0 {
			var l []string
			for name := range at.Properties {
				l = append(l, path[:n].Append(schemapath.Property(name)).String())
			}
			return l
		}
	}
	return slices.Collect(maps.Keys(r.schema.Properties))
}

func (r *resolver) alwaysSet(w word, prop *apiextensionsv1.JSONSchemaProps) {
	const hint = "members are optional properties without a default: only the union decides which one is set"
	switch {
	case r.resource && (w.Text == "apiVersion" || w.Text == "kind" || w.Text == "metadata"):
		r.errorf(w.Pos, codes.MemberAlwaysSet, hint, "member %q is set in every resource", w.Text)
	case Requires(r.schema, r.u.Path(w.Text)):
		r.errorf(w.Pos, codes.MemberAlwaysSet, hint, "member %q is required by the schema, so it is always set", w.Text)
	case prop.Default != nil && r.holderThere(w):
		r.errorf(w.Pos, codes.MemberAlwaysSet, hint, "member %q has a default, so it is always set", w.Text)
	}
}

// holderThere reports whether the object that contains a property is always present.
func (r *resolver) holderThere(w word) bool {
	path := r.u.Path(w.Text)
	return AlwaysThere(r.schema, path[:len(path)-1])
}

// visible reports whether k8s.io/apiserver/pkg/cel/common.SchemaDeclType has a CEL type for schema
// s.
func visible(s *apiextensionsv1.JSONSchemaProps) bool {
	if s.XIntOrString {
		return true
	}
	switch s.Type {
	case "array":
		return s.Items != nil && s.Items.Schema != nil && visible(s.Items.Schema)
	case "object":
		return s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil || visible(s.AdditionalProperties.Schema)
	}
	return slices.Contains([]string{"string", "boolean", "number", "integer"}, s.Type)
}

// describe returns a predicate for messages that describes a schema.
func describe(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "is x-kubernetes-int-or-string"
	case s.Type == "":
		return "has no type"
	case s.Type == "object" && !visible(s):
		return "is a map whose values have no type"
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "is a map"
	case s.Type == "array" && !visible(s):
		return "is a list whose items have no type"
	case s.Type == "object" && len(s.Properties) == 0:
		return "is an object without properties"
	case s.Format != "":
		return fmt.Sprintf("is of type %s with format %s", s.Type, s.Format)
	}
	return "is of type " + s.Type
}
