package yamltext

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"

	"github.com/unioncel/unioncel/pkg/diag"
)

// APIVersion is the only supported apiVersion.
const APIVersion = "unioncel.dev/v1alpha1"

// Open returns the root nodes of the documents in a file, or nil after an error. Diagnostics do not quote
// a file that does not mention unioncel; hint extends the hint of the diagnostic for such a file.
func (r *ConfigReader) Open(src []byte, kind, hint string) []*yaml.Node {
	report := func(code diag.Code, hint, message string) {
		r.Diags = append(r.Diags, diag.New(code, diag.Pos{File: r.File}, "%s", message).Hinted(hint))
	}
	if !IsConfig(src) {
		report(r.Code, head(kind)+hint, "this is not a "+kind+": it has no apiVersion: "+APIVersion)
		return nil
	}
	l := r.Documents(src, Limits{})
	if len(l) == 0 && !r.Diags.HasErrors() {
		report(codes.EmptyInput, "", "the file is empty")
	}
	if r.Diags.HasErrors() {
		return nil
	}
	return l
}

// Documents returns the root nodes of the documents in a file, without documents with errors. Every YAML
// reader must read the same from a document.
func (r *ConfigReader) Documents(src []byte, limits Limits) (l []*yaml.Node) {
	file, wrong := ParseManifest(r.File, src, limits)
	if wrong != nil {
		r.Diags = append(r.Diags, *wrong)
		return nil
	}
	for _, d := range file.Docs {
		if d.Root == nil {
			continue
		}
		if duplicates := Duplicates(r.File, d.Root); len(duplicates) > 0 {
			r.Diags = append(r.Diags, duplicates...)
		} else if _, _, wrong := KubectlValue(r.File, file, d); wrong != nil {
			r.Diags = append(r.Diags, *wrong)
		} else {
			l = append(l, d.Root)
		}
	}
	return l
}

func head(kind string) string { return "write apiVersion: " + APIVersion + " and kind: " + kind }

// Object returns the fields of an object of a kind. It allows the keys apiVersion and kind, and the
// keys of m. For an object of another kind, the result is nil, and m may have a hint.
func (r *ConfigReader) Object(n *yaml.Node, kind string, m ConfigMapping) map[string]ConfigValue {
	root := r.Value(n, "{apiVersion: "+APIVersion+", kind: "+kind+"}")
	if root.Node.Kind != yaml.MappingNode {
		root.Errorf(head(kind), "want a %s, not %s", kind, Describe(root.Node))
		return nil
	}
	top := []ConfigKey{{"apiVersion", APIVersion}, {"kind", kind}}
	for _, key := range slices.Backward(top) {
		v := root.Field(key)
		if v.Node == nil {
			root.Errorf(head(kind), "%s is missing", key.Name)
			return nil
		}
		said := v.Text()
		if said == key.Example {
			continue
		}
		if said != "" {
			v.Errorf(cmp.Or(m.Hints[said], head(kind)), "%s must be %s, not %q", key.Name, key.Example, said)
		}
		return nil
	}
	m.Keys = slices.Concat(top, m.Keys)
	fields := root.Fields(m)
	fields["metadata"].Field(ConfigKey{"name", "unions"}).Word() // other tools own the rest of metadata
	return fields
}
