package storageversion_test

import (
	"fmt"
	"time"

	"k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unioncel/unioncel/pkg/storageversion"
)

// An upgrade of two servers: in between they do not agree.
func ExampleStart() {
	routes := schema.GroupResource{Group: "example.com", Resource: "routes"}
	servers := sets.New("a", "b")
	now := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	var sv *v1alpha1.StorageVersion
	for _, started := range []struct{ id, version string }{{"a", "v1"}, {"b", "v1"}, {"a", "v2"}, {"b", "v2"}} {
		next, err := storageversion.Start(sv, routes, v1alpha1.ServerStorageVersion{
			APIServerID: started.id, EncodingVersion: started.version, DecodableVersions: []string{"v1", "v2"},
		}, servers, now)
		if err != nil {
			fmt.Println(err)
			return
		}
		sv = next
		agreed, ok := storageversion.Agreed(sv.Status.StorageVersions)
		fmt.Printf("%q %v\n", agreed, ok)
	}
	// Output:
	// "v1" true
	// "v1" true
	// "" false
	// "v2" true
}
