package change

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// said joins diagnostics without their hints.
func said(l diag.List) string {
	var lines []string
	for _, d := range l {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

func TestReadServers(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a list", `["1.36.2", v1.35, v1.34.1-gke.100]`, "v1.36 v1.35 v1.34"},
		{"with names", "- {name: a, version: v1.36.2}\n- version: v1.35.0+k3s1\n", "a (v1.36) v1.35"},
		{"several /version", `{"major": "1", "minor": "36", "gitVersion": "v1.36.2"}` + "\n" + `{"major": "1", "minor": "35+", "gitVersion": "v1.35.7-eks-1"}`, "v1.36 v1.35"},
		{"without gitVersion", "{major: '1', minor: 35+}", "v1.35"},
		{"documents of YAML", "gitVersion: v1.36.2\n---\ngitVersion: v1.35.2\n", "v1.36 v1.35"},
		{"emulated", `{"major": "1", "minor": "36", "gitVersion": "v1.36.2", "emulationMajor": "1", "emulationMinor": "33"}`, "v1.33"},
		{"kubectl version", "clientVersion: {gitVersion: v1.37.0}\nserverVersion: {gitVersion: v1.31.2}\n", "v1.31"},
		{"a list of /version", "- {gitVersion: v1.36.2}\n- {gitVersion: v1.35.2}\n", "v1.36 v1.35"},
		{"kubectl without a server", "clientVersion: {gitVersion: v1.37.0}\n", "in:1:1: error: UC901: kubectl has reached no API server: there is no serverVersion"},
		{"a number", "- 1.36.1\n- 1.30\n", "in:2:3: error: UC901: kubectl reads 1.30 as the number 1.3"},
		{"a number as version", "- {version: 1.30}\n", "in:1:13: error: UC901: kubectl reads 1.30 as the number 1.3"},
		{"a number as name", "- {version: v1.30.1, name: 7}\n", "in:1:28: error: UC901: kubectl reads 7 as the number 7"},
		{"an unknown key", "- {version: v1.30.1, id: a}\n", `in:1:22: error: UC901: unknown key "id" in an API server`},
		{"no version", "- {version: main}\n- v0.0.0-master\n", `in:1:3: error: UC901: "main" is not a version of Kubernetes` + "\n" + `in:2:3: error: UC901: "v0.0.0-master" is not a version of Kubernetes`},
		{"an object", "kind: Node\n", "in:1:1: error: UC901: this is no version of an API server: there is no gitVersion"},
		{"a word", "v1.36.1\n", "v1.36"},
		{"another word", "main\n", `in:1:1: error: UC901: "main" is not a version of Kubernetes`},
		{"a list in a list", "- [v1.36.1]\n", "in:1:3: error: UC901: want a string, not a list"},
		{"of another type", "gitVersion: [v1.36.1]\n", "in:1:13: error: UC901: gitVersion: want a string, not a list"},
		{"none", "[]\n", "in: error: UC901: no API server is here"},
		{"a comment", "# nothing\n", "in: error: UC901: no API server is here"},
		{"empty", "", "in: error: UC103: the file is empty"},
		{"a name twice", "- {name: a, version: v1.36.1}\n- {name: a, version: v1.36.1}\n", "in:2:3: error: UC901: the API server a is there twice"},
		{"twice", "gitVersion: v1.36.1\ngitVersion: v1.36.1\n", `in:2:1: error: UC104: key "gitVersion" occurs twice in this mapping`},
	} {
		servers, wrong := ReadServers("in", []byte(tt.src), yamltext.Limits{})
		var words []string
		for _, s := range servers {
			words = append(words, s.String())
		}
		if got := strings.Join(words, " ") + said(wrong); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

const oneMigration = `apiVersion: storagemigration.k8s.io/v1
kind: StorageVersionMigration
metadata: {name: m, creationTimestamp: "2026-01-01T12:00:00Z"}
spec: {resource: {group: example.com, resource: routes}}
`

func item(object string) string {
	return "\n- " + strings.ReplaceAll(strings.TrimSpace(object), "\n", "\n  ")
}

func list(objects ...string) string {
	s := "apiVersion: v1\nkind: List\nitems:"
	if len(objects) == 0 {
		return s + " []\n"
	}
	for _, o := range objects {
		s += item(o)
	}
	return s + "\n"
}

// TestRead reads the output of kubectl, and files that users may give by mistake.
func TestRead(t *testing.T) {
	route := crd(t, v("v1", plain))
	routes := testcrd.Versions("Route", v("v1", plain)) + "status: {storedVersions: [v1]}\n"
	gates := testcrd.Versions("Gate", v("v1", plain)) + "status: {storedVersions: [v1]}\n"
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
	for _, tt := range []struct{ name, of, src, want string }{
		{"a CRD", "crd", routes, "routes.example.com [v1]"},
		{"a list of CRDs", "crd", list(gates, routes), "routes.example.com [v1]"},
		{"another CRD", "crd", gates, "in:4:3: error: UC902: this is gates.example.com, and the change is of routes.example.com"},
		{"a list of other CRDs", "crd", list(gates), "in: error: UC902: routes.example.com is not among these CRDs"},
		{"no CRDs", "crd", list(), "in: error: UC902: routes.example.com is not among these CRDs"},
		{"a CRD twice", "crd", routes + "---\n" + routes, "in:24:1: error: UC902: CustomResourceDefinition routes.example.com is there twice"},
		{"a CRD without status", "crd", testcrd.Versions("Route", v("v1", plain)), "in:1:1: error: UC901: the CRD has no status.storedVersions: it is not from a cluster"},
		{"an old CRD", "crd", strings.Replace(routes, "io/v1", "io/v1beta1", 1), "in:2:1: error: UC901: CustomResourceDefinition of apiextensions.k8s.io/v1beta1 is not expected here"},
		{"a malformed CRD", "crd", routes + "spec2: {}\n" + strings.Replace("status: 7\n", "status", "metadata2", 1), "routes.example.com [v1]"},
		{"a CRD of other types", "crd", strings.Replace(routes, "[v1]", "v1", 1), "in:1:1: error: UC901: the API server cannot read this CustomResourceDefinition: json: cannot unmarshal string into Go struct field CustomResourceDefinitionStatus.status.storedVersions of type []string"},
		{"a Pod", "crd", pod, "in:2:1: error: UC901: Pod of v1 is not expected here"},
		{"no object", "crd", "just: text\n", "in: error: UC901: no object is here"},

		{"a migration", "migrations", oneMigration, "1"},
		{"migrations of all versions", "migrations", list(oneMigration, strings.Replace(oneMigration, "io/v1", "io/v1beta1", 1), strings.NewReplacer("io/v1", "io/v1alpha1", "resource: routes", "version: v1, resource: routes").Replace(oneMigration)), "3"},
		{"a list of other migrations", "migrations", list(strings.Replace(oneMigration, "routes", "gates", 1)), "0"},
		{"no migrations", "migrations", list(), "0"},
		{"another migration", "migrations", strings.Replace(oneMigration, "routes", "gates", 1), "in:4:8: error: UC902: this is a migration of gates.example.com, and the change is of routes.example.com"},
		{"a migration of nothing", "migrations", strings.Replace(oneMigration, ", resource: routes", "", 1), "in:4:8: error: UC901: the migration does not say of which resource it is"},
		{"a migration of a future version", "migrations", strings.Replace(oneMigration, "io/v1", "io/v2", 1), "in:2:1: error: UC901: StorageVersionMigration of storagemigration.k8s.io/v2 is not expected here"},
		{"a malformed migration", "migrations", strings.Replace(oneMigration, "2026-01-01T12:00:00Z", "yesterday", 1), `in:1:1: error: UC901: the API server cannot read this StorageVersionMigration: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
	} {
		f, wrong := yamltext.ParseObjects("in", []byte(tt.src), yamltext.Limits{})
		if f == nil {
			t.Errorf("%s: %v", tt.name, wrong)
			continue
		}
		got, facts := "none", Facts{From: route, To: route}
		switch tt.of {
		case "crd":
			if wrong = facts.ReadLive(f); facts.Live != nil {
				got = fmt.Sprint(facts.Live.Name, " ", facts.Live.Status.StoredVersions)
			}
		case "migrations":
			wrong = facts.ReadMigrations(f)
			got = fmt.Sprint(len(facts.Migrations))
		}
		if len(wrong) > 0 {
			got = said(wrong)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
