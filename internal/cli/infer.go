package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/infer"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/unionset"
	"github.com/unioncel/unioncel/pkg/verify"
)

// suggested is used as the verdict where nothing enforces a union.
const suggested verify.Verdict = "suggestion"

// verdicts are what --only takes.
var verdicts = []verify.Verdict{verify.Equivalent, verify.Tighter, verify.Looser, verify.Different, verify.Inconclusive, suggested}

// inferring holds the flags of infer.
type inferring struct {
	only    []string
	write   bool
	set     string
	replace bool
	output  printing
}

func (a *app) inferCommand() *cobra.Command {
	var flags inferring
	cmd := &cobra.Command{
		Use:   "infer [FILE|DIR|-]...",
		Short: "Find the unions that hand-written rules already enforce",
		Long: `Infer finds unions that CustomResourceDefinitions have without declaring them: in
CEL rules written by hand or by controller-gen, in oneOf and anyOf over required,
in minProperties with maxProperties. For each it prints the declaration, what it
would replace, and whether that changes what the API server accepts, as proved for
all objects:

  equivalent    nothing changes
  tighter       the union rejects something that is accepted now; there is an example
  looser        the union accepts something that is rejected now; there is an example
  different     both
  inconclusive  could not be determined; the reason is given
  suggestion    nothing enforces a union, but names or descriptions suggest one

In a compiled CRD, the rules that compiling wrote are ignored, and so are schemas
that declare unions.

With --write the declarations that are equivalent, or those that --only names, are
written into the files; with --unions they are written to a UnionSet instead. With
--replace the next compile removes the hand-written rules of those that are
equivalent, after proving it again.

Without arguments, and for -, the input is standard input. A directory means
its *.yaml, *.yml and *.json at any depth, without hidden files and directories.`,
		Example: `  # Which unions does this file have?
  unioncel infer crd.yaml

  # And a CRD in the cluster?
  kubectl get crd backends.example.com -o yaml | unioncel infer

  # Declare those that are proved, in place of the hand-written rules
  unioncel infer --write --replace crd.yaml
  unioncel compile -w crd.yaml

  # Leave the CRD as it is, and keep declarations in a separate file
  unioncel infer --write --replace --unions unions.yaml crd.yaml
  unioncel compile --unions unions.yaml crd.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.validate(cmd); err != nil {
				return err
			}
			return a.inferAll(cmd.Context(), &flags, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.only, "only", nil, "print and write only those with this `VERDICT`; repeatable")
	f.BoolVarP(&flags.write, "write", "w", false, "write declarations into the files; only equivalent ones, unless --only is given")
	f.StringVar(&flags.set, "unions", "", "with --write, write them to this new `FILE`, a UnionSet, instead")
	f.BoolVar(&flags.replace, "replace", false, "with --write, let compile remove the hand-written rules that are equivalent")
	flags.output.register(cmd, "unions", "text", "json")
	return cmd
}

func (f *inferring) validate(cmd *cobra.Command) error {
	if err := checkOutput(cmd, &f.output.path); err != nil {
		return err
	}
	for _, v := range f.only {
		if !slices.Contains(verdicts, verify.Verdict(v)) {
			return usagef("--only must be one of %s, not %q", joined(verdicts), v)
		}
	}
	switch {
	case f.write && f.output.path != "":
		return usagef("-w writes declarations, -o what would be printed")
	case f.set != "" && !f.write:
		return usagef("--unions names the file that --write writes; it needs --write")
	case f.set != "" && exists(f.set):
		return usagef("--unions %s: the file exists and would be overwritten: name another", f.set)
	case f.replace && !f.write:
		return usagef("--replace needs --write")
	}
	return nil
}

func joined(l []verify.Verdict) string {
	var words []string
	for _, v := range l {
		words = append(words, string(v))
	}
	return strings.Join(words, ", ")
}

// wanted reports whether --only lets a verdict through.
func (f *inferring) wanted(v verify.Verdict) bool {
	if len(f.only) == 0 {
		return !f.write || v == verify.Equivalent
	}
	return slices.Contains(f.only, string(v))
}

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

// declaration is the union as it is to be declared.
func (i inferred) declaration(replace bool) union.External {
	u := *i.Union
	u.Replace = replace && i.verdict() == verify.Equivalent
	return union.External{
		Target:  union.Target{Name: i.source.CRD.Name},
		Version: i.source.CRD.Spec.Versions[i.Version].Name,
		Path:    i.Path,
		Value:   yamltext.ListNode(u.Node()),
		At:      &i.pos,
	}
}

// inferAll finds the unions of all inputs, prints them, and writes declarations.
func (a *app) inferAll(ctx context.Context, flags *inferring, args []string) error {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return err
	}
	found, declared := make([][]inferred, len(inputs)), make([]bool, len(inputs))
	results, err := process(ctx, a, inputs, func(in input, src []byte) (result, error) {
		f := crdpatch.Open(in.name, src, crdpatch.Options{Limits: a.limits})
		l, diagnostics, err := a.inferIn(ctx, f)
		r := (&scope{external: &external{}}).resultOf(in, f, diagnostics)
		if flags.write {
			r.src = src // to declare in
		}
		unions, _ := f.Resolved()
		declared[in.n] = len(unions) > 0
		found[in.n] = slices.DeleteFunc(l, func(f inferred) bool { return !flags.wanted(f.verdict()) })
		return r, err
	})
	if err != nil {
		return err
	}
	if err := a.report(results, "text"); err != nil {
		return err
	}
	all := slices.Concat(found...)
	if !flags.write {
		var out bytes.Buffer
		if err := inferences[flags.output.name](&out, all); err != nil {
			return err
		}
		a.lacking(results, func(i int) string {
			switch said := "no unions found" + flags.that(); {
			case len(found[i]) > 0:
				return ""
			case declared[i]:
				return said + " besides those declared"
			default:
				return said
			}
		})
		return a.writeText(&flags.output, out.Bytes())
	}
	for i := range results {
		results[i].diagnostics = nil // they have been reported
	}
	return a.declare(flags, results, found)
}

// inferIn finds the unions of one input.
func (a *app) inferIn(ctx context.Context, f *crdpatch.File) ([]inferred, diag.List, error) {
	var l []inferred
	sources, diagnostics := f.Sources()
	for _, s := range sources {
		found, err := infer.CRD(ctx, s.CRD)
		switch {
		case ctx.Err() != nil:
			return nil, nil, errInterrupted
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %s: %w", f.Name(), s.CRD.Name, err)
		}
		for _, f := range found {
			at, declared := s.Schema(s.CRD.Spec.Versions[f.Version].Name, f.Path)
			if !declared {
				l = append(l, inferred{f, s, at})
			}
		}
	}
	slices.SortStableFunc(l, func(a, b inferred) int { return cmp.Compare(a.pos.Line, b.pos.Line) })
	return l, diagnostics, nil
}

// declare writes the declarations of what was found, into the files or a UnionSet.
func (a *app) declare(flags *inferring, results []result, found [][]inferred) error {
	var outs []output
	var all []union.External
	for i := range results {
		r := &results[i]
		var l []union.External
		for _, f := range found[i] {
			l = append(l, f.declaration(flags.replace))
		}
		if flags.set == "" && r.path != "" {
			a.batch.enter(r.path)
		}
		if all = append(all, l...); flags.set != "" || len(l) == 0 {
			continue
		}
		if r.path == "" {
			return usagef("--write replaces files, and standard input is not one")
		}
		var out []byte
		if out, r.diagnostics = crdpatch.Declare(r.name, r.src, l, a.limits); out != nil {
			outs = append(outs, output{path: r.path, data: out})
		}
	}
	if err := a.report(results, "text"); err != nil {
		return err
	}
	if len(all) == 0 {
		a.note("nothing to write: no unions found" + flags.that())
		return nil
	}
	if flags.set != "" {
		text, err := unionset.Format(all)
		if err != nil {
			return err
		}
		outs = []output{{path: flags.set, data: text}}
	}
	if err := a.batch.replace(outs); err != nil {
		return err
	}
	a.note(fmt.Sprintf("declared %s", plural(len(all), "union")))
	return nil
}

// that says what was looked for, when it is not all.
func (f *inferring) that() string {
	switch {
	case len(f.only) > 0:
		return " with the verdict " + strings.Join(f.only, " or ")
	case f.write:
		return " with the verdict " + string(verify.Equivalent)
	}
	return ""
}

// inferences are the printers of infer, by the name of their format.
var inferences = map[string]func(io.Writer, []inferred) error{"text": inferenceText, "json": inferenceJSON}

// text is the declaration as YAML.
func (i inferred) text() (string, error) {
	out, err := yamltext.Encode(yamltext.MappingNode(yamltext.StringNode(union.Key), yamltext.ListNode(i.Union.Node())))
	return string(out), err
}

// place is that of the schema.
func (i inferred) place() compile.Place { return compile.Place{Version: i.Version, Path: i.Path} }

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
	// Accepted and Refused are resources that the union would judge differently:
	// accepted now, rejected now.
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
			Version: i.source.CRD.Spec.Versions[i.Version].Name, Schema: i.place().Structural(), Form: string(i.Form), Verdict: string(i.verdict()),
			Declaration: declaration, Replaces: []string{}, Why: i.Why,
			Accepted: changeOf(i.Comparison.Tighter), Refused: changeOf(i.Comparison.Looser), Inconclusive: i.Comparison.Inconclusive}
		for _, c := range i.Replaces {
			v.Replaces = append(v.Replaces, i.replaced(c))
		}
		all = append(all, v)
	}
	return diag.WriteJSON(w, all)
}
