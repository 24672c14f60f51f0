package markers

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options select the markers to read. The zero value selects all dialects except kubebuilder's, and
// patterns relative to the working directory.
type Options struct {
	// Kubebuilder also declares the unions of +kubebuilder:validation:ExactlyOneOf, AtMostOneOf and
	// AtLeastOneOf. The compiled rules replace controller-gen's own rules for them
	// (union.Union.Replace).
	Kubebuilder bool
	// CRDs means that the CRDs are available. Their enums then decide the values of
	// discriminators (union.External.Fit), and the enums of markers reject nothing.
	CRDs bool
	// SkipInvalid names structs that may have errors, as PACKAGE.Type, where PACKAGE is a path or
	// its end. Their errors are reported as information.
	SkipInvalid []string
	// Dir is the base of relative patterns; empty is the working directory.
	Dir string
}

// Load reads the packages that match the patterns, "./api/..." for example. The result is nil when
// the packages cannot be read. Structs and kinds with errors are left out of it; the Path of such
// an error is the name of the struct. Positions are in Go files, with names relative to the working
// directory for files below it.
//
// The nodes of a declaration have positions, too. A member and its values are at the member's
// marker, or at the field if it has none; the rest is at the marker of the discriminator, or else
// at the first member.
//
// Declarations has an entry for each union and each schema it applies to, sorted by CRD, version,
// path and position. Scopes has an entry for each version that controller-gen writes for the
// packages, even without unions, sorted by group, kind and version. Their names are the names that
// controller-gen gives the CRDs.
//
// The go command lists the packages, without cgo, and may download modules. docs/markers.md
// describes the programs that it runs, and how to prevent that.
func Load(opts Options, patterns ...string) (*union.Externals, diag.List) {
	l := newLoading(opts, nil)
	set := l.load(patterns)
	return set, l.diags.Sort()
}

func (l *loading) load(patterns []string) (set *union.Externals) {
	// controller-tools and go/types expect packages that compile. A panic on other packages
	// must not crash the process.
	defer func() {
		if r := recover(); r != nil {
			l.fail("check whether controller-gen can read the packages", "the Go packages cannot be read: %v", r)
			set = nil
		}
		Words(l.diags)
	}()
	if !l.packages(patterns) {
		return nil
	}
	kinds := l.kinds()
	broken := l.packageErrors() // later errors are in types that no CRD has
	l.structs()
	set = l.crds(kinds)
	if broken {
		return nil
	}
	if !l.diags.HasErrors() {
		l.unused()
	}
	return set
}

// errorf reports an error in the packages.
func (l *loading) errorf(pos diag.Pos, hint, format string, args ...any) {
	l.diags = append(l.diags, diag.New(codes.GoPackage, pos, format, args...).Hinted(hint))
}

// fail reports an error about the packages as a whole, and returns false.
func (l *loading) fail(hint, format string, args ...any) bool {
	l.errorf(diag.Pos{}, hint, format, args...)
	return false
}

// loading is the state of one Load.
type loading struct {
	opts     Options
	fset     *token.FileSet
	work     string              // the working directory
	edited   map[string][]byte   // files with edits that are not written yet
	text     map[string][][]byte // the lines of files
	parser   *crd.Parser
	roots    []*loader.Package
	all      []*packages.Package // the roots and their imports
	known    map[crd.TypeIdent]*structure
	comments []*comment
	reached  map[crd.TypeIdent]map[crd.TypeIdent]bool
	sites    []site
	diags    diag.List
}

func newLoading(opts Options, edited map[string][]byte) *loading {
	work, _ := os.Getwd() // without one, names stay absolute
	return &loading{
		opts: opts, fset: token.NewFileSet(), work: work, edited: edited, text: map[string][][]byte{},
		known: map[crd.TypeIdent]*structure{}, reached: map[crd.TypeIdent]map[crd.TypeIdent]bool{},
	}
}

