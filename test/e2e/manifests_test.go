package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

const (
	examples  = "../../examples"
	crds      = "../../testdata/crds"
	corpusVar = "UNIONCEL_CORPUS"
	rulesKey  = "x-kubernetes-validations"
)

// TestManifests compiles whole files: the examples, the CRDs for tests, and the files of the
// directory in UNIONCEL_CORPUS. Each file either compiles or exceeds a budget of the server. The
// edits keep their guarantees, and the server accepts every CRD that it accepts without the unions.
func TestManifests(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	for _, file := range append(manifestsIn(t, examples, false), manifestsIn(t, crds, false)...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if outcome, _ := runManifest(t, server, file); outcome != "installed" {
				t.Errorf("it is %s", outcome)
			}
		})
	}
	corpus := os.Getenv(corpusVar)
	if corpus == "" {
		t.Logf("%s is not set: only our own files were compiled", corpusVar)
		return
	}
	outcomes, growth := map[string]int{}, 0
	for _, file := range manifestsIn(t, corpus, true) {
		name, err := filepath.Rel(corpus, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			outcome, grown := runManifest(t, server, file)
			outcomes[outcome]++
			growth += grown
			t.Logf("%s, %+d bytes", outcome, grown)
		})
	}
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%s: %d %s", corpusVar, outcomes[outcome], outcome)
	}
	t.Logf("%s: %+d bytes in all", corpusVar, growth)
}

func manifestsIn(t *testing.T, dir string, recursive bool) []string {
	t.Helper()
	var l []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !recursive:
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".yaml":
			l = append(l, path)
		}
		return nil
	})
	if err != nil || len(l) == 0 {
		t.Fatalf("no *.yaml in %s: %v", dir, err)
	}
	return l
}

// runManifest runs one file and returns the outcome in a word, and the growth in bytes.
func runManifest(t *testing.T, server *servertest.Server, file string) (outcome string, grown int) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	compiled, diags := crdpatch.Compile(crdpatch.Open(file, src), crdpatch.Options{})
	for _, d := range diags {
		t.Log(d)
		if d.Severity == diag.Error && d.Code != codes.RuleOverBudget && d.Code != codes.VersionOverBudget {
			t.Errorf("neither compiled nor over budget: %v", d)
		}
	}
	if diags.HasErrors() {
		return "over budget", 0
	}
	promises(t, file, src, compiled)
	before, after := documents(t, src), documents(t, compiled)
	if len(before) != len(after) {
		t.Fatalf("%d documents became %d", len(before), len(after))
	}
	outcome = "installed"
	for i := range after {
		onlyRulesAdded(t, before[i].value, after[i].value)
		if after[i].value["kind"] != "CustomResourceDefinition" {
			continue
		}
		if !install(t, server, before[i], after[i]) {
			outcome = "invalid as published"
		}
	}
	return outcome, len(compiled) - len(src)
}

// promises checks the guarantees about edits.
func promises(t *testing.T, file string, src, compiled []byte) {
	t.Helper()
	if !bytes.Contains(src, []byte(union.Key+":")) {
		if !bytes.Equal(compiled, src) {
			t.Error("a file without unions changed")
		}
		return
	}
	if bytes.Contains(withoutAnnotation(compiled), []byte(union.Key)) {
		t.Errorf("%s is still there", union.Key)
	}
	back, diags := crdpatch.Decompile(crdpatch.Open(file, compiled), crdpatch.Options{})
	if diags.HasErrors() || !bytes.Equal(back, src) {
		t.Errorf("decompiling does not give the source back: %v", diags)
	}
	twice, diags := crdpatch.Compile(crdpatch.Open(file, compiled), crdpatch.Options{})
	if diags.HasErrors() || !bytes.Equal(twice, compiled) {
		t.Errorf("compiling twice is not compiling once: %v", diags)
	}
	onlyLinesAdded(t, src, compiled)
}

func withoutAnnotation(text []byte) []byte {
	var kept [][]byte
	for _, line := range bytes.Split(text, []byte("\n")) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte(crdpatch.Annotation+":")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, []byte("\n"))
}

