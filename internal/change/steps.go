package change

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/unioncel/unioncel/internal/english"
)

// row is an outcome of a step. In its texts, ${name} stands for one of the [planWords].
type row struct {
	id    string
	state StepState // empty if there is no such step
	// when reports whether the row applies; nil if it always does.
	when          func(*Facts) bool
	title, reason string
	details       func(*Facts) []string
	listed        bool   // the row applies only if it has details
	run           string // commands, one per line
	manifest      string
}

// outcomes are the rows of a step, in order: a plan has the first one that applies.
type outcomes []row

func (l outcomes) steps(f *Facts) []Step {
	fill := func(text string) string {
		return os.Expand(text, func(name string) string { return planWords[name](f) })
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
		if r.listed && len(details) == 0 {
			continue
		}
		run := slices.DeleteFunc(strings.Split(fill(r.run), "\n"), func(line string) bool { return line == "" })
		return []Step{{ID: r.id, State: r.state, Title: fill(r.title), Reason: fill(r.reason), Details: details, Run: run, Manifest: fill(r.manifest)}}
	}
	return nil
}

// The steps of plans in order: for a change that the cluster does not have, for one that it has, and for
// none.
var (
	before = []func(*Facts) []Step{
		acceptance.steps, support.steps, validity.steps, newStorage.steps, (*Facts).clients, warning.steps,
		removal.steps, migration.steps, trimming.steps, managedFieldsFirst, application.steps, laterMigration.steps, reversal.steps,
	}
	after     = []func(*Facts) []Step{support.steps, validity.steps, (*Facts).managedFields, applied.steps, migration.steps, trimming.steps}
	unchanged = []func(*Facts) []Step{outcomes{{id: "apply", state: Done, title: "The CRD does not change"}}.steps}
)

// managedFieldsFirst returns the step for managedFields before versions are removed in which nothing is
// stored.
func managedFieldsFirst(f *Facts) []Step {
	if f.migrates() || !has(f.To, storage(f.From)) {
		return nil
	}
	return f.managedFields()
}

var acceptance = outcomes{
	{id: "accepted", state: Stopped, title: "The API server rejects the CRD", reason: "Its validation reports:", details: (*Facts).rejections, listed: true},
	{id: "accepted", state: Done, title: "The API server accepts the CRD"},
}

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
		reason: "Older than v${since}: ${oldServers}. They do not enforce all rules, and lose parts of the CRD when they write it.",
		run:    "${takeBack}"},
	{id: "servers", state: Waiting, title: "Upgrade the API servers", details: (*Facts).needs,
		when:   func(f *Facts) bool { return f.olderThan(f.since()) && len(f.oldServers()) < len(f.Servers) },
		reason: "Older than v${since}: ${oldServers}.", run: "${compileForOldest}"},
	{id: "servers", state: Stopped, title: "Upgrade the API servers", details: (*Facts).needs,
		when:   func(f *Facts) bool { return f.olderThan(f.since()) },
		reason: "Older than v${since}: ${oldServers}.", run: "${compileForOldest}"},
	{id: "servers", state: Stopped, title: "An API server does not support the rules", details: (*Facts).uncompiled, listed: true,
		reason: "The oldest is v${oldest}, which cannot compile them."},
	{id: "servers", state: Done, title: "Every API server supports the rules: they require v${since}, and the oldest server is v${oldest}"},
}

const repairs = "unioncel diff${flags} --objects ${objectsFile} ${old} ${new}${repairable}"

