//go:build exhaustive

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestMarkers runs types with every marker through controller-gen and unioncel, proves the result,
// and checks the rejections of the API server.
func TestMarkers(t *testing.T) {
	t.Parallel()
	const project = "./testdata/markers/..."
	everyMarker(t)

	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "controller-gen", "crd", "paths="+project, "output:crd:dir="+dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	crd := filepath.Join(dir, "markers.example.com_everythings.yaml")
	program, err := testprog.Path("unioncel")
	if err != nil {
		t.Fatal(err)
	}
	unioncel := func(args ...string) string {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Stderr = &stderr
		stdout, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("%q: %v\n%s%s", args, err, stdout, stderr.String())
		}
		return string(stdout)
	}
	unioncel("-q", "compile", "--go", project, "--kubebuilder", "-w", crd)
	if proved := unioncel("-q", "verify", crd); !strings.Contains(proved, "20 proved, 0 different") {
		t.Errorf("verify says\n%s", proved)
	}

	server := servertest.Start(t)
	if err := server.Install(t.Context(), file(t, crd)); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		name, old, spec string
		want            []string
	}{
		{name: "everything", spec: `
  kep2022: {type: HTTP, http: {}, sink: file, path: {}}, kep2019: {type: Beta, b: {}}, deprecated: {},
  validationGen: {a: {}, type: Delta, d: x}, modes: {mode: Auto}, older: {mode: B, b: {}},
  kubebuilder: {a: {}, e: {}, f: {}}, keys: {a: {}}, tables: {stage: Draft}, listed: {inline: {}, transport: TLS, host: {}},
  relations: {cert: x, key: x, user: x, password: x}, switched: {}`},
		{name: "values of discriminators", spec: "kep2022: {type: TCP, http: {}, sink: queue, path: {}}", want: []string{
			"spec.kep2022.http: Invalid value: http is required when type is 'HTTP', and forbidden otherwise",
			"spec.kep2022.path: Invalid value: path is required when sink is 'file', and forbidden otherwise",
			"spec.kep2022.topic: Invalid value: topic is required when sink is 'queue', and forbidden otherwise",
		}},
		{name: "+union, values, cardinality", spec: "kep2019: {b: {}}", want: []string{
			"spec.kep2019.b: Invalid value: b is required when type is 'Beta', and forbidden otherwise",
			"spec.kep2019.type: Required value: type must be set",
		}},
		{name: "discriminatorChange", old: "deprecated: {a: {}}", spec: "deprecated: {b: {}}", want: []string{
			"spec.deprecated: Forbidden: the member set may not be switched or unset",
		}},
		{name: "name, and an empty list that is set", spec: "validationGen: {a: {}, b: []}", want: []string{
			"spec.validationGen: Invalid value: choice: exactly one of a, b must be set",
		}},
		{name: "tags", spec: "validationGen: {a: {}, type: C, d: x, e: {}, f: {}}", want: []string{
			"spec.validationGen: Invalid value: at most one of e, f may be set",
			"spec.validationGen.c: Invalid value: c is required when type is 'C', and forbidden otherwise",
			"spec.validationGen.d: Invalid value: d is required when type is 'Delta', and forbidden otherwise",
		}},
		{name: "modes, unmappedValues", spec: "modes: {mode: Other, static: {}}", want: []string{
			"spec.modes.mode: Invalid value: mode must be 'Static', 'Fixed' or 'Auto'",
			"spec.modes.static: Invalid value: static is required when mode is 'Static' or 'Fixed', and forbidden otherwise",
		}},
		{name: "modes of 1.36", spec: "older: {mode: A, b: {}}", want: []string{
			"spec.older.a: Invalid value: a is required when mode is 'A', and forbidden otherwise",
			"spec.older.b: Invalid value: b is required when mode is 'B', and forbidden otherwise",
		}},
		{name: "lists of controller-gen", spec: "kubebuilder: {a: {}, b: {}, c: {}, d: {}}", want: []string{
			"spec.kubebuilder: Invalid value: at least one of e, f must be set",
			"spec.kubebuilder: Invalid value: at most one of c, d may be set",
			"spec.kubebuilder: Invalid value: source: exactly one of a, b must be set",
		}},
		{name: "discriminatorChange beside such a list", old: "kubebuilder: {a: {}, c: {}, e: {}}", spec: "kubebuilder: {a: {}, c: {}, d: {}, e: {}}", want: []string{
			"spec.kubebuilder: Invalid value: at most one of c, d may be set",
			"spec.kubebuilder: Invalid value: when one of c, d is newly set, the one set before must be cleared",
		}},
		{name: "deduceInvalidDiscriminator, emptyIsUnset", spec: "keys: {a: {}, b: {}}"},
		{name: "optional", spec: "keys: {type: A, b: {note: x}}", want: []string{
			"spec.keys: Invalid value: b may only be set when type is 'B'",
		}},
		{name: "optionalMembers, emptyIsUnset", spec: "tables: {stage: Draft, draft: [], final: []}", want: []string{
			"spec.tables.final: Forbidden: final may only be set when stage is 'Final'",
		}},
		{name: "allowedChanges", old: "tables: {stage: Final}", spec: "tables: {stage: Draft}", want: []string{
			"spec.tables.stage: Forbidden: a final stage is final",
		}},
		{name: "allowed", old: "tables: {stage: Draft}", spec: "tables: {stage: Final}"},
		{name: "members, fields-to-discriminateBy, handWrittenRules", spec: "listed: {inline: {}, secret: {}, transport: TCP, socket: {}}", want: []string{
			"spec.listed: Invalid value: exactly one of inline, secret must be set",
			"spec.listed.host: Invalid value: via: host is required when transport is 'TCP' or 'TLS', and forbidden otherwise",
			"spec.listed.socket: Invalid value: via: socket is required when transport is 'Unix', and forbidden otherwise",
		}},
		{name: "relations", spec: "relations: {cert: x, insecure: true, user: x, token: x}", want: []string{
			"spec.relations.insecure: Forbidden: insecure may not be set when cert is set",
			"spec.relations.key: Required value: key is required when cert is set",
			"spec.relations.password: Required value: password is required when user is set",
			"spec.relations.token: Forbidden: token may not be set when user is set",
		}},
		{name: "unset", spec: "switched: {tls: {}}", want: []string{
			"spec.switched.tls: Invalid value: tls is required when enabled is true, and forbidden otherwise",
		}},
		{name: "items of a list", spec: "conditions: [{type: Approved}, {type: Seen}, {type: Denied}]", want: []string{
			"spec.conditions: Invalid value: at most one of Approved, Denied may be set",
		}},
	} {
		object := func(spec string) []byte {
			return fmt.Appendf(nil, "apiVersion: markers.example.com/v1\nkind: Everything\nmetadata: {name: it-%d}\nspec: {%s}\n", i, spec)
		}
		t.Run(tt.name, func(t *testing.T) {
			if tt.old == "" {
				_, err := server.Create(t.Context(), object(tt.spec))
				wantErrors(t, err, tt.want)
			} else {
				if _, err := server.Create(t.Context(), object(tt.old)); err != nil {
					t.Fatal(err)
				}
				_, err := server.Update(t.Context(), object(tt.spec))
				wantErrors(t, err, tt.want)
			}
		})
	}
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// everyMarker checks that the types use every marker in the table of docs/markers.md, and every key
// of a declaration.
func everyMarker(t *testing.T) {
	t.Helper()
	types, docs := file(t, "testdata/markers/api/v1/types.go"), file(t, "../../docs/markers.md")
	found := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`\\+.*?) \\|").FindAllStringSubmatch(string(docs), -1) {
		for _, m := range regexp.MustCompile("`\\+?([\\w:]+)").FindAllStringSubmatch(row[1], -1) {
			if found++; m[1] == "unioncel:union:KEY" {
				continue // every key is checked below
			}
			if !regexp.MustCompile(`\+(kubebuilder:validation:)?` + regexp.QuoteMeta(m[1]) + `\b`).Match(types) {
				t.Errorf("no type has the marker %s", m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("docs/markers.md has %d markers", found)
	}
	for _, key := range append(union.Keys(), "values", "optional") {
		if !regexp.MustCompile(`// \+unioncel:union(\(\w+\))?:` + key + `\b`).Match(types) {
			t.Errorf("no type has the key %s", key)
		}
	}
}
