package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	library "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// schema returns the JSON Schema of SARIF 2.1.0 (errata 01), which the library has as a constant.
// The tests use another implementation of JSON Schema.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && len(literal.Value) > len(text) {
			text, err = strconv.Unquote(literal.Value)
		}
		return err == nil
	})
	if err != nil || !strings.Contains(text, "Static Analysis Results Format (SARIF) Version 2.1.0") {
		t.Fatalf("no schema in %s: %v", file.Name, err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// log is a SARIF document that was read back.
type log struct {
	Runs []struct {
		OriginalUriBaseIds map[string]any
		ColumnKind         string
		Tool               struct {
			Driver struct {
				Version string
				Rules   []struct {
					ID, Name, HelpURI                       string
					ShortDescription, FullDescription, Help struct{ Text string }
					DefaultConfiguration                    struct{ Level string }
				}
			}
		}
		Results []struct {
			RuleID                      string
			RuleIndex                   int
			Level                       string
			Message                     struct{ Text string }
			Locations, RelatedLocations []location
			PartialFingerprints         map[string]string
			Fixes                       []struct {
				ArtifactChanges []struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Replacements     []struct {
						DeletedRegion   struct{ StartLine, StartColumn, EndLine, EndColumn int }
						InsertedContent struct{ Text string }
					}
				}
			}
		}
	}
}

type location struct {
	PhysicalLocation struct {
		ArtifactLocation struct{ URI, URIBaseID string }
		Region           struct{ StartLine, StartColumn int }
	}
	LogicalLocations []struct{ FullyQualifiedName string }
	Message          struct{ Text string }
}

func write(t *testing.T, l diag.List, opts report.SARIFOptions) (log, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteSARIF(&b, l, opts); err != nil {
		t.Fatal(err)
	}
	var out log
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out, b.Bytes()
}

// samples returns a diagnostic of each code, and diagnostics with hostile texts.
func samples() diag.List {
	var l diag.List
	for i, info := range diag.Codes {
		l = append(l, diag.Diagnostic{Code: info.Code, Severity: info.Severity, Pos: diag.Pos{File: fmt.Sprintf("crd%d.yaml", i%3), Line: i, Col: i % 2},
			Path: "spec.versions[0]", Message: "some message", Hint: "some hint\nof two lines",
			Related: []diag.Related{{Pos: diag.Pos{File: "other.go", Line: 3, Col: 4}, Message: "here"}},
			Edits:   []diag.Edit{{Line: 3, Col: 1, Old: "\xff a\n"}, {Line: 4, Col: 1, Old: "a", New: "b"}}})
	}
	for _, file := range hostileFiles {
		l = append(l, diag.Diagnostic{Code: codes.NoEnum, Severity: diag.Warning, Pos: diag.Pos{File: file, Line: 2, Col: 7}, Message: "message \xff of\n" + file})
	}
	return append(l, diag.Diagnostic{Code: "UC999", Message: "of a code that is not known"})
}

var hostileFiles = []string{"a b.yaml", "100%.yaml", "é/Ж.yaml", "a\nb.yaml", "a?b#c.yaml", "C:x.yaml", "a:b/c.yaml", "<stdin>", "\xff.yaml", "../up.yaml", `a\b.yaml`, `"'&<>.yaml`, "%20.yaml"}

func TestValid(t *testing.T) {
	s := schema(t)
	many := diag.List{}
	for i := range 1000 {
		many = append(many, diag.Diagnostic{Code: codes.ListMember, Severity: diag.Warning, Pos: diag.Pos{File: "crd.yaml", Line: i + 1, Col: 1}, Message: "the same"})
	}
	for name, l := range map[string]diag.List{"nothing": nil, "samples": samples(), "many": many} {
		t.Run(name, func(t *testing.T) {
			got, text := write(t, l, report.SARIFOptions{Version: "v1.2.3"})
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(value); err != nil {
				t.Error(err)
			}
			if len(got.Runs) != 1 || len(got.Runs[0].Results) != len(l) {
				t.Errorf("%d runs", len(got.Runs))
			}
			if name == "many" {
				return
			}
			// The library's own validation must agree.
			report, err := library.FromBytes(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := report.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
	// The schema must reject an invalid document: otherwise the checks above could not fail.
	_, text := write(t, samples(), report.SARIFOptions{})
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(string(text), `"level": "warning"`, `"level": "notice"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if s.Validate(value) == nil {
		t.Error("the schema accepts a level that does not exist")
	}
}

// TestGitHubNeeds checks the fields without which GitHub rejects results.
func TestGitHubNeeds(t *testing.T) {
	got, _ := write(t, samples(), report.SARIFOptions{})
	run := got.Runs[0]
	for _, r := range run.Tool.Driver.Rules {
		if r.ID == "UC999" {
			continue
		}
		if r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" || r.DefaultConfiguration.Level == "" {
			t.Errorf("%+v", r)
		}
		if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`).MatchString(r.Name) || !strings.HasPrefix(r.HelpURI, diag.Reference+"#uc") {
			t.Errorf("%+v", r)
		}
	}
	seen := map[string]bool{}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("the rule of %s is %s", r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
		}
		if r.Message.Text == "" || len(r.Locations) != 1 || r.Locations[0].PhysicalLocation.Region.StartLine < 1 || r.Locations[0].PhysicalLocation.ArtifactLocation.URI == "" {
			t.Errorf("%+v", r)
		}
		if f := r.PartialFingerprints["primaryLocationLineHash"]; f == "" || seen[f] {
			t.Errorf("fingerprint %q, again: %t", f, seen[f])
		} else {
			seen[f] = true
		}
	}
}

func TestResult(t *testing.T) {
	d := diag.Diagnostic{Code: codes.ValueWithoutMember, Severity: diag.Info, Pos: diag.Pos{File: "a b/100%.yaml", Line: 4, Col: 7}, Path: "spec.x", Message: "m", Hint: "h",
		Related: []diag.Related{{Pos: diag.Pos{File: "é.go", Line: 2}, Message: "r"}}, Edits: diag.Replace(4, 8, "éa", "b")}
	got, text := write(t, diag.List{d}, report.SARIFOptions{Version: "v1", Path: func(s string) string { return "config/" + s }})
	run := got.Runs[0]
	r := run.Results[0]
	at, related := r.Locations[0], r.RelatedLocations[0]
	if r.RuleID != "UC521" || r.Level != "note" || r.Message.Text != "m\nHint: h" || at.LogicalLocations[0].FullyQualifiedName != "spec.x" ||
		at.PhysicalLocation.ArtifactLocation.URI != "config/a%20b/100%25.yaml" || at.PhysicalLocation.ArtifactLocation.URIBaseID != "%SRCROOT%" ||
		at.PhysicalLocation.Region.StartLine != 4 || at.PhysicalLocation.Region.StartColumn != 7 ||
		related.PhysicalLocation.ArtifactLocation.URI != "config/%C3%A9.go" || related.Message.Text != "r" {
		t.Errorf("%s", text)
	}
	change := r.Fixes[0].ArtifactChanges[0]
	if region := change.Replacements[0].DeletedRegion; change.ArtifactLocation != at.PhysicalLocation.ArtifactLocation || change.Replacements[0].InsertedContent.Text != "b" ||
		region.StartLine != 4 || region.StartColumn != 8 || region.EndLine != 4 || region.EndColumn != 10 {
		t.Errorf("%s", text)
	}
	if run.ColumnKind != "unicodeCodePoints" || run.OriginalUriBaseIds["%SRCROOT%"] == nil || run.Tool.Driver.Version != "v1" {
		t.Errorf("%s", text)
	}
}

func TestMessageHasNoLinks(t *testing.T) {
	d := diag.Diagnostic{Code: codes.UnknownMember, Pos: diag.Pos{File: "a.yaml", Line: 1}, Message: "member \"[fix](https://example.com)\" of spec.items[*]"}
	got, _ := write(t, diag.List{d}, report.SARIFOptions{})
	if want := `member "[fix\](https://example.com)" of spec.items[*]`; got.Runs[0].Results[0].Message.Text != want {
		t.Errorf("%s, want %s", got.Runs[0].Results[0].Message.Text, want)
	}
}

func TestURIs(t *testing.T) {
	want := []string{"a%20b.yaml", "100%25.yaml", "%C3%A9/%D0%96.yaml", "a%0Ab.yaml", "a%3Fb%23c.yaml", "C%3Ax.yaml", "a%3Ab/c.yaml", "%3Cstdin%3E", "%EF%BF%BD.yaml",
		"../up.yaml", "a%5Cb.yaml", "%22%27&%3C%3E.yaml", "%2520.yaml"}
	for i, file := range hostileFiles {
		got, _ := write(t, diag.List{{Code: codes.NoEnum, Pos: diag.Pos{File: file}}}, report.SARIFOptions{})
		base := "%SRCROOT%"
		if file == "../up.yaml" {
			base = ""
		}
		if at := got.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation; at.URI != want[i] || at.URIBaseID != base {
			t.Errorf("%q: got %+v, want %s", file, at, want[i])
		}
	}
}

// TestOutside asserts that a file outside the repository has an absolute URI without a base. The
// fingerprint of its finding must be the same on all machines.
func TestOutside(t *testing.T) {
	dirs := []string{t.TempDir(), filepath.Join(t.TempDir(), "a b%é:")}
	var fingerprints []string
	for _, dir := range dirs {
		path := filepath.ToSlash(filepath.Join(dir, "crd.yaml"))
		d := diag.Diagnostic{Code: codes.NoEnum, Pos: diag.Pos{File: "crd.yaml", Line: 1}, Message: "m", Related: []diag.Related{{Pos: diag.Pos{File: "crd.yaml"}}}}
		got, _ := write(t, diag.List{d}, report.SARIFOptions{Path: func(string) string { return path }})
		r := got.Runs[0].Results[0]
		for _, l := range []location{r.Locations[0], r.RelatedLocations[0]} {
			at := l.PhysicalLocation.ArtifactLocation
			u, err := url.Parse(at.URI)
			if err != nil || u.Scheme != "file" || u.Host != "" || strings.TrimPrefix(u.Path, "/") != strings.TrimPrefix(path, "/") || at.URIBaseID != "" {
				t.Errorf("%s: got %+v, %v", path, at, err)
			}
		}
		fingerprints = append(fingerprints, r.PartialFingerprints["primaryLocationLineHash"])
	}
	if fingerprints[0] != fingerprints[1] || fingerprints[0] == "" {
		t.Errorf("fingerprints %q", fingerprints)
	}
}

// TestFingerprints asserts that fingerprints do not depend on lines, hints or other results, and
// that different findings have different fingerprints.
func TestFingerprints(t *testing.T) {
	base := diag.Diagnostic{Code: codes.NoEnum, Pos: diag.Pos{File: "a.yaml", Line: 3, Col: 1}, Path: "spec", Message: "m", Hint: "h"}
	print := func(d diag.Diagnostic) string {
		got, _ := write(t, diag.List{{Code: codes.Syntax, Message: "another"}, d}, report.SARIFOptions{})
		return got.Runs[0].Results[1].PartialFingerprints["primaryLocationLineHash"]
	}
	was := print(base)
	same := base
	same.Pos.Line, same.Pos.Col, same.Hint, same.Severity = 30, 5, "another", diag.Info
	if print(same) != was {
		t.Error("it differs when lines move")
	}
	for i, change := range []func(*diag.Diagnostic){
		func(d *diag.Diagnostic) { d.Code = codes.ListMember },
		func(d *diag.Diagnostic) { d.Pos.File = "b.yaml" },
		func(d *diag.Diagnostic) { d.Path = "status" },
		func(d *diag.Diagnostic) { d.Message = "n" },
		func(d *diag.Diagnostic) { d.Path, d.Message = "spe", "cm" },
	} {
		other := base
		if change(&other); print(other) == was {
			t.Errorf("change %d makes no difference", i+1)
		}
	}
	got, one := write(t, diag.List{base, same}, report.SARIFOptions{})
	r := got.Runs[0].Results
	if a, b := r[0].PartialFingerprints["primaryLocationLineHash"], r[1].PartialFingerprints["primaryLocationLineHash"]; a != was || b != strings.TrimSuffix(was, "1")+"2" {
		t.Errorf("two alike have %s and %s", a, b)
	}
	if _, two := write(t, diag.List{base, same}, report.SARIFOptions{}); !bytes.Equal(one, two) {
		t.Error("the same list gives other bytes")
	}
}
