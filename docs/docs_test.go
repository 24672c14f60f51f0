package docs_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/pkg/diag"
)

// TestMain adds unioncel to PATH.
func TestMain(m *testing.M) { testprog.Main(m, "unioncel") }

// templates turn the input of an example into a file. An input is a whole file, which starts with
// its apiVersion, the versions or the properties of a CRD, or a declaration.
type templates struct{ crd, declaration string }

// plainUnion is the declaration of the CRD of an example that shows none.
const plainUnion = "- members: [http, tcp]\n"

// examplesFile has an example of each diagnostic, and the templates.
const examplesFile = "testdata/diagnostics.txt"

// readTemplates returns the templates of the examples of diagnostics.
func (d *document) readTemplates(t *testing.T) (m templates) {
	t.Helper()
	for _, b := range d.blocks(t, 0, d.sections()[0][0]) {
		switch {
		case strings.Contains(b.text, "# ...properties...\n"):
			m.crd = b.text
		case strings.Contains(b.text, "# ...unions...\n"):
			m.declaration = b.text
		}
	}
	if m.crd == "" || m.declaration == "" {
		t.Fatalf("%s does not show how inputs become files", d.name)
	}
	return m
}

func (m templates) file(text string) string {
	if strings.HasPrefix(text, "apiVersion:") {
		return text
	}
	if strings.HasPrefix(text, "- name: v") {
		before, _, _ := strings.Cut(m.crd, "  - name: v")
		return before + indent(text, 2)
	}
	if strings.HasPrefix(text, "- ") {
		text = fill(m.declaration, "# ...unions...", text)
	}
	return fill(m.crd, "# ...properties...", text)
}

// fill replaces the line that consists of a mark by a text with the same indentation.
func fill(template, mark, text string) string {
	before, after, _ := strings.Cut(template, mark+"\n")
	margin := len(before) - len(strings.TrimRight(before, " "))
	return strings.TrimRight(before, " ") + indent(text, margin) + after
}

var codeHeading = regexp.MustCompile(`^## UC\d+: `)

// codeSections returns the sections of codes, which must be those of diag.Codes, in order.
func (d *document) codeSections(t *testing.T) [][2]int {
	t.Helper()
	sections := slices.DeleteFunc(d.sections(), func(s [2]int) bool { return !codeHeading.MatchString(d.lines[s[0]]) })
	for i, info := range diag.Codes {
		if want := fmt.Sprintf("## %s: %s", info.Code, info.Title); i >= len(sections) || d.lines[sections[i][0]] != want {
			t.Fatalf("%s: section %d is not %q", d.name, i+1, want)
		}
	}
	if len(sections) > len(diag.Codes) {
		t.Errorf("%s has a section too much", d.name)
	}
	return sections
}

// TestDiagnostics runs the example of every diagnostic: the input yields the code, the output
// matches, and the fix removes the diagnostic. The entry in diagnostics.md begins with the severity,
// and describes the fix unless the hint of the example does.
func TestDiagnostics(t *testing.T) {
	page, examples := open(t, "diagnostics.md"), open(t, examplesFile)
	entries, sections := page.codeSections(t), examples.codeSections(t)
	var sample block
	for _, b := range page.blocks(t, 0, entries[0][0]) {
		if b.info == "text" {
			sample = b
		}
	}
	m := examples.readTemplates(t)
	commands := fileCommand.FindAllStringSubmatch(lines(examples.lines[:sections[0][0]]), -1)
	if len(commands) == 0 {
		t.Fatalf("%s has no table of files and commands", examples.name)
	}
	for i, info := range diag.Codes {
		t.Run(string(info.Code), func(t *testing.T) {
			text := lines(page.lines[entries[i][0]+2 : entries[i][1]])
			severity := strings.ToUpper(info.Severity.String()[:1]) + info.Severity.String()[1:] + ". "
			if !strings.HasPrefix(text, severity) {
				t.Errorf("the entry does not start with %q", severity)
			}
			if testing.Short() && !*update && i%6 > 0 {
				return
			}
			printed := examples.entry(t, m, commands, info.Code, sections[i])
			if !strings.Contains(text, "\nFix: ") && !hinted.MatchString(messages(printed, info.Code)) {
				t.Error("neither the entry nor a hint says how to fix it")
			}
			if info.Code == codes.UnknownMember {
				page.generated(t, sample.from, sample.to, printed)
			}
		})
	}
	page.save(t)
	examples.save(t)
}

