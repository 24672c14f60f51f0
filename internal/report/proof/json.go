package proof

import (
	"io"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/verify"
)

// The JSON that verify prints.
type (
	proofJSON struct {
		File          string            `json:"file"`
		Line          int               `json:"line"`
		Col           int               `json:"col"`
		CRD           string            `json:"crd"`
		Path          string            `json:"path"`
		Schema        string            `json:"schema"`
		Name          string            `json:"name,omitempty"`
		Discriminator string            `json:"discriminator,omitempty"`
		Members       []string          `json:"members"`
		Proved        bool              `json:"proved"`
		Rules         int               `json:"rules"` // that read something of the union
		Differences   []differenceJSON  `json:"differences"`
		Restrictions  []restrictionJSON `json:"restrictions"`
		Inconclusive  []string          `json:"inconclusive"`
		Notes         []string          `json:"notes"`
	}
	differenceJSON struct {
		Verdict    string          `json:"verdict"` // "accepted" or "rejected"
		Words      string          `json:"words"`
		Violations []violationJSON `json:"violations,omitempty"`
		Removed    string          `json:"removed,omitempty"`
		Rule       string          `json:"rule,omitempty"`
		RuleAt     string          `json:"ruleAt,omitempty"`
		Message    string          `json:"message,omitempty"`
		Old        map[string]any  `json:"old,omitempty"`
		New        map[string]any  `json:"new"`
	}
	restrictionJSON struct {
		Rule     string `json:"rule"`
		RuleAt   string `json:"ruleAt"`
		Reads    string `json:"reads"`
		Accepted Change `json:"accepted"`
		Rejected Change `json:"rejected"`
	}
	// Change is an object that is created, or one that is updated from Old.
	Change struct {
		Old map[string]any `json:"old,omitempty"`
		New map[string]any `json:"new,omitempty"`
	}
	violationJSON struct {
		Condition string `json:"condition"`
		Member    string `json:"member,omitempty"`
	}
)

// JSON prints proofs as a list.
func JSON(w io.Writer, l []Verified) error {
	out := []proofJSON{}
	for _, v := range l {
		p := proofJSON{
			File: v.Pos.File, Line: v.Pos.Line, Col: v.Pos.Col, CRD: v.CRD, Path: v.Place.String(), Schema: v.Place.Structural(),
			Name: v.Union.Name, Discriminator: v.Union.Discriminator, Members: v.Union.MemberNames(),
			Proved: v.Proved(), Rules: v.Rules,
			Differences: []differenceJSON{}, Restrictions: []restrictionJSON{}, Inconclusive: append([]string{}, v.Inconclusive...), Notes: append([]string{}, v.Notes...),
		}
		for _, d := range v.Differences {
			p.Differences = append(p.Differences, toJSON(v, d))
		}
		for _, r := range v.Restrictions {
			p.Restrictions = append(p.Restrictions, restrictionJSON{r.Rule, r.RuleAt, r.Reads, Change{r.AcceptedOld, r.Accepted}, Change{r.RefusedOld, r.Refused}})
		}
		out = append(out, p)
	}
	return diag.WriteJSON(w, out)
}

func toJSON(v Verified, d verify.Difference) differenceJSON {
	j := differenceJSON{
		Verdict: "rejected", Words: d.Words(v.Union), Removed: d.Removed,
		Rule: d.Rule, RuleAt: d.RuleAt, Message: d.Message, Old: d.Old, New: d.New,
	}
	if d.Accepted {
		j.Verdict = "accepted"
	}
	for _, violation := range d.Violations {
		one := violationJSON{Condition: string(violation.Condition)}
		if violation.Member >= 0 {
			one.Member = v.Union.Members[violation.Member].Name
		}
		j.Violations = append(j.Violations, one)
	}
	return j
}

// ChangeOf returns the change that two sides judge differently, nil for nil.
func ChangeOf(d *verify.Difference) *Change {
	if d == nil {
		return nil
	}
	return &Change{d.Old, d.New}
}
