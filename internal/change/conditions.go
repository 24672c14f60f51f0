package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// rejections returns the errors of the API server's own validation of the update.
func (f *Facts) rejections() (l []string) {
	old, err := server.InternalCRD(f.From)
	to, wrong := server.InternalCRD(f.To)
	if err := errors.Join(err, wrong); err != nil {
		return []string{err.Error()}
	}
	old.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: apiextensions.Established, Status: apiextensions.ConditionTrue}}
	// The API server takes fields that clients omit from the old object.
	labels, annotations := to.Labels, to.Annotations
	old.ResourceVersion = cmp.Or(old.ResourceVersion, "1")
	to.ObjectMeta = *old.ObjectMeta.DeepCopy()
	to.Labels, to.Annotations = labels, annotations
	// The step migration checks the other versions in which objects are stored.
	to.Status.StoredVersions = []string{storage(f.To)}
	for _, err := range validation.ValidateCustomResourceDefinitionUpdate(context.Background(), to, old) {
		if r, ok := err.BadValue.(apiextensions.ValidationRule); ok {
			err.BadValue = r.Rule
		}
		l = append(l, err.Error())
	}
	slices.Sort(l) // the validation iterates over maps
	return l
}

// The releases with the APIs that plans use.
var (
	rules       = version.MajorMinor(1, 25) // x-kubernetes-validations
	validating  = version.MajorMinor(1, 30) // ValidatingAdmissionPolicy
	mutating    = version.MajorMinor(1, 36) // MutatingAdmissionPolicy
	migrationA  = version.MajorMinor(1, 30) // alpha StorageVersionMigration
	migrationB  = version.MajorMinor(1, 35) // beta, off by default
	migrationGA = version.MajorMinor(1, 37)
)

// oldest returns the version of the oldest server, or nil if the servers are unknown.
func (f *Facts) oldest() *version.Version {
	var v *version.Version
	for _, s := range f.Servers {
		if v == nil || s.Version.LessThan(v) {
			v = s.Version
		}
	}
	return v
}

// olderThan reports whether a server is known to be older than a version.
func (f *Facts) olderThan(v *version.Version) bool {
	oldest := f.oldest()
	return oldest != nil && oldest.LessThan(v)
}

// allRules returns the rules of all versions.
func allRules(crd *apiextensionsv1.CustomResourceDefinition) (l []apiextensionsv1.ValidationRule) {
	for _, v := range crd.Spec.Versions {
		schemapath.Walk(SchemaOf(crd, v.Name), func(_ schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			l = append(l, s.XValidations...)
			return true
		})
	}
	return l
}

// features returns the features of rules that the change is the first to use.
func (f *Facts) features() (l []server.Feature) {
	old, added := allRules(f.From), allRules(f.To)
	rule := server.Feature{Name: "x-kubernetes-validations", Since: rules, In: func(apiextensionsv1.ValidationRule) bool { return true }}
	for _, feature := range append([]server.Feature{rule}, server.Features...) {
		if slices.ContainsFunc(added, feature.In) && !slices.ContainsFunc(old, feature.In) {
			l = append(l, feature)
		}
	}
	return l
}

// since returns the oldest version of API servers that have all features.
func (f *Facts) since() *version.Version {
	since := rules
	for _, feature := range f.features() {
		if since.LessThan(feature.Since) {
			since = feature.Since
		}
	}
	return since
}

// needs lists the features.
func (f *Facts) needs() (lines []string) {
	for _, feature := range f.features() {
		lines = append(lines, fmt.Sprintf("%s: since v%s", feature.Name, minor(feature.Since)))
	}
	return lines
}

// needed lists the features that the rules need, and the rules that not every server can compile.
func (f *Facts) needed() []string { return append(f.needs(), f.uncompiledBy(rules)...) }

func (f *Facts) uncompiled() []string { return f.uncompiledBy(f.oldest()) }

