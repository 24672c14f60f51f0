package proof

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/spelling"
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
		fmt.Fprintln(w, "---\n# stored")
		if err := resourceText(w, stored); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "---\n# "+head)
	return resourceText(w, resource)
}

func resourceText(w io.Writer, resource map[string]any) error {
	text, err := sigs.Marshal(resource)
	if err != nil {
		return fmt.Errorf("print a counterexample: %w", err)
	}
	_, err = w.Write(text)
	return err
}
