package unions

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/internal/report/proof"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Timeout bounds the time for the proofs of one CRD. Unions that are undecided then are findings.
const Timeout = 10 * time.Second

// crds are the generated CRDs, to be checked for the unions of a package.
type crds struct {
	*source
	dir    string // relative to the root of the module
	unions *union.Externals
}

// check returns findings about the CRDs, at the positions of the unions.
func (c crds) check() (diag.List, error) {
	root, err := moduleRoot(c.source.dir)
	if err != nil {
		return nil, err
	}
	var found diag.List
	var all []union.Target
	err = filepath.WalkDir(filepath.Join(root, c.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f := crdfile.Open(path, src)
		targets, _ := f.Targets()
		all = append(all, targets...)
		if slices.ContainsFunc(targets, c.unions.Concern) {
			more, err := c.checkFile(f, root)
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
func (c crds) checkFile(f *crdfile.File, root string) (diag.List, error) {
	opts := crdfile.Options{External: *c.unions}
	manifests, found := f.CRDs(opts)
	// The proofs decide about hand-written rules, too.
	found = append(found, slices.DeleteFunc(lint.File(f, opts), func(d diag.Diagnostic) bool { return d.Code == codes.HandWrittenConstraint })...)
	for _, m := range manifests {
		declared, wrong := m.Declared()
		if found = append(found, wrong...); declared == nil || !c.unions.Concern(m.Target()) {
			continue
		}
		more, err := c.prove(m, declared, root)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	markers.Words(found)
	for i, d := range found {
		switch {
		case d.Severity == diag.Error && !c.has(d.Pos): // it is about the CRD, or about another package
			found[i] = diag.Diagnostic{Code: d.Code, Pos: c.first(), Message: fmt.Sprintf("%s: %s", d.Pos, d.Message), Hint: d.Hint}
		case !strings.HasPrefix(d.Message, "+") && slices.Contains([]diag.Code{codes.UnknownMember, codes.UnknownDiscriminator, codes.NoSuchSchema}, d.Code):
			found[i].Hint = "the CRD was not generated from these types: run controller-gen first"
		}
	}
	return found, nil
}

// first returns the position of a union in the package, or of the package.
func (c crds) first() diag.Pos {
	for _, x := range c.unions.Declarations {
		if c.has(x.Pos()) {
			return x.Pos()
		}
	}
	return diag.Pos{File: slices.Min(slices.Collect(maps.Keys(c.files)))}
}

// prove returns a finding for each union of the package that a CRD does not enforce.
func (c crds) prove(m *crdfile.CRD, d *compile.Declared, root string) (diag.List, error) {
	d.Objects = slices.DeleteFunc(slices.Clone(d.Objects), func(o compile.Object) bool {
		return !slices.ContainsFunc(o.Declarations, func(u *union.Declaration) bool { return c.has(u.Pos) })
	})
	proofs, err := proof.Verify(context.Background(), *d, Timeout)
	if err != nil {
		return nil, err
	}
	pkg, err := filepath.Rel(root, c.source.dir)
	if err != nil {
		return nil, err
	}
	run := fmt.Sprintf("run unioncel compile --go ./%s -w %s", filepath.ToSlash(pkg), c.dir)
	var l diag.List
	reported := map[diag.Pos]bool{} // a struct can be at several paths
	for _, v := range proofs {
		if v.Proved() || reported[v.Pos] || !c.has(v.Pos) {
			continue
		}
		reported[v.Pos] = true
		finding := diag.Diagnostic{Code: codes.NotProved, Pos: v.Pos, Path: v.Place.String(), Hint: run}
		switch f := v.OfKind(verify.Accepted, verify.Rejected, verify.Undecided)[0]; f.Kind {
		case verify.Accepted:
			finding.Message = fmt.Sprintf("the CRD %s accepts an object that this union forbids: %s", v.CRD, f.Words(v.Union))
		case verify.Rejected:
			finding.Message = fmt.Sprintf("the CRD %s rejects an object that this union allows: %s; the rule is %s", v.CRD, f.Words(v.Union), f.Rule)
			if m.Recorded() == nil {
				finding.Hint = "correct the rule or the union"
			}
		default:
			finding.Severity, finding.Hint = diag.Warning, ""
			finding.Message = fmt.Sprintf("the proof that the CRD %s enforces this union is inconclusive: %s", v.CRD, f.Text)
		}
		l = append(l, finding)
	}
	return l, nil
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
