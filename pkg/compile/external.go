package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// external locates the schemas of external declarations.
func (l *locator) external(m Manifest) {
	if len(m.External) == 0 {
		return
	}
	versions := yamltext.Value(yamltext.Value(m.Node, "spec"), "versions")
	// Extensions come after the declarations that they extend.
	extending := func(e union.External) int {
		if e.Extend {
			return 1
		}
		return 0
	}
	for _, e := range slices.SortedStableFunc(slices.Values(m.External), func(a, b union.External) int { return extending(a) - extending(b) }) {
		found := false
		var names []string
		if versions != nil && versions.Kind == yaml.SequenceNode {
			for i, v := range versions.Content {
				v = yamltext.Resolve(v)
				name := yamltext.Value(v, "name")
				if name == nil {
					continue
				}
				if names = append(names, name.Value); e.Version == "" || e.Version == name.Value {
					found = true
					l.place, l.frames = schemapath.Place{Version: i, Name: name.Value}, nil
					l.declared(e, v)
				}
			}
		}
		if !found {
			l.place = schemapath.Place{}
			l.reportExternal(e, codes.NoSuchSchema, "its versions are "+strings.Join(names, ", "), "the CRD has no version %q", e.Version)
		}
	}
	// Sort by declaration if all declarations are in schemas, otherwise by schema.
	own := !slices.ContainsFunc(l.objects, func(o location) bool { return o.own == nil })
	slices.SortStableFunc(l.objects, func(a, b location) int {
		x, y := a.Node, b.Node
		if own {
			x, y = a.own, b.own
		}
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
}

// declared adds the location of an external declaration in one version.
func (l *locator) declared(e union.External, version *yaml.Node) {
	n := version
	for _, key := range []string{"schema", "openAPIV3Schema"} {
		if n = l.enter(e, n, key); n == nil {
			return
		}
	}
	l.frames = []*yaml.Node{n}
	for _, step := range e.Path {
		name, isProperty := step.Property()
		if step == schemapath.Elements {
			if step = schemapath.Items; yamltext.Value(n, "items") == nil {
				step = schemapath.Values
			}
		}
		if owner := n; isProperty {
			if n = l.enter(e, n, "properties"); n == nil {
				return
			}
			if l.inMetadata(owner, name) {
				l.reportExternal(e, codes.InsideMetadata, "declare it on another schema, or leave it out", "a union cannot be inside metadata: the API server runs no rules there")
				return
			}
		}
		l.place.Path = append(l.place.Path, step)
		fields := step.Fields()
		if n = l.enter(e, n, fields[len(fields)-1]); n == nil {
			return
		}
		l.frames = append(l.frames, n)
	}
	ofItems := e.Extend || union.NamesItems(e.Value)
	if yamltext.Value(n, "properties") == nil && elements(n) != "" && !ofItems {
		l.reportExternal(e, codes.NoSuchSchema, "end the path in [*], if those are meant", "this schema is %s, and the path does not go on to %s", kindOf(n), elements(n))
		return
	}
	if e.Fit != nil {
		var diags diag.List
		e.Value, diags = e.Fit(func(property string) ([]string, bool) {
			p := yamltext.Value(yamltext.Value(n, "properties"), property)
			return enum(p), p != nil
		})
		for _, d := range diags {
			d.Path, d.Schema = l.place.String(), l.place.Structural()
			l.diags = append(l.diags, d)
		}
		if diags.HasErrors() {
			return
		}
	}
	switch at := l.index(l.place); {
	case at >= 0 && e.Extend:
		l.objects[at].extends = append(l.objects[at].extends, e)
	case e.Extend:
		l.reportExternal(e, codes.NoSuchUnion, "declare it with x-kubernetes-unions, or name the versions that have it", "no union is declared here that could be extended")
	case at < 0:
		l.add(n, location{own: e.Own, written: []union.External{e}})
	case l.objects[at].own != nil:
		l.reportExternal(e, codes.DeclaredTwice, "keep one of them", "this schema of the CRD already has %s", union.Key)
		l.diags[len(l.diags)-1].Related = []diag.Related{{Pos: l.objects[at].written[0].Pos(), Message: "the other declaration"}}
	default:
		l.objects[at].written = append(l.objects[at].written, e)
	}
}

// enter returns the value of a key on the path of an external declaration. It reports a value that
// is missing or not editable, and returns nil.
func (l *locator) enter(e union.External, n *yaml.Node, key string) *yaml.Node {
	entry := yamltext.Lookup(n, key)
	switch v, ok := entry.Value, entry.Key != nil; {
	case !ok && len(l.frames) == 0:
		l.reportExternal(e, codes.NoSuchSchema, "", "the version %s of the CRD has no %s", l.place.Name, key)
	case !ok && key == "properties" && elements(n) != "":
		l.reportExternal(e, codes.NoSuchSchema, "write [*] after its name", "this schema is %s, and the path goes on without its %s", kindOf(n), elements(n))
	case !ok && key == "properties":
		l.reportExternal(e, codes.NoSuchSchema, "correct the path", "this schema has no properties")
	case !ok && key == "additionalProperties" && n == l.frames[len(l.frames)-1]:
		l.reportExternal(e, codes.NoSuchSchema, "delete [*]", "this schema is neither a list nor a map")
	case !ok:
		hint := "correct the path, or name the versions that have it"
		var names []string
		for _, p := range yamltext.Entries(n) {
			names = append(names, p.Key.Value)
		}
		if best := english.Closest(key, names); slices.Contains([]string{"properties", "items", "additionalProperties"}, key) {
			hint = fmt.Sprintf("leave %s out: a path has the names of properties, and [*]", key)
		} else if best != "" {
			hint = fmt.Sprintf("did you mean %q?", best)
		}
		l.reportExternal(e, codes.NoSuchSchema, hint, "version %[2]s of the CRD has no field %[1]q at this path", key, l.place.Name)
	case entry.Index < 0 || v.Kind == yaml.AliasNode:
		l.reportExternal(e, codes.SharedContent, "write out the schema at each path",
			"the schema is in content shared through an alias or merge key: an edit would change the other uses too")
	case v.Kind != yaml.MappingNode:
		l.reportExternal(e, codes.NoSuchSchema, "correct the path", "%s is not a schema with properties here", key)
	default:
		return v
	}
	return nil
}

// enum returns the strings in the enum of a schema.
func enum(n *yaml.Node) []string {
	var l []string
	if values := yamltext.Value(n, "enum"); values != nil {
		for _, v := range values.Content {
			if s, err := yamltext.String(v); err == nil {
				l = append(l, s)
			}
		}
	}
	return l
}

// elements returns the word for the elements of a list or map; "" for other schemas.
func elements(n *yaml.Node) string {
	if yamltext.Value(n, "items") != nil {
		return "items"
	}
	if values := yamltext.Value(n, "additionalProperties"); values != nil && values.Kind == yaml.MappingNode {
		return "values"
	}
	return ""
}

func kindOf(n *yaml.Node) string {
	if elements(n) == "items" {
		return "a list"
	}
	return "a map"
}

// inMetadata reports whether a property of a schema is the metadata of a resource.
func (l *locator) inMetadata(owner *yaml.Node, name string) bool {
	return name == "metadata" && (len(l.place.Path) == 0 || yamltext.Text(owner, "x-kubernetes-embedded-resource") == "true")
}

// reportExternal reports a problem with an external declaration.
func (l *locator) reportExternal(e union.External, code diag.Code, hint, format string, args ...any) {
	l.diags = append(l.diags, diag.New(code, e.NamedAt(), format, args...).In(l.place).Hinted(hint))
}
