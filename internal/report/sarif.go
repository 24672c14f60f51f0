package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/unioncel/unioncel/pkg/diag"
)

// SARIFOptions configure [Write].
type SARIFOptions struct {
	// Version is the version of the program; empty omits it.
	Version string
	// Path maps the name of a file to its path in the repository, with slashes. Files outside the
	// repository have an absolute path. If Path is nil, names stay unchanged.
	Path func(file string) string
}

const (
	toolName = "unioncel"
	home     = "https://github.com/unioncel/unioncel"
	// root is the base of URIs: GitHub's name for the root of the repository.
	root = "%SRCROOT%"
	// fingerprint is the fingerprint that GitHub's code scanning reads.
	fingerprint = "primaryLocationLineHash"
)

// WriteSARIF writes the list as one SARIF document, in its order. The list may be empty. The output
// depends only on the list and the options.
//
// The rule of a result is the diagnostic's code. Columns count characters. A diagnostic of a whole
// file is on line 1, because GitHub requires a line. The fingerprint does not change if lines move:
// it is a hash of code, file, schema path and message, followed by the number of the diagnostic
// among those with the same hash. For a file with an absolute path, the URI is absolute, and the
// hash has only the base name. Edits become a fix.
func WriteSARIF(w io.Writer, l diag.List, opts SARIFOptions) error {
	p := sarifPrinter{opts: opts, rules: rulesOf(l), seen: map[string]int{}}
	run := sarif.NewRunWithInformationURI(toolName, home)
	run.WithColumnKind("unicodeCodePoints")
	run.WithOriginalUriBaseIds(map[string]sarif.ArtifactLocation{root: *sarif.NewArtifactLocation().WithDescription(text("the root of the repository"))})
	if opts.Version != "" {
		run.Tool.Driver.WithVersion(opts.Version)
	}
	for _, code := range p.rules {
		run.Tool.Driver.AddRule(sarifRule(code))
	}
	for _, d := range l {
		run.AddResult(p.result(d))
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return diag.WriteJSON(w, report)
}

// rulesOf returns the codes in a list, in ascending order.
func rulesOf(l diag.List) []diag.Code {
	var codes []diag.Code
	for _, d := range l {
		codes = append(codes, d.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func sarifRule(code diag.Code) *sarif.ReportingDescriptor {
	r := sarif.NewReportingDescriptor().WithID(string(code))
	info, ok := diag.Lookup(code)
	if !ok {
		return r
	}
	title := strings.ToUpper(info.Title[:1]) + info.Title[1:]
	description := sarif.NewMultiformatMessageString().WithText(title + ".")
	return r.WithName(pascal(info.Title)).WithShortDescription(description).WithFullDescription(description).
		WithHelp(sarif.NewMultiformatMessageString().WithText("See " + info.URL()).WithMarkdown(fmt.Sprintf("[%s: %s](%s)", code, info.Title, info.URL()))).
		WithHelpURI(info.URL()).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(levels[info.Severity]))
}

// pascal turns a title into an identifier in Pascal case.
func pascal(title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

var levels = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Info: "note"}

type sarifPrinter struct {
	opts  SARIFOptions
	rules []diag.Code
	seen  map[string]int // the number of results with each fingerprint
}

func (p *sarifPrinter) result(d diag.Diagnostic) *sarif.Result {
	message := d.Message
	if d.Hint != "" {
		message += "\nHint: " + d.Hint
	}
	at := p.location(d.Pos)
	if path := cmp.Or(d.Schema, d.Path); path != "" {
		at.AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(validUTF8(path)).WithKind("object"))
	}
	r := sarif.NewResult().WithRuleID(string(d.Code)).WithRuleIndex(slices.Index(p.rules, d.Code)).
		WithLevel(levels[d.Severity]).WithMessage(text(message)).AddLocation(at).
		WithPartialFingerprints(map[string]string{fingerprint: p.fingerprint(d)})
	for i, other := range d.Related {
		r.AddRelatedLocation(p.location(other.Pos).WithID(i + 1).WithMessage(text(other.Message)))
	}
	if len(d.Edits) > 0 {
		change := sarif.NewArtifactChange().WithArtifactLocation(artifact(p.path(d.Pos.File)))
		for _, e := range d.Edits {
			line, col := e.End()
			change.AddReplacement(sarif.NewReplacement().
				WithDeletedRegion(sarif.NewRegion().WithStartLine(e.Line).WithStartColumn(e.Col).WithEndLine(line).WithEndColumn(col)).
				WithInsertedContent(sarif.NewArtifactContent().WithText(validUTF8(e.New))))
		}
		r.AddFixe(sarif.NewFix().WithDescription(text(d.Hint)).AddArtifactChange(change))
	}
	return r
}

func (p *sarifPrinter) fingerprint(d diag.Diagnostic) string {
	h, file := sha256.New(), p.path(d.Pos.File)
	if isAbsolute(file) {
		file = path.Base(file) // the other elements differ from machine to machine
	}
	for _, part := range []string{string(d.Code), file, cmp.Or(d.Schema, d.Path), d.Message} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	sum := hex.EncodeToString(h.Sum(nil)[:16])
	p.seen[sum]++
	return fmt.Sprintf("%s:%d", sum, p.seen[sum])
}

func (p *sarifPrinter) location(at diag.Pos) *sarif.Location {
	region := sarif.NewRegion().WithStartLine(max(at.Line, 1))
	if at.Line > 0 && at.Col > 0 {
		region.WithStartColumn(at.Col)
	}
	return sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().WithRegion(region).WithArtifactLocation(artifact(p.path(at.File))))
}

// artifact returns the location of a file. Only files in the repository have root as their base.
func artifact(path string) *sarif.ArtifactLocation {
	at := sarif.NewArtifactLocation()
	switch {
	case isAbsolute(path):
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a Windows drive
		}
		return at.WithURI((&url.URL{Scheme: "file", Path: validUTF8(path)}).String())
	case strings.HasPrefix(path, "../"):
		return at.WithURI(uri(path))
	}
	return at.WithURI(uri(path)).WithURIBaseID(root)
}

// isAbsolute reports whether a path with slashes is absolute on this operating system.
func isAbsolute(path string) bool { return filepath.IsAbs(filepath.FromSlash(path)) }

// path returns the path of a file in the repository. A diagnostic without a file gets the root.
func (p *sarifPrinter) path(file string) string {
	switch {
	case file == "":
		return "."
	case p.opts.Path != nil:
		return p.opts.Path(file)
	}
	return file
}

// uri returns a path as a relative reference. A colon would make the path absolute.
func uri(path string) string {
	return strings.ReplaceAll((&url.URL{Path: validUTF8(path)}).EscapedPath(), ":", "%3A")
}

// text returns a message that shows [text](URL) in a manifest literally (SARIF 2.1.0, 3.11.6).
func text(s string) *sarif.Message {
	return sarif.NewTextMessage(strings.ReplaceAll(validUTF8(s), "](", `\](`))
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
