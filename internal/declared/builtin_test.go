package declared_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestEveryFieldIsDecided asserts that each field of a type with unions is in a union or listed as
// an exception. So each new field of k8s.io/api requires a decision.
func TestEveryFieldIsDecided(t *testing.T) {
	for _, d := range declared.Table() {
		declared := slices.Clone(d.Others)
		for _, u := range parseKind(t, d) {
			declared = append(declared, u.Properties()...)
		}
		var fields []string
		for i := range d.Of.NumField() {
			name, _, _ := strings.Cut(d.Of.Field(i).Tag.Get("json"), ",")
			if name == "" { // inlined; it has declarations of its own
				continue
			}
			fields = append(fields, name)
		}
		slices.Sort(declared)
		slices.Sort(fields)
		if !slices.Equal(declared, fields) {
			t.Errorf("%s has the fields\n%v, and declared are\n%v", d.Of, fields, declared)
		}
	}
}

func parseKind(t *testing.T, d declared.Declared) []*union.Declaration {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(d.Unions), &doc); err != nil {
		t.Fatal(err)
	}
	l, diags := union.Parse("", "", doc.Content[0], nil)
	if len(diags) > 0 {
		t.Errorf("%s: %v", d.Of, diags)
	}
	return l
}

// all returns the kinds of the declarations.
var all = sync.OnceValue(func() []union.Kind {
	l, others, diags := declared.BuiltinKinds(declared.Builtin())
	if len(others)+len(diags) > 0 {
		panic(fmt.Sprint(others, diags))
	}
	return l
})

// find returns a union object of a kind, and the kind.
func find(t *testing.T, kind, path string) (union.Instances, union.Kind) {
	t.Helper()
	for _, k := range all() {
		for _, o := range k.Objects {
			if k.Kind == kind && o.Path.String() == path {
				return o, k
			}
		}
	}
	t.Fatalf("%s has no unions at %s", kind, path)
	return union.Instances{}, union.Kind{}
}

func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		kind, path, members string
		keys                [][]string
	}{
		{"Deployment", "spec.strategy", "rollingUpdate", nil},
		{"StatefulSet", "spec.updateStrategy", "rollingUpdate", nil},
		{"DaemonSet", "spec.updateStrategy", "rollingUpdate", nil},
		{"Pod", "spec.initContainers[*].lifecycle.preStop", "exec httpGet tcpSocket sleep", [][]string{{"name"}}},
		{"CronJob", "spec.jobTemplate.spec.template.spec.containers[*].env[*]", "value valueFrom", [][]string{{"name"}, {"name"}}},
		{"ReplicaSet", "spec.template.spec.volumes[*].projected.sources[*]", "secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate", [][]string{{"name"}, nil}},
		{"ResourceSlice", "spec.devices[*].attributes[*]", "int bool string version ints bools strings versions", [][]string{nil}},
		{"VolumeAttachment", "spec.source", "persistentVolumeName inlineVolumeSpec", nil},
		{"Ingress", "spec.rules[*].http.paths[*].backend", "service resource", [][]string{nil, nil}},
		{"HorizontalPodAutoscaler", "spec.metrics[*]", "object pods resource containerResource external", [][]string{nil}},
	} {
		o, _ := find(t, test.kind, test.path)
		if got := strings.Join(o.Unions[0].MemberNames(), " "); got != test.members || !reflect.DeepEqual(o.Keys, test.keys) {
			t.Errorf("%s: %s: members %s, keys %v", test.kind, test.path, got, o.Keys)
		}
	}
}

// TestMeaning compares unions with the API server in cases that are not obvious.
func TestMeaning(t *testing.T) {
	for _, test := range []struct {
		kind, path, object string
		ok                 bool
	}{
		{"Deployment", "spec.strategy", `{type: Recreate}`, true},
		{"Deployment", "spec.strategy", `{type: Recreate, rollingUpdate: {}}`, false},
		{"Deployment", "spec.strategy", `{type: RollingUpdate}`, true},
		{"Deployment", "spec.strategy", `{rollingUpdate: {}}`, true}, // the type has a default
		{"Deployment", "spec.strategy", `{}`, true},
		{"Pod", "spec.volumes[*]", `{name: tmp}`, true}, // defaults to an emptyDir
		{"Pod", "spec.volumes[*]", `{name: tmp, emptyDir: {}, hostPath: {}}`, false},
		{"Pod", "spec.containers[*].env[*]", `{name: A, value: "", valueFrom: {}}`, true},
		{"Pod", "spec.containers[*].env[*]", `{name: A, value: x, valueFrom: {}}`, false},
		{"Pod", "spec.containers[*].livenessProbe", `{periodSeconds: 1}`, false},
		{"Pod", "spec.containers[*].livenessProbe", `{exec: {}, periodSeconds: 1}`, true},
		{"Pod", "spec.securityContext.seccompProfile", `{type: RuntimeDefault}`, true},
		{"Pod", "spec.securityContext.seccompProfile", `{type: RuntimeDefault, localhostProfile: x}`, false},
		{"Pod", "spec.securityContext.seccompProfile", `{type: Localhost}`, false},
		{"Service", "spec", `{sessionAffinityConfig: {}}`, false}, // the default is None
		{"Service", "spec", `{sessionAffinity: ClientIP}`, true},
		{"IngressClass", "spec.parameters", `{scope: Namespace}`, false},
		{"IngressClass", "spec.parameters", `{name: x}`, true},
		{"PodDisruptionBudget", "spec", `{}`, true},
		{"PodDisruptionBudget", "spec", `{minAvailable: 1, maxUnavailable: 50%}`, false},
		{"HorizontalPodAutoscaler", "spec.metrics[*]", `{type: Pods, pods: {}}`, true},
		{"HorizontalPodAutoscaler", "spec.metrics[*]", `{type: Pods, object: {}}`, false},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(test.object), &object); err != nil {
			t.Fatal(err)
		}
		o, k := find(t, test.kind, test.path)
		var whole any = object
		for _, step := range slices.Backward(o.Path) {
			if name, ok := step.Property(); ok {
				whole = map[string]any{name: whole}
			} else {
				whole = []any{whole}
			}
		}
		k.Default(whole.(map[string]any))
		if l := o.Unions[0].Violations(o.Unions[0].StateOf(object)); (len(l) == 0) != test.ok {
			t.Errorf("%s: %s: %s: %v", test.kind, test.path, test.object, l)
		}
	}
}

