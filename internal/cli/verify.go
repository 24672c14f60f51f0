package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// verified is a union and what was found out about it.
type verified struct {
	pos   diag.Pos
	crd   string
	place schemapath.Place
	// again says which updates an example that changes nothing is representative of.
	again string
	verify.Proof
}

// verifications are the printers of verify, by the name of their format.
var verifications = map[string]func(io.Writer, []verified) error{"text": verificationText, "json": verificationJSON}

func (a *app) verifyCommand() *cobra.Command {
	var (
		flags  = compilerFlags{judges: true}
		output printing

		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "verify [FILE|DIR|-]...",
		Short: "Prove that the rules in a CRD mean what its unions say",
		Long: `Verify decides, for all objects and all updates, whether the rules in a CRD
accept what its unions allow and reject the rest. The rules may be hand-written
or compiled; oneOf, minProperties and the like are rules, too. Each
counterexample is an object, or an update of one, that the API server's own
validators have judged. Verify takes the unions that are declared, and those
that compile recorded in the annotation of its results; so it works on source
files, on compiled files, and on live objects.

For each union it prints "proved", or the smallest counterexample found for
each kind of difference, as YAML that can be applied; or that no rule reads the
union at all. A rule that is stricter than the union, depending on something
else, is named, with an object that it accepts and one that it rejects. What
could not be decided is inconclusive, never proved. A union that is not decided
within --timeout is inconclusive.

The exit code is 1 if anything is not proved.

Without arguments, and for -, the input is standard input. A directory means
its *.yaml, *.yml and *.json at any depth, without hidden files and directories.`,
		Example: `  # Do the hand-written rules enforce what the declared union says?
  unioncel verify crd.yaml

  # Verify a CRD in the cluster
  kubectl get crd backends.example.com -o yaml | unioncel verify

  # In CI
  unioncel compile -o dist config/crd && unioncel verify dist`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(cmd, &output.path); err != nil {
				return err
			}
			if err := checkTimeout(timeout); err != nil {
				return err
			}
			return a.verifyAll(cmd.Context(), a.scope(cmd, &flags, true), &output, timeout, args)
		},
	}
	flags.unions.register(cmd)
	flags.config.register(cmd)
	flags.registerGate(cmd)
	flags.unions.skipInvalid = true
	registerTimeout(cmd, &timeout, "time to decide the unions of one CRD; those left are inconclusive; 0 for no limit")
	output.register(cmd, "results", "text", "json")
	return cmd
}

// verifyAll verifies the unions of all inputs, in their order, and prints what
// was found together.
func (a *app) verifyAll(ctx context.Context, scope func([]input) (scopes, error), output *printing, timeout time.Duration, args []string) error {
	found, err := gather(ctx, a, scope, args, func(f *crdpatch.File, in input) (l []verified, diags diag.List, err error) {
		declared, diags := skipping(in.scope.external, f.Options(), func(opts crdpatch.Options) ([]compile.Declared, diag.List) { return f.With(opts).Declared() })
		if declared != nil {
			l = []verified{} // the rest is verified without what is skipped
		}
		for _, d := range declared {
			proofs, err := verifyDeclared(ctx, d, timeout)
			switch {
			case errors.Is(err, context.Canceled):
				return nil, diags, errInterrupted
			case err != nil:
				return nil, diags, fmt.Errorf("%s: %w", in.name, err)
			}
			l = append(l, proofs...)
		}
		return l, diags, nil
	})
	if found == nil {
		return err
	}
	var l []verified
	for _, g := range found {
		l = append(l, g.items...)
	}
	var out bytes.Buffer
	if err := verifications[output.name](&out, l); err != nil {
		return err
	}
	if err := a.writeText(output, out.Bytes()); err != nil {
		return err
	}
	for _, v := range l {
		if !v.Proved() {
			return errFindings
		}
	}
	return err
}

