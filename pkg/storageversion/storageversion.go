package storageversion

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Name is the name of the object of a resource: <group>.<resource>. The group without a name
// is called core.
func Name(r schema.GroupResource) string {
	return cmp.Or(r.Group, "core") + "." + r.Resource
}

// Servers are the ids of the API servers that take part, by the leases of a cluster.
func Servers(leases []coordinationv1.Lease) sets.Set[string] {
	ids := sets.New[string]()
	for _, l := range leases {
		if l.Namespace == metav1.NamespaceSystem && l.Labels["apiserver.kubernetes.io/identity"] == "kube-apiserver" {
			ids.Insert(l.Name)
		}
	}
	return ids
}

// Agreed returns the version in which all servers encode objects. It is not ok when they
// differ, and when there is none.
func Agreed(entries []v1alpha1.ServerStorageVersion) (version string, ok bool) {
	for i, e := range entries {
		if i > 0 && e.EncodingVersion != version {
			return "", false
		}
		version = e.EncodingVersion
	}
	return version, len(entries) > 0
}

// Encoded returns the versions in which some server encodes objects, in the order of the
// entries.
func Encoded(entries []v1alpha1.ServerStorageVersion) []string {
	var l []string
	for _, e := range entries {
		if !slices.Contains(l, e.EncodingVersion) {
			l = append(l, e.EncodingVersion)
		}
	}
	return l
}

// Decodable returns the versions that every server can decode, in the order of the first.
func Decodable(entries []v1alpha1.ServerStorageVersion) []string {
	return inAll(entries, func(e v1alpha1.ServerStorageVersion) []string { return e.DecodableVersions })
}

// Served returns the versions that every server serves, in the order of the first.
func Served(entries []v1alpha1.ServerStorageVersion) []string {
	return inAll(entries, func(e v1alpha1.ServerStorageVersion) []string { return e.ServedVersions })
}

func inAll(entries []v1alpha1.ServerStorageVersion, of func(v1alpha1.ServerStorageVersion) []string) []string {
	if len(entries) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(of(entries[0])), func(v string) bool {
		return slices.ContainsFunc(entries, func(e v1alpha1.ServerStorageVersion) bool { return !slices.Contains(of(e), v) })
	})
}

// Start returns what an API server that starts writes for a resource: the object with its
// entry added or updated. The object is nil when there is none yet. Servers are the ids of
// those that take part; the entries of others are stale, and go. A nil set means that the
// list is not known: then all entries stay.
//
// It is an error when the entry is invalid, and when the server itself does not take part:
// the garbage collector would take its entry for a stale one.
func Start(sv *v1alpha1.StorageVersion, r schema.GroupResource, entry v1alpha1.ServerStorageVersion, servers sets.Set[string], now metav1.Time) (*v1alpha1.StorageVersion, error) {
	if err := validateEntry(entry, field.NewPath("entry")).ToAggregate(); err != nil {
		return nil, err
	}
	if servers != nil && !servers.Has(entry.APIServerID) {
		return nil, fmt.Errorf("%s is not among the API servers that take part: register it first", entry.APIServerID)
	}
	if sv == nil {
		sv = &v1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: Name(r)}}
	} else if sv.Name != Name(r) {
		return nil, fmt.Errorf("%s is not the object of %s", sv.Name, r)
	}
	next := sv.DeepCopy()
	entries := &next.Status.StorageVersions
	if servers != nil {
		*entries = current(*entries, servers)
	}
	entry = *entry.DeepCopy()
	if i := slices.IndexFunc(*entries, func(e v1alpha1.ServerStorageVersion) bool { return e.APIServerID == entry.APIServerID }); i >= 0 {
		(*entries)[i] = entry
	} else {
		*entries = append(*entries, entry)
	}
	settle(next, now)
	return next, nil
}

// Collect returns an object without the entries of servers that do not take part, and
// whether that differs from what was there. The result is nil when no entry is left: then
// the object is to be deleted.
func Collect(sv *v1alpha1.StorageVersion, servers sets.Set[string], now metav1.Time) (next *v1alpha1.StorageVersion, changed bool) {
	next = sv.DeepCopy()
	next.Status.StorageVersions = current(next.Status.StorageVersions, servers)
	if len(next.Status.StorageVersions) == 0 {
		return nil, true
	}
	settle(next, now)
	return next, !equality.Semantic.DeepEqual(sv, next)
}

func current(entries []v1alpha1.ServerStorageVersion, servers sets.Set[string]) []v1alpha1.ServerStorageVersion {
	return slices.DeleteFunc(entries, func(e v1alpha1.ServerStorageVersion) bool { return !servers.Has(e.APIServerID) })
}

// settle sets the common encoding version and the condition from the entries. It does what
// SetCommonEncodingVersion of k8s.io/apiserver/pkg/storageversion does, which reads the
// clock and brings a client of every API with it; a test holds the two together.
func settle(sv *v1alpha1.StorageVersion, now metav1.Time) {
	was := sv.Status.CommonEncodingVersion
	condition := v1alpha1.StorageVersionCondition{
		Type: v1alpha1.AllEncodingVersionsEqual, Status: v1alpha1.ConditionFalse, ObservedGeneration: sv.Generation,
		LastTransitionTime: now, Reason: "CommonEncodingVersionUnset", Message: "Common encoding version unset",
	}
	sv.Status.CommonEncodingVersion = nil
	if version, ok := Agreed(sv.Status.StorageVersions); ok {
		sv.Status.CommonEncodingVersion = &version
		condition.Status, condition.Reason, condition.Message = v1alpha1.ConditionTrue, "CommonEncodingVersionSet", "Common encoding version set"
	}
	is := sv.Status.CommonEncodingVersion
	i := slices.IndexFunc(sv.Status.Conditions, func(c v1alpha1.StorageVersionCondition) bool { return c.Type == condition.Type })
	if i < 0 {
		sv.Status.Conditions = append(sv.Status.Conditions, condition)
		return
	}
	other := was != nil && is != nil && *was != *is
	if old := sv.Status.Conditions[i]; old.Status == condition.Status && !other {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	sv.Status.Conditions[i] = condition
}

// ShouldStart reports whether a migrator starts to rewrite the objects of a resource, which
// are stored in the given versions: when all servers agree on a version, and not everything
// is stored in it.
func ShouldStart(sv *v1alpha1.StorageVersion, stored []string) bool {
	common := sv.Status.CommonEncodingVersion
	return common != nil && slices.ContainsFunc(stored, func(v string) bool { return v != *common })
}

// ShouldAbort reports whether a migrator aborts: when the servers do not agree any more.
func ShouldAbort(sv *v1alpha1.StorageVersion) bool { return sv.Status.CommonEncodingVersion == nil }

// Disturbed reports whether the object has changed between the start of a migration and its
// end, so that objects may have been written in another version meanwhile.
func Disturbed(before, after *v1alpha1.StorageVersion) bool {
	return before.UID != after.UID || before.ResourceVersion != after.ResourceVersion
}
