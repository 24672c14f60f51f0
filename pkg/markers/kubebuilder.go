package markers

import (
	"maps"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// kubebuilder are controller-gen's own markers.
var kubebuilder = table{
	"kubebuilder:validation:ExactlyOneOf": {role: listing, cardinality: union.ExactlyOne},
	"kubebuilder:validation:AtMostOneOf":  {role: listing, cardinality: union.AtMostOne},
	"kubebuilder:validation:AtLeastOneOf": {role: listing, cardinality: union.AtLeastOne},
}

// listed returns the unions of controller-gen's own markers, which name properties of the struct and
// of the structs it inlines. controller-gen checks only that the struct's own properties are
// optional.
func (s *structure) listed() (l []*declaration) {
	if !s.l.opts.Kubebuilder {
		return nil
	}
	rest := maps.Clone(s.info.Markers) // as controller-tools parses them
	for _, m := range s.marks {
		values := rest[m.name[1:]]
		if m.role != listing || len(values) == 0 {
			continue
		}
		rest[m.name[1:]] = values[1:]
		var names []string
		switch l := values[0].(type) {
		case crdmarkers.ExactlyOneOf:
			names = l
		case crdmarkers.AtMostOneOf:
			names = l
		case crdmarkers.AtLeastOneOf:
			names = l
		}
		if len(names) == 0 {
			continue // controller-gen writes no rule either
		}
		u := &declaration{at: m.pos, item: yamltext.MappingNode(), names: names, ofStruct: true}
		u.set("members", yamltext.StringsNode(names...))
		u.set("cardinality", yamltext.StringNode(m.cardinality.String()))
		u.set("handWrittenRules", yamltext.StringNode("Replace"))
		l = append(l, u)
	}
	return l
}
