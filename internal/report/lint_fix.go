package report

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Fixed is a file in which edits were applied.
type Fixed struct {
	Src     []byte
	Count   int       // the number of fixed findings
	Found   diag.List // the findings in Src
	Refused []Refused // in the order of the text
}

// Refused is a finding whose edits were not applied.
type Refused struct {
	Finding diag.Diagnostic
	// Since is the error that the edits would cause. It has no code if the edits would not resolve
	// the finding.
	Since diag.Diagnostic
}

// String returns the reason why the edits were not applied.
func (r Refused) String() string {
	why := "its edit does not help"
	if r.Since.Code != "" {
		why = fmt.Sprintf("its edit would lead to %s: %s", r.Since.Code, r.Since.Message)
	}
	return fmt.Sprintf("%s (%s) is not fixed: %s", r.Finding.Code, r.Finding.Message, why)
}

// mostChecks bounds the number of checks of a file, because each check may take long.
const mostChecks = 30

// Fix applies the edits of findings in a file until none are left. check returns the findings, like
// [File]. An edit stays only if its finding disappears and no error replaces it. name is the file's name in
// diagnostics. Fix does not change src.
func Fix(name string, src []byte, check func(src []byte) diag.List) Fixed {
	f := &fixer{name: name, check: check, refused: map[finding]bool{}}
	f.Src, f.Found = src, check(src)
	for f.checks < mostChecks {
		l := f.fixable()
		if len(l) == 0 {
			break
		}
		if wrong := f.make(l); wrong != nil {
			// If the good edits conflict, the first one is applied alone.
			if good := f.good(l, wrong); len(good) > 0 && f.make(good) != nil {
				f.make(good[:1])
			}
		}
	}
	return f.Fixed
}

type fixer struct {
	Fixed
	name    string
	check   func(src []byte) diag.List
	checks  int
	refused map[finding]bool
}

// finding identifies a diagnostic regardless of its position.
type finding struct {
	code          diag.Code
	message, path string
}

// fix is a finding with its edits.
type fix struct {
	finding
	found diag.Diagnostic
	edits []yamltext.Edit
}

func findingOf(d diag.Diagnostic) finding { return finding{d.Code, d.Message, d.Path} }

// fixable returns fixes that do not overlap, in the order of the text.
func (f *fixer) fixable() []fix {
	text, err := yamltext.Parse(f.Src)
	if err != nil {
		return nil
	}
	var l []fix
	end := 0
	for _, d := range f.Found.Sort() {
		if d.Pos.File != f.name || len(d.Edits) == 0 || f.refused[findingOf(d)] {
			continue
		}
		edits, ok := located(text, d.Edits)
		if !ok || slices.ContainsFunc(edits, func(e yamltext.Edit) bool { return e.Start < end }) {
			continue // a later round may apply it
		}
		for _, e := range edits {
			end = max(end, e.End)
		}
		l = append(l, fix{findingOf(d), d, edits})
	}
	return l
}

// located returns the byte positions of edits. ok is false if the text at a position differs.
func located(text *yamltext.File, edits []diag.Edit) ([]yamltext.Edit, bool) {
	var l []yamltext.Edit
	for _, e := range edits {
		at := text.Offset(e.Line, e.Col)
		if at < 0 || !bytes.HasPrefix(text.Src[at:], []byte(e.Old)) {
			return nil, false
		}
		l = append(l, yamltext.Edit{Start: at, End: at + len(e.Old), New: e.New})
	}
	return l, true
}

// good returns the fixes that can be applied, if the fixes in l cannot be applied together. It
// rejects the other fixes. wrong is the reason why l was rejected.
func (f *fixer) good(l []fix, wrong *Refused) (good []fix) {
	if len(l) == 1 {
		f.refused[l[0].finding] = true
		f.Refused = append(f.Refused, *wrong)
		return nil
	}
	for _, half := range [][]fix{l[:len(l)/2], l[len(l)/2:]} {
		if f.checks >= mostChecks {
			return good
		}
		if _, _, wrong := f.try(half); wrong != nil {
			half = f.good(half, wrong)
		}
		good = append(good, half...)
	}
	return good
}

// make applies fixes, or returns the reason to reject them.
func (f *fixer) make(l []fix) *Refused {
	out, found, wrong := f.try(l)
	if wrong == nil {
		f.Src, f.Found, f.Count = out, found, f.Count+len(l)
	}
	return wrong
}

// try returns the file with fixes applied and its findings, or the reason to reject the fixes.
func (f *fixer) try(l []fix) (out []byte, found diag.List, wrong *Refused) {
	var edits []yamltext.Edit
	for _, x := range l {
		edits = append(edits, x.edits...)
	}
	out, err := yamltext.Apply(f.Src, edits)
	if err != nil {
		return nil, nil, &Refused{Finding: l[0].found}
	}
	f.checks++
	found = f.check(out)
	before, after := count(f.Found), count(found)
	places := editedAt(out, edits)
	for _, d := range found {
		isNew := d.Severity == diag.Error && after[findingOf(d)] > before[findingOf(d)]
		if isNew && (places[diag.Pos{Line: d.Pos.Line, Col: d.Pos.Col}] || d.Code == codes.Syntax || d.Code == codes.DuplicateKey) {
			return nil, nil, &Refused{l[0].found, d}
		}
	}
	for _, x := range l {
		before[x.finding]--
	}
	for _, x := range l {
		if after[x.finding] > before[x.finding] {
			return nil, nil, &Refused{Finding: x.found}
		}
	}
	return out, found, nil
}

func count(l diag.List) map[finding]int {
	n := map[finding]int{}
	for _, d := range l {
		n[findingOf(d)]++
	}
	return n
}

// editedAt returns the positions of the new texts of edits, which must be in order.
func editedAt(out []byte, edits []yamltext.Edit) map[diag.Pos]bool {
	text, err := yamltext.Parse(out)
	if err != nil {
		return nil
	}
	at, shift := map[diag.Pos]bool{}, 0
	for _, e := range edits {
		line, col := text.Position(e.Start + shift)
		at[diag.Pos{Line: line, Col: col}] = true
		shift += len(e.New) - (e.End - e.Start)
	}
	return at
}
