package docs_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/cli"
)

var update = flag.Bool("update", false, "write the generated parts of the documents anew")

// document is a Markdown file with generated parts that a test can update.
type document struct {
	name  string
	lines []string
	edits []edit
}

// edit replaces lines [from, to).
type edit struct {
	from, to int
	text     string
}

// block is a fenced block; text is its content.
type block struct {
	info     string
	text     string
	from, to int // lines of the content
}

func open(t *testing.T, name string) *document {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return &document{name: name, lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
}

// blocks returns the fenced blocks in lines [from, to).
func (d *document) blocks(t *testing.T, from, to int) []block {
	t.Helper()
	var l []block
	for i := from; i < to; i++ {
		info, ok := strings.CutPrefix(d.lines[i], "```")
		if !ok {
			continue
		}
		n := slices.Index(d.lines[i+1:to], "```")
		if n < 0 {
			t.Fatalf("%s:%d: the block has no end", d.name, i+1)
		}
		end := i + 1 + n
		l = append(l, block{info, lines(d.lines[i+1 : end]), i + 1, end})
		i = end
	}
	return l
}

// sections returns the range of lines of each section with a heading of level 2.
func (d *document) sections() (l [][2]int) {
	start, fenced := -1, false
	for i, line := range d.lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if strings.HasPrefix(line, "## ") && !fenced {
			if start >= 0 {
				l = append(l, [2]int{start, i})
			}
			start = i
		}
	}
	if start >= 0 {
		l = append(l, [2]int{start, len(d.lines)})
	}
	return l
}

// generated compares lines [from, to) with the expected text.
func (d *document) generated(t *testing.T, from, to int, want string) {
	t.Helper()
	got := lines(d.lines[from:to])
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s:%d is out of date; run go test ./docs -update\ngot:\n%s\nwant:\n%s", d.name, from+1, got, want)
	}
	d.edits = append(d.edits, edit{from, to, want})
}

// save writes the document with its generated parts if -update is set.
func (d *document) save(t *testing.T) {
	t.Helper()
	if !*update || len(d.edits) == 0 {
		return
	}
	slices.SortFunc(d.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, e := range d.edits {
		out.WriteString(lines(d.lines[at:e.from]) + e.text)
		at = e.to
	}
	out.WriteString(lines(d.lines[at:]))
	if err := os.WriteFile(d.name, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func lines(l []string) string {
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

// indent puts n blanks before every line that is not empty.
func indent(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", n))
		}
		b.WriteString(line)
	}
	return b.String()
}

var namedFile = regexp.MustCompile(`^# (\S+\.yaml)\n`)

// writeFile writes a block that begins with the name of a file to a directory.
func (b block) writeFile(t *testing.T, dir string) {
	t.Helper()
	name := namedFile.FindStringSubmatch(b.text)
	if name == nil {
		return
	}
	file := filepath.Join(dir, name[1])
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// shellAmong runs a command in a directory with files, and returns its output and exit code.
func shellAmong(t *testing.T, command string, files map[string]string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code = sh(t, dir, command, &out, &errs)
	return out.String(), errs.String(), code
}

// called matches a line that calls unioncel without other shell syntax than a redirection or a pipe
// at its end.
var called = regexp.MustCompile(`^(unioncel(?: [\w./=,:@-]+)*)(?: >&2| \| (.*)| > (\S+))?\n?$`)

// sh runs each line of a script in a directory like a shell does, and returns the last exit code. It
// calls unioncel in this process, which takes a fifth of the time.
func sh(t *testing.T, dir, script string, out, errs io.Writer) (code int) {
	t.Helper()
	shell := func(script string, in io.Reader, out io.Writer) int {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = ".", in, out, errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
	back, err := os.Getwd()
	if err := errors.Join(err, os.Chdir(dir)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Chdir(back); err != nil {
			t.Error(err)
		}
	}()
	for line := range strings.Lines(script) {
		m := called.FindStringSubmatch(line)
		if m == nil {
			code = shell(line, nil, out)
			continue
		}
		to, printed := out, new(bytes.Buffer)
		switch {
		case m[2] != "" || m[3] != "":
			to = printed
		case strings.HasSuffix(line, ">&2\n"):
			to = errs
		}
		code = cli.Main(strings.Fields(m[1]), cli.Streams{In: strings.NewReader(""), Out: to, Err: errs})
		if m[2] != "" {
			code = shell(m[2], printed, out)
		} else if m[3] != "" {
			if err := os.WriteFile(m[3], printed.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return code
}

// shell runs commands and returns the output and the exit code.
func shell(t *testing.T, dir, script string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := sh(t, dir, script, &out, &out)
	// kustomize adds a blank to some errors, which editors remove.
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out.String(), ""), code
}