// validity checks whether stored objects become invalid or lose fields.
var validity = outcomes{
	{id: "objects", state: Done, title: "The new schema accepts every object that the old one accepts", reason: "${doubt}",
		when: func(f *Facts) bool { return f.Objects == nil && len(f.rejects()) == 0 }},
	{id: "objects", state: Unknown, title: "Find out about the stored objects", details: (*Facts).rejects,
		when:   func(f *Facts) bool { return f.Objects == nil },
		reason: "The change may reject objects that were accepted.",
		run:    "unioncel diff${flags} ${old} ${new}  # its rejections, with examples\n${print} > ${objectsFile}"},
	{id: "objects", state: Waiting, title: "Move the data that the change drops", details: (*Facts).lost,
		when:   func(f *Facts) bool { return f.Objects.Dropped },
		reason: "Fields of ${losing} of ${objects} are not in the CRD after the change. The next write loses them."},
	{id: "objects", state: Waiting, title: "Add the fields that a version lacks", details: (*Facts).lost,
		when:   func(f *Facts) bool { return f.Objects.Losing > 0 },
		reason: "Fields of ${losing} of ${objects} are not in each version after the change. Only a write through a version without them loses them: add them there."},
	{id: "objects", state: Waiting, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Blocked > 0 },
		reason: "${invalid} For ${blocked} of them, the API server then rejects writes that leave the invalid values unchanged."},
	{id: "objects", state: Waiting, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Rewrites > 0 && storage(f.From) != storage(f.To) },
		reason: "${invalid} ${rewrites} cannot be written unchanged, so migrating them to ${to} fails."},
	{id: "objects", state: Unknown, title: "Print the objects in ${unprinted} as well", details: (*Facts).rejects,
		when:   func(f *Facts) bool { return len(f.unprinted()) > 0 && len(f.rejects()) > 0 },
		reason: "The change matters to writes through these versions, and objects that are printed in another version do not show everything.",
		run:    "${printUnprinted}"},
	{id: "objects", state: Unknown, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Invalid > 0 && f.Servers == nil },
		reason: "${invalid} Whether the API servers accept updates that leave the invalid values unchanged depends on their versions: give --servers."},
	{id: "objects", state: Advisory, title: "Repair the stored objects", details: (*Facts).invalid, run: repairs,
		when:   func(f *Facts) bool { return f.Objects.Invalid > 0 },
		reason: "${invalid} Writes that leave the invalid values unchanged are accepted as before, so this can wait."},
	{id: "objects", state: Done, title: "The stored objects are valid after the change: ${objects}"},
}

// newStorage is about the migration to another storage version, before the change.
var newStorage = outcomes{
	{id: "storage", state: Stopped, title: "Add ${to} in one change, and store it in the next",
		when:   func(f *Facts) bool { return !has(f.From, storage(f.To)) },
		reason: "An API server that has not noticed the change cannot read objects that others store in ${to}, and the CRD before the change could not be applied any more."},
	{id: "migration", state: Waiting, title: "Wait for the migration that is running",
		when:   (*Facts).migrating,
		reason: "When the CRD changes meanwhile, the API server does not note that nothing is stored in the old version any more.",
		run:    "kubectl get storageversionmigrations"},
}

const finds = "Clients may still write objects that the change rejects. A policy that warns, and notes it in the audit log, finds them; delete it once the CRD is applied."

// warning advises to install a policy that warns before the schema rejects, if one can.
var warning = outcomes{
	{when: func(f *Facts) bool { return len(f.warned) == 0 }},
	{id: "policy", state: Advisory, title: "Warn before you reject", details: (*Facts).warnOf,
		when:   func(f *Facts) bool { return f.olderThan(validating) },
		reason: finds + " It needs API servers of v1.30, and the oldest is v${oldest}."},
	{id: "policy", state: Advisory, title: "Warn before you reject", details: (*Facts).warnOf, reason: finds,
		run: "${policy} --validate --action Warn --action Audit | kubectl apply -f -\n${clear}"},
}

// removal checks that nothing is stored in the versions that the change removes.
var removal = outcomes{
	{when: func(f *Facts) bool { return len(f.gone()) == 0 }},
	{id: "removed", state: Stopped, title: "Keep ${from} in the CRD",
		when:   func(f *Facts) bool { return !has(f.To, storage(f.From)) },
		reason: "It is the storage version. Make ${to} that in one change, without serving ${from} if need be, migrate, and remove ${from} in the next."},
	{id: "removed", state: Done, title: "Nothing is stored in ${gone}", when: func(f *Facts) bool { return !f.migrates() }},
}

const (
	printCRD = "kubectl get crd ${crd} -o yaml --show-managed-fields  # for --crd-status"
	rewrite  = "Rewrite the objects that are stored in ${stale}"
	manifest = "apiVersion: storagemigration.k8s.io/%s\nkind: StorageVersionMigration\nmetadata:\n  generateName: ${crd}-\nspec:\n  resource:\n    group: ${group}\n    resource: ${plural}\n"
)

