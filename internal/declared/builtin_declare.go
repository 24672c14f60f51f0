package declared

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// declare returns the objects of a kind that have declarations, in the order of their paths. root
// is the kind's schema. Authors of declarations cannot change root, so there are no warnings about
// defaulted discriminators. With errors the result is nil.
func declare(root *apiextensionsv1.JSONSchemaProps, declarations []union.External) ([]union.Instances, diag.List) {
	var diags diag.List
	var l []*declared
	// Extensions come after the declarations that they extend.
	for _, extend := range []bool{false, true} {
		for _, e := range declarations {
			if e.Extend != extend {
				continue
			}
			path, schema, problem := find(root, e.Path)
			i := slices.IndexFunc(l, func(d *declared) bool { return problem == nil && d.path.Equal(path) })
			switch {
			case problem != nil:
			case extend && i < 0:
				problem = new(diag.New(codes.NoSuchUnion, diag.Pos{}, "no union is declared here that could be extended").
					Hinted("declare it with x-kubernetes-unions"))
			case extend:
				l[i].extends = append(l[i].extends, e)
			case i >= 0:
				problem = new(diag.New(codes.DeclaredTwice, diag.Pos{}, "this object already has %s", union.Key).
					Hinted("keep one of them, or extend the other"))
				if l[i].by.Value.Line > 0 {
					problem.Related = []diag.Related{{Pos: l[i].by.Pos(), Message: "the other declaration"}}
				}
			default:
				l = append(l, &declared{path: path, schema: schema, by: e})
			}
			if problem != nil {
				problem.Pos, problem.Path = e.NamedAt(), e.Path.String()
				diags = append(diags, *problem)
			}
		}
	}
	slices.SortStableFunc(l, func(a, b *declared) int { return schemapath.Compare(a.path, b.path) })
	var objects []union.Instances
	for _, d := range l {
		unions, more := d.resolve()
		diags = append(diags, more...)
		if !diags.HasErrors() {
			objects = append(objects, union.InstancesAt(root, d.path, unions))
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return objects, diags
}

// declared is an object with a declaration.
type declared struct {
	path    schemapath.Path
	schema  *apiextensionsv1.JSONSchemaProps
	by      union.External
	extends []union.External
}

func (d *declared) resolve() ([]*union.Union, diag.List) {
	path := d.path.String()
	declarations, diags := union.Parse(d.by.File, path, d.by.Value, d.by.At)
	for _, e := range d.extends {
		extensions, l := union.ParseExtensions(e.File, path, e.Value, e.At)
		diags = append(append(diags, l...), union.Extend(declarations, extensions)...)
	}
	unions, l := verify.Resolve(declarations, d.schema, len(d.path) == 0)
	l = slices.DeleteFunc(l, func(x diag.Diagnostic) bool { return x.Code == codes.DefaultedDiscriminator })
	return unions, append(diags, l...)
}

// find returns the schema that a path leads to, and the path with Elements resolved.
func find(root *apiextensionsv1.JSONSchemaProps, path schemapath.Path) (schemapath.Path, *apiextensionsv1.JSONSchemaProps, *diag.Diagnostic) {
	var p schemapath.Path
	s := root
	wrong := func(hint, format string, args ...any) (schemapath.Path, *apiextensionsv1.JSONSchemaProps, *diag.Diagnostic) {
		return nil, nil, new(diag.New(codes.NoSuchSchema, diag.Pos{}, format, args...).Hinted(hint))
	}
	for _, step := range path {
		if step == schemapath.Elements {
			if step = schemapath.Items; step.Schema(s) == nil {
				step = schemapath.Values
			}
		}
		next := step.Schema(s)
		name, isProperty := step.Property()
		switch {
		case next == nil && !isProperty:
			return wrong("delete [*]", "%s is neither a list nor a map", call(p))
		case next == nil && schemapath.Items.Schema(s) != nil:
			return wrong("write [*] after its name", "%s is a list, and the path goes on without its items", call(p))
		case next == nil && schemapath.Values.Schema(s) != nil:
			return wrong("write [*] after its name", "%s is a map, and the path goes on without its values", call(p))
		case next == nil:
			names := slices.Sorted(maps.Keys(s.Properties))
			return wrong(english.Hint(name, names, "correct the path"), "%s has no property %q", call(p), name)
		}
		p, s = append(p, step), next
	}
	if s.Type != "object" || len(s.Properties) == 0 && schemapath.Values.Schema(s) != nil {
		return wrong("name the object with the members; end the path in [*], if those of a list or a map are meant", "%s is not an object with properties", call(p))
	}
	return p, s, nil
}

// call returns the name of a path in messages.
func call(p schemapath.Path) string {
	if len(p) == 0 {
		return "the object"
	}
	return p.String()
}