// hinted matches a hint on a terminal and on GitHub.
var hinted = regexp.MustCompile(`(?m)^ hint: |%0Ahint: `)

// fileCommand is a row of the table of files: the name of one, and the command that examples
// with it run.
var fileCommand = regexp.MustCompile("(?m)^\\| .* \\| `(\\S+)` \\| `(unioncel .+)` \\|$")

// command returns the command of an example that shows none, or "" to compile the CRD.
func command(commands [][]string, inputs map[string]string, code diag.Code) (script string) {
	for _, c := range commands {
		switch file, line := c[1], c[2]; {
		case file == crdFile && strings.HasPrefix(line, "unioncel lint "):
			if code >= codes.NoEnum && code < codes.GoPackage {
				script = line
			}
		case file != crdFile && inputs[file] != "":
			script = line
		}
	}
	return script
}

var (
	printedLine = regexp.MustCompile(`^\S+: (?:error|warning|info): (UC\d+): |^::\w+ .*,title=(UC\d+) `)
	replacement = regexp.MustCompile("replace `([^`]+)` with `([^`]+)`|delete `([^`]+)`")
)

// messages returns the messages of the diagnostics with a code, and their hints.
func messages(printed string, code diag.Code) string {
	var b strings.Builder
	ours := false
	for line := range strings.Lines(printed) {
		m := printedLine.FindStringSubmatch(line)
		if m != nil || !strings.HasPrefix(line, " ") {
			ours = m != nil && m[1]+m[2] == string(code)
		}
		if ours && (m != nil || strings.HasPrefix(line, " hint: ")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// entry runs one example and returns the output.
func (d *document) entry(t *testing.T, m templates, commands [][]string, code diag.Code, section [2]int) string {
	inputs := map[string]string{} // by file
	var script string
	var fixes []block
	var output *block
	for _, b := range d.blocks(t, section[0], section[1]) {
		name := inputFile(b)
		switch {
		case name != "" && inputs[name] == "":
			inputs[name] = b.text
		case b.info == "sh" && script == "":
			script = b.text
		case b.info == "text" && output == nil:
			output = &b
		case b.info == "diff":
			fixes = append(fixes, b)
		default:
			t.Errorf("%s:%d: a block %q too much", d.name, b.from, b.info)
		}
	}
	if output == nil || len(inputs) == 0 && script == "" {
		t.Fatal("the example has no input or no output")
	}
	if script == "" {
		script = command(commands, inputs, code)
	}
	if inputs[crdFile] == "" {
		inputs[crdFile] = plainUnion
	}
	want := d.run(t, m, inputs, script)
	if !reports(want, code) {
		t.Errorf("%s is not among what is printed:\n%s", code, want)
	}
	_, fix, _ := strings.Cut(lines(d.lines[section[0]:section[1]]), "\nFix: ")
	edits := replacement.FindAllStringSubmatch(fix, -1)
	d.generated(t, output.from, output.to, messages(want, code))

	var all []map[string]string
	for _, b := range fixes {
		all = append(all, patched(t, inputs, b.text))
	}
	for _, r := range edits {
		all = append(all, substituted(t, inputs, r[1]+r[3], r[2]))
	}
	for _, fixed := range all {
		printed := d.run(t, m, fixed, script)
		if strings.Contains(printed, string(code)) || hasErrors(printed) {
			t.Errorf("the fix does not help:\n%s\n%s", fixed, printed)
		}
	}
	return want
}

// The file names of the blocks of an example.
const (
	crdFile    = "crd.yaml"
	unionsFile = "unions.yaml"
	configFile = ".unioncel.yaml"
	goFile     = "api/types.go"
	objectFile = "object.yaml"
	testsFile  = "index.yaml"

	serversFile    = "servers.yaml"
	migrationsFile = "migrations.yaml"
)

// inputFile returns the file name of a block, or "".
func inputFile(b block) string {
	switch {
	case b.info == "go":
		return goFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "apiVersion: unioncel.dev/v1alpha1\nkind: Config\n"):
		return configFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "apiVersion: example.com/"):
		return objectFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "crd: "):
		return testsFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "apiVersion: unioncel.dev/"):
		return unionsFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "- v1."):
		return serversFile
	case b.info == "yaml" && strings.HasPrefix(b.text, "apiVersion: storagemigration.k8s.io/"):
		return migrationsFile
	case b.info == "yaml":
		return crdFile
	}
	return ""
}

