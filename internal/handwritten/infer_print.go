package handwritten

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// InferReport returns the unions as a report. It returns an error if a declaration cannot be written as
// YAML.
func InferReport(l []Located) (report.Report, error) {
	var r report.Report
	all := []foundJSON{}
	var groups [][]Located // of equal unions, in order of their first objects
	of := map[string]int{}
	for _, i := range l {
		data, err := i.data()
		if err != nil {
			return report.Report{}, err
		}
		key, err := i.fingerprint()
		if err != nil {
			return report.Report{}, err
		}
		group, known := of[key]
		if !known {
			group, groups = len(groups), append(groups, nil)
			of[key] = group
		}
		groups[group], data.Group = append(groups[group], i), group+1
		all = append(all, data)
		r.Diagnostics = append(r.Diagnostics, diag.New(codes.LeftUndeclared, i.Pos,
			"a union of %s is not declared: %s to %s", i.Label(), i.Comparison.Verdict, i.lines(i.Replaces)).In(i.Place).As(diag.Info).
			Hinted("unioncel infer --write declares it"))
	}
	for _, same := range groups {
		if err := same[0].write(&r.Document, same[1:]); err != nil {
			return report.Report{}, err
		}
	}
	r.Data = all
	return r, nil
}

// fingerprint returns a text that is the same for equal unions. They have the same declaration,
// constraints and proof, and their objects have the same schema apart from documentation. The rest of
// their CRDs may differ.
func (i Located) fingerprint() (string, error) {
	declaration, err := i.text()
	if err != nil {
		return "", err
	}
	parts := []string{declaration, string(i.Comparison.Verdict), string(i.Changes.Verdict)}
	for _, c := range i.Replaces {
		parts = append(parts, c.String(), i.rule(c).Rule, strconv.FormatBool(i.losesMessage(c)))
	}
	for _, f := range []*verify.Finding{i.Comparison.Tighter, i.Comparison.Looser, i.Changes.Tighter} {
		parts = append(parts, i.relative(f))
	}
	parts = append(append(parts, i.Comparison.Inconclusive...), i.Changes.Inconclusive...)
	schemapath.Walk(i.Schema(i.CRD), func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		own := *s
		own.Properties, own.Items = nil, nil
		if s.AdditionalProperties != nil {
			own.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows}
		}
		own.Description, own.Title, own.Example, own.ExternalDocs = "", "", nil, nil
		own.Required = slices.Sorted(slices.Values(s.Required))
		data, _ := json.Marshal(own)
		parts = append(parts, p.String(), string(data))
		return true
	})
	return strings.Join(parts, "\x00"), nil
}

// relative returns the words of a finding, with the path of a removed object relative to the union
// object.
func (i Located) relative(f *verify.Finding) string {
	if f == nil {
		return ""
	}
	words := f.Words(i.Union)
	if rest, ok := strings.CutPrefix(i.Place.String(), f.Removed); ok && f.Removed != "" {
		words = strings.Replace(words, f.Removed, "^"+rest, 1)
	}
	return words
}

// write adds the union, and the equal unions of other objects, to a document.
func (i Located) write(d *report.Document, also []Located) error {
	text, err := i.text()
	if err != nil {
		return err
	}
	d.Heading(2, report.N(i.Pos.String()), ": ", i.Label(), " (", report.N(i.Place.String()), "): ", i.Comparison.Verdict)
	d.Add(report.Code{Language: "yaml", Text: text})
	if len(also) > 0 {
		d.Say("Also in ", english.Plural(len(also), "other object"), ":")
		d.Add(i.others(also))
	}
	replaced := report.List{}
	for _, c := range i.Replaces {
		where := ""
		if c.Above > 0 {
			where = ", in " + i.schemaOf(c).String()
		}
		item := report.Item{Line: report.Concat("line ", i.posOf(c).Line, where, ": ", report.N(c.String()))}
		if rule := i.rule(c).Rule; rule != "" {
			item = report.Item{Line: report.Concat("line ", i.posOf(c).Line, where, ":"), Blocks: report.Document{report.Code{Language: "cel", Text: rule + "\n"}}}
		}
		replaced.Items = append(replaced.Items, item)
	}
	d.Say("It replaces:")
	d.Add(replaced)
	if lost := i.lostMessages(); lost != "" {
		d.Say("The declaration does not have ", lost, ".")
	}
	for _, f := range []*verify.Finding{i.Comparison.Tighter, i.Comparison.Looser} {
		if f == nil {
			continue
		}
		head := "The replaced rules reject, and the union accepts: "
		if f.Kind == verify.Accepted {
			head = "The replaced rules accept, and the union rejects: "
		}
		d.Say(head, f.Words(i.Union))
		d.Add(report.Example(f.Old, f.New))
	}
	for _, s := range i.Comparison.Inconclusive {
		d.Say("Inconclusive: ", s)
	}
	if f := i.Changes.Tighter; f != nil {
		d.Say("The replaced rules accept, and discriminatorChange: Forbid rejects: ", f.Words(i.Union))
	}
	if i.Changes.Verdict == verify.Inconclusive {
		d.Say("Inconclusive for discriminatorChange: Forbid: ", strings.Join(i.Changes.Inconclusive, "; "))
	}
	return nil
}

