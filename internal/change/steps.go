package change

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/unioncel/unioncel/internal/english"
)

// row is an outcome of a step. Its texts are templates about the [Facts], with the functions of words.
type row struct {
	id    string
	state StepState // empty if there is no such step
	// when reports whether the row applies; nil if it always does.
	when          func(*Facts) bool
	title, reason string
	details       func(*Facts) []string
	run           string // commands, one per line
	manifest      string
}

// outcomes are the rows of a step, in order: a plan has the first one that applies.
type outcomes []row

func (l outcomes) steps(f *Facts) []Step {
	phrased := sync.OnceValue(func() *template.Template {
		return template.Must(template.New("phrases").Funcs(f.words()).Parse(phrases))
	})
	fill := func(text string) string {
		if text == "" {
			return ""
		}
		var b strings.Builder
		if err := template.Must(phrased().New("text").Parse(text)).Execute(&b, f); err != nil {
			panic(err) // a row applies although a fact for its text is unknown
		}
		return b.String()
	}
	for _, r := range l {
		if r.when != nil && !r.when(f) {
			continue
		}
		if r.state == "" {
			return nil
		}
		var details []string
		if r.details != nil {
			details = r.details(f)
		}
		run := slices.DeleteFunc(strings.Split(fill(r.run), "\n"), func(line string) bool { return line == "" })
		return []Step{{ID: r.id, State: r.state, Title: fill(r.title), Reason: fill(r.reason), Details: details, Run: run, Manifest: fill(r.manifest)}}
	}
	return nil
}

// The steps of plans in order: for a change that the cluster does not have, for one that it has, for one
// that the API server rejects, and for none.
var (
	before = []func(*Facts) []Step{
		accepted.steps, support.steps, validity.steps, newStorage.steps, (*Facts).clients, warning.steps,
		removal.steps, migration.steps, trimming.steps, managersFirst.steps, application.steps, laterMigration.steps, reversal.steps,
	}
	after     = []func(*Facts) []Step{support.steps, validity.steps, managers.steps, applied.steps, migration.steps, trimming.steps}
	refused   = []func(*Facts) []Step{rejected.steps}
	unchanged = []func(*Facts) []Step{outcomes{{id: "apply", state: Done, title: "The CRD does not change"}}.steps}
)

var (
	accepted = outcomes{{id: "accepted", state: Done, title: "The API server accepts the CRD"}}
	rejected = outcomes{{id: "accepted", state: Stopped, title: "The API server rejects the CRD", reason: "Its validation reports:", details: (*Facts).rejections}}
)

// support checks whether all API servers support the new rules. The oldest server decides.
var support = outcomes{
	{id: "servers", state: Done, title: "Every API server supports the rules",
		when: func(f *Facts) bool { return len(f.needed()) == 0 }},
	{id: "servers", state: Unknown, title: "Find out which API servers there are", details: (*Facts).needed,
		when:   func(f *Facts) bool { return f.Servers == nil },
		reason: "The rules need features that not every version of Kubernetes has. The oldest API server decides.",
		run:    "kubectl get --raw /version  # of each API server, for --servers"},
	{id: "servers", state: Stopped, title: "Upgrade the API servers again, or take the change back", details: (*Facts).needs,
		when:   func(f *Facts) bool { return f.olderThan(f.since()) && f.applied() },
		reason: "Older than v{{minor since}}: {{list oldServers}}. They do not enforce all rules, and lose parts of the CRD when they write it.",
		run:    `{{template "takeBack" .}}`},
	{id: "servers", state: Waiting, title: "Upgrade the API servers", details: (*Facts).needs,
		when:   func(f *Facts) bool { return f.olderThan(f.since()) && len(f.oldServers()) < len(f.Servers) },
		reason: "Older than v{{minor since}}: {{list oldServers}}.", run: `{{template "compileForOldest" .}}`},
	{id: "servers", state: Stopped, title: "Upgrade the API servers", details: (*Facts).needs,
		when:   func(f *Facts) bool { return f.olderThan(f.since()) },
		reason: "Older than v{{minor since}}: {{list oldServers}}.", run: `{{template "compileForOldest" .}}`},
	{id: "servers", state: Stopped, title: "An API server does not support the rules", details: (*Facts).uncompiled,
		when:   func(f *Facts) bool { return len(f.uncompiled()) > 0 },
		reason: "The oldest is v{{minor oldest}}, which cannot compile them."},
	{id: "servers", state: Done, title: "Every API server supports the rules: they require v{{minor since}}, and the oldest server is v{{minor oldest}}"},
}

