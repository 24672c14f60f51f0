package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	relativeLink = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	inlineLink   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestLinks checks that the targets of links between pages exist, and that the index has every
// page.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "*/*.md", "../*.md", "../examples/*.md", "../examples/*/*.md", "../testdata/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	linked := map[string]map[string]bool{}
	for _, page := range pages {
		linked[page] = map[string]bool{}
		for i, line := range unfenced(t, page) {
			for _, m := range relativeLink.FindAllStringSubmatch(line, -1) {
				target := page
				if m[1] != "" {
					target = filepath.Join(filepath.Dir(page), m[1])
				}
				linked[page][target] = true
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s:%d: %v", page, i+1, err)
				} else if m[2] != "" && filepath.Ext(target) == ".md" && !slices.Contains(headings(t, target), m[2]) {
					t.Errorf("%s:%d: %s has no heading #%s", page, i+1, target, m[2])
				}
			}
		}
	}
	for _, page := range pages {
		if filepath.Dir(page) == "." && page != "README.md" && !linked["README.md"][page] {
			t.Errorf("docs/README.md has no link to %s", page)
		}
	}
}

// unfenced returns the lines of a page, with the lines of fenced blocks empty.
func unfenced(t *testing.T, page string) []string {
	t.Helper()
	l, fenced := open(t, page).lines, false
	for i, line := range l {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced {
			l[i] = ""
		}
	}
	return l
}

// headings returns the anchors of a page, in GitHub's format.
func headings(t *testing.T, page string) []string {
	t.Helper()
	var l []string
	for _, line := range unfenced(t, page) {
		level, text, ok := strings.Cut(line, " ")
		if !ok || strings.Trim(level, "#") != "" || level == "" {
			continue
		}
		text = strings.ToLower(inlineLink.ReplaceAllString(text, "$1"))
		l = append(l, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return r
			}
			return -1
		}, text))
	}
	return l
}

// sourceFile matches the name of a Go file, with or without its directory.
var sourceFile = regexp.MustCompile(`[\w/]+\.go\b`)

// TestArchitecture checks that the files named in architecture.md exist.
func TestArchitecture(t *testing.T) {
	there := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "pkg", "test"} {
		err := fs.WalkDir(os.DirFS(".."), dir, func(name string, _ fs.DirEntry, err error) error {
			there[name], there[path.Base(name)] = true, true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, line := range open(t, "contributing/architecture.md").lines {
		for _, file := range sourceFile.FindAllString(line, -1) {
			if !there[file] {
				t.Errorf("architecture.md:%d: there is no %s", i+1, file)
			}
		}
	}
}