// packages loads the packages that match the patterns and prepares controller-gen's parser for
// them. It reports whether the packages are usable.
func (l *loading) packages(patterns []string) bool {
	if len(patterns) == 0 {
		return l.fail("name packages, such as ./api/...", "no Go packages are named")
	}
	const hint = "write a directory as ./api, and as ./api/... with everything below it"
	for _, pattern := range patterns {
		name := strings.TrimSuffix(pattern, "/...")
		dir := name
		if !filepath.IsAbs(name) {
			dir = filepath.Join(l.opts.Dir, name)
		}
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && (build.IsLocalImport(name) || filepath.IsAbs(name)) && !strings.Contains(name, "..."):
			l.fail(hint, "there is no directory %s", name)
		case err == nil && !info.IsDir():
			l.fail(hint, "%s is a file: name a directory or a package", pattern)
		}
	}
	if l.diags.HasErrors() {
		return false
	}
	config := &packages.Config{
		Fset: l.fset, Dir: l.opts.Dir, Mode: packages.NeedModule | packages.NeedSyntax, Overlay: l.edited,
		// With cgo, listing packages runs the C compiler and pkg-config on their contents.
		Env: append(os.Environ(), "CGO_ENABLED=0"),
	}
	roots, err := loader.LoadRootsWithConfig(config, patterns...)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		hint := hint
		if strings.Contains(message, "executable file not found") {
			hint = "install Go and put it on the PATH: the go command finds the packages"
		}
		return l.fail(hint, "the Go packages %s cannot be found: %s", strings.Join(patterns, " "), message)
	}
	if len(roots) == 0 {
		return l.fail(hint, "no Go package matches %s", strings.Join(patterns, " "))
	}
	l.roots = roots
	var raw []*packages.Package
	for _, root := range roots {
		root.NeedSyntax()
		raw = append(raw, root.Package)
	}
	packages.Visit(raw, nil, func(p *packages.Package) { l.all = append(l.all, p) })
	if l.packageErrors() {
		return false
	}

	registry := &markers.Registry{}
	err = errors.Join(crdmarkers.Register(registry), registry.Define(numberMarker, markers.DescribesType, 0), registry.Define(numberMarker, markers.DescribesField, 0))
	if err != nil {
		return l.fail("", "the markers of controller-gen: %v", err)
	}
	l.parser = &crd.Parser{
		Collector: &markers.Collector{Registry: registry},
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{crd.Generator{}.CheckFilter()}},
		// Whether a CRD may have floats is for controller-gen to check.
		AllowDangerousTypes: true,
	}
	crd.AddKnownTypes(l.parser)
	l.number()
	for _, root := range roots {
		l.parser.NeedPackage(root)
	}
	return true
}

// number makes the parser number the comments of each package before it collects the markers.
func (l *loading) number() {
	paths := map[string]bool{}
	for _, p := range l.all {
		paths[loader.NonVendorPath(p.PkgPath)] = true
	}
	for path := range paths {
		add, ok := l.parser.PackageOverrides[path]
		if !ok {
			add = (*crd.Parser).AddPackage
		}
		l.parser.PackageOverrides[path] = func(parser *crd.Parser, p *loader.Package) {
			l.numberComments(p)
			add(parser, p)
		}
	}
}

// packageErrors reports the errors of the packages and their imports that matter to a CRD, and
// whether there are any.
func (l *loading) packageErrors() bool {
	before := len(l.diags)
	for _, p := range l.all {
		for _, err := range p.Errors {
			if l.matters(p, err) {
				at, message, hint := l.goPos(p, err), strings.TrimSpace(err.Msg), goHint(p, err)
				if info, err := os.Lstat(at.File); err == nil && info.Mode()&os.ModeSymlink != 0 { // the message and the line could show the content of any file
					at = diag.Pos{File: at.File}
					message, hint = "the go command cannot read this file, which is a link", "go build says why"
				}
				l.errorf(at, hint, "%s", message)
			}
		}
	}
	return len(l.diags) > before
}

// matters reports whether an error of a package can change a schema. As in controller-gen, type
// checking skips function bodies and everything that types do not refer to, so that many type
// errors never show.
func (l *loading) matters(p *packages.Package, err packages.Error) bool {
	switch err.Kind {
	case packages.ListError:
		// controller-gen skips generated files, and a package may have no others.
		return !strings.HasPrefix(err.Msg, "build constraints exclude all Go files") ||
			!slices.ContainsFunc(l.roots, func(root *loader.Package) bool { return len(root.GoFiles) > 0 })
	case packages.TypeError:
		root := slices.IndexFunc(l.roots, func(root *loader.Package) bool { return root.Package == p })
		return root >= 0 && l.inType(p, err)
	case packages.UnknownError:
		// Fields without a JSON name are in no schema. controller-gen rejects them, unless they are
		// unexported and it is told to ignore those. Served and stored versions do not affect
		// schemas, nor do markers that controller-gen cannot apply: constraints of another type, and
		// printer columns of a version that it skips, which it reports at random.
		return !controllerGenOnly().MatchString(err.Msg) && !(untyped().MatchString(err.Msg) &&
			slices.ContainsFunc(p.Errors, func(o packages.Error) bool { return o.Kind == packages.TypeError && l.matters(p, o) }))
	}
	return true
}

// controllerGenOnly matches the errors of controller-gen that do not affect a schema.
var controllerGenOnly = english.Pattern(`^(?:encountered struct field|CRD for |must apply )| applied to version .* not in CRD$`)

// untyped matches the errors by which controller-gen repeats errors of the type checker.
var untyped = english.Pattern(`^(?:unknown type|use of unimported package) `)

