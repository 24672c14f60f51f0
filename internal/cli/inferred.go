package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/declared/infer"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// inferred is a union that was found.
type inferred struct {
	infer.Found
	source crdpatch.Source
	pos    diag.Pos
}

// verdict is that of the comparison.
func (i inferred) verdict() verify.Verdict {
	if i.Suggestion {
		return suggested
	}
	return i.Comparison.Verdict
}

// replaceable reports whether compiling can put the union in the place of what it means
// the same as: not of rules further up.
func (i inferred) replaceable() bool {
	return i.verdict() == verify.Equivalent && !slices.ContainsFunc(i.Replaces, func(c verify.Constraint) bool { return c.Above > 0 })
}

// declaration is the union as it is to be declared.
func (i inferred) declaration(replace bool) union.External {
	u := *i.Union
	u.Replace = replace && i.replaceable()
	return union.External{
		Target:  union.Target{Name: i.source.CRD.Name},
		Version: i.source.CRD.Spec.Versions[i.Version].Name,
		Path:    i.Path,
		Value:   yamltext.ListNode(u.Node()),
		At:      &i.pos,
	}
}

// inferences are the printers of infer, by the name of their format.
var inferences = map[string]func(io.Writer, []inferred) error{"text": inferenceText, "json": inferenceJSON}

// text is the declaration as YAML.
func (i inferred) text() (string, error) {
	out, err := yamltext.Encode(yamltext.MappingNode(yamltext.StringNode(union.Key), yamltext.ListNode(i.Union.Node())))
	return string(out), err
}

// place is that of the schema.
func (i inferred) place() schemapath.Place { return schemapath.Place{Version: i.Version, Path: i.Path} }

// on is the place of the schema that a constraint stands on.
func (i inferred) on(c verify.Constraint) schemapath.Place {
	return schemapath.Place{Version: i.Version, Path: i.Path[:len(i.Path)-c.Above]}
}

// rule is the text of a constraint that is a rule, else "".
func (i inferred) rule(c verify.Constraint) string {
	schema := i.on(c).Schema(i.source.CRD)
	if c.Key == "x-kubernetes-validations" && schema != nil && c.Index < len(schema.XValidations) {
		return schema.XValidations[c.Index].Rule
	}
	return ""
}

// at is where a constraint stands.
func (i inferred) at(c verify.Constraint) diag.Pos {
	return i.source.Constraint(i.source.CRD.Spec.Versions[i.Version].Name, i.on(c).Path, c)
}

// label names the union in a line, by what is in it.
func (i inferred) label() string {
	if i.Union.Discriminator != "" {
		return i.Union.Discriminator + ": " + someMembers(i.Union)
	}
	return someMembers(i.Union)
}

// lines says on which lines of the file the constraints stand that the union would
// replace; "" when there are none.
func (i inferred) lines() string {
	var l []int
	for _, c := range i.Replaces {
		l = append(l, i.at(c).Line)
	}
	slices.Sort(l)
	l = slices.Compact(l)
	switch len(l) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("line %d", l[0])
	}
	var words []string
	for _, line := range l {
		words = append(words, strconv.Itoa(line))
	}
	return "lines " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// told says in a line that the union was declared, or would be, and what becomes of the
// constraints that it would replace.
func (i inferred) told(done string, replace bool) string {
	text := fmt.Sprintf("%s: %s in %s: %s", i.pos, done, i.place(), i.label())
	lines := i.lines()
	switch {
	case lines == "":
	case replace && i.replaceable():
		text += "; the next compile replaces " + lines
	case i.verdict() == verify.Equivalent:
		text += "; it means what is on " + lines
		if !i.replaceable() {
			text += ", further up, which may be deleted by hand"
		}
	default:
		text += "; it is not equivalent to what is on " + lines
	}
	return text
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
			where := ""
			if c.Above > 0 {
				where = ", in " + i.on(c).String()
			}
			fmt.Fprintf(w, "  - line %d%s: %s\n", i.at(c).Line, where, cmp.Or(i.rule(c), c.String()))
		}
		if i.Why != "" {
			fmt.Fprintf(w, "  because %s\n", i.Why)
		}
		for _, d := range []*verify.Difference{i.Comparison.Tighter, i.Comparison.Looser} {
			if d == nil {
				continue
			}
			head := "rejected now, accepted by the union"
			if d.Accepted {
				head = "accepted now, rejected by the union"
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
		if d := i.Changes.Tighter; d != nil {
			fmt.Fprintf(w, "  accepted now, rejected by discriminatorChange: Forbid: %s\n", d.Words(i.Union))
		}
		if i.Changes.Verdict == verify.Inconclusive {
			fmt.Fprintf(w, "  inconclusive for discriminatorChange: Forbid: %s\n", strings.Join(i.Changes.Inconclusive, "; "))
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
	Replaces    []replacedJSON  `json:"replaces"`
	Why         string          `json:"why,omitempty"`
	// Accepted and Refused are resources that the union would judge differently:
	// accepted now, rejected now.
	Accepted     *changeJSON `json:"accepted,omitempty"`
	Refused      *changeJSON `json:"refused,omitempty"`
	Inconclusive []string    `json:"inconclusive,omitempty"`
	// Changes is how discriminatorChange: Forbid compares with rules about changes.
	Changes *changesJSON `json:"changes,omitempty"`
}

type changesJSON struct {
	Verdict      string      `json:"verdict"`
	Accepted     *changeJSON `json:"accepted,omitempty"`
	Inconclusive []string    `json:"inconclusive,omitempty"`
}

// replacedJSON is a constraint that a union would replace, and where it stands.
type replacedJSON struct {
	Line       int    `json:"line"`
	Col        int    `json:"col"`
	Schema     string `json:"schema"`
	Constraint string `json:"constraint"`
	Rule       string `json:"rule,omitempty"`
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
			Version: i.source.CRD.Spec.Versions[i.Version].Name, Schema: i.place().Structural(), Form: string(i.Form), Verdict: string(i.verdict()),
			Declaration: declaration, Replaces: []replacedJSON{}, Why: i.Why,
			Accepted: changeOf(i.Comparison.Tighter), Refused: changeOf(i.Comparison.Looser), Inconclusive: i.Comparison.Inconclusive}
		if c := i.Changes; c.Verdict != "" {
			v.Changes = &changesJSON{string(c.Verdict), changeOf(c.Tighter), c.Inconclusive}
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
