package markers_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

var update = flag.Bool("update", false, "write testdata/bad/want.txt anew")

// position returns the first position of text in a file, after another text.
func position(t *testing.T, file, after, text string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(string(data), after)
	if start < 0 {
		t.Fatalf("%s has no %q", file, after)
	}
	i := strings.Index(string(data)[start:], text)
	if i < 0 {
		t.Fatalf("%s has no %q after %q", file, text, after)
	}
	before := string(data)[:start+i]
	line := strings.Count(before, "\n") + 1
	col := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
	return diag.Pos{File: file, Line: line, Col: col}.String()
}

// TestErrors compares the printed diagnostics for every error in markers, with positions and hints.
func TestErrors(t *testing.T) {
	set, diags := markers.Load(markers.Options{Kubebuilder: true}, "./testdata/bad")
	if set == nil || len(set.Declarations) > 0 {
		t.Errorf("%v, want a set without the structs that have errors", set)
	}
	var got bytes.Buffer
	err := diag.Text(&got, diags, func(file string) []byte {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return data
	})
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/bad/want.txt"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// workspace changes to a new directory with empty modules example.com/NAME. They may import a stub
// of apimachinery with TypeMeta and ObjectMeta only: the real module takes several times as long to
// load.
func workspace(t *testing.T, modules ...string) {
	t.Helper()
	t.Setenv("GOWORK", "")
	t.Chdir(t.TempDir())
	text := "go 1.26.0\n\nuse ./apimachinery\n"
	write(t, "apimachinery/go.mod", "module k8s.io/apimachinery\n\ngo 1.26.0\n")
	write(t, "apimachinery/pkg/apis/meta/v1/types.go", "package v1\n\ntype TypeMeta struct{}\n\ntype ObjectMeta struct{}\n")
	for _, name := range modules {
		text += "use ./" + name + "\n"
		write(t, name+"/go.mod", "module example.com/"+name+"\n\ngo 1.26.0\n")
	}
	write(t, "go.work", text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines returns the first line of each diagnostic.
func lines(l diag.List) []string {
	var out []string
	for _, d := range l {
		out = append(out, d.String())
	}
	return out
}

// TestWarnings covers structs that no CRD has, structs that contain each other, and discriminators
// without members yet.
func TestWarnings(t *testing.T) {
	_, diags := loadGood()
	const dialects, later = "testdata/good/dialects/types.go", "type Later"
	const file = "testdata/good/shapes/v1/types.go"
	const cycle = ": the types contain each other, and controller-gen writes either one in full, at random"
	want := []string{
		position(t, dialects, later, "+k8s:unionDiscriminator") + ": warning: UC212: discriminator Type has no members",
		position(t, dialects, later, "+k8s:modeDiscriminator") + ": warning: UC212: discriminator Mode has no members",
		position(t, dialects, "type Related", `+k8s:ifMode(modality: "inner", mode: "A")=+k8s:maxLength`) + ": warning: UC602: +k8s:ifMode with +k8s:maxLength cannot be expressed by a union",
		position(t, file, "type Ring", "Ring") + ": warning: UC514: the unions of Ring are left out below Link" + cycle,
		position(t, file, "type Link", "Link") + ": warning: UC514: the unions of Link are left out below Ring" + cycle,
		position(t, file, "type Custom", "Custom") + ": warning: UC514: no CRD of these packages has Custom, which declares a union",
		position(t, file, "type Nested", "Nested") + ": warning: UC514: no CRD of these packages has Nested, which declares a union",
		position(t, file, "type Nesting", "Nesting") + ": warning: UC514: no CRD of these packages has Nesting, which declares a union",
	}
	if diff := cmp.Diff(want, lines(diags)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Structs of other packages are checked only if a CRD has them.
func TestImported(t *testing.T) {
	set, diags := markers.Load(markers.Options{}, "./testdata/imports")
	if set == nil {
		t.Fatal(diags)
	}
	want := []string{
		position(t, "testdata/imports/types.go", "type Unused", "Unused") +
			": warning: UC514: no CRD of these packages has Unused, which declares a union",
	}
	if diff := cmp.Diff(want, lines(diags)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	compare(t, set, "imports.example.com", []dialect{
		{"Example v1 ", "- members: [a, b]\n"},
		{"Example v1 choice", "- members: [a, b]\n"},
	})
}

// Mistakes in another module are no errors; mistakes in another package of the same module are.
func TestModules(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads many packages")
	}
	workspace(t, "foreign", "own")
	const wrong = `type Wrong struct {
	// +unionDiscriminator
	Type Type ` + "`json:\"type,omitempty\"`" + `
	// +unionMember
	LocalhostProfile *string ` + "`json:\"localhostProfile,omitempty\"`" + `
}

type Type string

const Localhost Type = "Localhost"

// NoEffect is a union of one.
// +union
type NoEffect struct {
	A *string ` + "`json:\"a,omitempty\"`" + `
}
`
	write(t, "foreign/types.go", "package foreign\n\n"+wrong+`
// Later has no members yet.
type Later struct {
	// +k8s:unionDiscriminator
	Type Type `+"`json:\"type,omitempty\"`"+`
	Name string `+"`json:\"name,omitempty\"`"+`
}
`)
	write(t, "own/shared/types.go", "package shared\n\n"+wrong+"\ntype Later struct{}\n")
	for _, p := range []struct{ name, path string }{{"foreign", "example.com/foreign"}, {"shared", "example.com/own/shared"}} {
		write(t, "own/"+p.name+"/v1/types.go", `// +groupName=`+p.name+`.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"`+p.path+`"
)

type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	Wrong    *`+p.name+".Wrong `json:\"wrong\"`"+`
	NoEffect *`+p.name+".NoEffect `json:\"noEffect\"`"+`
	Later    *`+p.name+".Later `json:\"later\"`"+`
}
`)
	}
	const message = "no value of discriminator Type is for member LocalhostProfile: the values are Localhost"

	// None of these names the struct with the error.
	none := markers.Options{SkipInvalid: []string{"Wrong", "ared.Wrong", "shared.NoEffect", ""}}
	set, diags := markers.Load(none, "./own/foreign/v1", "./own/shared/v1")
	want := []string{
		"foreign/types.go:6:5: info: UC218: " + message + "; the unions of foreign.Wrong, which is of another module, are left out",
		"own/shared/types.go:6:5: error: UC218: " + message,
	}
	if diff := cmp.Diff(want, lines(diags)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if set == nil || len(set.Scopes) != 2 || len(set.Declarations) != 1 || set.Declarations[0].Struct != "example.com/own/shared.NoEffect" {
		t.Errorf("%v, want the union of NoEffect in the same module", set)
	}
	for _, name := range []string{"example.com/own/shared.Wrong", "shared.Wrong"} {
		set, diags = markers.Load(markers.Options{SkipInvalid: []string{name}}, "./own/shared/v1")
		want = []string{"own/shared/types.go:6:5: info: UC218: " + message + "; the unions of shared.Wrong, which skipInvalid lists, are left out"}
		if diff := cmp.Diff(want, lines(diags)); diff != "" || len(set.Declarations) != 1 {
			t.Errorf("skip %s: %v, -want +got\n%s", name, set, diff)
		}
	}
}

func TestGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads many packages")
	}
	at := func(dir string) string {
		return position(t, "testdata/groups/"+dir+"/types.go", "type Example", "Example") + ": "
	}
	const twice = "github.com/unioncel/unioncel/pkg/markers/testdata/groups/twice/"
	want := []string{
		at("none") + "warning: UC514: the package of Example has no group, so there is no CRD for its unions",
		at("twice/a") + "error: UC601: packages " + twice + "a and " + twice + "b both declare version v1 of Example.example.com",
	}
	set, diags := markers.Load(markers.Options{}, "./testdata/groups/...")
	if got := lines(diags); set == nil || len(set.Declarations) > 0 || !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Only the errors in Go code that can affect a CRD are reported.
func TestGo(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, "syntax/s.go", "package syntax\n\ntype T struct {\n\tÄ string `json:\"a\"` x y z\n}\n")
	write(t, "types/t.go", "package types\n\ntype T struct {\n\tÄ, A Unknown `json:\"a\"`\n}\n")
	write(t, "imports/i.go", "package imports\n\nimport \"example.com/m/nowhere\"\n\ntype T struct {\n\tA nowhere.T `json:\"a\"`\n}\n")
	write(t, "foreign/f.go", "package foreign\n\nimport _ \"example.org/other\"\n")
	write(t, "names/a.go", "package a\n")
	write(t, "names/b.go", "package b\n")
	write(t, "bodies/b.go", "package bodies\n\nimport \"fmt\"\n\nvar x int = fmt.Sprint()\n\ntype i interface{ fmt.Nothing }\n\nfunc f() int { return \"\" }\n")
	write(t, "empty/readme.txt", "")
	for _, tt := range []struct {
		pattern string
		want    []string // the start of each line
	}{
		{"./syntax", []string{"syntax/s.go:4:22: error: UC601: expected ';', found x", "syntax/s.go:5:3: error: UC601: ", "syntax/s.go:5:3: error: UC601: "}},
		{"./types", []string{"types/t.go:4:7: error: UC601: undefined: Unknown"}},
		{"./imports/...", []string{"imports/i.go:3:8: error: UC601: "}},
		{"./imports", []string{"imports/i.go:3:8: error: UC601: "}},
		{"example.com/m/imports", []string{"imports/i.go:3:8: error: UC601: "}},
		{"./foreign", []string{"foreign/f.go:3:8: error: UC601: "}},
		{"./names", []string{"error: UC601: found packages a (a.go) and b (b.go) in "}},
		{"./bodies", nil},
		{"./nowhere", []string{"error: UC601: there is no directory ./nowhere"}},
		{"./nowhere/...", []string{"error: UC601: there is no directory ./nowhere"}},
		{"./empty/...", []string{"error: UC601: no Go package matches ./empty/..."}},
		{"bodies", []string{"error: UC601: package bodies is not in std"}},
		{"./bodies/b.go", []string{"error: UC601: ./bodies/b.go is a file: name a directory or a package"}},
		{"bodies/b.go/...", []string{"error: UC601: bodies/b.go/... is a file: name a directory or a package"}},
	} {
		set, diags := markers.Load(markers.Options{}, tt.pattern)
		got := lines(diags)
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", tt.pattern, got, tt.want)
		}
		if (set == nil) != (tt.want != nil) {
			t.Errorf("%s: set %v with %q", tt.pattern, set, got)
		}
	}
	if set, diags := markers.Load(markers.Options{}); set != nil || !diags.HasErrors() {
		t.Errorf("no patterns: %v, %v", set, diags)
	}
}

// An undefined type is reported once, and not again by controller-gen.
func TestUndefined(t *testing.T) {
	workspace(t, "undefined")
	write(t, "undefined/types.go", `// +groupName=example.com
package undefined

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	A *Nothing `+"`json:\"a,omitempty\"`"+`
	B *nowhere.Nothing `+"`json:\"b,omitempty\"`"+`
	C *metav1.Nothing `+"`json:\"c,omitempty\"`"+`
}
`)
	_, diags := markers.Load(markers.Options{}, "./undefined")
	want := []string{
		"undefined/types.go:10:5: error: UC601: undefined: Nothing",
		"undefined/types.go:11:5: error: UC601: undefined: nowhere",
		"undefined/types.go:12:12: error: UC601: undefined: metav1.Nothing",
	}
	if diff := cmp.Diff(want, lines(diags)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Markers that controller-gen cannot apply affect no union. It reports printer columns of a skipped
// version at random.
func TestInapplicable(t *testing.T) {
	workspace(t, "inapplicable")
	for n := range 20 { // controller-gen applies the markers of a type in the order of a map
		version := fmt.Sprintf("v%d", n+1)
		write(t, "inapplicable/"+version+"/types.go", `// +groupName=example.com
package `+version+`

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:skipversion
// +kubebuilder:printcolumn:name=A,type=string,JSONPath=".a"
// +kubebuilder:subresource:status
type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	// +listType=atomic
	// +unionMember
	A *string `+"`json:\"a,omitempty\"`"+`
}
`)
	}
	if set, diags := markers.Load(markers.Options{}, "./inapplicable/..."); set == nil || diags.HasErrors() {
		t.Fatal(diags)
	}
}

// Errors that only controller-gen reports do not matter: floats, fields without a JSON name, and a
// CRD without a stored version.
func TestLenient(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads many packages")
	}
	workspace(t, "lenient")
	for _, version := range []string{"v1", "v2"} {
		write(t, "lenient/"+version+"/types.go", `// +groupName=example.com
package `+version+`

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	hidden int
	// +unionMember
	A *float64 `+"`json:\"a,omitempty\"`"+`
	// +unionMember
	B *string `+"`json:\"b,omitempty\"`"+`
}
`)
	}
	set, diags := markers.Load(markers.Options{}, "./lenient/v1", "./lenient/v2")
	if set == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	compare(t, set, "example.com", []dialect{
		{"Example v1 ", "- members: [a, b]\n"},
		{"Example v2 ", "- members: [a, b]\n"},
	})
}

// Reading packages runs no C compiler and shows no file from outside the packages.
func TestUntrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for the tools, and there are links")
	}
	const secret = "hunter2"
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, tool := range []string{"cc", "gcc", "clang", "g++", "pkg-config", "swig"} {
		write(t, "bin/"+tool, "#!/bin/sh\necho \"$0 $*\" >> '"+dir+"/ran'\nexit 1\n")
		if err := os.Chmod("bin/"+tool, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "secret", secret+" {\n")
	write(t, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, "cgo/c.go", "package cgo\n\n// #cgo pkg-config: x\n// #include \""+dir+"/secret\"\nimport \"C\"\n\ntype Size C.size_t\n\ntype Member struct{}\n")
	write(t, "cgo/c.swig", "")
	write(t, "cgo/types.go", "package cgo\n\n// +union\ntype T struct {\n\tA *string `json:\"a,omitempty\"`\n\tB *string `json:\"b,omitempty\"`\n}\n")
	write(t, "missing/c.go", "package missing\n\nimport \"C\"\n\ntype Member struct{}\n")
	write(t, "missing/types.go", "package missing\n\ntype T struct {\n\tA *Member `json:\"a,omitempty\"`\n}\n")
	write(t, "tags/t.go", "//go:build never\n\npackage tags\n\ntype Member struct{}\n")
	write(t, "tags/types.go", "package tags\n\ntype T struct {\n\tA *Member `json:\"a,omitempty\"`\n}\n")
	write(t, "only/c.go", "package only\n\nimport \"C\"\n")
	write(t, "line/types.go", "package line\n\ntype T struct {\n//line "+dir+"/secret:1:1\n\tA *Unknown `json:\"a\"`\n}\n")
	write(t, "syntax/types.go", "package syntax\n\n//line "+dir+"/secret:1:1\nimport a b\n")
	write(t, "link/types.go", "package link\n")
	if err := os.Symlink(filepath.Join(dir, "secret"), "link/secret.go"); err != nil {
		t.Fatal(err)
	}
	const exclusion = `files that import "C", or that build tags exclude, are not read: declare types that CRDs need in others`
	for _, tt := range []struct {
		pattern, want, hint string
	}{
		{"./cgo", "cgo/types.go:4:6: warning: UC514: no CRD of these packages has T, which declares a union",
			"name the packages of the kinds that use it too, or delete the markers"},
		{"./missing", "missing/types.go:4:5: error: UC601: undefined: Member", exclusion},
		{"./tags", "tags/types.go:4:5: error: UC601: undefined: Member", exclusion},
		{"./only", "error: UC601: build constraints exclude all Go files in ", exclusion},
		{"./line", "secret: error: UC601: undefined: Unknown", ""},
		{"./syntax", "../secret: error: UC601: ", ""},
		{"./link", "link/secret.go: error: UC601: the go command cannot read this file, which is a link", "go build says why"},
	} {
		_, diags := markers.Load(markers.Options{}, tt.pattern)
		if len(diags) == 0 || !strings.HasPrefix(diags[0].String(), tt.want) || diags[0].Hint != tt.hint {
			t.Errorf("%s: %q, want %q with the hint %q", tt.pattern, diags, tt.want, tt.hint)
		}
		var text bytes.Buffer
		err := diag.Text(&text, diags, func(file string) []byte {
			if filepath.Base(file) == "secret" || filepath.Base(file) == "secret.go" {
				t.Errorf("%s: %s is opened", tt.pattern, file)
			}
			return nil
		})
		if err != nil || strings.Contains(text.String(), secret) {
			t.Errorf("%s: %v; printed\n%s", tt.pattern, err, text.String())
		}
	}
	if ran, err := os.ReadFile("ran"); err == nil {
		t.Errorf("this was run:\n%s", ran)
	}
}

// The structs of a package in OpenShift's style are read despite errors in others. Kinds without a
// CRD and generated packages are accepted.
func TestOpenShift(t *testing.T) {
	set, diags := markers.Load(markers.Options{}, "./testdata/openshift/...")
	const file = "testdata/openshift/v1/types.go"
	want := []string{
		position(t, "testdata/openshift/internal/types.go", "type Config", "Config") +
			": warning: UC514: the package of Config has no group, so there is no CRD for its unions",
		position(t, file, "type Publishing struct", "LoadBalancer") +
			": error: UC218: no value of discriminator Type is for member LoadBalancer: the values are LoadBalancerService, HostNetwork, Private",
		position(t, file, "type Platform struct", "+unionDiscriminator") + ": error: UC212: discriminator Type has no members",
		position(t, file, "type LoadBalancer struct", "+unionDiscriminator") + ": info: UC212: discriminator Type has no members",
	}
	if diff := cmp.Diff(want, lines(diags)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if set == nil {
		t.Fatal("no set")
	}
	compare(t, set, "ship.example.com", []dialect{
		{"Harbour v1 spec.machines", `
- discriminator: machineType
  fields-to-discriminateBy:
    machines_v1beta1_example_com: machines_v1beta1_example_com
`},
		{"Harbour v1 spec.cookie", `
- discriminator: matchType
  fields-to-discriminateBy:
    name: Exact
    namePrefix: Prefix
  optionalMembers: [namePrefix]
`},
		{"Harbour v1 spec.storage", `
- discriminator: type
  fields-to-discriminateBy:
    pvc: PVC
    emptyDir: EmptyDir
  cardinality: AtMostOne
`},
		{"Harbour v1 spec.route", `
- discriminator: type
  fields-to-discriminateBy:
    http: http
    tcp: TCP
`},
	})
}

// The values of unioncel's markers are checked against the schema, with the codes of declarations
// in YAML. Load does this if there is no CRD.
func TestOwnKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads many packages")
	}
	workspace(t, "keys")
	const file = "keys/types.go"
	write(t, file, `// +groupName=example.com
package keys

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +unioncel:union:optionalMembers=b
// +unioncel:union:allowedChanges={A: [C]}
type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	// +unionDiscriminator
	// +unioncel:union:deduceInvalidDiscriminator
	// +unioncel:union:discriminatorChange=Forbid
	// +kubebuilder:validation:Enum=A;X
	Type string `+"`json:\"type\"`"+`
	// +unionMember
	// +unioncel:union:emptyIsUnset
	// +unioncel:union:optional=A
	A []byte `+"`json:\"a,omitempty\"`"+`
	// +unionMember
	X *int `+"`json:\"A,omitempty\"`"+`
}
`)
	const of = "type Example"
	want := []string{
		position(t, file, "package", "+unioncel:union:optionalMembers") + `: error: UC203: +unioncel:union:optionalMembers names "b", which is not a member of this union`,
		position(t, file, "package", "+unioncel:union:allowedChanges") + `: error: UC221: +unioncel:union:allowedChanges names "C", which is not a known value of the discriminator`,
		position(t, file, of, "+unioncel:union:deduce") + `: error: UC220: +unioncel:union:deduceInvalidDiscriminator lets "type" be left out, but the schema requires it`,
		position(t, file, of, "+unioncel:union:discriminatorChange") +
			": error: UC220: +unioncel:union:discriminatorChange and +unioncel:union:allowedChanges are both set",
		position(t, file, of, "+unioncel:union:emptyIsUnset") +
			`: error: UC219: +unioncel:union:emptyIsUnset works for booleans, numbers, strings without a format, lists, maps and objects with properties; "a" is of type string with format byte`,
	}
	set, diags := markers.Load(markers.Options{}, "./keys")
	if diff := cmp.Diff(want, lines(diags)); diff != "" || len(set.Declarations) > 0 {
		t.Errorf("%v, -want +got\n%s", set, diff)
	}
	// With CRDs at hand, the enum of the CRD decides.
	set, diags = markers.Load(markers.Options{CRDs: true}, "./keys")
	if diff := cmp.Diff(want[:1], lines(diags)); diff != "" || len(set.Declarations) > 0 {
		t.Errorf("with CRDs: %v, -want +got\n%s", set, diff)
	}
	src, err := os.ReadFile(file) // the marker of the struct replaces the one of the member
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(src), "+unioncel:union:optionalMembers=b", "", 1))
	if set, diags = markers.Load(markers.Options{CRDs: true}, "./keys"); len(diags) > 0 || len(set.Declarations) != 1 {
		t.Fatalf("with CRDs: %v, %v", set, diags)
	}
	value, diags := set.Declarations[0].Fit(func(string) ([]string, bool) { return []string{"a"}, true })
	declarations, _ := union.Parse(file, "", value, nil)
	at := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": {Type: "string"}, "a": {Type: "array"}, "A": {Type: "integer"}}}
	_, resolved := union.Resolve(declarations, at, false)
	for _, d := range resolved {
		if d.Pos.String() == position(t, file, of, "+unioncel:union:optional") {
			diags = append(diags, d)
		}
	}
	want = []string{
		position(t, file, of, "+unioncel:union:optional") + `: error: UC220: "a" is optional for "A", which does not select it`,
		position(t, file, "A []byte", "+unionMember") + `: error: UC210: value "a" seems to select both A and X`,
	}
	if diff := cmp.Diff(want, lines(diags.Sort())); diff != "" {
		t.Errorf("with another enum: -want +got\n%s", diff)
	}
}

