package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Advice describes how stored objects that violate a constraint are ratcheted.
type Advice struct {
	// Spares is set if the server accepts writes that do not change the value at Unit.
	Spares bool `json:"spares"`
	// SparesStatus is the same for writes of the status.
	SparesStatus bool `json:"sparesStatus"`
	// SparesApply is the same for server-side apply, which merges values according to the types in
	// the schema.
	SparesApply bool `json:"sparesApply"`
	// Unit is the path of the value that must not change: the value under the constraint, or the
	// list that contains it if the server cannot correlate its items.
	Unit schemapath.Path `json:"unit"`
	// State is set if only the discriminator of Unit and the set of its members must not change.
	State bool `json:"state"`
	// Why is the reason why nothing is ratcheted; otherwise empty.
	Why string `json:"why,omitempty"`
	// Ratchet is set if State would be set with ratchet: true on the union.
	Ratchet bool `json:"ratchet"`
	// Exposed are the fields that are not ratcheted in spite of Spares, if any.
	Exposed string `json:"exposed,omitempty"`
	// Fails is set if the constraint is a rule that may fail to evaluate. Failures are not ratcheted.
	Fails bool `json:"fails"`
}

// Of is the origin of a constraint.
type Of int

// The origins of a constraint: written by hand, a union, or a union with ratchet: true.
const (
	ByHand Of = iota
	Union
	RatchetingUnion
)

// Advise returns the advice for a constraint that is new in a schema, for a server of a Kubernetes
// version ("" is the latest). It covers only updates: new objects have to satisfy the constraint.
func Advise(root *apiextensionsv1.JSONSchemaProps, c Constraint, of Of, kubeVersion string) (Advice, error) {
	a := Advice{Spares: true, SparesStatus: true, SparesApply: c.Keyword != "type" && c.Keyword != Typed, Unit: unit(root, c.Path)}
	a.Ratchet = of == Union && len(a.Unit) == len(c.Path)
	// A write of the status is validated against all rules, but only against the schemas below
	// status.
	apart := !c.IsRule() && c.Keyword != Budget && !isStatus(c.Path)
	if kubeVersion != "" {
		v, err := version.ParseGeneric(kubeVersion)
		if err != nil {
			return Advice{}, err
		}
		a.Spares, a.SparesStatus = v.AtLeast(version.MajorMinor(1, 30)), apart || v.AtLeast(version.MajorMinor(1, 33))
		a.SparesApply = a.SparesApply && a.Spares
		a.Ratchet = a.Ratchet && a.Spares // optionalOldSelf came in the same release
	}
	if c.Keyword == ListType { // ratcheted on every server that supports such lists
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: c.Path}, nil
	}
	// As long as the state of the union is unchanged, transition rules of a union and all rules of
	// a union with ratchet: true hold on every server.
	if of == RatchetingUnion || of == Union && c.Keyword == TransitionRule {
		return Advice{Spares: true, SparesStatus: true, SparesApply: true, Unit: a.Unit, State: true}, nil
	}
	never := ""
	switch {
	case c.Keyword == TransitionRule || c.Keyword == StaticRule && c.readsOld():
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
	if s := a.Unit.Schema(root); s != nil {
		if below, open := union.Unnamed(s); open {
			at := strings.ReplaceAll(strings.Trim(a.Unit.String()+"."+below, "."), ".[", "[")
			a.Exposed = "with fields in " + cmp.Or(at, "the object") + " that the schema does not name"
		}
	}
	if s := c.Path.Schema(root); c.Keyword == StaticRule && of == ByHand && s != nil {
		read, err := formula.Parse(c.Rule)
		a.Fails = err != nil || read.MayFail(s)
	}
	return a, nil
}

func isStatus(p schemapath.Path) bool {
	return len(p) > 0 && p[0] == schemapath.Property("status")
}

// unit returns the longest prefix of a path along which the server can correlate the old and the
// new object.
func unit(root *apiextensionsv1.JSONSchemaProps, p schemapath.Path) schemapath.Path {
	for i, step := range p {
		if s := p[:i].Schema(root); step == schemapath.Items && s != nil && (s.XListType == nil || *s.XListType != "map") {
			return p[:i]
		}
	}
	return p
}

// String returns the advice as one sentence.
func (a Advice) String() string {
	const state = "which members are set, and any discriminator, are unchanged"
	b := []byte("Stored objects that violate it can")
	switch {
	case !a.Spares:
		b = fmt.Appendf(b, "not be written (%s)", a.Why)
	case a.State:
		b = append(b, " be written as long as "+state...)
	default:
		b = fmt.Appendf(b, " be written as long as %s is unchanged", cmp.Or(a.Unit.String(), "the object"))
	}
	switch {
	case a.Spares && !a.SparesStatus:
		b = append(b, ", but not their status"...)
	case a.Spares && !a.SparesApply:
		b = append(b, ", but not by server-side apply"...)
	case !a.Spares && a.SparesStatus:
		b = append(b, ", but for their status"...)
	}
	var exposed []string
	if a.Exposed != "" {
		exposed = append(exposed, a.Exposed)
	}
	if a.Fails {
		exposed = append(exposed, "for which the rule cannot be evaluated")
	}
	if len(exposed) > 0 {
		b = append(b, "; except objects "+strings.Join(exposed, ", or ")...)
	}
	if a.Ratchet {
		b = append(b, "; with ratchet: true, as long as "+state...)
	}
	return string(append(b, '.'))
}

// advise sets the advice on a change that may reject stored objects: which writes of these objects the
// API server of the new CRD ratchets.
func (p *pair) advise(d *difference, kubeVersion string) error {
	static := slices.ContainsFunc(d.newRules, func(rule string) bool { return !Constraint{Rule: rule}.readsOld() })
	if !d.Class.Refuses() || d.Version != d.NewVersion || d.Kind == Removed || d.Sort == Shape || d.Sort == VersionSort {
		return nil
	}
	if (d.Sort == UnionSort || d.Sort == Transition && !static) && d.Refused != nil && d.Refused.Old != nil && !d.Refused.Exempt {
		return nil // stored objects never violate transition rules
	}
	constraint := Constraint{Keyword: Keyword(d.Keyword), Path: d.Path}
	if len(d.newRules) == 1 {
		constraint.Rule = d.newRules[0]
	}
	switch {
	case d.Sort == Required:
		constraint = Constraint{Keyword: "required", Path: d.Path[:len(d.Path)-1]}
	case len(d.newRules) > 0 && !static:
		constraint.Keyword = TransitionRule
	case d.Sort == UnionSort || d.Sort == Rule || d.Sort == Transition:
		constraint.Keyword = StaticRule
	}
	advice, err := Advise(p.root(newSide), constraint, d.of, kubeVersion)
	advice.Fails = d.fails && constraint.Keyword == StaticRule && d.of == ByHand
	if !p.withStatus(newSide) {
		advice.SparesStatus = advice.Spares // no write of the status alone
	}
	d.Advice = advice.String()
	return err
}
