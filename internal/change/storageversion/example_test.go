package storageversion_test

import (
	"fmt"

	"k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/unioncel/unioncel/internal/change/storageversion"
)

// Two servers are upgraded. They disagree until both run the new version.
func ExampleStart() {
	var entries []v1alpha1.ServerStorageVersion
	for _, started := range []struct{ id, version string }{{"a", "v1"}, {"b", "v1"}, {"a", "v2"}, {"b", "v2"}} {
		entries = storageversion.Start(entries, v1alpha1.ServerStorageVersion{
			APIServerID: started.id, EncodingVersion: started.version, DecodableVersions: []string{"v1", "v2"},
		})
		agreed, ok := storageversion.Agreed(entries)
		fmt.Printf("%q %v\n", agreed, ok)
	}
	// Output:
	// "v1" true
	// "v1" true
	// "" false
	// "v2" true
}
