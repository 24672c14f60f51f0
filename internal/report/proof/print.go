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
		findings, differences := v.Findings, len(v.Differences())
		head := fmt.Sprintf("%s: %s (%s): ", v.Pos, v.Label(), v.Place)
		switch {
		case v.Proved():
			proved++
			fmt.Fprintf(w, "%sproved: %s\n", head, spelling.Plural(v.Rules, "rule"))
			if len(findings) == 0 {
				continue
			}
		case v.Rules == 0 && differences > 0:
			// The API server accepts all that the union forbids.
			differ++
			fmt.Fprintf(w, "%snot enforced: no rule reads this union; compile it first (unioncel compile)\n", head)
			if findings = v.Of(verify.Restricted, verify.Undecided, verify.Noted); len(v.Of(verify.Undecided)) == 0 {
				continue
			}
		case differences > 0:
			differ++
			fmt.Fprintf(w, "%s%s\n", head, spelling.Plural(differences, "difference"))
		default:
			inconclusive++
			fmt.Fprintf(w, "%sinconclusive\n", head)
		}
		for _, f := range findings {
			if err := findingText(w, v, f); err != nil {
				return err
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %d proved, %d different, %d inconclusive\n", spelling.Plural(len(l), "union"), proved, differ, inconclusive)
	return nil
}

func findingText(w io.Writer, v Verified, f verify.Finding) error {
	switch f.Kind {
	case verify.Undecided:
		fmt.Fprintf(w, "\ninconclusive: %s\n", f.Text)
		return nil
	case verify.Noted:
		fmt.Fprintf(w, "\nnote: %s\n", f.Text)
		return nil
	case verify.Restricted:
		fmt.Fprintf(w, "\nstricter than the union, depending on %s: %s\nat %s\n", f.Text, f.Rule, f.RuleAt)
		if err := resourcesText(w, "accepted", f.Other.Old, f.Other.New); err != nil {
			return err
		}
		return resourcesText(w, "rejected", f.Old, f.New)
	case verify.Accepted:
		fmt.Fprintf(w, "\naccepted, but the union forbids it: %s\n", f.Words(v.Union))
	case verify.Rejected:
		fmt.Fprintf(w, "\nrejected by %s, but the union allows it: %s\n", f.Rule, f.Words(v.Union))
		fmt.Fprintf(w, "at %s\n", f.RuleAt)
		if f.Message != "" && f.Message != "failed rule: "+strings.TrimSpace(f.Rule) {
			fmt.Fprintf(w, "says: %s\n", f.Message)
		}
	}
	if f.Old != nil && reflect.DeepEqual(f.Old, f.New) {
		fmt.Fprintln(w, v.again)
	}
	return ChangeText(w, f)
}

// ChangeText prints the resources of a difference as YAML that can be applied.
func ChangeText(w io.Writer, d verify.Finding) error {
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
			Differences: []differenceJSON{}, Restrictions: []restrictionJSON{}, Inconclusive: []string{}, Notes: []string{},
		}
		for _, f := range v.Findings {
			switch f.Kind {
			case verify.Undecided:
				p.Inconclusive = append(p.Inconclusive, f.Text)
			case verify.Noted:
				p.Notes = append(p.Notes, f.Text)
			case verify.Restricted:
				p.Restrictions = append(p.Restrictions, restrictionJSON{f.Rule, f.RuleAt, f.Text, Change{f.Other.Old, f.Other.New}, Change{f.Old, f.New}})
			default:
				p.Differences = append(p.Differences, toJSON(v, f))
			}
		}
		out = append(out, p)
	}
	return diag.WriteJSON(w, out)
}

func toJSON(v Verified, d verify.Finding) differenceJSON {
	j := differenceJSON{
		Verdict: string(d.Kind), Words: d.Words(v.Union), Removed: d.Removed,
		Rule: d.Rule, RuleAt: d.RuleAt, Message: d.Message, Old: d.Old, New: d.New,
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
func ChangeOf(d *verify.Finding) *Change {
	if d == nil {
		return nil
	}
	return &Change{d.Old, d.New}
}
