package proof

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Text prints proofs for people, with a tally.
func Text(w io.Writer, l []Verified) error {
	proved, differ, inconclusive := 0, 0, 0
	for _, v := range l {
		differences := v.Differences
		head := fmt.Sprintf("%s: %s (%s): ", v.Pos, v.Label(), v.Place)
		switch {
		case v.Proved():
			proved++
			fmt.Fprintf(w, "%sproved: %s\n", head, spelling.Plural(v.Rules, "rule"))
			if len(v.Restrictions)+len(v.Notes) == 0 {
				continue
			}
		case v.Rules == 0 && len(v.Differences) > 0:
			// Whatever the union forbids is accepted.
			differ++
			fmt.Fprintf(w, "%snot enforced: no rule reads this union; compile it first (unioncel compile)\n", head)
			if differences = nil; len(v.Inconclusive) == 0 {
				continue
			}
		case len(v.Differences) > 0:
			differ++
			fmt.Fprintf(w, "%s%s\n", head, spelling.Plural(len(v.Differences), "difference"))
		default:
			inconclusive++
			fmt.Fprintf(w, "%sinconclusive\n", head)
		}
		for _, d := range differences {
			if err := differenceText(w, v, d); err != nil {
				return err
			}
		}
		for _, r := range v.Restrictions {
			if err := restrictionText(w, r); err != nil {
				return err
			}
		}
		for _, s := range v.Inconclusive {
			fmt.Fprintf(w, "\ninconclusive: %s\n", s)
		}
		for _, s := range v.Notes {
			fmt.Fprintf(w, "\nnote: %s\n", s)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %d proved, %d different, %d inconclusive\n", spelling.Plural(len(l), "union"), proved, differ, inconclusive)
	return nil
}

func differenceText(w io.Writer, v Verified, d verify.Difference) error {
	if d.Accepted {
		fmt.Fprintf(w, "\naccepted, but the union forbids it: %s\n", d.Words(v.Union))
	} else {
		fmt.Fprintf(w, "\nrejected by %s, but the union allows it: %s\n", d.Rule, d.Words(v.Union))
		fmt.Fprintf(w, "at %s\n", d.RuleAt)
		if d.Message != "" && d.Message != "failed rule: "+strings.TrimSpace(d.Rule) {
			fmt.Fprintf(w, "says: %s\n", d.Message)
		}
	}
	if d.Old != nil && reflect.DeepEqual(d.Old, d.New) {
		fmt.Fprintln(w, v.again)
	}
	return ChangeText(w, d)
}

// restrictionText prints a rule that also depends on something else.
func restrictionText(w io.Writer, r verify.Restriction) error {
	fmt.Fprintf(w, "\nstricter than the union, depending on %s: %s\nat %s\n", r.Reads, r.Rule, r.RuleAt)
	if err := resourcesText(w, "accepted", r.AcceptedOld, r.Accepted); err != nil {
		return err
	}
	return resourcesText(w, "rejected", r.RefusedOld, r.Refused)
}

// ChangeText prints the resources of a difference as YAML that can be applied.
func ChangeText(w io.Writer, d verify.Difference) error {
	if d.Old == nil {
		return resourcesText(w, "created", nil, d.New)
	}
	return resourcesText(w, "updated to", d.Old, d.New)
}

// resourcesText prints a resource, after the stored one that it replaces, if any.
func resourcesText(w io.Writer, head string, stored, resource map[string]any) error {
	if stored != nil {
		if err := resourcesText(w, "stored", nil, stored); err != nil {
			return err
		}
	}
	text, err := sigs.Marshal(resource)
	if err != nil {
		return fmt.Errorf("print a counterexample: %w", err)
	}
	_, err = fmt.Fprintf(w, "---\n# %s\n%s", head, text)
	return err
}

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