// inType reports whether an error is in a part of a type declaration that controller-gen reads.
func (l *loading) inType(p *packages.Package, err packages.Error) (found bool) {
	filter := crd.Generator{}.CheckFilter()
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if _, function := n.(*ast.FuncDecl); n == nil || function || ok && decl.Tok != token.TYPE || !filter(n) {
				return false
			}
			found = found || n != file && l.fset.Position(n.Pos()).String() == err.Pos
			return !found
		})
	}
	return found
}

// goPos returns the position of an error of a package. The go command may name a file relative to
// the directory of a pattern. A //line comment can name any file: a file that belongs to none of the
// packages is never opened, neither for the column nor to show the line.
func (l *loading) goPos(p *packages.Package, err packages.Error) diag.Pos {
	found := printedPos().FindStringSubmatch(err.Pos)
	file := filepath.FromSlash(found[1])
	line, _ := strconv.Atoi(found[2])
	col, _ := strconv.Atoi(found[3])
	end := string(filepath.Separator) + strings.TrimLeft(file, "."+string(filepath.Separator))
	for _, q := range l.all {
		for _, full := range q.GoFiles {
			if full == file || !filepath.IsAbs(file) && strings.HasSuffix(full, end) && (q == p || q.Imports[p.PkgPath] != nil) {
				return l.position(full, line, col)
			}
		}
	}
	return diag.Pos{File: l.relative(file)}
}

func goHint(p *packages.Package, err packages.Error) string {
	switch {
	case err.Kind == packages.ListError && strings.Contains(err.Msg, "is not in std"):
		return "write a directory as ./api, and as ./api/... with everything below it"
	case len(p.IgnoredFiles) > 0 && (strings.HasPrefix(err.Msg, "build constraints exclude") || strings.HasPrefix(err.Msg, "undefined: ")):
		return `files that import "C", or that build tags exclude, are not read: declare types that CRDs need in others`
	}
	return ""
}

// own reports whether a package is in the module of a package that the user named.
func (l *loading) own(p *loader.Package) bool {
	return slices.Contains(l.roots, p) || p.Module != nil && slices.ContainsFunc(l.roots, func(root *loader.Package) bool {
		return root.Module != nil && root.Module.Path == p.Module.Path
	})
}

// mainModule returns the directory of the main module that contains a package, also as the directory
// of a replacement. It is "" for other modules. Without modules it is the working directory.
func (l *loading) mainModule(p *loader.Package) string {
	switch m := p.Module; {
	case m == nil:
		return l.work
	case m.Main:
		return m.Dir
	case m.Replace != nil && m.Replace.Version == "" && filepath.IsLocal(m.Replace.Path):
		return strings.TrimSuffix(m.Dir, filepath.Clean(m.Replace.Path))
	}
	return ""
}

// within reports whether a path without its symbolic links is below a directory.
func within(path, dir string) bool {
	path, err := filepath.EvalSymlinks(path)
	root, rootErr := filepath.EvalSymlinks(dir)
	rel, relErr := filepath.Rel(root, path)
	return errors.Join(err, rootErr, relErr) == nil && filepath.IsLocal(rel)
}

// printedPos matches a position as the go command prints it: "-" or a package's name and ":-" stand for
// none.
var printedPos = english.Pattern(`^(?:(?:.*:)?-|(.*?))(?::(\d+))?(?::(\d+))?$`)

// pos converts a position of Go to one of a diagnostic, with the file name as the user would write it
// and the column in characters.
func (l *loading) pos(at token.Pos) diag.Pos {
	q := l.fset.PositionFor(at, false)
	return l.position(q.Filename, q.Line, q.Column)
}

// position returns the position for a column in bytes, which it converts to characters.
func (l *loading) position(file string, line, col int) diag.Pos {
	pos := diag.Pos{File: l.relative(file), Line: line, Col: col}
	lines, ok := l.text[file]
	if !ok {
		// The columns of a file that cannot be read again stay in bytes.
		if src, err := l.read(file); err == nil {
			lines = bytes.Split(src, []byte("\n"))
		}
		l.text[file] = lines
	}
	if line < 1 || line > len(lines) || col < 1 || col-1 > len(lines[line-1]) {
		return pos
	}
	before := lines[line-1][:col-1]
	if line == 1 { // a byte order mark is not a character
		before = bytes.TrimPrefix(before, []byte("\ufeff"))
	}
	pos.Col = utf8.RuneCount(before) + 1
	return pos
}

// relative returns a file name relative to the working directory if the file is below it.
func (l *loading) relative(file string) string {
	short, err := filepath.Rel(l.work, file)
	if err != nil || !filepath.IsLocal(short) || !filepath.IsAbs(file) {
		return file
	}
	return short
}

// read returns the content of a Go file that the go command has listed, with its edits.
func (l *loading) read(file string) ([]byte, error) {
	if src, ok := l.edited[file]; ok {
		return src, nil
	}
	return os.ReadFile(file)
}