const (
	repairs = "unioncel diff{{.Names.Flags}} --objects {{.Names.Objects}} {{.Names.From}} {{.Names.To}}{{with .Objects.Repairable}}  # with patches for {{.}} of them{{end}}"
	invalid = "Invalid after the change: {{.Objects.Invalid}} of {{count .Objects.Total}}."
)

// validity checks whether stored objects become invalid or lose fields.
var validity = outcomes{
	{id: "objects", state: Done, title: "The new schema accepts every object that the old one accepts", reason: "{{doubt}}",
		when: func(f *Facts) bool { return f.Objects == nil && len(f.rejects()) == 0 }},
	{id: "objects", state: Unknown, title: "Find out about the stored objects", details: (*Facts).rejects,
		when:   func(f *Facts) bool { return f.Objects == nil },
		reason: "The change may reject objects that were accepted.",
		run:    "unioncel diff{{.Names.Flags}} {{.Names.From}} {{.Names.To}}  # its rejections, with examples\n{{print (storage current)}} > {{.Names.Objects}}"},
	{id: "objects", state: Waiting, title: "Move the data that the change drops", details: (*Facts).lost,
		when:   func(f *Facts) bool { return f.Objects.Dropped },
		reason: "Fields of {{.Objects.Losing}} of {{count .Objects.Total}} are not in the CRD after the change. The next write loses them."},
	{id: "objects", state: Waiting, title: "Add the fields that a version lacks", details: (*Facts).lost,
		when:   func(f *Facts) bool { return f.Objects.Losing > 0 },
		reason: "Fields of {{.Objects.Losing}} of {{count .Objects.Total}} are not in each version after the change. Only a write through a version without them loses them: add them there."},
	{id: "objects", state: Waiting, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Blocked > 0 },
		reason: invalid + " For {{.Objects.Blocked}} of them, the API server then rejects writes that leave the invalid values unchanged."},
	{id: "objects", state: Waiting, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Rewrites > 0 && storage(f.From) != storage(f.To) },
		reason: invalid + " {{.Objects.Rewrites}} cannot be written unchanged, so migrating them to {{storage .To}} fails."},
	{id: "objects", state: Unknown, title: "Print the objects in {{list unprinted}} as well", details: (*Facts).rejects,
		when:   func(f *Facts) bool { return len(f.unprinted()) > 0 && len(f.rejects()) > 0 },
		reason: "The change matters to writes through these versions, and objects that are printed in another version do not show everything.",
		run:    "{{range unprinted}}{{print .}}  # a file of its own, in a directory for --objects\n{{end}}"},
	{id: "objects", state: Unknown, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Invalid > 0 && f.Servers == nil },
		reason: invalid + " Whether the API servers accept updates that leave the invalid values unchanged depends on their versions: give --servers."},
	{id: "objects", state: Advisory, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Invalid > 0 },
		reason: invalid + " Writes that leave the invalid values unchanged are accepted as before, so this can wait."},
	{id: "objects", state: Done, title: "The stored objects are valid after the change: {{count .Objects.Total}}"},
}

// newStorage is about the migration to another storage version, before the change.
var newStorage = outcomes{
	{id: "storage", state: Stopped, title: "Add {{storage .To}} in one change, and store it in the next",
		when:   func(f *Facts) bool { return !has(f.From, storage(f.To)) },
		reason: "An API server that has not noticed the change cannot read objects that others store in {{storage .To}}, and the CRD before the change could not be applied any more."},
	{id: "migration", state: Waiting, title: "Wait for the migration that is running",
		when:   (*Facts).migrating,
		reason: "When the CRD changes meanwhile, the API server does not note that nothing is stored in the old version any more.",
		run:    "kubectl get storageversionmigrations"},
}

const (
	printManagers = "{{print (storage current)}}  # for --objects"
	notServed     = "Requests through a version that is not served get 404."
)

// partClients is about clients that write a part of objects in the way that the change ends: through a subresource,
// or the status with the object.
var partClients = outcomes{
	{id: "clients", state: Unknown, title: "Find out who writes {{who}}", reason: "{{why}}", run: printManagers, when: (*Facts).unmanaged},
	{id: "clients", state: Done, title: "No known client writes {{who}}", when: func(f *Facts) bool { return len(f.writers()) == 0 }},
	{id: "clients", state: Waiting, title: "Change the subresource in a new version, to which clients move", reason: "{{why}} These have written {{who}}.", details: (*Facts).writers},
}