// TestDocumented asserts that docs/builtin.md has a row for each type.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/builtin.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range declared.Table() {
		if want := row(t, d); !strings.Contains(string(page), want+"\n") {
			t.Errorf("docs/builtin.md needs the row\n%s", want)
		}
	}
}

func row(t *testing.T, d declared.Declared) string {
	var l []string
	for _, u := range resolved(t, d) {
		what := fmt.Sprintf("all %d fields", len(u.Members))
		if len(u.Members) <= 8 {
			what = "`" + strings.Join(u.MemberNames(), "`, `") + "`"
		}
		switch {
		case u.Discriminator != "":
			var members []string
			for _, m := range u.Members {
				member := fmt.Sprintf("`%s` with `%s`", m.Name, m.Values[0])
				if len(m.Optional) > 0 {
					member += " (optional)"
				}
				members = append(members, member)
			}
			what = "by `" + u.Discriminator + "`"
			if d.Value != "" {
				what += " (default `" + d.Value + "`)"
			}
			what += ": " + strings.Join(members, "; ")
		case u.Cardinality == union.ExactlyOne:
			what = "one of " + what
		default:
			what = "at most one of " + what
		}
		l = append(l, what)
	}
	source := "`" + d.Source + "`"
	if strings.Contains(d.Source, " ") {
		source = d.Source
	}
	if d.Lax {
		source += "; not validated"
	}
	name := strings.TrimPrefix(d.Of.PkgPath(), "k8s.io/api/") + " " + d.Of.Name()
	return fmt.Sprintf("| `%s` | %s | %s |", name, strings.Join(l, "; and "), source)
}

// resolved returns the resolved unions of a type, from any path.
func resolved(t *testing.T, d declared.Declared) []*union.Union {
	t.Helper()
	declared := parseKind(t, d)
	for _, k := range all() {
		for _, o := range k.Objects {
			if len(o.Unions) == len(declared) && slices.EqualFunc(o.Unions, declared, func(u *union.Union, d *union.Declaration) bool {
				return u.Discriminator == d.Discriminator() && slices.Equal(slices.DeleteFunc(d.Properties(), func(p string) bool { return p == u.Discriminator }), u.MemberNames())
			}) {
				return o.Unions
			}
		}
	}
	t.Fatalf("no kind has a %s", d.Of)
	return nil
}

// published has the types that the API server publishes for server-side apply, from client-go.
type published struct {
	Types []struct {
		Name string
		Map  struct {
			Fields []struct {
				Name string
				Type publishedType
			}
			Unions []struct {
				Discriminator string
				Fields        []struct {
					FieldName          string `yaml:"fieldName"`
					DiscriminatorValue string `yaml:"discriminatorValue"`
				}
			}
		}
	}
}

type publishedType struct {
	NamedType string `yaml:"namedType"`
	List      struct {
		ElementType struct {
			NamedType string `yaml:"namedType"`
		} `yaml:"elementType"`
		ElementRelationship string `yaml:"elementRelationship"`
		Keys                []string
	}
	Map struct {
		ElementType struct {
			NamedType string `yaml:"namedType"`
		} `yaml:"elementType"`
	}
}

func readPublished(t *testing.T) published {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "applyconfigurations/internal/internal.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(src), "typed.YAMLObject(`")
	text, _, _ = strings.Cut(text, "`)")
	var p published
	if err := yaml.Unmarshal([]byte(text), &p); err != nil || len(p.Types) < 500 {
		t.Fatal(len(p.Types), err)
	}
	return p
}

// stable matches the names of types of stable versions.
var stable = regexp.MustCompile(`^io\.k8s\.api\.[a-z]+\.v[0-9]+\.`)

