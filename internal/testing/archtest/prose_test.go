package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// marks are constructions that documentation of Kubernetes does not use: relative clauses without a
// noun, pronouns for repeated nouns, and words that have another term.
var marks = regexp.MustCompile(`\b(what|whatever)\b[^?]|\bwhoever\b|\b(that|those) of\b|\b(as ever|be it|so it is)\b|\b(refuses?|refused|forgives?|forgiven)\b`)

// perThousand is the number of marks that a package or page may have in 1,000 words.
const perThousand = 2

// TestProse counts marks in the comments of each package and in each page of documentation.
func TestProse(t *testing.T) {
	words, found := map[string]int{}, map[string][]string{}
	count := func(where, at, text string) {
		words[where] += len(strings.Fields(text))
		for _, mark := range marks.FindAllString(text+" ", -1) {
			found[where] = append(found[where], at+": "+strings.TrimSpace(mark))
		}
	}
	eachFile(t, func(path string) {
		switch filepath.Ext(path) {
		case ".go":
			file, set := parsed(t, path)
			for _, group := range file.Comments {
				at := set.Position(group.Pos()).String()
				_, text, _ := strings.Cut(prose(group), " ") // the first word may be a name
				count(filepath.Dir(path), at, text)
			}
		case ".md":
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fenced := false
			for i, line := range strings.Split(string(data), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					fenced = !fenced
				} else if !fenced {
					count(path, path+":"+strconv.Itoa(i+1), notProse.ReplaceAllString(line, " "))
				}
			}
		}
	})
	for where, l := range found {
		if most := max(1, perThousand*words[where]/1000); len(l) > most {
			t.Errorf("%s has %d marks in %d words:\n%s", where, len(l), words[where], strings.Join(l, "\n"))
		}
	}
}

// TestMessages looks for marks in messages, hints and help texts.
func TestMessages(t *testing.T) {
	message := regexp.MustCompile(`\b(what|whatever|whoever)\b[^?]`)
	eachFile(t, func(path string) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "internal/testing") || strings.Contains(path, "/test/") {
			return
		}
		file, set := parsed(t, path)
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, " ") && message.MatchString(l.Value) {
				t.Errorf("%s: %s", set.Position(l.Pos()), message.FindString(l.Value))
			}
			return true
		})
	})
}

// notProse matches code, targets of links and comments in a line of Markdown.
var notProse = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->|#[a-z-]+")

// prose returns the text of comments without directives, markers and example output.
func prose(group *ast.CommentGroup) string {
	text, _, _ := strings.Cut(group.Text(), "Output:")
	return text
}

func parsed(t *testing.T, path string) (*ast.File, *token.FileSet) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file, set
}

// eachFile calls visit with the files of the repository, but for test data and examples.
func eachFile(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "examples" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && path != "../../.."):
			return filepath.SkipDir
		case !d.IsDir():
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
