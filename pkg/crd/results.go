package crd

import (
	"context"
	"errors"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Proof tells whether the rules of a CRD enforce a union.
type Proof struct {
	// Pos is the position of the declaration, Path the path of the union object.
	Pos  diag.Pos
	CRD  string
	Path string
	// Proved is set if the rules accept exactly the states and updates that the union allows.
	Proved bool
	// Differences are objects that the API server's code has confirmed: the smallest one found for
	// each kind of difference.
	Differences []Difference
	// Inconclusive are the open questions, with their reasons.
	Inconclusive []string
}

// Difference is a request that the CRD accepts and the union forbids, or the reverse.
type Difference struct {
	// Accepted is set if the CRD accepts it.
	Accepted bool
	// Text describes the states of the union, and Rule is the rule that rejects the request.
	Text, Rule string
	Example
}

// Example is the creation of an object or, if Old is not nil, an update.
type Example struct {
	Old, Object map[string]any
	// Errors are the API server's errors, for a change.
	Errors []string
}

// Verify decides for each union whether the rules of its CRD enforce it. The rules may be compiled or
// hand-written, or be keywords such as oneOf.
func (f *File) Verify(ctx context.Context) ([]Proof, diag.List, error) {
	declared, wrong := report.Provable(f.file, f.opts)
	var l []Proof
	for _, d := range declared {
		verified, err := report.Verify(ctx, *d)
		if err != nil {
			return nil, wrong, err
		}
		for _, v := range verified {
			p := Proof{Pos: v.Pos, CRD: v.CRD, Path: v.Path, Proved: v.Proved, Inconclusive: v.Inconclusive}
			for _, d := range v.Differences {
				p.Differences = append(p.Differences, Difference{d.Verdict == verify.Accepted, d.Words, d.Rule, Example{Old: d.Old, Object: d.New}})
			}
			l = append(l, p)
		}
	}
	return l, wrong, nil
}

// Change is a difference between the objects that two CRDs accept.
type Change struct {
	// Pos is the position in the new file.
	Pos diag.Pos
	CRD string
	// OldVersion and Version are the versions of the CRD before and after the change. One of them is
	// empty for a version that was added or removed.
	OldVersion, Version string
	// Path leads to the schema, and Keyword is its key that changed.
	Path    schemapath.Path
	Keyword string
	// Subject names the constraint, and Text describes its change.
	Subject, Text string
	// Tighter is set if objects or updates that were accepted are rejected, Looser for the reverse.
	Tighter, Looser bool
	// Undecided is the open question. If neither Tighter nor Looser is set, the change may be tighter.
	Undecided string
	// Rejected is the smallest example found that was accepted, Accepted one that was rejected.
	Rejected, Accepted *Example
}

// Diff compares the CRDs of a file with the CRDs of the same names in an older one.
func (f *File) Diff(ctx context.Context, old *File) ([]Change, diag.List, error) {
	before, wrong := change.ReadInputs(old.file, old.opts)
	after, more := change.ReadInputs(f.file, f.opts)
	if wrong = append(wrong, more...); wrong.HasErrors() {
		return nil, wrong, nil
	}
	was := map[string]*change.Input{}
	for _, in := range before {
		was[in.Name] = in
	}
	var l []Change
	compare := func(old, new *change.Input) error {
		r, err := change.Compare(ctx, old, new)
		for _, c := range r.Changes {
			l = append(l, Change{
				Pos: c.Pos, CRD: r.Name, OldVersion: c.Version, Version: c.NewVersion, Path: c.Path, Keyword: c.Keyword,
				Subject: c.Subject, Text: c.What, Undecided: c.Undecided,
				Tighter: c.Class == change.Tighter || c.Class == change.Both, Looser: c.Class == change.Looser || c.Class == change.Both,
				Rejected: exampleOf(c.Refused), Accepted: exampleOf(c.Accepted),
			})
		}
		return err
	}
	var errs []error
	for _, in := range after {
		errs = append(errs, compare(was[in.Name], in))
		delete(was, in.Name)
	}
	for _, in := range before {
		if was[in.Name] != nil {
			errs = append(errs, compare(in, nil))
		}
	}
	return l, wrong, errors.Join(errs...)
}

func exampleOf(c *change.Counterexample) *Example {
	if c == nil {
		return nil
	}
	return &Example{c.Old, c.Object, c.Errors}
}
