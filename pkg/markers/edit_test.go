package markers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// editable is a package with a struct that can get markers.
const editable = `// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec Spec ` + "`json:\"spec\"`" + `
}

// +kubebuilder:validation:XValidation:rule="has(self.a) != has(self.b)"
type Spec struct {
	// A is a member: ä.
	A *string ` + "`json:\"a,omitempty\"`" + `

	B *string ` + "`json:\"b,omitempty\"`" + `
}
`

// wanted is the union of a and b.
func wanted(path string, rules ...string) *markers.Wanted {
	return &markers.Wanted{
		Place: markers.Place{
			Target:  union.Target{Name: "things.example.com", Group: "example.com", Kind: "Thing"},
			Version: "v1", Path: schemapath.New(path),
		},
		Union: &union.Union{Members: []union.Member{{Name: "a"}, {Name: "b"}}, Cardinality: union.ExactlyOne},
		Rules: rules,
	}
}

// Declare keeps line endings and a byte order mark, and writes nothing.
func TestDeclareText(t *testing.T) {
	workspace(t, "edit")
	for name, spell := range map[string]func(string) string{
		"LF":   func(s string) string { return s },
		"CRLF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"BOM":  func(s string) string { return "\ufeff" + s },
	} {
		src := spell(editable)
		write(t, "edit/v1/types.go", src)
		// Two inputs can have the same CRD.
		const rule = "has(self.a) != has(self.b)"
		first, second := wanted("spec", rule), wanted("spec", rule)
		files, diags := markers.Declare(markers.Options{}, []*markers.Wanted{first, second}, "./edit/...")
		if len(diags) > 0 || first.Problem != nil || second.Problem != nil || len(files) != 1 {
			t.Fatalf("%s: %+v %+v %v %v", name, first, second, files, diags)
		}
		want := strings.Replace(editable, "// +kubebuilder:validation:XValidation:rule=\"has(self.a) != has(self.b)\"\n", "", 1)
		want = strings.Replace(want, "\tA *string", "\t// +unionMember\n\t// +unioncel:union:cardinality=ExactlyOne\n\tA *string", 1)
		want = strings.Replace(want, "\tB *string", "\t// +unionMember\n\tB *string", 1)
		if diff := cmp.Diff(spell(want), string(files[0].New)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if now, err := os.ReadFile(files[0].Name); err != nil || string(now) != src || string(files[0].Old) != src {
			t.Errorf("%s: %v\n%s", name, err, now)
		}
	}
}

// A struct on the last line of a file gets markers, even if the line has no ending.
func TestDeclareLastLine(t *testing.T) {
	workspace(t, "edit")
	before, _, _ := strings.Cut(editable, "// +kubebuilder")
	const last = "type Spec struct{ A *string `json:\"a,omitempty\"`; B *string `json:\"b,omitempty\"` }"
	for _, end := range []string{"\n", "\r\n"} {
		before := strings.ReplaceAll(before, "\n", end)
		write(t, "edit/v1/types.go", before+last)
		w := wanted("spec")
		files, diags := markers.Declare(markers.Options{}, []*markers.Wanted{w}, "./edit/...")
		if len(diags) > 0 || w.Problem != nil || len(files) != 1 {
			t.Fatal(w, files, diags)
		}
		want := before + "// +unioncel:union:members=[a, b]" + end + "// +unioncel:union:cardinality=ExactlyOne" + end + last
		if diff := cmp.Diff(want, string(files[0].New)); diff != "" {
			t.Error(diff)
		}
	}
}

// Unions that cannot be declared have a problem.
func TestDeclareProblems(t *testing.T) {
	workspace(t, "edit")
	write(t, "edit/other/pair.go", "package other\n\ntype Pair struct {\n\tA *string `json:\"a,omitempty\"`\n\tB *string `json:\"b,omitempty\"`\n}\n")
	write(t, "edit/v1/types.go", strings.NewReplacer("import metav1", "import \"example.com/edit/other\"\n\nimport metav1",
		"\tSpec Spec", "\tOther other.Pair `json:\"other\"`\n\tBoth Both `json:\"both\"`\n\tSpec Spec").Replace(editable)+
		"\ntype Both struct {\n\t// +unionMember\n\tA *string `json:\"a,omitempty\"`\n\t// +unionMember\n\tB *string `json:\"b,omitempty\"`\n}\n")
	for _, tt := range []struct {
		name   string
		wanted *markers.Wanted
		want   string
	}{
		{"no such path", wanted("status"), "no struct of the Go packages has the schema status in version v1 of Thing.example.com"},
		{"another package", wanted("other"), "its struct example.com/edit/other.Pair is in a package that --go does not name"},
		{"declared already", wanted("both"), "its struct example.com/edit/v1.Both declares a union of these fields already"},
		{"no such rule", wanted("spec", "true"), "no marker in the Go packages has the rule true"},
	} {
		files, diags := markers.Declare(markers.Options{}, []*markers.Wanted{tt.wanted}, "./edit/v1")
		if d := tt.wanted.Problem; d == nil || d.Message != tt.want || len(files)+len(diags) > 0 {
			t.Errorf("%s: %+v %v %v", tt.name, tt.wanted, files, diags)
		}
	}
	if files, diags := markers.Declare(markers.Options{}, []*markers.Wanted{wanted("spec")}, "./nowhere"); files != nil || !diags.HasErrors() {
		t.Error(files, diags)
	}
}

// A union has the dialect of its discriminator, even if most of the package has another one.
func TestDeclareDialect(t *testing.T) {
	workspace(t, "edit")
	const field = "\t// +unionDiscriminator\n\t// +kubebuilder:validation:Enum=A;None\n\tType string `json:\"type\"`\n\n"
	write(t, "edit/v1/types.go", strings.NewReplacer("\t// A is", field+"\t// A is", "\tSpec Spec", "\tBoth Both `json:\"both\"`\n\tSpec Spec").Replace(editable)+
		"\ntype Both struct {\n\t// +k8s:unionMember\n\tA *string `json:\"a,omitempty\"`\n\t// +k8s:unionMember\n\tB *string `json:\"b,omitempty\"`\n}\n")
	w := wanted("spec")
	w.Union = &union.Union{Discriminator: "type", Members: []union.Member{{Name: "a", Values: []string{"A"}}}}
	files, diags := markers.Declare(markers.Options{}, []*markers.Wanted{w}, "./edit/...")
	if len(diags) > 0 || w.Problem != nil || len(files) != 1 {
		t.Fatal(w, files, diags)
	}
	if want := "\t// +unionMember\n\tA *string"; !strings.Contains(string(files[0].New), want) {
		t.Errorf("no %q in\n%s", want, files[0].New)
	}
}