// TestEdits asserts that misspelt markers have edits if there is one correction.
func TestEdits(t *testing.T) {
	_, diags := markers.Load(markers.Options{}, "./testdata/bad")
	got := map[string]diag.Edit{}
	for _, d := range diags {
		if len(d.Edits) == 1 && d.Pos.Line == d.Edits[0].Line {
			got[d.Pos.String()] = d.Edits[0]
		} else if len(d.Edits) > 0 {
			t.Errorf("%s: %v", d, d.Edits)
		}
	}
	for _, want := range []struct {
		file, after string
		edit        diag.Edit
	}{
		{"placement.go", "+unoin", diag.Edit{Line: 41, Col: 4, Old: "+unoin", New: "+union"}},
		{"placement.go", "+k8s:beta=+k8s:zeroOrOneof", diag.Edit{Line: 54, Col: 15, Old: "+k8s:zeroOrOneofMember", New: "+k8s:zeroOrOneOfMember"}},
		{"spaces.go", "+ union", diag.Edit{Line: 3, Col: 4, Old: "+ ", New: "+"}},
		{"spaces.go", "+\tunionMember", diag.Edit{Line: 9, Col: 5, Old: "+\t", New: "+"}},
	} {
		at := position(t, "testdata/bad/"+want.file, want.after, "+")
		if d := cmp.Diff(want.edit, got[at]); d != "" {
			t.Errorf("%s: %s", at, d)
		}
	}
	if at := position(t, "testdata/bad/spaces.go", "+ unionMember of", "+"); got[at] != (diag.Edit{}) {
		t.Errorf("%s: got an edit after which the marker cannot be read", at)
	}
}
