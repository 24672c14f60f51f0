package report

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// requiredChildren finds members whose schema rejects values that the union allows.
func requiredChildren(s *lintedUnion) diag.List {
	var l diag.List
	var whole []string // the members whose children are all required
	wrong := func(m union.Member, hint, format string, args ...any) {
		d := s.find(codes.RequiredChildren, s.memberAt(m.Name), []string{m.Name}, hint, format, args...)
		d[0].Severity = diag.Warning
		l = append(l, d...)
	}
	for _, m := range s.Members {
		p := s.Path(m.Name).Schema(s.schema)
		if p.Type != "object" {
			continue
		}
		children, filled := undefaulted(p), defaulted(p)
		absent := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return keeps(p, name) })
		switch {
		case len(absent) > 0:
			wrong(m, fmt.Sprintf("correct the name in required of %q, or give it the property", m.Name),
				"member %q can never be set: it requires %s, which it has no property for, so that the API server drops values that users write there", m.Name, quotedList(absent))
		case m.Empty == union.EmptyObject && len(children) > 0:
			wrong(m, fmt.Sprintf("take %q out of emptyIsUnset, or make its properties optional", m.Name),
				"emptyIsUnset does nothing for %q: its schema rejects {}, since it requires %s", m.Name, quotedList(children))
		case m.Empty == union.EmptyObject && len(filled) > 0:
			wrong(m, fmt.Sprintf("take %q out of emptyIsUnset, or drop the default", m.Name),
				"emptyIsUnset does nothing for %q: it is never empty, since the API server fills in the default of %s", m.Name, quotedList(filled))
		case requiresAll(p, children) && (len(m.Optional) == 0 || len(m.Required()) > 0):
			whole = append(whole, m.Name)
		}
	}
	if len(whole) == 0 {
		return l
	}
	one := ""
	if len(whole) > 1 {
		one = "each of "
	}
	return append(l, s.find(codes.RequiredChildren, s.memberAt(whole[0]), whole,
		"nothing needs to be done if all of them will always be needed; otherwise make a child optional, or give it a default, before clients rely on it",
		"every child of %s%s is required: {} is rejected, and the member cannot be set until all of them are known", one, quotedList(whole))...)
}

// undefaulted returns the required children that have no default.
func undefaulted(p *apiextensionsv1.JSONSchemaProps) []string {
	var l []string
	for _, name := range p.Required {
		if child, ok := p.Properties[name]; (!ok || child.Default == nil) && !slices.Contains(l, name) {
			l = append(l, name)
		}
	}
	return l
}

// defaulted returns the children that have a default.
func defaulted(p *apiextensionsv1.JSONSchemaProps) []string {
	var l []string
	for name, child := range p.Properties {
		if child.Default != nil {
			l = append(l, name)
		}
	}
	slices.Sort(l)
	return l
}

// requiresAll reports whether a schema has no children other than the given ones.
func requiresAll(p *apiextensionsv1.JSONSchemaProps, children []string) bool {
	for name := range p.Properties {
		if !slices.Contains(children, name) {
			return false
		}
	}
	return len(p.Properties) > 0
}

// keeps reports whether the API server keeps a child instead of pruning it.
func keeps(p *apiextensionsv1.JSONSchemaProps, child string) bool {
	if _, ok := p.Properties[child]; ok {
		return true
	}
	embedded := p.XEmbeddedResource && slices.Contains([]string{"apiVersion", "kind", "metadata"}, child)
	return formula.KeepsUnknown(p) || p.AdditionalProperties != nil || embedded
}