// versionClients is about clients of a version that is no longer served. If the change removes the version, managers
// has its managedFields.
var versionClients = outcomes{
	{id: "clients", state: Unknown, title: "Find out who writes through {{version}}", reason: notServed, run: printManagers,
		when: func(f *Facts) bool { return has(f.To, f.client.version) && f.unmanaged() }},
	{id: "clients", state: Waiting, title: "Move clients from {{version}} to another version", details: (*Facts).moved, run: "{{moves}}",
		when:   func(f *Facts) bool { return has(f.To, f.client.version) && len(f.moved()) > 0 },
		reason: notServed + " These clients have written through it. The entry of a client that has moved may remain: move it, too."},
	{id: "clients", state: Waiting, title: "Deprecate {{version}} first",
		when:   func(f *Facts) bool { return !versionNamed(f.From, f.client.version).Deprecated },
		reason: notServed + " With deprecated: true clients get a warning, and API servers count their requests, also of those that only read."},
	{id: "clients", state: Advisory, title: "See who still uses {{version}}",
		reason: "Requests that only read leave no trace in objects, but API servers count the requests through a deprecated version.",
		run:    "kubectl get --raw /metrics | grep 'apiserver_requested_deprecated_apis{.*{{.Resource.Resource}}'  # of each API server"},
}

const unreadable = "Server-side apply fails for objects whose managedFields name a version that the CRD does not have."

// managers is about managedFields that name removed versions: server-side apply converts objects to each version
// that an entry names. managersFirst is the same before versions are removed in which nothing is stored.
var (
	managers = outcomes{
		{when: func(f *Facts) bool { return len(f.gone()) == 0 }},
		{id: "managedFields", state: Unknown, title: "Find out which managedFields name {{list gone}}", reason: unreadable, run: printManagers, when: (*Facts).unmanaged},
		{id: "managedFields", state: Done, title: "No managedFields name {{list gone}}", when: func(f *Facts) bool { return len(f.moved()) == 0 }},
		{id: "managedFields", state: Waiting, title: "Move managedFields to {{storage .From}}", reason: unreadable, details: (*Facts).moved, run: "{{moves}}"},
	}
	managersFirst = append(outcomes{{when: func(f *Facts) bool { return f.migrates() || !has(f.To, storage(f.From)) }}}, managers...)
)

const finds = "Clients may still write objects that the change rejects. A policy that warns, and notes it in the audit log, finds them; delete it once the CRD is applied."

// warning advises to install a policy that warns before the schema rejects, if one can.
var warning = outcomes{
	{when: func(f *Facts) bool { return len(f.warned) == 0 }},
	{id: "policy", state: Advisory, title: "Warn before you reject", details: (*Facts).warnOf,
		when:   func(f *Facts) bool { return f.olderThan(validating) },
		reason: finds + " It needs API servers of v1.30, and the oldest is v{{minor oldest}}."},
	{id: "policy", state: Advisory, title: "Warn before you reject", details: (*Facts).warnOf, reason: finds,
		run: `{{template "policy" .}} --validate --action Warn --action Audit | kubectl apply -f -{{template "clear" .}}`},
}

// removal checks that nothing is stored in the versions that the change removes.
var removal = outcomes{
	{when: func(f *Facts) bool { return len(f.gone()) == 0 }},
	{id: "removed", state: Stopped, title: "Keep {{storage .From}} in the CRD",
		when:   func(f *Facts) bool { return !has(f.To, storage(f.From)) },
		reason: "It is the storage version. Make {{storage .To}} that in one change, without serving {{storage .From}} if need be, migrate, and remove {{storage .From}} in the next."},
	{id: "removed", state: Done, title: "Nothing is stored in {{list gone}}", when: func(f *Facts) bool { return !f.migrates() }},
}

const (
	printCRD = "kubectl get crd {{.To.Name}} -o yaml --show-managed-fields  # for --crd-status"
	rewrite  = "Rewrite the objects that are stored in {{list stale}}"
	manifest = "apiVersion: storagemigration.k8s.io/%s\nkind: StorageVersionMigration\nmetadata:\n  generateName: {{.To.Name}}-\nspec:\n  resource:\n    group: {{.Resource.Group}}\n    resource: {{.Resource.Resource}}\n"
)