// uncompiledBy lists the new rules that a server of a version cannot compile.
func (f *Facts) uncompiledBy(v *version.Version) (lines []string) {
	old := allRules(f.From)
	for _, fault := range server.Faults(f.To, v) {
		same := func(r apiextensionsv1.ValidationRule) bool {
			return r.Rule == fault.Rule.Rule && r.MessageExpression == fault.Rule.MessageExpression
		}
		if fault.Feature == nil && !slices.ContainsFunc(old, same) {
			lines = append(lines, fmt.Sprintf("%s: %s (%s)", cmp.Or(fault.Path.String(), "the object"), fault.Message, fault.Rule.Rule))
		}
	}
	return lines
}

// oldServers lists the servers that are older than the rules require.
func (f *Facts) oldServers() (l []string) {
	since := f.since()
	for _, server := range f.Servers {
		if server.Version.LessThan(since) {
			l = append(l, server.String())
		}
	}
	return l
}

// rejects describes each change by which stored objects may become invalid or lose fields, in one
// line each.
func (f *Facts) rejects() []string {
	if f.Changes == nil {
		return []string{"the objects that the change rejects are unknown"}
	}
	var l []string
	for _, c := range f.Changes.Changes {
		if c.MattersToStored() {
			l = append(l, inLine(c))
		}
	}
	if !f.applied() && storage(f.From) != storage(f.To) && len(l) == 0 {
		l = append(l, storage(f.To)+" is the storage version")
	}
	return unique(slices.Concat(l, f.drops(), f.narrows()))
}

// unique returns each line once, in order.
func unique(lines []string) (l []string) {
	for _, text := range lines {
		if !slices.Contains(l, text) {
			l = append(l, text)
		}
	}
	return l
}

// inLine describes a change in one line.
func inLine(c Change) string {
	text := c.What
	if at := c.Path.String(); at != "" {
		text = at + ": " + text
	}
	if c.Class == Undecided {
		text += " (undecided: " + c.Undecided + ")"
	}
	return text
}

// doubt returns what an accepting schema leaves open.
func (f *Facts) doubt() string {
	if l := f.added(); Converts(f.To) && len(l) > 0 {
		return "The webhook's conversion of stored objects in " + strings.Join(l, ", ") + " is unknown: ask again when that is served, with --objects in it."
	}
	constrains := func(c Change) bool { return c.Sort != VersionSort && c.Kind != Removed }
	if f.Changes != nil && slices.ContainsFunc(f.Changes.Changes, constrains) {
		return "Stored objects that the old CRD rejects may still be affected: give --objects if there may be some."
	}
	return ""
}

func (f *Facts) invalid() []string { return f.Objects.Examples }
func (f *Facts) lost() []string    { return f.Objects.Lost }

// findWarnings sets the unions whose new violations a policy can warn of.
func (f *Facts) findWarnings() {
	if f.Changes == nil || f.Kinds == nil {
		return
	}
	for _, c := range f.Changes.Changes {
		for _, k := range slices.Concat(f.Kinds.ByKind()...) {
			for _, alone := range k.Split() {
				o := slices.Concat(alone.Objects, alone.Lists)[0]
				if c.Sort == UnionSort && c.Class.Refuses() && k.Version == c.NewVersion && o.Path.Equal(c.Path) && violates(c, o) {
					if policies, _ := policy.Validating([]union.Kind{alone}, policy.Options{}); len(policies) > 0 {
						f.warned, f.warnings = append(f.warned, alone), append(f.warnings, inLine(c))
					}
				}
			}
		}
	}
	f.warnings = unique(f.warnings)
}

// warnOf lists the changes that a policy can warn of, unless the step for objects lists them.
func (f *Facts) warnOf() []string {
	if f.Objects == nil {
		return nil
	}
	return f.warnings
}

// clears reports whether a policy can clear members that clients leave set.
func (f *Facts) clears() bool {
	return f.Servers != nil && !f.olderThan(mutating) && slices.ContainsFunc(f.warned, func(k union.Kind) bool {
		policies, _, err := policy.Mutating([]union.Kind{k}, policy.Options{})
		return err == nil && len(policies) > 0
	})
}

// violates reports whether the example of a change violates the new unions of an object, so that a
// policy finds such requests. A policy does not detect removed members. The result is true if the
// change has no example.
func violates(c Change, o union.Instances) bool {
	if c.Refused == nil {
		return true
	}
	is, was := valuesAt(c.Path, c.Refused.Object), valuesAt(c.Path, c.Refused.Old)
	for i, v := range is {
		for _, u := range o.Unions {
			var old *union.State
			if len(was) == len(is) {
				old = new(u.StateOf(was[i]))
			}
			if len(u.Judge(old, u.StateOf(v))) > 0 {
				return true
			}
		}
	}
	return len(is) < len(was) // a removal guard
}