// TestPublishedUnions asserts that every union in the OpenAPI of stable versions is declared with
// the same members. It ignores the published values: they come from the names of Go fields, and may
// differ from the API's values, such as Queuing for Queue.
func TestPublishedUnions(t *testing.T) {
	ours := map[string][]*union.Declaration{}
	for _, d := range declared.Table() {
		ours[d.Published()] = parseKind(t, d)
	}
	found := 0
	for _, p := range readPublished(t).Types {
		known, isDeclared := ours[p.Name]
		for _, u := range p.Map.Unions {
			if !isDeclared {
				if stable.MatchString(p.Name) {
					t.Errorf("the union of %s is not declared", p.Name)
				}
				continue
			}
			found++
			var want []string
			if u.Discriminator != "" {
				want = append(want, u.Discriminator)
			}
			for _, f := range u.Fields {
				want = append(want, f.FieldName)
			}
			slices.Sort(want)
			if !slices.ContainsFunc(known, func(d *union.Declaration) bool {
				return slices.Equal(slices.Sorted(slices.Values(d.Properties())), want)
			}) {
				t.Errorf("%s is published with %v", p.Name, want)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d of the published unions were found", found)
	}
}

// TestRetainKeys asserts that field types with the strategy retainKeys, made for unions, have one.
func TestRetainKeys(t *testing.T) {
	var unions []reflect.Type
	for _, d := range declared.Table() {
		unions = append(unions, d.Of)
	}
	var has func(reflect.Type) bool
	has = func(t reflect.Type) bool {
		for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
			if f := t.Field(i); f.Anonymous && has(f.Type) {
				return true
			}
		}
		return slices.Contains(unions, t)
	}
	found := map[reflect.Type]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(u reflect.Type) {
		for u.Kind() == reflect.Pointer || u.Kind() == reflect.Slice || u.Kind() == reflect.Map {
			u = u.Elem()
		}
		if u.Kind() != reflect.Struct || seen[u] {
			return
		}
		seen[u] = true
		for i := range u.NumField() {
			f := u.Field(i)
			if strings.Contains(f.Tag.Get("patchStrategy"), "retainKeys") {
				of := f.Type
				if of.Kind() == reflect.Slice {
					of = of.Elem()
				}
				found[of] = true
				if !has(of) && of.Name() != "PodResourceClaimStatus" { // it has one optional member
					t.Errorf("%s.%s is merged with retainKeys, and has no union", u, f.Name)
				}
			}
			walk(f.Type)
		}
	}
	for _, k := range declared.Types() {
		walk(k)
	}
	if len(found) != 4 {
		t.Errorf("found %v", found)
	}
}

// TestPublishedKeys compares the lists on the paths to unions with the published list keys.
func TestPublishedKeys(t *testing.T) {
	p := readPublished(t)
	byName := map[string]int{}
	for i, p := range p.Types {
		byName[p.Name] = i
	}
	seen := map[string]bool{}
	for _, k := range all() {
		group, _, _ := strings.Cut(k.Group, ".")
		if group == "" {
			group = "core"
		}
		for _, o := range k.Objects {
			name, list := "io.k8s.api."+group+"."+k.Version+"."+k.Kind, 0
			var at publishedType
			for i, step := range o.Path {
				switch property, ok := step.Property(); {
				case ok:
					at = publishedType{}
					for _, f := range p.Types[byName[name]].Map.Fields {
						if f.Name == property {
							at = f.Type
						}
					}
					name = at.NamedType
				case step == schemapath.Items:
					var want []string
					if at.List.ElementRelationship == "associative" {
						want = at.List.Keys
					}
					where := k.Kind + " " + o.Path[:i].String()
					if !seen[where] && !slices.Equal(o.Keys[list], want) {
						t.Errorf("%s has the keys %v, published are %v", where, o.Keys[list], want)
					}
					seen[where] = true
					name = at.List.ElementType.NamedType
					list++
				default:
					name = at.Map.ElementType.NamedType
				}
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d lists were found", len(seen))
	}
}

// TestUnionSet asserts that a UnionSet with all declarations is read as the same kinds.
func TestUnionSet(t *testing.T) {
	var schemas []any
	for _, e := range declared.Builtin() {
		schemas = append(schemas, map[string]any{"group": e.Group, "kind": e.Kind, "versions": []string{e.Version}, "path": e.Path.String(), union.Key: e.Value})
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": declared.APIVersion, "kind": declared.UnionSetKind, "schemas": schemas})
	if err != nil {
		t.Fatal(err)
	}
	set, diags := declared.ParseUnionSet("unions.yaml", text)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got, others, diags := declared.BuiltinKinds(set.Declarations)
	if len(others)+len(diags) > 0 {
		t.Fatal(others, diags)
	}
	for i := range got {
		if got[i].Origin != "unions.yaml" {
			t.Errorf("%s is from %s", got[i], got[i].Origin)
		}
		got[i].Origin = declared.BuiltinName
	}
	if d := cmp.Diff(all(), got, cmp.AllowUnexported(schemapath.Step{}, union.Instances{}), cmpopts.IgnoreFields(union.Kind{}, "Default")); d != "" {
		t.Error(d)
	}
}