// migration rewrites all objects in the current storage version.
var migration = outcomes{
	{when: func(f *Facts) bool { return !f.migrates() }},
	{id: "migration", state: Unknown, title: "Find out in which versions objects are stored", reason: "status.storedVersions of the CRD lists them.", run: printCRD,
		when: func(f *Facts) bool { return f.Live == nil }},
	{id: "migration", state: Done, title: "All objects are stored in {{storage current}}",
		when: func(f *Facts) bool { return len(f.stale()) == 0 }},
	{id: "migration", state: Waiting, title: "Wait for the migration", reason: "According to the CRD, a migration is running.", run: "kubectl get storageversionmigrations",
		when: (*Facts).migrating},
	{id: "migration", state: Unknown, title: "Find out about migrations", reason: `{{template "stored" .}} Whether they are being rewritten is unknown.`,
		when: (*Facts).lacksMigrations,
		run:  "kubectl get storageversionmigrations.storagemigration.k8s.io -o yaml  # for --migrations\necho '{apiVersion: v1, kind: List, items: []}'  # if the API servers do not have them"},
	{id: "migration", state: Stopped, title: "Repair the cause of the failed migration", reason: "The migration {{last.Name}} has failed: {{failure}}",
		when: func(f *Facts) bool { return f.lastState() == Stopped },
		run:  "kubectl delete storageversionmigration {{last.Name}}  # then migrate again"},
	{id: "migration", state: Waiting, title: "Wait for the migration", reason: "The migration {{last.Name}} has not ended.",
		when: func(f *Facts) bool { return f.lastState() == Waiting },
		run:  "kubectl get storageversionmigration {{last.Name}} -o yaml"},
	{id: "migration", state: Unknown, title: rewrite, run: printCRD,
		when:   func(f *Facts) bool { return f.lastState() == Unknown },
		reason: "The migration {{last.Name}} has succeeded. Whether it began after the CRD was changed cannot be told without the managed fields of the CRD."},
	{id: "migration", state: Done, title: "All objects are stored in {{storage current}}: the migration {{last.Name}} has succeeded, and the CRD has not changed since",
		when: func(f *Facts) bool { return f.lastState() == Done }},
	{id: "migration", state: Unknown, title: "Find out whether the objects can be rewritten",
		when:   func(f *Facts) bool { return f.Objects == nil },
		reason: `{{template "cause" .}} Rewriting validates them, and stops at the first that is rejected.`,
		run:    "kubectl get {{.Resource}} -A -o yaml --show-managed-fields  # for --objects"},
	{id: "migration", state: Waiting, title: "Repair the objects that cannot be rewritten", details: (*Facts).invalid,
		when:   func(f *Facts) bool { return f.Objects.Rewrites > 0 },
		reason: `{{template "cause" .}} Rewriting validates them, and would fail for {{.Objects.Rewrites}} of {{count .Objects.Total}}.`},
	{id: "migration", state: Next, title: rewrite,
		when:   func(f *Facts) bool { return f.Servers == nil || f.olderThan(migrationB) },
		reason: `{{template "cause" .}}{{template "observe" .}} The cluster does not record the result: go on with the next step afterwards.`,
		run:    "kubectl get {{.Resource.Resource}}.{{storage current}}.{{.Resource.Group}} -A -o json | kubectl replace -f -"},
	{id: "migration", state: Next, title: rewrite, run: "kubectl create -f -", manifest: fmt.Sprintf(manifest, "v1beta1"),
		when:   func(f *Facts) bool { return f.olderThan(migrationGA) },
		reason: `{{template "cause" .}}{{template "observe" .}} The API servers have the API for it when it is switched on: --runtime-config=storagemigration.k8s.io/v1beta1=true, and the feature gate StorageVersionMigrator, of kube-controller-manager too.`},
	{id: "migration", state: Next, title: rewrite, run: "kubectl create -f -", manifest: fmt.Sprintf(manifest, "v1"), reason: `{{template "cause" .}}{{template "observe" .}}`},
}

// trimming removes the old versions from status.storedVersions.
var trimming = outcomes{
	{when: func(f *Facts) bool { return !f.migrates() || f.Live == nil || len(f.stale()) == 0 }},
	{id: "storedVersions", state: Next, title: "Record that nothing is stored in {{list stale}}",
		reason: "Then the version can be removed from the CRD. Objects that are still stored in it could no longer be read. API servers since v1.37 do it themselves after a migration, unless the CRD was changed meanwhile.",
		run:    `kubectl patch crd {{.To.Name}} --subresource=status --type=json -p '[{"op":"test","path":"/status/storedVersions","value":[{{range $i, $v := .Live.Status.StoredVersions}}{{if $i}},{{end}}"{{$v}}"{{end}}]},{"op":"replace","path":"/status/storedVersions","value":["{{storage current}}"]}]'`},
}