// reports returns whether the output contains the code with its severity.
func reports(printed string, code diag.Code) bool {
	info, _ := diag.Lookup(code)
	onGitHub := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Info: "notice"}[info.Severity]
	return strings.Contains(printed, fmt.Sprintf(": %s: %s: ", info.Severity, code)) ||
		regexp.MustCompile(fmt.Sprintf(`(?m)^::%s .*,title=%s `, onGitHub, code)).MatchString(printed)
}

// hasErrors returns whether the output contains a diagnostic that is an error.
func hasErrors(printed string) bool {
	return regexp.MustCompile(`(?m)^\S+: error: UC\d+: `).MatchString(printed)
}

// printsFindings matches commands that print diagnostics on standard output.
var printsFindings = regexp.MustCompile(`(?m)^unioncel (?:audit|diff|lint|validate) `)

// run compiles a CRD, or runs commands on the inputs. It returns the standard error, and the
// standard output of audit, diff, lint and validate.
func (d *document) run(t *testing.T, m templates, inputs map[string]string, script string) string {
	t.Helper()
	if script == "" {
		src := []byte(m.file(inputs[crdFile]))
		_, diags := crdpatch.Compile(crdpatch.Open(crdFile, src), crdpatch.Options{})
		var b strings.Builder
		if err := diag.Text(&b, diags, func(string) []byte { return src }); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range inputs {
		switch name {
		case crdFile:
			text = m.file(text)
		case goFile:
			env, err := testprog.Module(dir)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range env {
				t.Setenv(name, value)
			}
		}
		write(name, text)
	}
	if strings.Contains(script, "kustomize build") {
		testprog.Add(t, "kustomize")
	}
	var printed bytes.Buffer
	out := io.Discard
	if printsFindings.MatchString(script) {
		out = &printed
	}
	sh(t, dir, script, out, &printed) // the exit code is not zero if the inputs have errors
	return printed.String()
}

// patched applies the hunks of a diff. Each hunk must match exactly once in all files.
func patched(t *testing.T, inputs map[string]string, diff string) map[string]string {
	t.Helper()
	for hunk := range strings.SplitSeq(diff, "@@\n") {
		var before, after strings.Builder
		for line := range strings.Lines(hunk) {
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		inputs = substituted(t, inputs, before.String(), after.String())
	}
	return inputs
}

// substituted changes a text that is in one place of one file.
func substituted(t *testing.T, inputs map[string]string, before, after string) map[string]string {
	t.Helper()
	inputs = maps.Clone(inputs)
	fits := 0
	for name, text := range inputs {
		fits += strings.Count(text, before)
		inputs[name] = strings.Replace(text, before, after, 1)
	}
	if fits != 1 {
		t.Fatalf("the text to replace is there %d times:\n%s", fits, before)
	}
	return inputs
}
