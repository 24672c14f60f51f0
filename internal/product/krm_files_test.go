package product

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// generated returns the kinds and names of the items that are generated from files.
func generated(t *testing.T, files fs.FS, names string) (*FunctionReport, []string) {
	t.Helper()
	r := mustRun(t, listOf(configured("files: "+names)), files)
	var l []string
	for _, item := range dataOf(t, r.Output)["items"].([]any) {
		item := item.(map[string]any)
		l = append(l, fmt.Sprint(item["kind"], "/", item["metadata"].(map[string]any)["name"]))
	}
	return r, l
}

func TestGenerate(t *testing.T) {
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
	list := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - " + strings.ReplaceAll(strings.TrimSpace(service), "\n", "\n    ") +
		"\n- " + strings.ReplaceAll(strings.TrimSpace(crdText("c", unions...)), "\n", "\n  ") + "\n"
	files := fstest.MapFS{
		"a.yaml":                      {Data: []byte("# A comment.\n---\n" + service + "---\n" + crdText("a", unions...) + "---\n# nothing\n---\n" + crdText("b", unions...))},
		"crds/list.yml":               {Data: []byte(strings.Replace(list, "name: s", "name: t", 1))},
		"crds/deep/j.json":            {Data: []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "j"}}`)},
		"crds/notes.txt":              {Data: []byte(service)},
		"crds/.hidden.yaml":           {Data: []byte(service)},
		"crds/.hidden/x.yaml":         {Data: []byte(service)},
		"crds/kustomization.yaml":     {Data: []byte("resources: []\n")},
		"crds/deep/kustomization.yml": {Data: []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")},
		"crds/unions.yaml":            {Data: []byte("apiVersion: unioncel.dev/v1alpha1\nkind: UnionCompiler\nmetadata: {name: u}\n")},
		"empty/x.txt":                 {Data: []byte("x")},
		"alias.yaml":                  {Data: []byte("apiVersion: v1\nkind: A\nmetadata: {name: &a x}\nb: *a\n")},
		"nameless.yaml":               {Data: []byte("apiVersion: v1\nkind: A\nmetadata: {namespace: b}\n")},
		"nothing.yaml":                {Data: []byte("kind: List\nitems: []\n---\nkind: CustomResourceDefinitionList\nitems:\n---\napiVersion: v1\nkind: AccessList\nmetadata: {name: l}\n")},
	}
	const crd = "CustomResourceDefinition/"
	for names, want := range map[string]string{
		"[a.yaml]":                         "Service/s " + crd + "a.example.com " + crd + "b.example.com",
		"[crds]":                           "ConfigMap/j Service/t " + crd + "c.example.com",
		"[./crds/, a.yaml, crds/list.yml]": "ConfigMap/j Service/t " + crd + "c.example.com Service/s " + crd + "a.example.com " + crd + "b.example.com",
		"[crds/deep/../list.yml]":          "Service/t " + crd + "c.example.com",
		"[alias.yaml]":                     "A/x",
		"[nothing.yaml]":                   "AccessList/l",
		"[nameless.yaml, ./nameless.yaml]": "A/<nil>",
		"[]":                               "",
	} {
		r, got := generated(t, files, names)
		wantTexts(t, r)
		if strings.Join(got, " ") != want {
			t.Errorf("%s gives %q, want %s", names, got, want)
		}
		if n := strings.Count(string(r.Output), "at most one of http, tcp may be set"); n != strings.Count(want, crd) || declares.Match(r.Output) {
			t.Errorf("%s: %d of %d CRDs are compiled:\n%s", names, n, strings.Count(want, crd), r.Output)
		}
	}
	r, _ := generated(t, files, "[a.yaml]")
	if again := mustRun(t, string(r.Output), files); string(again.Output) != string(r.Output) {
		t.Errorf("the second run changes\n%s\nto\n%s", r.Output, again.Output)
	}
}

func TestGenerateMistakes(t *testing.T) {
	const crdless = "apiVersion: v1\nkind: A\n"
	files := fstest.MapFS{
		"a.yaml":             {Data: []byte("apiVersion: v1\nkind: A\n---\n" + crdText("a", broken...))},
		"notyaml.yaml":       {Data: []byte("a: [")},
		"empty.yaml":         {Data: nil},
		"list.yaml":          {Data: []byte("- a\n")},
		"kindless.yaml":      {Data: []byte(crdless + "---\nreplicas: 1\n")},
		"versionless.yaml":   {Data: []byte("# a\nkind: List\nitems: [{apiVersion: v1, kind: A}, {kind: A}]\n")},
		"expanded.yaml":      {Data: []byte(crdless + "---\na: &a {}\nb: *a\n")},
		"halves/crd.yaml":    {Data: []byte("kind: CustomResourceDefinition\n")},
		"templates/crd.yaml": {Data: []byte("{{ if .Values.crds }}\nkind: CustomResourceDefinition\n")},
		"others/values.yaml": {Data: []byte("replicas: 1\n")},
		"none/x.txt":         {Data: []byte("x")},
		"pipe":               {Mode: fs.ModeNamedPipe},
		"p/pipe.yaml":        {Mode: fs.ModeNamedPipe},
	}
	const object = "files contain Kubernetes objects, which have an apiVersion and a kind: write them, or take the file out of the list of files"
	const relative = "names are relative to the directory of the kustomization"
	const member = `a.yaml:26:31: error: UC203: member "tpc" is not a property of this object at spec|write "tcp"`
	for names, want := range map[string]string{
		"[a.yaml]":                     member,
		"[notyaml.yaml]":               "notyaml.yaml:1:4: error: UC101: did not find expected node content|",
		"[empty.yaml]":                 "empty.yaml: error: UC103: the file is empty|",
		"[list.yaml]":                  "list.yaml:1:1: error: UC705: this document is a list, not an object|" + object,
		"[kindless.yaml]":              "kindless.yaml:4:1: error: UC705: this document has no kind|" + object,
		"[versionless.yaml]":           "versionless.yaml:2:1: error: UC705: items[1] of this List has no apiVersion|" + object,
		"[expanded.yaml]":              "expanded.yaml:4:1: error: UC705: this document has no kind|" + object,
		"[halves]":                     "halves/crd.yaml:1:1: error: UC705: this document has no apiVersion|" + object,
		"[templates]":                  "templates/crd.yaml:2:1: error: UC101: did not find expected <document start>|" + yamltext.Helm,
		"[others/values.yaml, others]": "others/values.yaml:1:1: error: UC705: this document has no kind|" + object,
		"[others, others/values.yaml]": "others/values.yaml:1:1: error: UC705: this document has no kind|" + object,
		"[missing.yaml]":               "UnionCompiler/unions: error: UC705: missing.yaml: file does not exist at files[0]|" + relative,
		`["crds\\a.yaml"]`:             `UnionCompiler/unions: error: UC705: crds\a.yaml: there is a backslash in the name at files[0]|separate directories by /, also on Windows`,
		`["*.yaml"]`:                   "UnionCompiler/unions: error: UC705: *.yaml: file does not exist at files[0]|name the files, or their directory: there are no patterns",
		"[none]":                       "UnionCompiler/unions: error: UC705: none: no *.yaml, *.yml or *.json in this directory at files[0]|" + relative,
		"[/etc/passwd]":                "UnionCompiler/unions: error: UC705: /etc/passwd: the name is absolute at files[0]|" + relative,
		`["C:/a.yaml"]`:                "UnionCompiler/unions: error: UC705: C:/a.yaml: the name is absolute at files[0]|" + relative,
		"[https://a.b/c]":              "UnionCompiler/unions: error: UC705: https://a.b/c: a URL is not read at files[0]|download it, and name the file",
		"[pipe]":                       "UnionCompiler/unions: error: UC705: pipe: not a regular file at files[0]|name a file or a directory",
		"[p]":                          "UnionCompiler/unions: error: UC705: p: p/pipe.yaml: not a regular file at files[0]|" + relative,
		`[a.yaml, "a\0.y"]`:            "UnionCompiler/unions: error: UC705: a\\u0000.y: file does not exist at files[1]|" + relative,
		"[x/../../a.yaml]":             "UnionCompiler/unions: error: UC705: x/../../a.yaml: the file is outside the kustomization at files[0]|only files in the directory of the kustomization and below can be read: move the file, or put a kustomization next to it and name that among the resources",
		"[a.yaml, ./a.yaml]":           member,
	} {
		r, got := generated(t, files, names)
		if len(r.Diagnostics) != 1 || texts(r)[0]+"|"+r.Diagnostics[0].Hint != want {
			t.Errorf("%s:\ngot  %q %q\nwant %q", names, texts(r), r.Diagnostics, want)
		}
		if len(got) > 0 {
			t.Errorf("%s gives %q", names, got)
		}
	}

	// The result names the object in the file, and the file of the excerpt.
	r, _ := generated(t, files, "[a.yaml]")
	res := resultsOf(t, r.Output)[0]
	if res.File == nil || res.File.Path != "a.yaml" || res.File.Index != 1 || res.ResourceRef == nil || res.ResourceRef.Name != "a.example.com" ||
		res.Tags["line"] != "26" || res.Tags["column"] != "31" {
		t.Errorf("the result is %+v %+v", res, res.ResourceRef)
	}
	if string(r.Sources["a.yaml"]) != string(files["a.yaml"].Data) {
		t.Errorf("the source is %q", r.Sources["a.yaml"])
	}

	// Without a file system, no file can be read.
	r = mustRun(t, listOf(configured("files: [a.yaml]")), nil)
	wantTexts(t, r, "UnionCompiler/unions: error: UC705: a.yaml: there are no files here at files[0]")
}

// TestGenerateBesideOthers has a directory with CRDs and other files. The other files are skipped,
// with a warning if they cannot be read. Declarations for missing CRDs must still be errors.
func TestGenerateBesideOthers(t *testing.T) {
	set := "apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\nschemas:\n- crd: c.example.com\n  path: spec\n  x-kubernetes-unions: [{members: [http, tcp]}]\n"
	files := fstest.MapFS{
		"chart/crds/a.yaml":        {Data: []byte("# values\nreplicas: 1\n---\n" + crdText("a", unions...) + "---\n[1, 2]\n---\nkind: A\n---\napiVersion: v1\n")},
		"chart/empty.yaml":         {Data: []byte("\n")},
		"chart/latin.yaml":         {Data: []byte("name: \xe9\n")},
		"chart/list.yaml":          {Data: []byte("kind: List\nitems: [1, {apiVersion: v1, kind: A, metadata: {name: a}}, {kind: A}]\n")},
		"chart/merge.yaml":         {Data: []byte("a: &a [x]\n<<: *a\n")},
		"chart/templates/sa.yaml":  {Data: []byte("{{- if .Values.enabled }}\nkind: ServiceAccount\n{{- end }}\n")},
		"chart/tsconfig.json":      {Data: []byte("{ // settings\n}\n")},
		"chart/values.yaml":        {Data: []byte("replicas: 1\n")},
		"chart/values.schema.json": {Data: []byte("[1, 2]\n")},
		"sets/c.yaml":              {Data: []byte(set)},
	}
	r, got := generated(t, files, "[chart]")
	wantTexts(t, r,
		"chart/latin.yaml:1:7: warning: UC102: byte 0xe9 is not UTF-8: the file is skipped",
		"chart/merge.yaml:1:1: warning: UC101: kubectl cannot read this document: yaml: map merge requires map or sequence of maps as the value: the file is skipped",
		"chart/templates/sa.yaml:1:3: warning: UC101: did not find expected node content: the file is skipped")
	if want := "CustomResourceDefinition/a.example.com A/a"; strings.Join(got, " ") != want || !isCompiled(r.Output) {
		t.Errorf("got %q, want %s", got, want)
	}
	r = mustRun(t, listOf(configured("files: [chart]", "unions: [sets/c.yaml]")), files)
	wantTexts(t, r, "sets/c.yaml:4:3: error: UC702: this union is for CustomResourceDefinition c.example.com, which no input has")
	for _, name := range []string{"empty.yaml", "latin.yaml", "list.yaml", "merge.yaml", "templates/sa.yaml", "tsconfig.json", "values.yaml", "values.schema.json"} {
		if r, got := generated(t, files, "[chart/"+name+"]"); !r.Diagnostics.HasErrors() || len(got) > 0 {
			t.Errorf("%s, which was named, gives %q, and %q", name, got, texts(r))
		}
	}
}

// TestGenerateTwice has files that generate objects which are items already.
func TestGenerateTwice(t *testing.T) {
	files := fstest.MapFS{"a.yaml": {Data: []byte(crdText("a", unions...))}, "b.yaml": {Data: []byte(crdText("a", unions...))}}
	patched := strings.Replace(crdText("a", unions...), "metadata:\n", "metadata:\n  labels: {x: z}\n", 1)
	for _, tt := range []struct{ name, files, item, want string }{
		{"the same", "[a.yaml]", crdText("a", unions...), ""},
		{"patched", "[a.yaml]", patched,
			"a.yaml: error: UC705: CustomResourceDefinition a.example.com is already among the items with other content (CustomResourceDefinition/a.example.com)"},
		{"the same in two files", "[a.yaml, b.yaml]", "kind: A\nmetadata: {name: a}\n", ""},
	} {
		r := mustRun(t, listOf(configured("files: "+tt.files), tt.item), files)
		if got := strings.Join(texts(r), "\n"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if n := strings.Count(string(r.Output), "name: a.example.com"); n != 1 {
			t.Errorf("%s: the CRD is there %d times", tt.name, n)
		}
	}
}

// TestRoot uses the real file system. os.Root has to prevent reads outside of the directory.
func TestRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // symbolic links require privileges there, and errors have other texts
	}
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.yaml", crdText("secret"))
	write("secrets/s.yaml", crdText("secret"))
	write("base/crds/a.yaml", crdText("a", unions...))
	write("base/more/b.yaml", crdText("b", unions...))
	for link, to := range map[string]string{
		"base/link.yaml":       "../secret.yaml",
		"base/dir":             "../secrets",
		"base/crds/in.yaml":    "../more/b.yaml",
		"base/crds/linked":     "../more",
		"base/escapes/out.yml": "../../secret.yaml",
		"base/gone/gone.yaml":  "nowhere.yaml",
	} {
		link = filepath.Join(dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "base"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for names, want := range map[string]string{
		"[link.yaml]":      "UnionCompiler/unions: error: UC705: link.yaml: leads out of the kustomization through a symbolic link at files[0]",
		"[dir]":            "UnionCompiler/unions: error: UC705: dir: leads out of the kustomization through a symbolic link at files[0]",
		"[dir/s.yaml]":     "UnionCompiler/unions: error: UC705: dir/s.yaml: leads out of the kustomization through a symbolic link at files[0]",
		"[escapes]":        "UnionCompiler/unions: error: UC705: escapes: escapes/out.yml: leads out of the kustomization through a symbolic link at files[0]",
		"[gone]":           "UnionCompiler/unions: error: UC705: gone: gone/gone.yaml: no such file or directory at files[0]",
		"[../secret.yaml]": "UnionCompiler/unions: error: UC705: ../secret.yaml: the file is outside the kustomization at files[0]",
	} {
		r, got := generated(t, root.FS(), names)
		if len(got) > 0 || strings.Join(texts(r), "\n") != want || len(r.Sources) > 0 {
			t.Errorf("%s gives %q, %q, want %s", names, got, texts(r), want)
		}
		if inside := "only files in the directory of the kustomization and below can be read: "; strings.Contains(want, "kustomization") &&
			!strings.HasPrefix(r.Diagnostics[0].Hint, inside) {
			t.Errorf("the hint for %s is %q", names, r.Diagnostics[0].Hint)
		}
	}
	// Links to files inside of the root are read. Links to directories are not followed.
	r, got := generated(t, root.FS(), "[crds]")
	wantTexts(t, r)
	if want := "CustomResourceDefinition/a.example.com CustomResourceDefinition/b.example.com"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// unreadableFS lists files but fails to read them.
type unreadableFS struct{ fstest.MapFS }

func (u unreadableFS) Open(name string) (fs.File, error) {
	if path.Ext(name) == "" {
		return u.MapFS.Open(name)
	}
	return nil, &fs.PathError{Op: "openat", Path: name, Err: fs.ErrPermission}
}

func TestPermission(t *testing.T) {
	files := unreadableFS{fstest.MapFS{"crds/a.yaml": {Data: []byte("kind: A\n")}}}
	r, got := generated(t, files, "[crds]")
	wantTexts(t, r, "UnionCompiler/unions: error: UC705: crds/a.yaml: permission denied at files[0]")
	if len(got) > 0 {
		t.Errorf("got %q", got)
	}
}
