package unionset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// extendKey is the key of extensions.
const extendKey = "extend"

// entry is an item of schemas.
type entry struct {
	crd      string
	versions []string        // none: all
	to       schemapath.Path // to the schema
	unions   *yaml.Node      // nil with extends: the CRD has none
	extends  *yaml.Node      // of unions that are declared elsewhere
	node     *yaml.Node
	path     string // of the entry, in messages
}

// declaresNone reports whether the entry says that the CRD has no unions.
func (e entry) declaresNone() bool { return e.unions == nil && e.extends == nil }

// entry reads an item of schemas. When anything in it is wrong, it is left out.
func (p *parser) entry(item *yaml.Node) {
	before := len(p.diags)
	fields, ok := p.fields(item, "an item of schemas", "crd", "versions", "path", union.Key, extendKey)
	if !ok {
		return
	}
	e := entry{node: yamltext.Resolve(item), path: p.path}
	if crd, ok := fields["crd"]; ok {
		e.crd = p.crd(crd)
	} else {
		p.errorf(e.node, diag.BadUnionSet, "write the name of the CRD, such as crd: backups.example.com", "this item of schemas has no crd")
	}
	if versions, ok := fields["versions"]; ok {
		e.versions = p.versions(versions)
	}
	if path, ok := fields["path"]; ok {
		e.to = p.pathAt(path)
	}
	if unions, ok := fields[union.Key]; ok {
		e.unions = yamltext.Resolve(unions)
		_, diags := union.Parse(p.file, p.path, e.unions, nil)
		p.diags = append(p.diags, diags...)
	}
	if extends, ok := fields[extendKey]; ok {
		e.extends = yamltext.Resolve(extends)
		_, diags := union.ParseExtensions(p.file, p.path, e.extends, nil)
		p.diags = append(p.diags, diags...)
	}
	if len(fields) > 1 && e.declaresNone() && len(p.diags) == before {
		p.errorf(e.node, diag.BadUnionSet, fmt.Sprintf("declare unions, or write no more than crd: %s to say that it has none", e.crd),
			"this item of schemas has neither %s nor %s", union.Key, extendKey)
	}
	if len(p.diags) == before {
		p.entries = append(p.entries, e)
	}
}

func (p *parser) crd(n *yaml.Node) string {
	name, ok := p.text(n, "crd", "backups.example.com")
	if !ok {
		return ""
	}
	// A CRD is named by its plural and its group.
	problems := validation.IsDNS1123Subdomain(name)
	if len(problems) > 0 || !strings.Contains(name, ".") {
		hint := "write plural and group, as kubectl get crd prints them: backups.example.com"
		if lower := strings.ToLower(name); lower != name && len(validation.IsDNS1123Subdomain(lower)) == 0 {
			hint = "names of CRDs are in lower case: the plural and the group, as kubectl get crd prints them"
		}
		p.errorf(yamltext.Resolve(n), diag.BadUnionSet, hint, "%q is not the name of a CRD", name)
	}
	return name
}

func (p *parser) versions(n *yaml.Node) []string {
	list := yamltext.Resolve(n)
	switch {
	case list.Kind != yaml.SequenceNode:
		p.errorf(list, diag.BadUnionSet, "write it like versions: [v1]", "versions: want a list of names, not %s", yamltext.Describe(list))
		return nil
	case len(list.Content) == 0:
		p.errorf(list, diag.BadUnionSet, "name versions, or leave the key out for all of them", "versions is empty")
		return nil
	}
	var l []string
	for _, item := range list.Content {
		v, ok := p.text(item, "versions", "[v1]")
		switch {
		case !ok:
		case len(validation.IsDNS1035Label(v)) > 0:
			p.errorf(yamltext.Resolve(item), diag.BadUnionSet, "write the name of a version, without the group: v1", "%q is not the name of a version", v)
		case slices.Contains(l, v):
			p.errorf(yamltext.Resolve(item), diag.BadUnionSet, "delete one of them", "version %s is listed twice", v)
		default:
			l = append(l, v)
		}
	}
	return l
}

func (p *parser) pathAt(n *yaml.Node) schemapath.Path {
	text, ok := p.text(n, "path", "spec.storage")
	if !ok {
		return nil
	}
	path, err := schemapath.Parse(text)
	if err != nil {
		p.errorf(yamltext.Resolve(n), diag.BadUnionSet, "write it like spec.storage, spec.rules[*].filter or spec['a.b']; the root is empty", "path %q: %v", text, err)
	}
	return path
}

// overlaps reports entries for the same schema of the same version, and CRDs that
// are said to have no unions and have some.
func (p *parser) overlaps() {
	before := map[string][]entry{}
	for _, e := range p.entries {
		for _, o := range before[e.crd] {
			switch {
			case e.declaresNone() != o.declaresNone():
				p.overlap(e, o, "delete the item without unions", "%s is said to have unions and to have none", e.crd)
			case e.declaresNone():
				p.overlap(e, o, "delete one of them", "%s is said twice to have no unions", e.crd)
			case e.to.Equal(o.to) && (e.unions != nil && o.unions != nil || e.extends != nil && o.extends != nil):
				version, overlap := common(e.versions, o.versions)
				if overlap {
					p.overlap(e, o, "put all unions of one schema into one list", "%s of %s has unions twice%s", cmp.Or(e.to.String(), "the root"), e.crd, version)
				}
			default:
				continue
			}
		}
		before[e.crd] = append(before[e.crd], e)
	}
}

func (p *parser) overlap(e, other entry, hint, format string, args ...any) {
	p.path = e.path
	p.errorf(e.node, diag.BadUnionSet, hint, format, args...)
	d := &p.diags[len(p.diags)-1]
	d.Related = append(d.Related, diag.Related{
		Pos: diag.Pos{File: p.file, Line: other.node.Line, Col: other.node.Column}, Message: "the other item",
	})
}

// common reports whether two lists of versions overlap, and names the version.
func common(a, b []string) (version string, overlap bool) {
	switch {
	case len(a) == 0 && len(b) == 0:
		return "", true
	case len(a) == 0:
		return " in version " + b[0] + ": an item without versions is for all of them", true
	case len(b) == 0:
		return " in version " + a[0] + ": an item without versions is for all of them", true
	}
	if i := slices.IndexFunc(a, func(v string) bool { return slices.Contains(b, v) }); i >= 0 {
		return " in version " + a[i], true
	}
	return "", false
}
