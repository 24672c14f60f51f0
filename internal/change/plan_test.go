package change

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

const (
	plain = `type: object
properties:
  type: {type: string, enum: [HTTP, TCP], maxLength: 8}
  http: {type: string}
`
	ruled = plain + `x-kubernetes-validations:
- {rule: "!has(self.http) || has(self.type)", message: http without type}
`
	pointed = plain + `x-kubernetes-validations:
- {rule: "!has(self.http) || has(self.type)", message: http without type, fieldPath: .http}
`
	compared = plain + `x-kubernetes-validations:
- {rule: "oldSelf.hasValue() || has(self.type)", optionalOldSelf: true, message: type must be set}
`
)

// crd returns a CRD of Routes whose last version is the storage version.
func crd(t *testing.T, versions ...testcrd.Version) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	c := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(testcrd.Versions("Route", versions...)), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// deprecated marks a version of a CRD as deprecated.
func deprecated(crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinition {
	versionNamed(crd, name).Deprecated = true
	return crd
}

func v(name, spec string) testcrd.Version { return testcrd.Version{Name: name, Spec: spec} }

// classed returns a report with one change of class c.
func classed(c Class) *Comparison {
	return &Comparison{Changes: []Change{{Class: c}}}
}

// live returns a CRD in the form that the cluster returns.
func live(crd *apiextensionsv1.CustomResourceDefinition, stored ...string) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	crd.Status.StoredVersions = stored
	return crd
}

// migrationNamed returns a migration of the routes. The conditions are true.
func migrationNamed(name string, conditions ...string) storagemigrationv1.StorageVersionMigration {
	m := storagemigrationv1.StorageVersionMigration{TypeMeta: metav1.TypeMeta{APIVersion: "storagemigration.k8s.io/v1", Kind: "StorageVersionMigration"}}
	m.Name, m.Spec.Resource = name, metav1.GroupResource{Group: "example.com", Resource: "routes"}
	for _, c := range conditions {
		m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue})
	}
	return m
}

func servers(versions ...string) []Server {
	l := []Server{}
	for i, v := range versions {
		l = append(l, Server{string(rune('a' + i)), version.MustParseGeneric(v)})
	}
	return l
}

// summary returns the verdict, and the steps except those that are done.
func summary(p Plan) string {
	var b strings.Builder
	b.WriteString(string(p.Verdict))
	for _, s := range p.Steps {
		if s.State != Done && s.State != Later && s.ID != "back" {
			b.WriteString(" " + s.ID + "=" + string(s.State))
		}
	}
	return b.String()
}

func wants(t *testing.T, f Facts, want string) Plan {
	t.Helper()
	p := NewPlan(f)
	if got := summary(p); got != want {
		t.Errorf("%s, want %s\n%s", got, want, PlanDocument(p).Text())
	}
	return p
}

