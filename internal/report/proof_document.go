package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/diag"
)

// ProofDocument returns proofs for people, with the number of each verdict.
func ProofDocument(l []Verified) Document {
	var d Document
	proved, differ, inconclusive := 0, 0, 0
	for _, v := range l {
		differences, verdict := v.Differences, ""
		switch {
		case v.Proved:
			proved++
			verdict = "proved: " + english.Plural(v.Rules, "rule")
		case v.Rules == 0 && len(differences) > 0:
			// No rule reads the union, so the verdict already implies the counterexamples.
			differ++
			verdict = "not enforced: no rule reads this union; compile it first (unioncel compile)"
			differences = nil
		case len(differences) > 0:
			differ++
			verdict = english.Plural(len(differences), "difference")
		default:
			inconclusive++
			verdict = "inconclusive"
		}
		d.Heading(2, N(v.Pos.String()), ": ", N(v.Label()), " (", v.Path, "): ", verdict)
		for _, c := range differences {
			v.difference(&d, c)
		}
		for _, r := range v.Restrictions {
			d.Say("Stricter than the union, depending on ", r.Reads, ", at ", N(r.RuleAt), ":")
			d.Add(Code{Language: "cel", Text: r.Rule + "\n"})
			d.Say("It accepts the first of these, and rejects the second:")
			v.examples(&d, *r.Accepted, r.Rejected)
		}
		for _, text := range v.Inconclusive {
			d.Say("Inconclusive: ", text)
		}
		for _, text := range v.Notes {
			d.Say("Note: ", text)
		}
	}
	d.Say(fmt.Sprintf("%s: %d proved, %d different, %d inconclusive", english.Plural(len(l), "union"), proved, differ, inconclusive))
	return d
}

// difference adds the blocks for a difference.
func (v Verified) difference(d *Document, c Difference) {
	if c.Verdict == verify.Accepted {
		d.Say("Accepted, but the union forbids it: ", c.Words)
	} else {
		d.Say("Rejected, but the union allows it: ", c.Words)
		if c.Rule != "" {
			d.Say("It is rejected at ", N(c.RuleAt), " by:")
			d.Add(Code{Language: "cel", Text: c.Rule + "\n"})
		}
		if c.Message != "" && c.Message != "failed rule: "+strings.TrimSpace(c.Rule) {
			d.Add(Quote{c.Message})
		}
	}
	v.examples(d, c.Example)
}

// examples adds examples, of which the last one is rejected or differs.
func (v Verified) examples(d *Document, l ...verify.Example) {
	if e := l[len(l)-1]; e.Old != nil && reflect.DeepEqual(e.Old, e.New) {
		d.Say(v.again)
	}
	for _, e := range l {
		d.Add(Example(e.Old, e.New))
	}
}

// InlineObject returns an object as JSON on one line, without its type and name, or "" for nil.
func InlineObject(object map[string]any) string {
	if object == nil {
		return ""
	}
	rest := maps.Clone(object)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(rest, name)
	}
	data, _ := json.Marshal(rest) // it is JSON
	return string(data)
}

// ProofDiagnostics returns differences as errors and undecided questions as warnings, at the declaration
// of the union. It omits other findings.
func ProofDiagnostics(l []Verified) diag.List {
	var out diag.List
	for _, v := range l {
		add := func(severity diag.Severity, message string) {
			out = append(out, diag.Diagnostic{Code: codes.NotProved, Severity: severity, Pos: v.Pos, Path: v.Path, Schema: v.Schema, Message: v.Label() + ": " + message})
		}
		for _, c := range v.Differences {
			if c.Verdict == verify.Accepted {
				add(diag.Error, "accepted, but the union forbids it: "+c.Words)
			} else {
				add(diag.Error, fmt.Sprintf("rejected by %s, but the union allows it: %s", cmp.Or(c.Rule, "the cost budget of a request"), c.Words))
			}
		}
		for _, text := range v.Inconclusive {
			add(diag.Warning, "inconclusive: "+text)
		}
	}
	return out
}