// migration rewrites all objects in the current storage version.
var migration = outcomes{
	{when: func(f *Facts) bool { return !f.migrates() }},
	{id: "migration", state: Unknown, title: "Find out in which versions objects are stored", reason: "status.storedVersions of the CRD lists them.", run: printCRD,
		when: func(f *Facts) bool { return f.Live == nil }},
	{id: "migration", state: Done, title: "All objects are stored in ${target}",
		when: func(f *Facts) bool { return len(f.stale()) == 0 }},
	{id: "migration", state: Waiting, title: "Wait for the migration", reason: "According to the CRD, a migration is running.", run: "kubectl get storageversionmigrations",
		when: (*Facts).migrating},
	{id: "migration", state: Unknown, title: "Find out about migrations", reason: "${stored} Whether they are being rewritten is unknown.",
		when: (*Facts).lacksMigrations,
		run:  "kubectl get storageversionmigrations.storagemigration.k8s.io -o yaml  # for --migrations\necho '{apiVersion: v1, kind: List, items: []}'  # if the API servers do not have them"},
	{id: "migration", state: Stopped, title: "Repair the cause of the failed migration", reason: "The migration ${migration} has failed: ${failure}",
		when: func(f *Facts) bool { return f.lastIs(Stopped) },
		run:  "kubectl delete storageversionmigration ${migration}  # then migrate again"},
	{id: "migration", state: Waiting, title: "Wait for the migration", reason: "The migration ${migration} has not ended.",
		when: func(f *Facts) bool { return f.lastIs(Waiting) },
		run:  "kubectl get storageversionmigration ${migration} -o yaml"},
	{id: "migration", state: Unknown, title: rewrite, run: printCRD,
		when:   func(f *Facts) bool { return f.lastIs(Unknown) },
		reason: "The migration ${migration} has succeeded. Whether it began after the CRD was changed cannot be told without the managed fields of the CRD."},
	{id: "migration", state: Done, title: "All objects are stored in ${target}: the migration ${migration} has succeeded, and the CRD has not changed since",
		when: func(f *Facts) bool { return f.lastIs(Done) }},
	{id: "migration", state: Unknown, title: "Find out whether the objects can be rewritten",
		when:   func(f *Facts) bool { return f.Objects == nil },
		reason: "${cause} Rewriting validates them, and stops at the first that is rejected.",
		run:    "kubectl get ${resource} -A -o yaml --show-managed-fields  # for --objects"},
	{id: "migration", state: Waiting, title: "Repair the objects that cannot be rewritten", details: (*Facts).invalid,
		when:   func(f *Facts) bool { return f.Objects.Rewrites > 0 },
		reason: "${cause} Rewriting validates them, and would fail for ${rewrites} of ${objects}."},
	{id: "migration", state: Next, title: rewrite,
		when:   func(f *Facts) bool { return f.Servers == nil || f.olderThan(migrationB) },
		reason: "${cause}${observe} The cluster does not record the result: go on with the next step afterwards.",
		run:    "kubectl get ${plural}.${target}.${group} -A -o json | kubectl replace -f -"},
	{id: "migration", state: Next, title: rewrite, run: "kubectl create -f -", manifest: fmt.Sprintf(manifest, "v1beta1"),
		when:   func(f *Facts) bool { return f.olderThan(migrationGA) },
		reason: "${cause}${observe} The API servers have the API for it when it is switched on: --runtime-config=storagemigration.k8s.io/v1beta1=true, and the feature gate StorageVersionMigrator, of kube-controller-manager too."},
	{id: "migration", state: Next, title: rewrite, run: "kubectl create -f -", manifest: fmt.Sprintf(manifest, "v1"), reason: "${cause}${observe}"},
}

// trimming removes the old versions from status.storedVersions.
var trimming = outcomes{
	{when: func(f *Facts) bool { return !f.migrates() || f.Live == nil || len(f.stale()) == 0 }},
	{id: "storedVersions", state: Next, title: "Record that nothing is stored in ${stale}",
		reason: "Then the version can be removed from the CRD. Objects that are still stored in it could no longer be read. API servers since v1.37 do it themselves after a migration, unless the CRD was changed meanwhile.",
		run:    `kubectl patch crd ${crd} --subresource=status --type=json -p '[{"op":"test","path":"/status/storedVersions","value":["${storedVersions}"]},{"op":"replace","path":"/status/storedVersions","value":["${target}"]}]'`},
}

var (
	application    = outcomes{{id: "apply", state: Next, title: "Apply the CRD", run: "${apply}"}}
	applied        = outcomes{{when: (*Facts).same}, {id: "apply", state: Done, title: "The CRD is applied"}}
	laterMigration = outcomes{
		{when: func(f *Facts) bool { return storage(f.From) == storage(f.To) }},
		{id: "migration", state: Later, title: "Rewrite the objects that are stored in ${from}", reason: "Ask again when the CRD is applied, with its new status."},
	}
)