var (
	application    = outcomes{{id: "apply", state: Next, title: "Apply the CRD", run: `{{template "apply" .}}`}}
	applied        = outcomes{{when: (*Facts).same}, {id: "apply", state: Done, title: "The CRD is applied"}}
	laterMigration = outcomes{
		{when: func(f *Facts) bool { return storage(f.From) == storage(f.To) }},
		{id: "migration", state: Later, title: "Rewrite the objects that are stored in {{storage .From}}", reason: "Ask again when the CRD is applied, with its new status."},
	}
)

// reversal is about taking the change back.
var reversal = outcomes{
	{id: "back", state: Advisory, title: "The change cannot be reverted",
		when:   func(f *Facts) bool { return !has(f.From, storage(f.To)) },
		reason: "Objects will be stored in {{storage .To}}, which the CRD before the change does not have. Add the version in one change, served and not stored, and switch the storage version in the next."},
	{id: "back", state: Advisory, title: "The change can be reverted", run: `{{template "takeBack" .}}`,
		when: func(f *Facts) bool {
			return f.Changes != nil && slices.Contains([]Class{Same, Tighter}, f.Changes.Class())
		}},
	{id: "back", state: Advisory, title: "The change can be reverted with a separate plan",
		reason: "Objects that are written meanwhile may be rejected by the CRD before the change.",
		run:    `unioncel rollout{{.Names.OldFlags}} {{template "compiled" .}} {{.Names.From}} --objects {{.Names.Objects}}`},
}

// phrases are templates in the texts of rows: commands, and sentences. The output of kubectl get cannot be applied to
// the cluster again.
const phrases = `
{{define "apply"}}{{if .Names.CompileTo}}unioncel compile{{.Names.Flags}} {{.Names.To}} | kubectl apply -f -{{else}}kubectl apply -f {{.Names.To}}{{end}}{{end}}
{{define "takeBack"}}{{if .From.ResourceVersion}}kubectl apply -f MANIFEST  # the manifest of {{.From.Name}} before the change
{{- else if .Names.CompileFrom}}unioncel compile{{.Names.OldFlags}} {{.Names.From}} | kubectl apply -f -{{else}}kubectl apply -f {{.Names.From}}{{end}}{{end}}
{{define "compiled"}}{{if .Names.CompileTo}}<(unioncel compile{{.Names.Flags}} {{.Names.To}}){{else}}{{.Names.To}}{{end}}{{end}}
{{define "compileForOldest"}}{{if and .Names.CompileTo (not tooOld)}}unioncel compile{{.Names.Flags}} --kube-version {{minor oldest}} {{.Names.To}}  # or compile for the oldest{{end}}{{end}}
{{define "policy"}}{{if .Names.Flags}}unioncel compile{{.Names.Flags}} {{.Names.To}} | unioncel policy --no-config{{else}}unioncel policy {{.Names.To}}{{end}}{{end}}
{{define "clear"}}{{if clears}}
{{template "policy" .}} | kubectl apply -f -  # or clears members that clients leave set{{end}}{{end}}
{{define "observe"}}{{if gt (len .Servers) 1}} First wait until all {{len .Servers}} API servers have observed the CRD. No status reports this, and until then an API server stores objects in the old version.{{end}}{{end}}
{{define "stored"}}status.storedVersions is {{list .Live.Status.StoredVersions}}: some objects may still be stored in these.{{end}}
{{define "cause"}}{{if not last}}{{template "stored" .}}
{{- else if noted}}The migration {{last.Name}} has succeeded, but the CRD was changed meanwhile. Migrate again.
{{- else}}The migration {{last.Name}} began before the CRD was changed. Migrate again.{{end}}{{end}}
`

// words are the functions in the texts of rows.
func (f *Facts) words() template.FuncMap {
	return template.FuncMap{
		"storage": storage, "minor": minor,
		"list":  func(l []string) string { return strings.Join(l, ", ") },
		"count": func(n int) string { return english.Plural(n, "object") },

		"current": f.current, "gone": f.gone, "unprinted": f.unprinted, "stale": f.stale, "since": f.since, "oldest": f.oldest, "oldServers": f.oldServers,
		"last": f.lastMigration, "noted": f.noted, "doubt": f.doubt, "clears": f.clears, "print": f.printObjects,
		"tooOld": func() bool { return f.olderThan(rules) },
		"failure": func() string {
			return meta.FindStatusCondition(f.lastMigration().Status.Conditions, string(storagemigrationv1.MigrationFailed)).Message
		},
		"version": func() string { return f.client.version }, "who": func() string { return f.client.who }, "why": func() string { return f.client.why },
		"moves": func() string { _, commands := f.moves(); return strings.Join(commands, "\n") },
	}
}
