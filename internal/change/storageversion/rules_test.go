package storageversion

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// The comments of these tests quote the rules of KEP-2339.

// entry returns the entry of server id, which encodes the version and decodes v1, v2 and v3.
func entry(id, version string) v1alpha1.ServerStorageVersion {
	return v1alpha1.ServerStorageVersion{APIServerID: id, EncodingVersion: version, DecodableVersions: []string{"v1", "v2", "v3"}}
}

// is compares entries with their summary.
func is(t *testing.T, got []v1alpha1.ServerStorageVersion, want string) {
	t.Helper()
	var l []string
	for _, e := range got {
		l = append(l, e.APIServerID+"="+e.EncodingVersion)
	}
	if s := strings.Join(l, " "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// "The name is <group>.<resource>." "There is one instance of this resource per group
// resource."
func TestName(t *testing.T) {
	routes := schema.GroupResource{Group: "example.com", Resource: "routes"}
	if Name(routes) != "example.com.routes" || Name(schema.GroupResource{Resource: "pods"}) != "core.pods" {
		t.Error(Name(routes))
	}
}

// "creates or updates the .status.serverStorageVersions, to express this API server's
// decodableVersions, encodingVersion, servedVersions"
func TestStartAddsOrUpdatesItsEntry(t *testing.T) {
	is(t, Start(nil, entry("a", "v1")), "a=v1")
	was := []v1alpha1.ServerStorageVersion{entry("a", "v1"), entry("b", "v1")}
	is(t, Start(was, entry("c", "v2")), "a=v1 b=v1 c=v2")
	is(t, Start(was, entry("a", "v2")), "a=v2 b=v1")
	is(t, was, "a=v1 b=v1")
}

// "locally, removes the stale entries (1st kind of garbage)"; "if empty, deletes the
// storageVersion object (2nd kind of garbage)".
func TestCollectRemovesStaleEntries(t *testing.T) {
	was := []v1alpha1.ServerStorageVersion{entry("a", "v1"), entry("b", "v2"), entry("c", "v1")}
	is(t, Collect(was, sets.New("a", "c", "d")), "a=v1 c=v1")
	is(t, Collect(was, sets.New("d")), "")
	is(t, was, "a=v1 b=v2 c=v1")
}

// "If all API server instances agree on the same encoding storage version, then this field
// is set to that version. Otherwise this field is left empty."
// "The API server can decode objects encoded in these versions."
func TestVersionsOfAllServers(t *testing.T) {
	a := v1alpha1.ServerStorageVersion{APIServerID: "a", EncodingVersion: "v1", DecodableVersions: []string{"v3", "v1", "v2"}}
	b := v1alpha1.ServerStorageVersion{APIServerID: "b", EncodingVersion: "v2", DecodableVersions: []string{"v2", "v3"}}
	for _, tt := range []struct {
		entries []v1alpha1.ServerStorageVersion
		want    string
	}{
		{nil, ` false []`},
		{[]v1alpha1.ServerStorageVersion{a}, `v1 true [v3 v1 v2]`},
		{[]v1alpha1.ServerStorageVersion{a, b}, ` false [v3 v2]`},
		{[]v1alpha1.ServerStorageVersion{b, b}, `v2 true [v2 v3]`},
	} {
		version, ok := Agreed(tt.entries)
		if got := fmt.Sprintf("%s %v %v", version, ok, Decodable(tt.entries)); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	if !slices.Equal(a.DecodableVersions, []string{"v3", "v1", "v2"}) {
		t.Error("an argument was changed")
	}
}

// "the migrator can determine if the storage version has changed in the middle of migration".
func TestDisturbed(t *testing.T) {
	agreed := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	sv := &v1alpha1.StorageVersion{}
	if Disturbed(sv, agreed) {
		t.Error("without a condition")
	}
	sv.Status.Conditions = []v1alpha1.StorageVersionCondition{
		{Type: "Other", LastTransitionTime: metav1.NewTime(agreed.Add(time.Hour))},
		{Type: v1alpha1.AllEncodingVersionsEqual, Status: v1alpha1.ConditionTrue, LastTransitionTime: metav1.NewTime(agreed)},
	}
	for after, want := range map[time.Duration]bool{-time.Second: true, 0: true, time.Second: false} {
		if Disturbed(sv, agreed.Add(after)) != want {
			t.Errorf("a migration %s after the servers agreed: %v", after, !want)
		}
	}
}

// testdata/validate.json has random objects and the errors of ValidateStorageVersion of
// k8s.io/kubernetes v1.37.2, whose package cannot be imported.
func TestValidateAsTheServer(t *testing.T) {
	text, err := os.ReadFile("testdata/validate.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct {
		Object v1alpha1.StorageVersion
		Errors []string
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorded {
		t.Run(strings.Join(r.Errors, ", "), func(t *testing.T) {
			var got []string
			for _, err := range Validate(&r.Object) {
				got = append(got, err.Error())
			}
			slices.Sort(got)
			if d := cmp.Diff(r.Errors, got); d != "" {
				t.Error(d)
			}
		})
	}
}
