package markers

import (
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// kubebuilder adds the unions of controller-gen's own markers, which name properties of the struct
// and of the structs it inlines. controller-gen checks only that the struct's own properties are
// optional.
func (s *structure) kubebuilder() {
	if !s.l.opts.Kubebuilder {
		return
	}
	cardinalities := map[markerKind]union.Cardinality{exactlyOneOf: union.ExactlyOne, atMostOneOf: union.AtMostOne, atLeastOneOf: union.AtLeastOne}
	seen := map[markerKind]int{}
	for _, m := range s.marks {
		if !m.kind.kubebuilder() {
			continue
		}
		names := s.names(m, seen[m.kind])
		seen[m.kind]++
		if len(names) == 0 {
			continue // controller-gen writes no rule either
		}
		u := declared{at: m.pos, item: yamltext.MappingNode(), ofStruct: true}
		u.set("members", yamltext.StringsNode(names...))
		u.set("cardinality", yamltext.StringNode(cardinalities[m.kind].String()))
		u.set("handWrittenRules", yamltext.StringNode("Replace"))
		s.add(u)
	}
}

// names returns the properties that the nth marker of a kind lists, as parsed by controller-tools.
func (s *structure) names(m mark, n int) []string {
	values := s.info.Markers[m.name[1:]]
	if n >= len(values) {
		return nil
	}
	switch l := values[n].(type) {
	case crdmarkers.ExactlyOneOf:
		return l
	case crdmarkers.AtMostOneOf:
		return l
	case crdmarkers.AtLeastOneOf:
		return l
	}
	return nil
}