// others lists the objects of unions that are equal to this one.
func (i Located) others(l []Located) report.List {
	var out report.List
	for _, o := range l {
		line := report.Concat(report.N(o.Pos.String()), ": ", report.N(o.Place.String()))
		if o.Name != i.Name {
			line = report.Concat(line, " (", o.Name, ")")
		}
		out.Add(line, ", replaces ", o.lines(o.Replaces))
	}
	return out
}

// text returns the declaration as YAML.
func (i Located) text() (string, error) {
	out, err := yamltext.Encode(yamltext.MappingNode(yamltext.StringNode(union.Key), yamltext.ListNode(i.Union.Node())))
	return string(out), err
}

// foundJSON is the JSON form of a [Located].
type foundJSON struct {
	diag.Pos
	CRD         string          `json:"crd"`
	Version     string          `json:"version"`
	Schema      string          `json:"schema"`
	Verdict     verify.Verdict  `json:"verdict"`
	Declaration json.RawMessage `json:"declaration"`
	// Group is the same number for equal unions of several objects.
	Group    int            `json:"group"`
	Replaces []replacedJSON `json:"replaces"`
	// Accepted and Refused are resources that the union would treat differently: Accepted is
	// accepted now, Refused is rejected now.
	Accepted     *verify.Example `json:"accepted,omitempty"`
	Refused      *verify.Example `json:"refused,omitempty"`
	Inconclusive []string        `json:"inconclusive,omitempty"`
	// Changes compares discriminatorChange: Forbid with rules on changes.
	Changes *changesJSON `json:"changes,omitempty"`
}

type changesJSON struct {
	Verdict      verify.Verdict  `json:"verdict"`
	Accepted     *verify.Example `json:"accepted,omitempty"`
	Inconclusive []string        `json:"inconclusive,omitempty"`
}

// replacedJSON is a constraint with its position that a union would replace.
type replacedJSON struct {
	Line       int    `json:"line"`
	Col        int    `json:"col"`
	Schema     string `json:"schema"`
	Constraint string `json:"constraint"`
	Rule       string `json:"rule,omitempty"`
	// LostMessage is set if the declaration does not have the message of the rule.
	LostMessage bool `json:"lostMessage,omitempty"`
}

// data returns the JSON form of the union, without its group.
func (i Located) data() (foundJSON, error) {
	text, err := yaml.Marshal(i.Union.Node())
	if err != nil {
		return foundJSON{}, err
	}
	declaration, err := sigs.YAMLToJSON(text)
	if err != nil {
		return foundJSON{}, err
	}
	v := foundJSON{Pos: i.Pos, CRD: i.CRD.Name, Version: i.Name, Schema: i.Place.Structural(), Verdict: i.Comparison.Verdict,
		Declaration: declaration, Replaces: []replacedJSON{},
		Accepted: exampleOf(i.Comparison.Tighter), Refused: exampleOf(i.Comparison.Looser), Inconclusive: i.Comparison.Inconclusive}
	if c := i.Changes; c.Verdict != "" {
		v.Changes = &changesJSON{c.Verdict, exampleOf(c.Tighter), c.Inconclusive}
	}
	for _, c := range i.Replaces {
		at := i.posOf(c)
		name := c
		name.Above = 0 // Schema has this information
		v.Replaces = append(v.Replaces, replacedJSON{at.Line, at.Col, i.schemaOf(c).Structural(), name.String(), i.rule(c).Rule, i.losesMessage(c)})
	}
	return v, nil
}

// exampleOf returns the example of a finding, or nil for nil.
func exampleOf(f *verify.Finding) *verify.Example {
	if f == nil {
		return nil
	}
	return &f.Example
}