// TestUpgradeWithRollback upgrades three servers, with a change that only the new servers support
// and a new storage version. One server is rolled back in the middle of the migration.
func TestUpgradeWithRollback(t *testing.T) {
	from := crd(t, v("v2", plain), v("v1", plain))
	to := deprecated(crd(t, v("v1", compared), v("v2", compared)), "v1")
	change := classed(Tighter)
	objects := &Objects{Total: 3, Managed: map[string][]Managed{}}
	running := map[string]string{"a": "1.29", "b": "1.29", "c": "1.29"}
	current, stored := from, []string{"v1"}
	migrations := []storagemigrationv1.StorageVersionMigration{}
	clock := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

	// starts lets a server start in a version.
	starts := func(version, id string) {
		running[id] = version
		clock = clock.Add(time.Minute)
	}
	var changed time.Time
	now := func(want string) {
		t.Helper()
		l := live(current, stored...)
		l.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Time: &metav1.Time{Time: changed}}}
		wants(t, Facts{
			From: from, To: to, Live: l, Changes: change, Objects: objects, Migrations: migrations,
			Servers: servers(running["a"], running["b"], running["c"]),
		}, want)
	}
	migration := func(condition string) {
		clock = clock.Add(time.Minute)
		migrations = append(migrations, migrationNamed("m"))
		migrations[len(migrations)-1].CreationTimestamp = metav1.NewTime(clock)
		if condition != "" {
			migrations[len(migrations)-1].Status.Conditions = []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Message: "said so"}}
		}
	}

	now("stop servers=stop")
	starts("1.36", "a")
	now("wait servers=wait")
	starts("1.36", "b")
	now("wait servers=wait")
	starts("1.36", "c")
	now("go apply=next")
	objects.Invalid, objects.Blocked = 2, 1
	now("wait objects=wait")
	objects.Invalid, objects.Blocked = 0, 0
	now("go apply=next")

	changed, current, stored = clock, to, []string{"v1", "v2"}
	now("go migration=next")

	migration("")
	now("wait migration=wait")
	starts("1.29", "c") // rolled back
	now("stop servers=stop migration=wait")
	starts("1.36", "c")
	now("wait migration=wait")
	migrations[0].Status.Conditions = []metav1.Condition{{Type: "Failed", Status: metav1.ConditionTrue, Message: "an object was refused"}}
	now("stop migration=stop")
	migrations = []storagemigrationv1.StorageVersionMigration{}
	now("go migration=next")
	migration("Succeeded")
	now("go storedVersions=next")
	stored = []string{"v2"}
	now("go")

	// The next change removes the old version.
	from, to = to, crd(t, v("v2", compared))
	now("go clients=advice apply=next")
	objects.Managed["v1"] = []Managed{{Namespace: "shop", Name: "web", Manager: "kubectl", Index: 1}}
	now("wait clients=advice managedFields=wait")
	delete(objects.Managed, "v1")
	now("go clients=advice apply=next")
	changed, current = clock, to
	now("go")
}

