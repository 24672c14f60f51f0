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

// Advice is what a server forgives of stored objects that break a constraint.
type Advice struct {
	// Spares says that writes are accepted that leave what is at Unit as it is.
	Spares bool `json:"spares"`
	// SparesStatus says so of writes to the status.
	SparesStatus bool `json:"sparesStatus"`
	// SparesApply says so of server-side apply, which merges values of the types in the schema.
	SparesApply bool `json:"sparesApply"`
	// Unit leads to what has to be as it was: what the constraint stands on, or the list
	// that it is in, if the server cannot tell its items apart.
	Unit schemapath.Path `json:"unit"`
	// State says that of Unit nothing but the discriminator, and which members are set, has
	// to be as it was.
	State bool `json:"state"`
	// Why says why nothing is spared; empty otherwise.
	Why string `json:"why,omitempty"`
	// Ratchet says that with ratchet: true for the union, State would be true.
	Ratchet bool `json:"ratchet"`
	// Exposed are the objects that are not spared nevertheless.
	Exposed []string `json:"exposed,omitempty"`
}

// Of says what a constraint belongs to.
type Of int

// A constraint is written by hand, or a rule of a union, which has ratchet: true, or not.
const (
	ByHand Of = iota
	Union
	RatchetingUnion
)

// Advise says what a server of a Kubernetes version ("" is the latest) forgives of stored
// objects that break a constraint which is new in a schema. It is about updates: whatever is
// created has to obey it.
func Advise(root *apiextensionsv1.JSONSchemaProps, c Constraint, of Of, kubeVersion string) (Advice, error) {
	a := Advice{Spares: true, SparesStatus: true, SparesApply: c.Keyword != "type" && c.Keyword != Typed, Unit: unit(root, c.Path)}
	a.Ratchet = of == Union && len(a.Unit) == len(c.Path)
	// A write to the status is judged by all rules, and by nothing else of the schema but
	// what is below status.
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
	if c.Keyword == ListType { // always so, since there are these lists
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: c.Path}, nil
	}
	// What a union says of changes, and all rules of one with ratchet: true, hold as long as
	// its state is the same, on every server.
	if of == RatchetingUnion || of == Union && c.Keyword == TransitionRule {
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: a.Unit, State: true}, nil
	}
	never := ""
	switch {
	case c.Keyword == TransitionRule || c.Keyword == StaticRule && readsOld(c.Rule):
		never = "a rule that reads oldSelf is always evaluated"
	case c.Keyword == EvaluationError:
		never = "a rule that cannot be evaluated is never forgiven"
	case c.Keyword == Budget || c.Keyword == Scale || c.Keyword == EmbeddedResource || c.Keyword == ObjectMeta || c.Keyword == Malformed:
		never = "this is checked at every write"
	case len(c.Path) == 0:
		never = "nothing is unchanged at the root"
	case !a.Spares:
		never = "Kubernetes " + kubeVersion + " forgives nothing"
	}
	if never != "" {
		return Advice{SparesStatus: apart, Unit: c.Path, Why: never, Ratchet: a.Ratchet}, nil
	}
	if at := openBelow(a.Unit, a.Unit.In(root)); at != nil {
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

// readsOld reports whether a rule reads oldSelf.
func readsOld(rule string) bool {
	parsed, err := formula.Parse(rule)
	return err == nil && parsed.ReadsOld
}

// unit is how far the server can follow a path from the old object to the new one.
func unit(root *apiextensionsv1.JSONSchemaProps, p schemapath.Path) schemapath.Path {
	for i, step := range p {
		if s := p[:i].In(root); step == schemapath.Items && s != nil && (s.XListType == nil || *s.XListType != "map") {
			return p[:i]
		}
	}
	return p
}

// openBelow is where in a value there may be fields that its schema does not name, or nil.
// The server takes no such object for unchanged, except in a list that it compares as a
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
		if found := openBelow(p.To(step), step.In(s)); found != nil {
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

// String is the advice in a sentence.
func (a Advice) String() string {
	const state = "which members are set, and any discriminator, are unchanged"
	b := []byte("Stored objects that break it can")
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
		b = append(b, "; not those "+strings.Join(a.Exposed, ", or ")...)
	}
	if a.Ratchet {
		b = append(b, "; with ratchet: true, as long as "+state...)
	}
	return string(append(b, '.'))
}
