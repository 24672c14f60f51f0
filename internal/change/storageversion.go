package change

import (
	"cmp"
	"strings"

	"k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// StorageVersionName returns the name of the StorageVersion of a resource: <group>.<resource>. The name of group
// "" is core.
func StorageVersionName(r schema.GroupResource) string {
	return cmp.Or(r.Group, "core") + "." + r.Resource
}

// ValidateStorageVersionName returns the API server's errors for the name of a StorageVersion. It follows
// ValidateStorageVersion of k8s.io/kubernetes/pkg/apis/apiserverinternal/validation, which cannot
// be imported.
func ValidateStorageVersionName(name string) []string {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	var l []string
	for _, message := range validation.IsDNS1123Subdomain(name[:i]) {
		l = append(l, "the group segment "+message)
	}
	for _, message := range validation.IsDNS1035Label(name[i+1:]) {
		l = append(l, "the resource segment "+message)
	}
	return l
}

// AgreedStorageVersion returns the version in which all servers encode objects. ok is false if the servers
// differ, or if there are no entries.
func AgreedStorageVersion(entries []v1alpha1.ServerStorageVersion) (version string, ok bool) {
	for i, e := range entries {
		if i > 0 && e.EncodingVersion != version {
			return "", false
		}
		version = e.EncodingVersion
	}
	return version, len(entries) > 0
}
