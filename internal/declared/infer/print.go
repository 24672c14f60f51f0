package infer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/report/proof"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Text prints the unions for people.
func Text(w io.Writer, l []Located) error {
	for n, i := range l {
		if n > 0 {
			fmt.Fprintln(w)
		}
		text, err := i.text()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s: %s\n", i.Pos, i.Form, i.Verdict())
		fmt.Fprint(w, indented("in "+i.Place.String()+":"), indented(text))
		if len(i.Replaces) > 0 {
			fmt.Fprintln(w, "  replaces:")
		}
		for _, c := range i.Replaces {
			where := ""
			if c.Above > 0 {
				where = ", in " + i.on(c).String()
			}
			fmt.Fprintf(w, "  - line %d%s: %s\n", i.at(c).Line, where, cmp.Or(i.rule(c), c.String()))
		}
		if i.Why != "" {
			fmt.Fprintf(w, "  because %s\n", i.Why)
		}
		for _, d := range []*verify.Finding{i.Comparison.Tighter, i.Comparison.Looser} {
			if d == nil {
				continue
			}
			head := "rejected now, accepted by the union"
			if d.Kind == verify.Accepted {
				head = "accepted now, rejected by the union"
			}
			fmt.Fprintf(w, "  %s: %s\n", head, d.Words(i.Union))
			var b strings.Builder
			if err := proof.ChangeText(&b, *d); err != nil {
				return err
			}
			fmt.Fprint(w, indented(indented(b.String())))
		}
		for _, s := range i.Comparison.Inconclusive {
			fmt.Fprintf(w, "  inconclusive: %s\n", s)
		}
		if d := i.Changes.Tighter; d != nil {
			fmt.Fprintf(w, "  accepted now, rejected by discriminatorChange: Forbid: %s\n", d.Words(i.Union))
		}
		if i.Changes.Verdict == verify.Inconclusive {
			fmt.Fprintf(w, "  inconclusive for discriminatorChange: Forbid: %s\n", strings.Join(i.Changes.Inconclusive, "; "))
		}
	}
	return nil
}

// text returns the declaration as YAML.
func (i Located) text() (string, error) {
	out, err := yamltext.Encode(yamltext.MappingNode(yamltext.StringNode(union.Key), yamltext.ListNode(i.Union.Node())))
	return string(out), err
}

// indented is a text with two spaces before each line.
func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// foundJSON is how a union that was found is printed as JSON.
type foundJSON struct {
	File        string          `json:"file"`
	Line        int             `json:"line"`
	Col         int             `json:"col"`
	CRD         string          `json:"crd"`
	Version     string          `json:"version"`
	Schema      string          `json:"schema"`
	Form        string          `json:"form"`
	Verdict     string          `json:"verdict"`
	Declaration json.RawMessage `json:"declaration"`
	Replaces    []replacedJSON  `json:"replaces"`
	Why         string          `json:"why,omitempty"`
	// Accepted and Refused are resources that the union would judge differently:
	// accepted now, rejected now.
	Accepted     *proof.Change `json:"accepted,omitempty"`
	Refused      *proof.Change `json:"refused,omitempty"`
	Inconclusive []string      `json:"inconclusive,omitempty"`
	// Changes is how discriminatorChange: Forbid compares with rules about changes.
	Changes *changesJSON `json:"changes,omitempty"`
}

type changesJSON struct {
	Verdict      string        `json:"verdict"`
	Accepted     *proof.Change `json:"accepted,omitempty"`
	Inconclusive []string      `json:"inconclusive,omitempty"`
}

// replacedJSON is a constraint that a union would replace, and where it stands.
type replacedJSON struct {
	Line       int    `json:"line"`
	Col        int    `json:"col"`
	Schema     string `json:"schema"`
	Constraint string `json:"constraint"`
	Rule       string `json:"rule,omitempty"`
}

// JSON prints the unions as a list.
func JSON(w io.Writer, l []Located) error {
	all := []foundJSON{}
	for _, i := range l {
		text, err := yaml.Marshal(i.Union.Node())
		if err != nil {
			return err
		}
		declaration, err := sigs.YAMLToJSON(text)
		if err != nil {
			return err
		}
		v := foundJSON{File: i.Pos.File, Line: i.Pos.Line, Col: i.Pos.Col, CRD: i.CRD.Name,
			Version: i.Name, Schema: i.Place.Structural(), Form: string(i.Form), Verdict: string(i.Verdict()),
			Declaration: declaration, Replaces: []replacedJSON{}, Why: i.Why,
			Accepted: proof.ChangeOf(i.Comparison.Tighter), Refused: proof.ChangeOf(i.Comparison.Looser), Inconclusive: i.Comparison.Inconclusive}
		if c := i.Changes; c.Verdict != "" {
			v.Changes = &changesJSON{string(c.Verdict), proof.ChangeOf(c.Tighter), c.Inconclusive}
		}
		for _, c := range i.Replaces {
			at := i.at(c)
			name := c
			name.Above = 0 // the schema tells
			v.Replaces = append(v.Replaces, replacedJSON{at.Line, at.Col, i.on(c).Structural(), name.String(), i.rule(c)})
		}
		all = append(all, v)
	}
	return diag.WriteJSON(w, all)
}
