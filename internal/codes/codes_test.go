package codes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"

	"github.com/unioncel/unioncel/pkg/diag"
)

// constants returns the codes declared in codes.go, by their Go names.
func constants(t *testing.T) map[string]diag.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]diag.Code{}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			name := value.Names[0].Name
			if value.Doc == nil {
				t.Errorf("%s has no doc comment", name)
			}
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			found[name] = diag.Code(text)
		}
	}
	return found
}

func TestCodesAreListed(t *testing.T) {
	declared := constants(t)
	if len(declared) == 0 {
		t.Fatal("no constants found")
	}
	seen := map[diag.Code]string{}
	for name, code := range declared {
		if other, ok := seen[code]; ok {
			t.Errorf("%s is both %s and %s", code, name, other)
		}
		seen[code] = name
		if info, ok := code.Info(); !ok || info.Code != code {
			t.Errorf("%s (%s) is missing from Codes", code, name)
		}
	}
	if len(diag.Codes) != len(declared) {
		t.Errorf("%d codes listed, %d declared", len(diag.Codes), len(declared))
	}
}

func TestCodesAreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^UC[1-9][0-9]{2}$`)
	for i, info := range diag.Codes {
		if !form.MatchString(string(info.Code)) {
			t.Errorf("%q is no code", info.Code)
		}
		if info.Title == "" {
			t.Errorf("%s has no title", info.Code)
		}
		if i > 0 && diag.Codes[i-1].Code >= info.Code {
			t.Errorf("%s stands behind %s", info.Code, diag.Codes[i-1].Code)
		}
		// Codes for objects and changes (8xx and 9xx) may have any severity.
		if isError := info.Code[2] != '5'; info.Code[2] < '8' && isError != (info.Severity == diag.Error) {
			t.Errorf("%s has severity %s", info.Code, info.Severity)
		}
	}
	if _, ok := diag.Code("UC999").Info(); ok {
		t.Error("UC999 is known")
	}
}
