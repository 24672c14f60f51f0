package stored

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Advice describes the ratcheting of stored objects that violate a constraint.
type Advice struct {
	// Spares is set if the server accepts writes that leave the value at Unit unchanged.
	Spares bool `json:"spares"`
	// SparesStatus is the same for writes to the status.
	SparesStatus bool `json:"sparesStatus"`
	// SparesApply is the same for server-side apply, which merges values by the types of the
	// schema.
	SparesApply bool `json:"sparesApply"`
	// Unit leads to the value that has to stay unchanged: the value that the constraint is on, or
	// the enclosing list if the server cannot correlate its items.
	Unit schemapath.Path `json:"unit"`
	// State is set if only the discriminator of Unit, and the set of its members, have to stay
	// unchanged.
	State bool `json:"state"`
	// Why is the reason that nothing is ratcheted; empty otherwise.
	Why string `json:"why,omitempty"`
	// Ratchet is set if ratchet: true on the union would set State.
	Ratchet bool `json:"ratchet"`
	// Exposed are the objects that are not ratcheted nevertheless.
	Exposed []string `json:"exposed,omitempty"`
}

// Of is the origin of a constraint.
type Of int

// The origins: a handwritten constraint, a union, and a union with ratchet: true.
const (
	ByHand Of = iota
	Union
	RatchetingUnion
)

// Advise returns the advice for a constraint that is new in a schema, on a server of a Kubernetes
// version ("" is the latest). It covers updates only: a created object has to satisfy the
// constraint.
func Advise(root *apiextensionsv1.JSONSchemaProps, c Constraint, of Of, kubeVersion string) (Advice, error) {
	a := Advice{Spares: true, SparesStatus: true, SparesApply: c.Keyword != "type" && c.Keyword != Typed, Unit: unit(root, c.Path)}
	a.Ratchet = of == Union && len(a.Unit) == len(c.Path)
	// A write to the status is validated by all rules, but only by the part of the schema below
	// status.
	apart := !c.IsRule() && c.Keyword != Budget && !isStatus(c.Path)
	if kubeVersion != "" {
		v, err := version.ParseGeneric(kubeVersion)
		if err != nil {
			return Advice{}, err
		}
		a.Spares, a.SparesStatus = v.AtLeast(version.MajorMinor(1, 30)), apart || v.AtLeast(version.MajorMinor(1, 33))
		a.SparesApply = a.SparesApply && a.Spares
		a.Ratchet = a.Ratchet && a.Spares // which came with optionalOldSelf
	}
	if c.Keyword == ListType { // ratcheted on every server that has these lists
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: c.Path}, nil
	}
	// Transition rules of a union, and all rules of one with ratchet: true, hold on every server as
	// long as the state of the union is unchanged.
	if of == RatchetingUnion || of == Union && c.Keyword == TransitionRule {
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: a.Unit, State: true}, nil
	}
	never := ""
	switch {
	case c.Keyword == TransitionRule || c.Keyword == StaticRule && readsOld(c.Rule):
		never = "a rule that reads oldSelf is always evaluated"
	case c.Keyword == EvaluationError:
		never = "an evaluation error is never ratcheted"
	case c.Keyword == Budget || c.Keyword == Scale || c.Keyword == EmbeddedResource || c.Keyword == ObjectMeta || c.Keyword == Malformed:
		never = "this is checked at every write"
	case len(c.Path) == 0:
		never = "every update changes the root"
	case !a.Spares:
		never = "Kubernetes " + kubeVersion + " does not ratchet"
	}
	if never != "" {
		return Advice{SparesStatus: apart, Unit: c.Path, Why: never, Ratchet: a.Ratchet}, nil
	}
	if at := openBelow(a.Unit, a.Unit.Schema(root)); at != nil {
		a.Exposed = append(a.Exposed, "with fields in "+name(at)+" that the schema does not name")
	}
	if c.Keyword == StaticRule && of == ByHand {
		a.Exposed = append(a.Exposed, "for which the rule cannot be evaluated")
	}
	return a, nil
}

func isStatus(p schemapath.Path) bool {
	return len(p) > 0 && p[0] == schemapath.Property("status")
}

func readsOld(rule string) bool {
	parsed, err := formula.Parse(rule)
	return err == nil && parsed.ReadsOld
}

// unit returns the longest prefix of a path that the server can follow from the old object to the
// new one.
func unit(root *apiextensionsv1.JSONSchemaProps, p schemapath.Path) schemapath.Path {
	for i, step := range p {
		if s := p[:i].Schema(root); step == schemapath.Items && s != nil && (s.XListType == nil || *s.XListType != "map") {
			return p[:i]
		}
	}
	return p
}

// openBelow returns a path in a value that may have fields that its schema does not name, or nil.
// The server never considers such an object unchanged, except in a list that it compares as a
// whole.
func openBelow(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) schemapath.Path {
	if s == nil {
		return nil
	}
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.XEmbeddedResource || s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Allows {
		return slices.Clip(p)
	}
	for _, step := range schemapath.Children(s) {
		if step == schemapath.Items && (s.XListType == nil || *s.XListType != "map") {
			continue
		}
		if found := openBelow(p.Append(step), step.Schema(s)); found != nil {
			return found
		}
	}
	return nil
}

func name(p schemapath.Path) string {
	if len(p) == 0 {
		return "the object"
	}
	return p.String()
}

// String returns the advice as a sentence.
func (a Advice) String() string {
	const state = "which members are set, and any discriminator, are unchanged"
	b := []byte("Stored objects that violate it can")
	switch {
	case !a.Spares:
		b = fmt.Appendf(b, "not be written (%s)", a.Why)
	case a.State:
		b = append(b, " be written as long as "+state...)
	default:
		b = fmt.Appendf(b, " be written as long as %s is unchanged", name(a.Unit))
	}
	switch {
	case a.Spares && !a.SparesStatus:
		b = append(b, ", but not their status"...)
	case a.Spares && !a.SparesApply:
		b = append(b, ", but not by server-side apply"...)
	case !a.Spares && a.SparesStatus:
		b = append(b, ", but for their status"...)
	}
	if len(a.Exposed) > 0 {
		b = append(b, "; except objects "+strings.Join(a.Exposed, ", or ")...)
	}
	if a.Ratchet {
		b = append(b, "; with ratchet: true, as long as "+state...)
	}
	return string(append(b, '.'))
}
