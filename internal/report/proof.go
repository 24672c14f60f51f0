package report

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Verified is the proof of whether the rules of a CRD enforce a union.
type Verified struct {
	diag.Pos             // of the declaration
	CRD           string `json:"crd"`
	Path          string `json:"path"`
	Schema        string `json:"schema"`
	Name          string `json:"name,omitempty"`
	Discriminator string `json:"discriminator,omitempty"`
	// Members are the names of the members.
	Members []string `json:"members"`
	Proved  bool     `json:"proved"`
	// Rules is the number of rules that read fields of the union.
	Rules        int           `json:"rules"`
	Differences  []Difference  `json:"differences"`
	Restrictions []Restriction `json:"restrictions"`
	Inconclusive []string      `json:"inconclusive"`
	Notes        []string      `json:"notes"`

	again string // the updates that a counterexample without a change represents
}

// Difference is a counterexample: the CRD accepts it and the union forbids it, or the reverse.
type Difference struct {
	Verdict    verify.Kind `json:"verdict"` // accepted or rejected
	Words      string      `json:"words"`
	Violations []Violation `json:"violations,omitempty"`
	Removed    string      `json:"removed,omitempty"`
	Rule       string      `json:"rule,omitempty"`
	RuleAt     string      `json:"ruleAt,omitempty"`
	Message    string      `json:"message,omitempty"`
	verify.Example
}

// Violation is a condition that a difference breaks.
type Violation struct {
	Condition union.Condition `json:"condition"`
	Member    string          `json:"member,omitempty"`
}

// Restriction is a rule that is stricter than the union, depending on other properties.
type Restriction struct {
	Rule     string          `json:"rule"`
	RuleAt   string          `json:"ruleAt"`
	Reads    string          `json:"reads"`
	Accepted *verify.Example `json:"accepted"`
	Rejected verify.Example  `json:"rejected"`
}

// Provable returns the unions of the CRDs of a file. Rules that the API server cannot compile are errors.
func Provable(f *crdpatch.File, opts crdpatch.Options) ([]*compile.Declared, diag.List) {
	return crdpatch.Ask(f, opts, func(c *crdpatch.CRD) (*compile.Declared, diag.List) {
		d, l := c.Declared()
		if d != nil {
			l = append(l, c.Faults(d.CRD)...)
		}
		return d, l
	})
}

// Verify verifies the unions of one CRD.
func Verify(ctx context.Context, d compile.Declared) ([]Verified, error) {
	var l []Verified
	requests := map[int]*verify.Finding{} // by version; an example is shown once
	for _, o := range d.Objects {
		if _, known := requests[o.Version]; !known {
			request, err := verify.Request(ctx, d.CRD, o.Version, d.CRD, o.Version)
			if err != nil {
				return nil, err
			}
			requests[o.Version] = request
		}
		again := "this applies to any update that changes something else in the union object and leaves the union as it is; the server lets one that changes nothing pass"
		if at, open := union.Unnamed(o.Schema(d.CRD)); len(o.Path) == 0 {
			again = "this applies to any update that leaves the union as it is"
		} else if open {
			again += ", unless " + cmp.Or(at, "the object") + " has fields that the schema does not name"
		}
		proofs, err := verify.Object(ctx, d.CRD, o.Version, o.Path, o.Unions)
		if err != nil {
			return nil, err
		}
		for i, u := range o.Unions {
			for _, p := range proofs {
				if p.Union == u {
					v := Verified{
						Pos: o.Declarations[i].Pos, CRD: d.Name, Path: o.Place.String(), Schema: o.Structural(),
						Name: u.Name, Discriminator: u.Discriminator, Members: u.MemberNames(), Proved: p.Proved(), Rules: p.Rules,
						Differences: []Difference{}, Restrictions: []Restriction{}, Inconclusive: []string{}, Notes: []string{}, again: again,
					}
					for _, f := range p.Findings {
						v.add(u, f)
					}
					if f := requests[o.Version]; f != nil {
						v.add(u, *f)
						v.Proved = false
						requests[o.Version] = &verify.Finding{Kind: verify.Undecided, Text: f.Text}
					}
					l = append(l, v)
				}
			}
		}
	}
	return l, nil
}

// add adds a finding about the union.
func (v *Verified) add(u *union.Union, f verify.Finding) {
	switch f.Kind {
	case verify.Undecided:
		v.Inconclusive = append(v.Inconclusive, f.Text)
	case verify.Noted:
		v.Notes = append(v.Notes, f.Text)
	case verify.Restricted:
		v.Restrictions = append(v.Restrictions, Restriction{f.Rule, f.RuleAt, f.Text, f.Other, f.Example})
	default:
		d := Difference{Verdict: f.Kind, Words: f.Words(u), Removed: f.Removed, Rule: f.Rule, RuleAt: f.RuleAt, Message: f.Message, Example: f.Example}
		for _, broken := range f.Violations {
			one := Violation{Condition: broken.Condition}
			if broken.Member >= 0 {
				one.Member = u.Members[broken.Member].Name
			}
			d.Violations = append(d.Violations, one)
		}
		v.Differences = append(v.Differences, d)
	}
}

// Label returns the name of the union or, without a name, its members, on one line.
func (v Verified) Label() string {
	return cmp.Or(v.Name, MembersInWords(v.Members), v.Discriminator)
}

// mostNamed bounds the number of members on a line.
const mostNamed = 8

// MembersInWords lists the first members of a union on one line.
func MembersInWords(names []string) string {
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
