package declared

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

// setEntry is an item of schemas.
type setEntry struct {
	target   union.Target
	versions []string        // empty means all
	to       schemapath.Path // the path of the schema
	unions   *yaml.Node      // nil if there are only extensions, or if the CRD has no unions
	extends  *yaml.Node      // extensions of unions declared elsewhere
	item     yamltext.ConfigValue
}

// declaresNone reports whether the entry declares that the CRD has no unions.
func (e setEntry) declaresNone() bool { return e.unions == nil && e.extends == nil }

// schemaKeys are the keys of an item of schemas in the file.
var schemaKeys = yamltext.ConfigMapping{
	Name: "an item of schemas",
	Keys: []yamltext.ConfigKey{{Name: "crd", Example: "backups.example.com"}, {Name: "group", Example: "apps"}, {Name: "kind", Example: "Deployment"}, {Name: "versions", Example: "[v1]"}, {Name: "path", Example: "spec.storage"},
		{Name: union.Key, Example: "[{members: [a, b]}]"}, {Name: extendKey, Example: "[{union: backend, ratchet: true}]"}},
	Hints: func() map[string]string {
		hints := map[string]string{}
		for _, key := range union.Keys() {
			hints[key] = "put it into an item of " + union.Key
		}
		return hints
	}(),
}

func readUnionSet(r *yamltext.ConfigReader, item yamltext.ConfigValue) setEntry {
	e := setEntry{item: item}
	before := len(r.Diags)
	fields := item.Fields(schemaKeys)
	if fields == nil {
		return e
	}
	e.target = target(item, fields)
	if v, ok := fields["versions"]; ok {
		e.versions = versions(v)
	}
	path := fields["path"]
	var err error
	if e.to, err = schemapath.Parse(path.Word().Text); err != nil {
		path.Errorf("write it like spec.storage, spec.rules[*].filter or spec['a.b']; the root is empty", "path %q: %v", path.Node.Value, err)
	}
	if e.unions = fields[union.Key].Node; e.unions != nil {
		_, diags := union.Parse(r.File, item.Path, e.unions, r.At)
		r.Diags = append(r.Diags, diags...)
	}
	if e.extends = fields[extendKey].Node; e.extends != nil {
		_, diags := union.ParseExtensions(r.File, item.Path, e.extends, r.At)
		r.Diags = append(r.Diags, diags...)
	}
	_, versioned := fields["versions"]
	_, pathed := fields["path"]
	if (versioned || pathed) && e.declaresNone() && len(r.Diags) == before {
		only := "crd: " + e.target.Name
		if e.target.Kind != "" {
			only = "group and kind of " + e.target.String()
		}
		item.Errorf(fmt.Sprintf("declare unions, or write no more than %s to say that it has none", only),
			"this item of schemas has neither %s nor %s", union.Key, extendKey)
	}
	return e
}

// target reads the target of an item: a CRD by name, or any kind.
func target(item yamltext.ConfigValue, fields map[string]yamltext.ConfigValue) (t union.Target) {
	crd, named := fields["crd"]
	group, grouped := fields["group"]
	kind, kinded := fields["kind"]
	switch {
	case named && (grouped || kinded):
		crd.Errorf("keep either", "this item of schemas has both crd and the name of a kind")
	case named:
		t.Name = name(crd)
	case kinded:
		if t.Kind = kind.Text(); t.Kind != "" && len(validation.IsDNS1035Label(strings.ToLower(t.Kind))) > 0 {
			kind.Errorf("write it as in objects: Deployment", "%q is not the name of a kind", t.Kind)
		}
		if !grouped {
			break
		}
		if t.Group = group.Word().Text; t.Group != "" && len(validation.IsDNS1123Subdomain(t.Group)) > 0 {
			group.Errorf("write it as in apiVersion, without the version: apps", "%q is not the name of a group", t.Group)
		}
	case grouped:
		item.Errorf("add a kind, such as kind: Deployment", "this item of schemas has a group, and no kind")
	default:
		item.Errorf("write the name of the CRD, such as crd: backups.example.com, or the group and the kind", "this item of schemas has no crd")
	}
	return t
}

// name reads the name of a CRD, which consists of its plural and its group.
func name(v yamltext.ConfigValue) string {
	name := v.Text()
	if name != "" && (len(validation.IsDNS1123Subdomain(name)) > 0 || !strings.Contains(name, ".")) {
		hint := "write plural and group, as kubectl get crd prints them: backups.example.com"
		if lower := strings.ToLower(name); lower != name && len(validation.IsDNS1123Subdomain(lower)) == 0 {
			hint = "names of CRDs are in lower case: the plural and the group, as kubectl get crd prints them"
		}
		v.Errorf(hint, "%q is not the name of a CRD", name)
	}
	return name
}

func versions(list yamltext.ConfigValue) []string {
	var l []string
	items := list.Items()
	if list.Node.Kind == yaml.SequenceNode && len(items) == 0 {
		list.Errorf("name versions, or leave the key out for all of them", "versions is empty")
	}
	for _, item := range items {
		v := item.Text()
		switch {
		case v == "":
		case len(validation.IsDNS1035Label(v)) > 0:
			item.Errorf("write the name of a version, without the group: v1", "%q is not the name of a version", v)
		case slices.Contains(l, v):
			item.Errorf("delete one of them", "version %s is listed twice", v)
		default:
			l = append(l, v)
		}
	}
	return l
}

// overlaps reports several entries for the same schema of the same version, and CRDs that are
// listed with and without unions.
func overlaps(entries []setEntry) {
	before := map[union.Target][]setEntry{}
	for _, e := range entries {
		for _, o := range before[e.target] {
			switch {
			case e.declaresNone() != o.declaresNone():
				overlap(e, o, "delete the item without unions", "%s is listed both with and without unions", e.target)
			case e.declaresNone():
				overlap(e, o, "delete one of them", "%s is listed twice as having no unions", e.target)
			case e.to.Equal(o.to) && (e.unions != nil && o.unions != nil || e.extends != nil && o.extends != nil):
				version, ok := common(e.versions, o.versions)
				if ok {
					overlap(e, o, "put all unions of one schema into one list", "%s of %s has unions twice%s", cmp.Or(e.to.String(), "the root"), e.target, version)
				}
			default:
				continue
			}
		}
		before[e.target] = append(before[e.target], e)
	}
}

func overlap(e, other setEntry, hint, format string, args ...any) {
	e.item.Errorf(hint, format, args...).Related = []diag.Related{{Pos: other.item.Pos(), Message: "the other item"}}
}

// common reports whether two lists of versions overlap, and returns a common version.
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
