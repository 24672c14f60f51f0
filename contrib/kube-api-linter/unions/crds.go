package unions

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

// The codes of diagnostics that the analyzer treats in a way of its own.
const (
	unknownMember         diag.Code = "UC203"
	unknownDiscriminator  diag.Code = "UC204"
	notProved             diag.Code = "UC306"
	unusedMarkers         diag.Code = "UC514"
	handWrittenConstraint diag.Code = "UC517"
	noSuchSchema          diag.Code = "UC703"
)

// crds are the generated CRDs, to be checked for the unions of a package.
type crds struct {
	*source
	root, dir string // the module, and the directory in it
	unions    *union.Externals
}

// check returns findings about the CRDs.
func (c crds) check() (found diag.List, err error) {
	if c.root, err = moduleRoot(c.source.dir); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.root, c.dir)
	tree, err := os.OpenRoot(dir) // links do not lead out of it
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	var all []union.Target
	err = fs.WalkDir(tree.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			return err
		}
		path := filepath.Join(dir, name)
		src, err := fs.ReadFile(tree.FS(), name)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f := crd.Open(path, src, crd.Options{External: *c.unions})
		targets := f.Targets()
		all = append(all, targets...)
		if i := slices.IndexFunc(targets, c.unions.Concern); i >= 0 {
			more, err := c.checkFile(f, targets[i])
			found = append(found, more...)
			return err
		}
		return nil
	})
	for _, d := range c.unions.Missing(all) {
		d.Hint = "generate it into " + c.dir + ", or correct crds in the configuration"
		found = append(found, d)
	}
	return found, err
}

// checkFile lints a file, and proves whether its CRDs enforce the unions.
func (c crds) checkFile(f *crd.File, first union.Target) (diag.List, error) {
	byHand := map[diag.Pos]bool{} // the unions with hand-written rules, which proofs decide about
	found := slices.DeleteFunc(f.Lint(), func(d diag.Diagnostic) bool {
		byHand[d.Pos] = byHand[d.Pos] || d.Code == handWrittenConstraint
		return d.Code == handWrittenConstraint
	})
	proofs, wrong, err := f.Verify(context.Background())
	if err != nil {
		return nil, err
	}
	more, err := c.unproved(f, proofs, byHand)
	if err != nil {
		return nil, err
	}
	found = append(append(found, wrong...), more...)
	markers.Words(found)
	for i, d := range found {
		switch {
		case d.Severity == diag.Error && !c.has(d.Pos):
			found[i] = c.elsewhere(d, first)
		case !strings.HasPrefix(d.Message, "+") && slices.Contains([]diag.Code{unknownMember, unknownDiscriminator, noSuchSchema}, d.Code):
			found[i].Hint = "the CRD was not generated from these types: run controller-gen first"
		}
	}
	return found, nil
}

// unproved returns a finding for each union that a CRD does not enforce.
func (c crds) unproved(f *crd.File, proofs []crd.Proof, byHand map[diag.Pos]bool) (diag.List, error) {
	pkg, err := filepath.Rel(c.root, c.source.dir)
	if err != nil {
		return nil, err
	}
	run := fmt.Sprintf("run unioncel compile --go ./%s -w %s", filepath.ToSlash(pkg), c.dir)
	var l diag.List
	reported := map[diag.Pos]bool{} // a struct can be at several paths
	for _, v := range proofs {
		// Other versions of the kind may be in other packages; their passes check them.
		if v.Proved || reported[v.Pos] || filepath.Ext(v.Pos.File) != ".go" {
			continue
		}
		reported[v.Pos] = true
		finding := diag.Diagnostic{Code: notProved, Pos: v.Pos, Path: v.Path, Hint: run}
		if len(v.Differences) == 0 {
			finding.Severity, finding.Hint = diag.Warning, ""
			finding.Message = fmt.Sprintf("the proof that the CRD %s enforces this union is inconclusive: %s", v.CRD, v.Inconclusive[0])
		} else if d := v.Differences[0]; d.Accepted {
			finding.Message = fmt.Sprintf("the CRD %s accepts an object that this union forbids: %s", v.CRD, d.Text)
		} else {
			finding.Message = fmt.Sprintf("the CRD %s rejects an object that this union allows: %s; the rule is %s", v.CRD, d.Text, d.Rule)
			if byHand[v.Pos] { // compile does not change these rules
				finding.Hint = "correct the rule or the union"
			}
		}
		if !c.has(v.Pos) {
			targets := f.Targets()
			finding = c.elsewhere(finding, targets[slices.IndexFunc(targets, func(t union.Target) bool { return t.Name == v.CRD })])
		}
		l = append(l, finding)
	}
	return l, nil
}

// elsewhere moves a finding about a CRD file, or about a struct of another package, to the kind.
func (c crds) elsewhere(d diag.Diagnostic, of union.Target) diag.Diagnostic {
	d.Message, d.Edits = fmt.Sprintf("%s: %s", d.Pos, d.Message), nil
	if kind := c.pass.Pkg.Scope().Lookup(of.Kind); kind != nil {
		at := c.pass.Fset.PositionFor(kind.Pos(), false)
		d.Pos = diag.Pos{File: at.Filename, Line: at.Line, Col: at.Column}
	}
	return d
}

// moduleRoot returns the directory of the nearest go.mod.
func moduleRoot(dir string) (string, error) {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("%s is not in a module", dir)
		}
	}
}