// valuesAt returns the values at a path in an object.
func valuesAt(path schemapath.Path, object any) []any {
	l := []any{object}
	for _, step := range path {
		name, property := step.Property()
		var next []any
		for _, v := range l {
			switch v := v.(type) {
			case map[string]any:
				for _, key := range slices.Sorted(maps.Keys(v)) {
					if !property || key == name && v[key] != nil {
						next = append(next, v[key])
					}
				}
			case []any:
				next = append(next, v...)
			}
		}
		l = next
	}
	return l
}

// current returns the CRD in the cluster.
func (f *Facts) current() *apiextensionsv1.CustomResourceDefinition {
	if f.applied() {
		return f.To
	}
	return f.From
}

// gone returns the versions that the change removes.
func (f *Facts) gone() []string {
	return versionNames(f.From, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return !has(f.To, v.Name) })
}

// migrates reports whether the stored objects have to be in the storage version now: after the
// change, or because objects may be stored in another version that the change removes.
func (f *Facts) migrates() bool {
	gone := f.gone()
	if f.applied() || len(gone) == 0 || slices.Contains(gone, storage(f.From)) {
		return f.applied()
	}
	return f.Live == nil || slices.ContainsFunc(gone, func(v string) bool { return slices.Contains(f.Live.Status.StoredVersions, v) })
}

// stale returns the versions other than the storage version in which objects may be stored.
func (f *Facts) stale() []string {
	return slices.DeleteFunc(slices.Clone(f.Live.Status.StoredVersions), func(v string) bool { return v == storage(f.current()) })
}

func (f *Facts) migrating() bool {
	return f.Live != nil && apihelpers.IsCRDConditionTrue(f.Live, apiextensionsv1.StorageMigrating)
}

// noted reports whether the status of the CRD mentions a migration. One that has succeeded then has not trimmed
// status.storedVersions.
func (f *Facts) noted() bool {
	return apihelpers.FindCRDCondition(f.Live, apiextensionsv1.StorageMigrating) != nil
}

// lacksMigrations reports whether there may be a migration that the facts lack. Servers that record
// migrations in CRDs may have recorded none, or no server may have an API for migrations.
func (f *Facts) lacksMigrations() bool {
	without := !slices.ContainsFunc(f.Servers, func(s Server) bool { return !s.Version.LessThan(migrationA) })
	return f.Migrations == nil && (len(f.Servers) == 0 || !without && (f.noted() || f.olderThan(migrationGA)))
}

// lastMigration returns the most recent migration, or nil if there is none.
func (f *Facts) lastMigration() (last *storagemigrationv1.StorageVersionMigration) {
	for i, m := range f.Migrations {
		if last == nil || m.CreationTimestamp.After(last.CreationTimestamp.Time) {
			last = &f.Migrations[i]
		}
	}
	return last
}

// lastState returns the state of the last migration.
func (f *Facts) lastState() StepState {
	last := f.lastMigration()
	switch changed, ok := lastChange(f.Live); {
	case last == nil:
		return Next
	case is(*last, storagemigrationv1.MigrationFailed):
		return Stopped
	case !is(*last, storagemigrationv1.MigrationSucceeded):
		return Waiting
	case f.noted():
		return Next
	case !ok:
		return Unknown
	case last.CreationTimestamp.After(changed):
		return Done
	}
	return Next
}

// is reports whether a condition of a migration is true.
func is(m storagemigrationv1.StorageVersionMigration, condition storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(condition))
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

// printObjects returns the command that prints the objects in a version, even if kubectl prefers
// another version.
func (f *Facts) printObjects(version string) string {
	r := f.Resource()
	if now := f.current(); !served(now, version) || len(now.Spec.Versions) == 1 {
		return "kubectl get " + r.String() + " -A -o yaml --show-managed-fields"
	}
	return fmt.Sprintf("kubectl get %s.%s.%s -A -o yaml --show-managed-fields", r.Resource, version, r.Group)
}