// reversal is about taking the change back.
var reversal = outcomes{
	{id: "back", state: Advisory, title: "The change cannot be reverted",
		when:   func(f *Facts) bool { return !has(f.From, storage(f.To)) },
		reason: "Objects will be stored in ${to}, which the CRD before the change does not have. Add the version in one change, served and not stored, and switch the storage version in the next."},
	{id: "back", state: Advisory, title: "The change can be reverted", run: "${takeBack}",
		when: func(f *Facts) bool {
			return f.Changes != nil && slices.Contains([]Class{Same, Tighter}, f.Changes.Class())
		}},
	{id: "back", state: Advisory, title: "The change can be reverted with a separate plan",
		reason: "Objects that are written meanwhile may be rejected by the CRD before the change.",
		run:    "unioncel rollout${oldFlags} ${compiled} ${old} --objects ${objectsFile}"},
}

// planWords are the texts for the names in rows, for rows that apply.
var planWords = map[string]func(*Facts) string{
	"crd":      func(f *Facts) string { return f.To.Name },
	"resource": func(f *Facts) string { return f.Resource().String() },
	"plural":   func(f *Facts) string { return f.Resource().Resource },
	"group":    func(f *Facts) string { return f.Resource().Group },

	// The storage version before the change, after it, and now; and versions that are added, removed, to
	// be printed as well, and in which objects may be stored although they are not the storage version.
	"from":           func(f *Facts) string { return storage(f.From) },
	"to":             func(f *Facts) string { return storage(f.To) },
	"target":         func(f *Facts) string { return storage(f.current()) },
	"added":          func(f *Facts) string { return strings.Join(f.added(), ", ") },
	"gone":           func(f *Facts) string { return strings.Join(f.gone(), ", ") },
	"unprinted":      func(f *Facts) string { return strings.Join(f.unprinted(), ", ") },
	"stale":          func(f *Facts) string { return strings.Join(f.stale(), ", ") },
	"storedVersions": func(f *Facts) string { return strings.Join(f.Live.Status.StoredVersions, `","`) },
	"stored":         (*Facts).storedNow,

	"since":            func(f *Facts) string { return minor(f.since()) },
	"oldest":           func(f *Facts) string { return minor(f.oldest()) },
	"oldServers":       func(f *Facts) string { return strings.Join(f.oldServers(), ", ") },
	"observe":          (*Facts).observe,
	"compileForOldest": (*Facts).compileForOldest,

	"objects":  func(f *Facts) string { return english.Plural(f.Objects.Total, "object") },
	"losing":   func(f *Facts) string { return strconv.Itoa(f.Objects.Losing) },
	"blocked":  func(f *Facts) string { return strconv.Itoa(f.Objects.Blocked) },
	"rewrites": func(f *Facts) string { return strconv.Itoa(f.Objects.Rewrites) },
	"invalid": func(f *Facts) string {
		return fmt.Sprintf("Invalid after the change: %d of %s.", f.Objects.Invalid, english.Plural(f.Objects.Total, "object"))
	},
	"doubt": (*Facts).doubt,

	"migration": func(f *Facts) string { return f.lastMigration().Name },
	"failure": func(f *Facts) string {
		return meta.FindStatusCondition(f.lastMigration().Status.Conditions, string(storagemigrationv1.MigrationFailed)).Message
	},
	"cause": func(f *Facts) string {
		_, cause := f.lastState()
		return cause
	},

	// Commands, and files in them.
	"old":            func(f *Facts) string { return f.Names.From },
	"new":            func(f *Facts) string { return f.Names.To },
	"flags":          func(f *Facts) string { return f.Names.Flags },
	"oldFlags":       func(f *Facts) string { return f.Names.OldFlags },
	"compiled":       func(f *Facts) string { return f.Names.compiled() },
	"objectsFile":    func(f *Facts) string { return f.Names.Objects },
	"print":          func(f *Facts) string { return f.printObjects(storage(f.current())) },
	"printUnprinted": (*Facts).printUnprinted,
	"repairable": func(f *Facts) string {
		if f.Objects.Repairable == 0 {
			return ""
		}
		return fmt.Sprintf("  # with patches for %d of them", f.Objects.Repairable)
	},
	"policy":   func(f *Facts) string { return f.Names.policy() },
	"clear":    (*Facts).clear,
	"apply":    func(f *Facts) string { return applyCommand(f.Names.Flags, f.Names.To, f.Names.CompileTo) },
	"takeBack": (*Facts).takeBack,
}
