package change

import (
	"fmt"
	"slices"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// migrate returns the steps of the migration after the change.
func (f *Facts) migrate() []Step { return f.migrateTo(storage(f.To)) }

// migrateLater returns the steps of migrate for a storage version that the change has yet to set.
func (f *Facts) migrateLater() []Step {
	from := storage(f.From)
	if from == storage(f.To) {
		return nil
	}
	return []Step{{
		ID: "migration", State: Later, Title: "Rewrite the objects that are stored in " + from,
		Reason: "Ask again when the CRD is applied, with its new status.",
	}}
}

// migrateTo returns the steps of a migration to target, the current storage version: all objects are
// rewritten, and status.storedVersions is trimmed.
func (f *Facts) migrateTo(target string) []Step {
	if f.Live == nil {
		return []Step{{ID: "migration", State: Unknown, Title: "Find out in which versions objects are stored",
			Reason: "status.storedVersions of the CRD lists them.", Run: f.printCRD()}}
	}
	old := f.stored(target)
	if len(old) == 0 {
		return []Step{{ID: "migration", State: Done, Title: "All objects are stored in " + target}}
	}
	s, last := f.migration(target, old), f.trim(target, old)
	if s.State != Done {
		last.State = Later
	}
	return []Step{s, last}
}

func (f *Facts) printCRD() []string {
	return []string{"kubectl get crd " + f.To.Name + " -o yaml --show-managed-fields  # for --crd-status"}
}

// migration returns the step that rewrites the objects stored in old versions.
func (f *Facts) migration(target string, old []string) Step {
	title := "Rewrite the objects that are stored in " + strings.Join(old, ", ")
	stored := fmt.Sprintf("status.storedVersions is %s: some objects may still be stored in these.", strings.Join(f.Live.Status.StoredVersions, ", "))
	step := func(state StepState, title, reason string, run ...string) Step {
		return Step{ID: "migration", State: state, Title: title, Reason: reason, Run: run}
	}
	last, known := f.lastMigration()
	running, noted := condition(f.Live, apiextensionsv1.StorageMigrating)
	switch {
	case running:
		return step(Waiting, "Wait for the migration", "According to the CRD, a migration is running.", "kubectl get storageversionmigrations")
	case !known:
		return step(Unknown, "Find out about migrations", stored+" Whether they are being rewritten is unknown.",
			"kubectl get storageversionmigrations.storagemigration.k8s.io -o yaml  # for --migrations",
			"echo '{apiVersion: v1, kind: List, items: []}'  # if the API servers do not have them")
	case last == nil:
		return f.rewrite(title, stored, target)
	}
	changed, ok := lastChange(f.Live)
	switch {
	case is(*last, storagemigrationv1.MigrationFailed):
		failed := meta.FindStatusCondition(last.Status.Conditions, string(storagemigrationv1.MigrationFailed))
		return step(Stopped, "Repair the cause of the failed migration", fmt.Sprintf("The migration %s has failed: %s", last.Name, failed.Message),
			"kubectl delete storageversionmigration "+last.Name+"  # then migrate again")
	case !is(*last, storagemigrationv1.MigrationSucceeded):
		return step(Waiting, "Wait for the migration", "The migration "+last.Name+" has not ended.",
			"kubectl get storageversionmigration "+last.Name+" -o yaml")
	case noted:
		return f.rewrite(title, fmt.Sprintf("The migration %s has succeeded, but the CRD was changed meanwhile. Migrate again.", last.Name), target)
	case !ok:
		return step(Unknown, title, fmt.Sprintf("The migration %s has succeeded. Whether it began after the CRD was changed cannot be told without the managed fields of the CRD.", last.Name), f.printCRD()...)
	case last.CreationTimestamp.After(changed):
		return step(Done, fmt.Sprintf("All objects are stored in %s: the migration %s has succeeded, and the CRD has not changed since", target, last.Name), "")
	}
	return f.rewrite(title, fmt.Sprintf("The migration %s began before the CRD was changed. Migrate again.", last.Name), target)
}

// rewrite returns the step that rewrites all objects, if the API server accepts the writes.
func (f *Facts) rewrite(title, reason, target string) Step {
	s := Step{ID: "migration", State: Next, Title: title, Reason: reason}
	switch o := f.Objects; {
	case o == nil:
		s.State, s.Title = Unknown, "Find out whether the objects can be rewritten"
		s.Reason += " Rewriting validates them, and stops at the first that is rejected."
		s.Run = []string{"kubectl get " + f.Resource().String() + " -A -o yaml --show-managed-fields  # for --objects"}
		return s
	case o.Rewrites > 0:
		s.State, s.Title, s.Details = Waiting, "Repair the objects that cannot be rewritten", o.Examples
		s.Reason += fmt.Sprintf(" Rewriting validates them, and %s would be rejected.", count(o.Rewrites, "object"))
		return s
	}
	if n := len(f.Servers); n > 1 {
		s.Reason += fmt.Sprintf(" First wait until all %d API servers have observed the CRD. No status reports this, and until then an API server stores objects in the old version.", n)
	}
	r, oldest := f.Resource(), f.oldest()
	if oldest == nil || oldest.LessThan(migrationB) {
		s.Reason += " The cluster does not record the result: go on with the next step afterwards."
		s.Run = []string{fmt.Sprintf("kubectl get %s.%s.%s -A -o json | kubectl replace -f -", r.Resource, target, r.Group)}
		return s
	}
	api := "v1"
	if oldest.LessThan(migration) {
		api = "v1beta1"
		s.Reason += " The API servers have the API for it when it is switched on: --runtime-config=storagemigration.k8s.io/v1beta1=true, and the feature gate StorageVersionMigrator, of kube-controller-manager too."
	}
	s.Run = []string{"kubectl create -f -"}
	s.Manifest = fmt.Sprintf("apiVersion: storagemigration.k8s.io/%s\nkind: StorageVersionMigration\nmetadata:\n  generateName: %s-\nspec:\n  resource:\n    group: %s\n    resource: %s\n",
		api, f.To.Name, r.Group, r.Resource)
	return s
}

// trim returns the step that removes the old versions from status.storedVersions.
func (f *Facts) trim(target string, old []string) Step {
	s := Step{ID: "storedVersions", State: Next, Title: "Record that nothing is stored in " + strings.Join(old, ", "),
		Reason: "Then the version can be removed from the CRD. Objects that are still stored in it could no longer be read.",
		Run:    []string{f.trimCommand(target)}}
	if v := f.oldest(); v != nil && !v.LessThan(migration) {
		s.Reason += " After a migration the API server does it itself, unless the CRD was changed meanwhile."
	}
	return s
}

func (f *Facts) trimCommand(target string) string {
	quote := func(l []string) string { return `["` + strings.Join(l, `","`) + `"]` }
	return fmt.Sprintf(`kubectl patch crd %s --subresource=status --type=json -p '[{"op":"test","path":"/status/storedVersions","value":%s},{"op":"replace","path":"/status/storedVersions","value":%s}]'`,
		f.To.Name, quote(f.Live.Status.StoredVersions), quote([]string{target}))
}

// stored returns the other versions in which objects may be stored.
func (f *Facts) stored(target string) []string {
	return slices.DeleteFunc(slices.Clone(f.Live.Status.StoredVersions), func(v string) bool { return v == target })
}

// lastMigration returns the most recent migration. known is false if there may be a migration that
// the facts lack.
func (f *Facts) lastMigration() (last *storagemigrationv1.StorageVersionMigration, known bool) {
	if f.Migrations == nil {
		// Servers that record migrations in CRDs have recorded none, or no server has an API for
		// migrations.
		_, noted := condition(f.Live, apiextensionsv1.StorageMigrating)
		without := !slices.ContainsFunc(f.Servers, func(s Server) bool { return !s.Version.LessThan(migrationA) })
		return nil, len(f.Servers) > 0 && (without || !noted && !f.oldest().LessThan(migration))
	}
	for i, m := range f.Migrations {
		if last == nil || m.CreationTimestamp.After(last.CreationTimestamp.Time) {
			last = &f.Migrations[i]
		}
	}
	return last, true
}

// is reports whether a condition of a migration is true.
func is(m storagemigrationv1.StorageVersionMigration, condition storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(condition))
}

// condition returns whether a condition is true, and whether it is known to exist.
func condition(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) (is, ok bool) {
	if crd == nil {
		return false, false
	}
	for _, c := range crd.Status.Conditions {
		if c.Type == t {
			return c.Status == apiextensionsv1.ConditionTrue, true
		}
	}
	return false, false
}

// lastChange returns the time of the last write to the CRD, apart from its status. ok is false
// without metadata.managedFields, which kubectl omits by default.
func lastChange(crd *apiextensionsv1.CustomResourceDefinition) (last time.Time, ok bool) {
	for _, m := range crd.ManagedFields {
		if m.Subresource == "" && m.Time != nil && m.Time.After(last) {
			last, ok = m.Time.Time, true
		}
	}
	return last, ok
}
