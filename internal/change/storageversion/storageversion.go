package storageversion

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Name returns the name of the StorageVersion of a resource: <group>.<resource>. The name of group
// "" is core.
func Name(r schema.GroupResource) string {
	return cmp.Or(r.Group, "core") + "." + r.Resource
}

// Agreed returns the version in which all servers encode objects. ok is false if the servers
// differ, or if there are no entries.
func Agreed(entries []v1alpha1.ServerStorageVersion) (version string, ok bool) {
	for i, e := range entries {
		if i > 0 && e.EncodingVersion != version {
			return "", false
		}
		version = e.EncodingVersion
	}
	return version, len(entries) > 0
}

// Decodable returns the versions that every server can decode, in the order of the first entry.
func Decodable(entries []v1alpha1.ServerStorageVersion) []string {
	if len(entries) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(entries[0].DecodableVersions), func(v string) bool {
		return slices.ContainsFunc(entries, func(e v1alpha1.ServerStorageVersion) bool { return !slices.Contains(e.DecodableVersions, v) })
	})
}

// Start returns the entries after an API server has started or noticed a change of the resource. It
// adds or updates the entry of this server.
func Start(entries []v1alpha1.ServerStorageVersion, entry v1alpha1.ServerStorageVersion) []v1alpha1.ServerStorageVersion {
	entries = slices.Clone(entries)
	if i := slices.IndexFunc(entries, func(e v1alpha1.ServerStorageVersion) bool { return e.APIServerID == entry.APIServerID }); i >= 0 {
		entries[i] = entry
		return entries
	}
	return append(entries, entry)
}

// Collect returns the entries after a run of the garbage collector, which removes the entries of
// servers that are not given.
func Collect(entries []v1alpha1.ServerStorageVersion, servers sets.Set[string]) []v1alpha1.ServerStorageVersion {
	return slices.DeleteFunc(slices.Clone(entries), func(e v1alpha1.ServerStorageVersion) bool { return !servers.Has(e.APIServerID) })
}

// Disturbed reports whether the servers agreed only after a migration had begun. Objects may then
// have been written in another version during the migration. The proposal compares the
// resourceVersion before and after a migration. Disturbed has only one observation of the object,
// so it uses the transition time of the condition AllEncodingVersionsEqual.
func Disturbed(sv *v1alpha1.StorageVersion, began time.Time) bool {
	return slices.ContainsFunc(sv.Status.Conditions, func(c v1alpha1.StorageVersionCondition) bool {
		return c.Type == v1alpha1.AllEncodingVersionsEqual && !began.After(c.LastTransitionTime.Time)
	})
}
