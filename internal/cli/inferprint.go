package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// inferences are the printers of infer, by the name of their format.
var inferences = map[string]func(io.Writer, []inferred) error{"text": inferenceText, "json": inferenceJSON}

// listOf is a declaration of one union.
func listOf(item *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}}
}

// text is the declaration as YAML.
func (i inferred) text() (string, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	err := enc.Encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: union.Key}, listOf(i.Union.Node())}})
	return b.String(), err
}

// place is that of the schema.
func (i inferred) place() compile.Place { return compile.Place{Version: i.Version, Steps: i.Steps} }

// replaced is the text of a constraint that the union would replace.
func (i inferred) replaced(c verify.Constraint) string {
	schema := i.place().Schema(i.source.CRD)
	if c.Key == "x-kubernetes-validations" && schema != nil && c.Index < len(schema.XValidations) {
		return schema.XValidations[c.Index].Rule
	}
	return c.String()
}

func inferenceText(w io.Writer, l []inferred) error {
	for n, i := range l {
		if n > 0 {
			fmt.Fprintln(w)
		}
		text, err := i.text()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s: %s\n", i.pos, i.Form, i.verdict())
		fmt.Fprint(w, indented("in "+i.place().String()+":"), indented(text))
		if len(i.Replaces) > 0 {
			fmt.Fprintln(w, "  replaces:")
		}
		for _, c := range i.Replaces {
			fmt.Fprintf(w, "  - %s\n", i.replaced(c))
		}
		if i.Why != "" {
			fmt.Fprintf(w, "  because %s\n", i.Why)
		}
		for _, d := range []*verify.Difference{i.Comparison.Tighter, i.Comparison.Looser} {
			if d == nil {
				continue
			}
			head := "refused now, accepted by the union"
			if d.Accepted {
				head = "accepted now, refused by the union"
			}
			fmt.Fprintf(w, "  %s: %s\n", head, d.Words(i.Union))
			var b strings.Builder
			if err := changeText(&b, *d); err != nil {
				return err
			}
			fmt.Fprint(w, indented(indented(b.String())))
		}
		for _, s := range i.Comparison.Inconclusive {
			fmt.Fprintf(w, "  inconclusive: %s\n", s)
		}
	}
	return nil
}

// indented is a text with two spaces before each line.
func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// inferredJSON is how a union that was found is printed as JSON.
type inferredJSON struct {
	File        string          `json:"file"`
	Line        int             `json:"line"`
	Col         int             `json:"col"`
	CRD         string          `json:"crd"`
	Version     string          `json:"version"`
	Schema      string          `json:"schema"`
	Form        string          `json:"form"`
	Verdict     string          `json:"verdict"`
	Declaration json.RawMessage `json:"declaration"`
	Replaces    []string        `json:"replaces"`
	Why         string          `json:"why,omitempty"`
	Complete    bool            `json:"complete"`
	// Accepted and Refused are resources that the union would judge differently:
	// accepted now, refused now.
	Accepted     *changeJSON `json:"accepted,omitempty"`
	Refused      *changeJSON `json:"refused,omitempty"`
	Inconclusive []string    `json:"inconclusive,omitempty"`
}

type changeJSON struct {
	Old map[string]any `json:"old,omitempty"`
	New map[string]any `json:"new,omitempty"`
}

func changeOf(d *verify.Difference) *changeJSON {
	if d == nil {
		return nil
	}
	return &changeJSON{d.Old, d.New}
}

func inferenceJSON(w io.Writer, l []inferred) error {
	all := []inferredJSON{}
	for _, i := range l {
		text, err := yaml.Marshal(i.Union.Node())
		if err != nil {
			return err
		}
		declaration, err := sigs.YAMLToJSON(text)
		if err != nil {
			return err
		}
		v := inferredJSON{File: i.pos.File, Line: i.pos.Line, Col: i.pos.Col, CRD: i.source.CRD.Name,
			Version: i.source.CRD.Spec.Versions[i.Version].Name, Schema: i.place().String(), Form: string(i.Form), Verdict: string(i.verdict()),
			Declaration: declaration, Replaces: []string{}, Why: i.Why, Complete: i.Comparison.Complete,
			Accepted: changeOf(i.Comparison.Tighter), Refused: changeOf(i.Comparison.Looser), Inconclusive: i.Comparison.Inconclusive}
		for _, c := range i.Replaces {
			v.Replaces = append(v.Replaces, i.replaced(c))
		}
		all = append(all, v)
	}
	return diag.WriteJSON(w, all)
}
