package proof

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Document returns proofs for people, with the number of each verdict. It returns an error if an
// example cannot be written as YAML.
func Document(l []Verified) (report.Document, error) {
	var d report.Document
	proved, differ, inconclusive := 0, 0, 0
	for _, v := range l {
		findings, differences, verdict := v.Findings, len(v.Differences()), ""
		switch {
		case v.Proved():
			proved++
			verdict = "proved: " + english.Plural(v.Rules, "rule")
		case v.Rules == 0 && differences > 0:
			// No rule reads the union, so the verdict already implies the counterexamples.
			differ++
			verdict = "not enforced: no rule reads this union; compile it first (unioncel compile)"
			findings = v.OfKind(verify.Restricted, verify.Undecided, verify.Noted)
		case differences > 0:
			differ++
			verdict = english.Plural(differences, "difference")
		default:
			inconclusive++
			verdict = "inconclusive"
		}
		d.Add(report.Heading{Level: 2, Line: report.Concat(report.N(v.Pos.String()), ": ", report.N(v.Label()), " (", v.Place, "): ", verdict)})
		for _, f := range findings {
			blocks, err := v.details(f)
			if err != nil {
				return nil, err
			}
			d.Add(blocks...)
		}
	}
	d.Add(report.Paragraph(report.Text("%s: %d proved, %d different, %d inconclusive", english.Plural(len(l), "union"), proved, differ, inconclusive)))
	return d, nil
}

// details returns the blocks for one finding.
func (v Verified) details(f verify.Finding) (report.Document, error) {
	var d report.Document
	say := func(parts ...any) { d.Add(report.Paragraph(report.Concat(parts...))) }
	examples := []verify.Example{f.Example}
	switch f.Kind {
	case verify.Undecided:
		say("Inconclusive: ", f.Text)
		return d, nil
	case verify.Noted:
		say("Note: ", f.Text)
		return d, nil
	case verify.Restricted:
		say("Stricter than the union, depending on ", f.Text, ", at ", report.N(f.RuleAt), ":")
		d.Add(report.Code{Language: "cel", Text: f.Rule + "\n"})
		say("It accepts the first of these, and rejects the second:")
		examples = []verify.Example{*f.Other, f.Example}
	case verify.Accepted:
		say("Accepted, but the union forbids it: ", f.Words(v.Union))
	case verify.Rejected:
		say("Rejected, but the union allows it: ", f.Words(v.Union))
		say("It is rejected at ", report.N(f.RuleAt), " by:")
		d.Add(report.Code{Language: "cel", Text: f.Rule + "\n"})
		if f.Message != "" && f.Message != "failed rule: "+strings.TrimSpace(f.Rule) {
			d.Add(report.Quote{f.Message})
		}
	}
	if f.Old != nil && reflect.DeepEqual(f.Old, f.New) {
		say(v.again)
	}
	for _, e := range examples {
		code, err := Manifest(e)
		if err != nil {
			return nil, err
		}
		d.Add(code)
	}
	return d, nil
}

// Manifest returns the resources of an example as YAML for kubectl apply.
func Manifest(e verify.Example) (report.Code, error) {
	text, comment := "", "created"
	for _, resource := range []map[string]any{e.Old, e.New} {
		if resource == nil {
			continue
		}
		if e.Old != nil {
			comment = "stored"
		}
		if text != "" {
			comment = "updated to"
		}
		yaml, err := sigs.Marshal(resource)
		if err != nil {
			return report.Code{}, fmt.Errorf("print a counterexample: %w", err)
		}
		text += fmt.Sprintf("---\n# %s\n%s", comment, yaml)
	}
	return report.Code{Language: "yaml", Text: text}, nil
}

// Inline returns an object as JSON on one line, without its type and name, or "" for nil.
func Inline(object map[string]any) string {
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

// The JSON form of proofs.
type (
	proofJSON struct {
		diag.Pos
		CRD           string            `json:"crd"`
		Path          string            `json:"path"`
		Schema        string            `json:"schema"`
		Name          string            `json:"name,omitempty"`
		Discriminator string            `json:"discriminator,omitempty"`
		Members       []string          `json:"members"`
		Proved        bool              `json:"proved"`
		Rules         int               `json:"rules"` // the number of rules that read fields of the union
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
		Rule     string          `json:"rule"`
		RuleAt   string          `json:"ruleAt"`
		Reads    string          `json:"reads"`
		Accepted *verify.Example `json:"accepted"`
		Rejected verify.Example  `json:"rejected"`
	}
	violationJSON struct {
		Condition string `json:"condition"`
		Member    string `json:"member,omitempty"`
	}
)

// Data returns proofs for programs, to be written as a JSON list.
func Data(l []Verified) any {
	out := []proofJSON{}
	for _, v := range l {
		p := proofJSON{
			Pos: v.Pos, CRD: v.CRD, Path: v.Place.String(), Schema: v.Place.Structural(),
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
				p.Restrictions = append(p.Restrictions, restrictionJSON{f.Rule, f.RuleAt, f.Text, f.Other, f.Example})
			default:
				p.Differences = append(p.Differences, toJSON(v, f))
			}
		}
		out = append(out, p)
	}
	return out
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

// Diagnostics returns differences as errors and undecided questions as warnings, at the declaration
// of the union. It omits other findings.
func Diagnostics(l []Verified) diag.List {
	var out diag.List
	for _, v := range l {
		for _, f := range v.Findings {
			d := diag.Diagnostic{Code: codes.NotProved, Severity: diag.Error, Pos: v.Pos, Path: v.Place.String(), Schema: v.Place.Structural()}
			switch f.Kind {
			case verify.Accepted:
				d.Message = "accepted, but the union forbids it: " + f.Words(v.Union)
			case verify.Rejected:
				d.Message = fmt.Sprintf("rejected by %s, but the union allows it: %s", f.Rule, f.Words(v.Union))
			case verify.Undecided:
				d.Severity, d.Message = diag.Warning, "inconclusive: "+f.Text
			default:
				continue
			}
			d.Message = v.Label() + ": " + d.Message
			out = append(out, d)
		}
	}
	return out
}