// verifyDeclared verifies the unions of one CRD.
func verifyDeclared(ctx context.Context, d compile.Declared, timeout time.Duration) ([]verified, error) {
	ctx, done := verify.WithDeadline(ctx, timeout)
	defer done()
	var l []verified
	for i, o := range d.Objects {
		again := "this applies to any update that changes something else in the union object and leaves the union as it is; the server lets one that changes nothing pass"
		if at, open := union.Unnamed(o.Schema(d.CRD)); len(o.Path) == 0 {
			again = "this applies to any update that leaves the union as it is"
		} else if open {
			again += ", unless " + cmp.Or(at, "the object") + " has fields that the schema does not name"
		}
		share, end := verify.Share(ctx, len(d.Objects)-i)
		proofs, err := verify.Object(share, d.CRD, o.Version, o.Path, o.Unions)
		end()
		if err != nil {
			return nil, err
		}
		for i, u := range o.Unions {
			for _, p := range proofs {
				if p.Union == u {
					l = append(l, verified{o.Declarations[i].Pos, d.Name, o.Place, again, p})
				}
			}
		}
	}
	return l, nil
}

// label names a union in a line: its name, or what is in it.
func (v verified) label() string {
	if v.Union.Name != "" {
		return v.Union.Name
	}
	if len(v.Union.Members) == 0 {
		return v.Union.Discriminator
	}
	return someMembers(v.Union)
}

// mostNamed is how many members a line names.
const mostNamed = 8

// someMembers lists the members of a union; of many, the first.
func someMembers(u *union.Union) string {
	l := u.MemberNames()
	text := strings.Join(l[:min(len(l), mostNamed)], ", ")
	if more := len(l) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func verificationText(w io.Writer, l []verified) error {
	proved, differ, inconclusive := 0, 0, 0
	for _, v := range l {
		differences := v.Differences
		head := fmt.Sprintf("%s: %s (%s): ", v.pos, v.label(), v.place)
		switch {
		case v.Proved():
			proved++
			fmt.Fprintf(w, "%sproved: %s\n", head, plural(v.Rules, "rule"))
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
			fmt.Fprintf(w, "%s%s\n", head, plural(len(v.Differences), "difference"))
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
	fmt.Fprintf(w, "%s: %d proved, %d different, %d inconclusive\n", plural(len(l), "union"), proved, differ, inconclusive)
	return nil
}

func differenceText(w io.Writer, v verified, d verify.Difference) error {
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
	return changeText(w, d)
}

// restrictionText prints a rule that also depends on something else.
func restrictionText(w io.Writer, r verify.Restriction) error {
	fmt.Fprintf(w, "\nstricter than the union, depending on %s: %s\nat %s\n", r.Reads, r.Rule, r.RuleAt)
	if err := resourcesText(w, "accepted", r.AcceptedOld, r.Accepted); err != nil {
		return err
	}
	return resourcesText(w, "rejected", r.RefusedOld, r.Refused)
}

// changeText prints the resources of a difference.
func changeText(w io.Writer, d verify.Difference) error {
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
		Rule     string     `json:"rule"`
		RuleAt   string     `json:"ruleAt"`
		Reads    string     `json:"reads"`
		Accepted changeJSON `json:"accepted"`
		Rejected changeJSON `json:"rejected"`
	}
	violationJSON struct {
		Condition string `json:"condition"`
		Member    string `json:"member,omitempty"`
	}
)

func verificationJSON(w io.Writer, l []verified) error {
	out := []proofJSON{}
	for _, v := range l {
		p := proofJSON{
			File: v.pos.File, Line: v.pos.Line, Col: v.pos.Col, CRD: v.crd, Path: v.place.String(), Schema: v.place.Structural(),
			Name: v.Union.Name, Discriminator: v.Union.Discriminator, Members: v.Union.MemberNames(),
			Proved: v.Proved(), Rules: v.Rules,
			Differences: []differenceJSON{}, Restrictions: []restrictionJSON{}, Inconclusive: append([]string{}, v.Inconclusive...), Notes: append([]string{}, v.Notes...),
		}
		for _, d := range v.Differences {
			p.Differences = append(p.Differences, toJSON(v, d))
		}
		for _, r := range v.Restrictions {
			p.Restrictions = append(p.Restrictions, restrictionJSON{r.Rule, r.RuleAt, r.Reads, changeJSON{r.AcceptedOld, r.Accepted}, changeJSON{r.RefusedOld, r.Refused}})
		}
		out = append(out, p)
	}
	return diag.WriteJSON(w, out)
}

func toJSON(v verified, d verify.Difference) differenceJSON {
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