// TestUnknown asserts that the verdict is not go if a relevant fact is missing. It has a case for each row of
// the steps.
func TestUnknown(t *testing.T) {
	from, to := crd(t, v("v1", plain)), crd(t, v("v1", pointed))
	tighter, looser, undecided := classed(Tighter), classed(Looser), classed(Undecided)
	valid := &Objects{Total: 1}
	unions := &union.KindSet{}
	if err := unions.Add(compile.Kinds(to, []union.Object{{Place: schemapath.Place{Name: "v1"}, Unions: []*union.Union{{Members: []union.Member{{Name: "a"}, {Name: "b"}}}}}}, "")...); err != nil {
		t.Fatal(err)
	}
	two := crd(t, v("v1", plain), v("v2", plain))
	old, alone := deprecated(crd(t, v("v1", plain), v("v2", plain)), "v1"), crd(t, v("v2", plain))
	unserved := crd(t, testcrd.Version{Name: "v1", Spec: plain, Unserved: true}, v("v2", plain))
	tests := []struct {
		name  string
		facts Facts
		want  string
	}{
		{"nothing", Facts{From: from, To: to}, "wait servers=unknown objects=unknown"},
		{"looser", Facts{From: to, To: from, Changes: looser}, "go apply=next"},
		{"the same", Facts{From: from, To: from, Changes: classed(Same), Live: live(from, "v1")}, "go"},
		{"looser, with a new key in rules", Facts{From: from, To: to, Changes: looser}, "wait servers=unknown"},
		{"looser, with servers", Facts{From: from, To: to, Changes: looser, Servers: servers("1.28")}, "go apply=next"},
		{"tighter, no objects", Facts{From: from, To: to, Changes: tighter, Servers: servers("1.28")}, "wait objects=unknown"},
		{"undecided, no objects", Facts{From: from, To: to, Changes: undecided, Servers: servers("1.28")}, "wait objects=unknown"},
		{"undecided, valid objects", Facts{From: from, To: to, Changes: undecided, Servers: servers("1.28"), Objects: valid}, "go apply=next"},
		{"tighter, none stored", Facts{From: from, To: to, Changes: tighter, Servers: servers("1.28"), Objects: &Objects{}}, "go apply=next"},
		{"ratcheted, by unknown servers", Facts{From: from, To: crd(t, v("v1", plain+"required: [type]\n")), Changes: tighter, Objects: &Objects{Total: 9, Invalid: 1}}, "wait objects=unknown"},
		{"ratcheted", Facts{From: from, To: to, Changes: tighter, Servers: servers("1.36"), Objects: &Objects{Total: 9, Invalid: 1}}, "go objects=advice apply=next"},
		{"unions", Facts{From: from, To: to, Kinds: unions, Changes: &Comparison{Changes: []Change{{NewVersion: "v1", Sort: UnionSort, Class: Both}}}, Servers: servers("1.36"), Objects: valid}, "go policy=advice apply=next"},
		{"a server too old", Facts{From: from, To: to, Changes: looser, Servers: servers("1.36", "1.27")}, "wait servers=wait"},
		{"all servers too old", Facts{From: from, To: to, Changes: looser, Servers: servers("1.27.9-gke.1", "1.27")}, "stop servers=stop"},
		{"a version removed, no status", Facts{From: old, To: alone, Changes: looser}, "wait clients=advice migration=unknown"},
		{"a version removed, no objects", Facts{From: old, To: alone, Live: live(old, "v2"), Changes: looser}, "wait clients=advice managedFields=unknown"},
		{"a version removed, objects without managedFields", Facts{From: old, To: alone, Live: live(old, "v2"), Changes: looser, Objects: valid}, "wait clients=advice managedFields=unknown"},
		{"a version removed in which objects are stored", Facts{From: old, To: alone, Live: live(old, "v1", "v2"), Changes: looser, Migrations: []storagemigrationv1.StorageVersionMigration{}, Objects: valid}, "wait clients=advice migration=wait"},
		{"the storage version removed", Facts{From: crd(t, v("v2", plain), v("v1", plain)), To: crd(t, v("v2", plain)), Changes: looser}, "stop objects=unknown clients=wait removed=stop"},
		{"migrations unknown", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser}, "wait migration=unknown"},
		{"objects unknown before a migration", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Migrations: []storagemigrationv1.StorageVersionMigration{}}, "wait migration=unknown"},
		{"objects that cannot be rewritten", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Migrations: []storagemigrationv1.StorageVersionMigration{}, Objects: &Objects{Total: 5, Invalid: 1, Blocked: 1, Rewrites: 1}}, "wait objects=wait migration=wait"},
		{"no change, status unknown", Facts{From: from, To: from, Changes: looser}, "go"},
		{"a migration, the change at an unknown time", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Migrations: []storagemigrationv1.StorageVersionMigration{migrationNamed("m", "Succeeded")}, Objects: valid}, "wait migration=unknown"},
		{"a new version that is stored", Facts{From: from, To: two, Changes: looser}, "stop objects=unknown storage=stop"},
		{"fields that are dropped", Facts{From: from, To: to, Changes: tighter, Servers: servers("1.36"), Objects: &Objects{Total: 9, Losing: 1}}, "wait objects=wait"},
		{"a migration is running", Facts{From: from, To: crd(t, v("v1", plain+"required: [type]\n")), Changes: tighter, Objects: valid, Live: migrating(from, "v1")}, "wait migration=wait"},
		{"migrations unknown, of servers that may have them", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Objects: valid, Servers: servers("1.34", "1.29")}, "wait migration=unknown"},
		{"migrations unknown, of servers that have none", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Objects: valid, Servers: servers("1.29")}, "go migration=next"},
		{"migrations unknown, of servers that would note them", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Objects: valid, Servers: servers("1.37")}, "go migration=next"},
		{"a version served no more, managers unknown", Facts{From: old, To: unserved, Changes: tighter, Objects: valid}, "wait clients=unknown"},
		{"a version served no more, with managers", Facts{From: old, To: unserved, Changes: tighter, Objects: managedBy(Managed{Name: "a", Manager: "m"})}, "wait clients=wait"},
		{"a version served no more, and not deprecated", Facts{From: two, To: unserved, Changes: tighter, Objects: managedBy()}, "wait clients=wait"},
		{"a version served no more, after it was deprecated", Facts{From: old, To: unserved, Changes: tighter, Objects: managedBy()}, "go clients=advice apply=next"},
		{"no subresource status any more, managers unknown", Facts{From: withStatus(from), To: from, Changes: undecided, Objects: valid}, "wait clients=unknown"},
		{"no subresource status any more, with managers", Facts{From: withStatus(from), To: from, Changes: undecided, Objects: managedBy(Managed{Name: "a", Manager: "m", Subresource: "status", Status: true})}, "wait clients=wait"},
		{"no subresource scale any more, with managers", Facts{From: withScale(from), To: from, Changes: undecided, Objects: managedBy(Managed{Name: "a", Manager: "m", Subresource: "scale"})}, "wait clients=wait"},
		{"no subresource status any more, that nobody writes", Facts{From: withStatus(from), To: from, Changes: undecided, Objects: managedBy(Managed{Name: "a", Manager: "m"})}, "go apply=next"},
		{"a subresource status, with managers", Facts{From: from, To: withStatus(from), Changes: undecided, Objects: managedBy(Managed{Name: "a", Manager: "m", Status: true})}, "wait clients=wait"},
		{"a subresource status, none stored", Facts{From: from, To: withStatus(from), Changes: looser, Objects: &Objects{}}, "go apply=next"},
		{"a version added without fields that are stored", Facts{From: from, To: crd(t, v("v2", "type: object\n"), v("v1", plain)), Changes: looser}, "wait objects=unknown"},
		{"a version added with another constraint", Facts{From: from, To: crd(t, v("v2", plain+"required: [type]\n"), v("v1", plain)), Changes: looser}, "wait objects=unknown"},
		{"a version added with another field", Facts{From: from, To: crd(t, v("v2", plain+"  tcp: {type: string}\n"), v("v1", plain)), Changes: looser}, "go apply=next"},
		{"the same with a webhook", Facts{From: hooked(from), To: hooked(crd(t, v("v2", "type: object\n"), v("v1", plain))), Changes: looser}, "go apply=next"},
		{"a webhook no more", Facts{From: hooked(crd(t, v("v2", "type: object\n"), v("v1", plain))), To: crd(t, v("v2", "type: object\n"), v("v1", plain)), Changes: classed(Same)}, "wait objects=unknown"},
		{"objects printed in a version without the field", Facts{From: crd(t, v("v2", "type: object\n"), v("v1", plain)), To: crd(t, v("v2", "type: object\n"), v("v1", ruled)), Changes: inVersion("v1"), Servers: servers("1.36"), Objects: printed("v2")}, "wait objects=unknown"},
		{"objects printed in the stored version", Facts{From: crd(t, v("v2", "type: object\n"), v("v1", plain)), To: crd(t, v("v2", "type: object\n"), v("v1", ruled)), Changes: inVersion("v1"), Servers: servers("1.36"), Objects: printed("v1")}, "go apply=next"},
		{"a webhook, objects printed in another version", Facts{From: hooked(two), To: hooked(crd(t, v("v1", ruled), v("v2", plain))), Changes: inVersion("v1"), Servers: servers("1.36"), Objects: printed("v2")}, "wait objects=unknown"},
		{"a webhook, objects printed in both versions", Facts{From: hooked(two), To: hooked(crd(t, v("v1", ruled), v("v2", plain))), Changes: inVersion("v1"), Servers: servers("1.36"), Objects: printed("v1", "v2")}, "go apply=next"},
		{"a server rolled back after the change", Facts{From: from, To: to, Live: live(to, "v1"), Changes: tighter, Objects: valid, Servers: servers("1.36", "1.27")}, "stop servers=stop"},
		{"a function that servers do not have", Facts{From: crd(t, v("v1", ruled)), To: crd(t, v("v1", strings.Replace(ruled, "has(self.type)", "isIP(self.http)", 1))), Changes: tighter, Objects: valid, Servers: servers("1.28")}, "stop servers=stop"},
		{"data that is dropped", Facts{From: from, To: to, Changes: tighter, Servers: servers("1.36"), Objects: &Objects{Total: 9, Losing: 1, Dropped: true}}, "wait objects=wait"},
		{"objects that cannot be migrated", Facts{From: crd(t, v("v2", plain), v("v1", plain)), To: two, Changes: tighter, Servers: servers("1.36"), Objects: &Objects{Total: 9, Invalid: 1, Rewrites: 1}}, "wait objects=wait"},
		{"unions, of servers without policies", Facts{From: from, To: to, Kinds: unions, Changes: &Comparison{Changes: []Change{{NewVersion: "v1", Sort: UnionSort, Class: Both}}}, Servers: servers("1.28"), Objects: valid}, "go policy=advice apply=next"},
		{"a version removed, with managers", Facts{From: two, To: alone, Live: live(alone, "v2"), Changes: looser, Objects: managedBy(Managed{Name: "a", Manager: "m"})}, "wait managedFields=wait"},
		{"a version removed, without managers", Facts{From: two, To: alone, Live: live(alone, "v2"), Changes: looser, Objects: managedBy()}, "go"},
		{"a migration is running after the change", Facts{From: from, To: two, Live: migrating(two, "v1", "v2"), Changes: looser, Objects: valid}, "wait migration=wait"},
		{"a migration that has not ended", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Objects: valid, Migrations: []storagemigrationv1.StorageVersionMigration{migrationNamed("m")}}, "wait migration=wait"},
		{"a migration that has failed", Facts{From: from, To: two, Live: live(two, "v1", "v2"), Changes: looser, Objects: valid, Migrations: []storagemigrationv1.StorageVersionMigration{migrationNamed("m", "Failed")}}, "stop migration=stop"},
		{"a migration that has succeeded", Facts{From: from, To: two, Live: written(live(two, "v1", "v2"), 1), Changes: looser, Objects: valid, Migrations: []storagemigrationv1.StorageVersionMigration{createdAt(2, migrationNamed("m", "Succeeded"))}}, "go storedVersions=next"},
		{"a migration before the change", Facts{From: from, To: two, Live: written(live(two, "v1", "v2"), 2), Changes: looser, Objects: valid, Servers: servers("1.35"), Migrations: []storagemigrationv1.StorageVersionMigration{createdAt(1, migrationNamed("m", "Succeeded"))}}, "go migration=next"},
		{"rejected by the API server", Facts{From: from, To: crd(t, v("v1", strings.Replace(ruled, "has(self.type)", "has(self.typ)", 1))), Changes: tighter, Objects: valid, Servers: servers("1.36")}, "stop accepted=stop"},
	}
	var steps []Step
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wants(t, tt.facts, tt.want) })
		steps = append(steps, NewPlan(tt.facts).Steps...)
	}
	word := regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}`)
	says := func(row, text string) bool {
		return regexp.MustCompile("(?s)^" + word.ReplaceAllString(regexp.QuoteMeta(row), ".*") + "$").MatchString(text)
	}
	for _, rows := range []outcomes{accepted, rejected, support, validity, newStorage, partClients, versionClients, managers, managersFirst, warning, removal, migration, trimming, application, applied, laterMigration, reversal} {
		for _, r := range rows {
			if r.state != "" && !slices.ContainsFunc(steps, func(s Step) bool {
				return s.ID == r.id && (s.State == r.state || r.state == Next) && says(r.title, s.Title) && says(r.reason, s.Reason)
			}) {
				t.Errorf("no case has %s: %s: %s %s", r.id, r.state, r.title, r.reason)
			}
		}
	}
}

func managedBy(l ...Managed) *Objects {
	return &Objects{Total: 1, Managed: map[string][]Managed{"v1": l}}
}

// printed returns the counts for one valid object, printed in some versions.
func printed(versions ...string) *Objects {
	o := &Objects{Total: 1, Printed: map[string]int{}}
	for _, v := range versions {
		o.Printed[v] = 1
	}
	return o
}

// inVersion returns a report of a change that may reject objects of a version.
func inVersion(name string) *Comparison {
	return &Comparison{Changes: []Change{{Version: name, NewVersion: name, Class: Tighter}}}
}

func withScale(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	versionNamed(crd, "v1").Subresources = &apiextensionsv1.CustomResourceSubresources{Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}}
	return crd
}

// withStatus adds the status subresource to v1 of a CRD.
func withStatus(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	versionNamed(crd, "v1").Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	return crd
}

// hooked adds a conversion webhook to a CRD.
func hooked(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	url := "https://example.com/"
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}}}
	return crd
}

// written returns a CRD in the cluster that was last written in an hour.
func written(crd *apiextensionsv1.CustomResourceDefinition, hour int) *apiextensionsv1.CustomResourceDefinition {
	at := metav1.NewTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	crd.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &at}}
	return crd
}

// createdAt returns a migration that was created in an hour.
func createdAt(hour int, m storagemigrationv1.StorageVersionMigration) storagemigrationv1.StorageVersionMigration {
	m.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	return m
}

// migrating returns a CRD in the cluster with a running migration.
func migrating(crd *apiextensionsv1.CustomResourceDefinition, stored ...string) *apiextensionsv1.CustomResourceDefinition {
	crd = live(crd, stored...)
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.StorageMigrating, Status: apiextensionsv1.ConditionTrue}}
	return crd
}

// TestContradictions reads contradictory facts.
func TestContradictions(t *testing.T) {
	one, two := crd(t, v("v1", plain)), crd(t, v("v1", plain), v("v2", plain))
	other := one.DeepCopy()
	other.Name, other.Spec.Names.Plural = "gates.example.com", "gates"
	command := two.DeepCopy()
	command.Spec.Versions[0].Name = "v1 ; reboot"
	none, both := one.DeepCopy(), two.DeepCopy()
	none.Spec.Versions[0].Storage, both.Spec.Versions[0].Storage = false, true
	migrations := []storagemigrationv1.StorageVersionMigration{migrationNamed("a"), migrationNamed("b", "Succeeded", "Failed")}
	for _, tt := range []struct {
		facts Facts
		want  string
	}{
		{Facts{From: none, To: two}, "0 versions are storage versions, and it has to be one"},
		{Facts{From: one, To: both}, "2 versions are storage versions, and it has to be one"},
		{Facts{From: one, To: command}, `"v1 ; reboot": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{Facts{From: one, To: two, Migrations: []storagemigrationv1.StorageVersionMigration{migrationNamed("m\nreboot")}}, `"m\nreboot" is not a name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{Facts{From: one, To: other}, "this is gates.example.com, and the CRD before the change routes.example.com"},
		{Facts{From: one, To: two, Live: live(other, "v1")}, "this is gates.example.com, and the change is of routes.example.com"},
		{Facts{From: one, To: two, Live: live(crd(t, v("v3", plain)), "v3")}, "the CRD in the cluster is neither the one before nor the one after the change"},
		{Facts{From: one, To: two, Live: live(one, "v1", "v9")}, "objects are stored in v9, which is not in spec.versions"},
		{Facts{From: one, To: two, Live: live(two, "v1")}, "status.storedVersions has not v2, which is the storage version"},
		{Facts{From: one, To: two, Migrations: migrations}, "the migration has both succeeded and failed"},
	} {
		l := Contradictions(InputOf(tt.facts.From), InputOf(tt.facts.To))
		if tt.facts.Live != nil {
			l = append(l, tt.facts.ReadLive(objects(t, tt.facts.Live))...)
		}
		for _, m := range tt.facts.Migrations {
			l = append(l, tt.facts.ReadMigrations(objects(t, m))...)
		}
		if len(l) != 1 || l[0].Message != tt.want {
			t.Errorf("%v, want %s", l, tt.want)
		}
	}
}

// objects returns a file with an object.
func objects(t *testing.T, object any) *yamltext.ObjectFile {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	f, wrong := yamltext.ParseObjects("in", text, yamltext.Limits{})
	if f == nil {
		t.Fatal(wrong)
	}
	return f
}

// TestNamesOfFiles uses file names that a shell or a reader could mistake for other text. Commands
// must contain each name as a single word, and no line of a report may start in a name.
func TestNamesOfFiles(t *testing.T) {
	names := Names{From: report.ShellFile("$(reboot).yaml"), To: report.ShellFile("new.yaml\n 1. next     Apply the CRD"), Objects: report.ShellFile("-o it's.yaml"), CompileFrom: true, CompileTo: true}
	words := []string{`'$(reboot).yaml'`, `$'new.yaml\012 1. next     Apply the CRD'`, `'./-o it'\''s.yaml'`}
	p := NewPlan(Facts{From: crd(t, v("v1", plain)), To: crd(t, v("v1", pointed)), Changes: classed(Tighter), Names: names,
		Servers: []Server{{"a", version.MustParse("1.36.0")}}, Objects: &Objects{Total: 9, Invalid: 2, Blocked: 2, Examples: []string{"web/a\n 1. next     Apply the CRD"}}})
	var data strings.Builder
	if err := diag.WriteJSON(&data, p); err != nil {
		t.Fatal(err)
	}
	for format, out := range map[string]string{"text": PlanDocument(p).Text(), "markdown": PlanDocument(p).Markdown(), "json": data.String()} {
		for _, word := range words {
			if format == "json" {
				word = strings.ReplaceAll(word, `\`, `\\`)
			}
			if !strings.Contains(out, word) {
				t.Errorf("%s: %s is missing in\n%s", format, word, out)
			}
		}
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, " 1. next") {
				t.Errorf("%s: %s", format, out)
			}
		}
	}
}