// onlyLinesAdded checks that the compiled file is the source without its declarations, and with
// lines for rules and the annotation added.
func onlyLinesAdded(t *testing.T, src, compiled []byte) {
	t.Helper()
	rest := withoutDeclarations(strings.Split(string(src), "\n"))
	for _, line := range strings.Split(string(compiled), "\n") {
		if len(rest) > 0 && line == rest[0] {
			rest = rest[1:]
			continue
		}
		key, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ":")
		switch key {
		case rulesKey, "rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf", "annotations", crdpatch.Annotation:
		default:
			t.Errorf("a line that is neither in the source nor a rule: %s", line)
		}
	}
	if len(rest) > 0 {
		t.Errorf("a line of the source is gone: %s", rest[0])
	}
}

// withoutDeclarations removes declarations in block style from lines.
func withoutDeclarations(lines []string) []string {
	margin := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	var kept []string
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(strings.TrimSpace(lines[i]), union.Key+":") {
			kept = append(kept, lines[i])
			continue
		}
		at := margin(lines[i])
		for i+1 < len(lines) && lines[i+1] != "" && (margin(lines[i+1]) > at || margin(lines[i+1]) == at && strings.HasPrefix(lines[i+1][at:], "- ")) {
			i++
		}
	}
	return kept
}

// onlyRulesAdded checks the same for the data: only rules, after the existing ones, and the
// annotation were added, and only declarations were removed.
func onlyRulesAdded(t *testing.T, before, after map[string]any) {
	t.Helper()
	if metadata, ok := after["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			if delete(annotations, crdpatch.Annotation); len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
	}
	var compare func(path string, before, after any)
	compare = func(path string, before, after any) {
		switch b := before.(type) {
		case map[string]any:
			a, ok := after.(map[string]any)
			if !ok {
				t.Errorf("%s was %v and is %v", path, before, after)
				return
			}
			for _, k := range slices.Sorted(maps.Keys(b)) {
				if k == union.Key {
					continue
				}
				now := a[k]
				if was, ok := b[k].([]any); k == rulesKey && ok {
					if is, ok := now.([]any); ok && len(is) > len(was) {
						now = is[:len(was)]
					}
				}
				compare(path+"."+k, b[k], now)
			}
			for k := range a {
				if _, ok := b[k]; !ok && k != rulesKey {
					t.Errorf("%s.%s was added", path, k)
				}
			}
			return
		case []any:
			if a, ok := after.([]any); ok && len(a) == len(b) {
				for i := range b {
					compare(fmt.Sprintf("%s[%d]", path, i), b[i], a[i])
				}
				return
			}
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s was %v and is %v", path, before, after)
		}
	}
	compare("", before, after)
}

// document is one document of a file.
type document struct {
	text  []byte
	value map[string]any
}

func documents(t *testing.T, src []byte) []document {
	t.Helper()
	var l []document
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(src)))
	for {
		text, err := r.Read()
		if errors.Is(err, io.EOF) {
			return l
		}
		if err != nil {
			t.Fatal(err)
		}
		d := document{text: text}
		if err := sigsyaml.Unmarshal(text, &d.value); err != nil {
			t.Fatal(err)
		}
		if d.value != nil {
			l = append(l, d)
		}
	}
}

// install installs a compiled CRD with strict validation, applies it server-side, and removes it.
// It returns false if the server rejects the CRD. That is an error unless the server also rejects
// the CRD without its unions.
func install(t *testing.T, server *servertest.Server, before, after document) bool {
	t.Helper()
	metadata, _ := after.value["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	accepted := func(text []byte) error {
		err := server.Install(t.Context(), text)
		if err == nil {
			if err := server.Apply(t.Context(), text); err != nil {
				t.Errorf("server-side apply: %v", err)
			}
			if err := server.Remove(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		return err
	}
	refused := accepted(after.text)
	if refused == nil {
		return true
	}
	withoutUnions(before.value)
	if err := accepted(marshal(t, before.value)); err == nil {
		t.Errorf("the server accepts the CRD without its unions, and compiled says %v", refused)
	} else if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Errorf("install without unions: %v", err)
	}
	return false
}

// withoutUnions deletes the declarations from a value.
func withoutUnions(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, union.Key)
		for _, w := range v {
			withoutUnions(w)
		}
	case []any:
		for _, w := range v {
			withoutUnions(w)
		}
	}
}
