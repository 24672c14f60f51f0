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
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	upstream "k8s.io/apiserver/pkg/storageversion"
)

// The tests of this file are named for rules of KEP-2339, and quote them.

var (
	routes  = schema.GroupResource{Group: "example.com", Resource: "routes"}
	noon    = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	evening = metav1.NewTime(time.Date(2026, 1, 1, 18, 0, 0, 0, time.UTC))
)

// entry is what server id reports that encodes the version and decodes v1, v2 and v3.
func entry(id, version string) v1alpha1.ServerStorageVersion {
	return v1alpha1.ServerStorageVersion{APIServerID: id, EncodingVersion: version, DecodableVersions: []string{"v1", "v2", "v3"}, ServedVersions: []string{version}}
}

// object has entries, as they were settled at noon.
func object(entries ...v1alpha1.ServerStorageVersion) *v1alpha1.StorageVersion {
	sv := &v1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "example.com.routes", ResourceVersion: "7"}}
	sv.Status.StorageVersions = entries
	settle(sv, noon)
	return sv
}

func start(t *testing.T, sv *v1alpha1.StorageVersion, e v1alpha1.ServerStorageVersion, servers ...string) *v1alpha1.StorageVersion {
	t.Helper()
	next, err := Start(sv, routes, e, sets.New(servers...), evening)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// summary is an object in a line: entries, common version, condition and its time.
func summary(sv *v1alpha1.StorageVersion) string {
	if sv == nil {
		return "deleted"
	}
	var l []string
	for _, e := range sv.Status.StorageVersions {
		l = append(l, e.APIServerID+"="+e.EncodingVersion)
	}
	if sv.Status.CommonEncodingVersion != nil {
		l = append(l, *sv.Status.CommonEncodingVersion)
	}
	for _, c := range sv.Status.Conditions {
		l = append(l, string(c.Status), c.LastTransitionTime.Format("15h"))
	}
	return strings.Join(l, " ")
}

func is(t *testing.T, sv *v1alpha1.StorageVersion, want string) {
	t.Helper()
	if got := summary(sv); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sv == nil {
		return
	}
	if wrong := Validate(sv); len(wrong) > 0 {
		t.Error(wrong)
	}
}

// "The name is <group>.<resource>." "There is one instance of this resource per group
// resource."
func TestName(t *testing.T) {
	if Name(routes) != "example.com.routes" || Name(schema.GroupResource{Resource: "pods"}) != "core.pods" {
		t.Error(Name(routes))
	}
	if _, err := Start(object(), schema.GroupResource{Group: "example.com", Resource: "gates"}, entry("a", "v1"), nil, noon); err == nil {
		t.Error("the object of another resource was taken")
	}
}

// "gets the storageVersion object for this resource, or creates one if it does not exist
// yet"
func TestStartCreatesTheObject(t *testing.T) {
	sv := start(t, nil, entry("a", "v1"), "a")
	is(t, sv, "a=v1 v1 True 18h")
	if sv.Name != "example.com.routes" || sv.ResourceVersion != "" {
		t.Error(sv.ObjectMeta)
	}
}

// "creates or updates the .status.serverStorageVersions, to express this API server's
// decodableVersions, encodingVersion, servedVersions"
func TestStartAddsOrUpdatesItsEntry(t *testing.T) {
	is(t, start(t, object(entry("a", "v1")), entry("b", "v1"), "a", "b"), "a=v1 b=v1 v1 True 12h")
	e := entry("a", "v2")
	sv := start(t, object(entry("a", "v1"), entry("b", "v1")), e, "a", "b")
	is(t, sv, "a=v2 b=v1 False 18h")
	if diff := cmp.Diff(e, sv.Status.StorageVersions[0]); diff != "" {
		t.Error(diff)
	}
}

// "The encodingVersion must be included in the decodableVersions."
// "All servedVersions should be included in decodableVersions."
func TestStartChecksItsEntry(t *testing.T) {
	for want, e := range map[string]v1alpha1.ServerStorageVersion{
		"decodableVersions must include encodingVersion v4":                                      entry("a", "v4"),
		"individual served version : v9 must be included in decodableVersions":                   {APIServerID: "a", EncodingVersion: "v1", DecodableVersions: []string{"v1"}, ServedVersions: []string{"v9"}},
		"entry.apiServerID: Invalid value":                                                       entry("", "v1"),
		`entry.encodingVersion: Invalid value: "a/b/c": an apiVersion is a DNS-1035 label`:       {APIServerID: "a", EncodingVersion: "a/b/c", DecodableVersions: []string{"a/b/c"}},
		`entry.decodableVersions[0]: Invalid value: "_/v1": group part: a lowercase RFC 1123 su`: {APIServerID: "a", EncodingVersion: "_/v1", DecodableVersions: []string{"_/v1"}},
	} {
		if _, err := Start(nil, routes, e, sets.New("a", ""), noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// "removes .status.serverStorageVersions entries whose server ID is not present in the list
// of participating API servers, such entries are stale." As Kubernetes does it, they stay.
func TestStartRemovesStaleEntries(t *testing.T) {
	was := object(entry("a", "v1"), entry("b", "v1"))
	is(t, start(t, was, entry("c", "v2"), "c"), "c=v2 v2 True 18h")
	kept, err := Start(was, routes, entry("c", "v2"), nil, evening)
	if err != nil {
		t.Fatal(err)
	}
	is(t, kept, "a=v1 b=v1 c=v2 False 18h")
}

// "checks if all participating API servers agree on the same storage version. If so, sets
// the version as the status.commonEncodingVersion. If not, sets the
// status.commonEncodingVersion to empty. The "AllEncodingVersionsEqual" status.condition is
// updated accordingly as well."
func TestStartSetsTheCommonVersion(t *testing.T) {
	sv := start(t, object(entry("a", "v1"), entry("b", "v2")), entry("a", "v2"), "a", "b")
	is(t, sv, "a=v2 b=v2 v2 True 18h")
	is(t, start(t, sv, entry("b", "v1"), "a", "b"), "a=v2 b=v1 False 18h")
}

// "Last time the condition transitioned from one status to another." Kubernetes also moves it
// when the agreed version becomes another.
func TestLastTransitionTime(t *testing.T) {
	is(t, start(t, object(entry("a", "v1")), entry("b", "v1"), "a", "b"), "a=v1 b=v1 v1 True 12h")
	is(t, start(t, object(entry("a", "v1"), entry("b", "v2")), entry("c", "v2"), "a", "b", "c"), "a=v1 b=v2 c=v2 False 12h")
	is(t, start(t, object(entry("a", "v1")), entry("a", "v2"), "a"), "a=v2 v2 True 18h")
}

// "If set, this represents the .metadata.generation that the condition was set based upon."
func TestObservedGeneration(t *testing.T) {
	sv := object(entry("a", "v1"))
	sv.Generation = 3
	if got := start(t, sv, entry("b", "v1"), "a", "b").Status.Conditions[0].ObservedGeneration; got != 3 {
		t.Error(got)
	}
}

// "updates the storageVersion object, using the rv in the first step to avoid conflicting
// with other API servers."
func TestTheResourceVersionIsKept(t *testing.T) {
	was := object(entry("a", "v1"), entry("b", "v1"))
	copied := was.DeepCopy()
	collected, _ := Collect(was, sets.New("a"), evening)
	if rv := collected.ResourceVersion; rv != "7" {
		t.Error("collecting: ", rv)
	}
	if rv := start(t, was, entry("c", "v1"), "c").ResourceVersion; rv != "7" {
		t.Error("starting: ", rv)
	}
	if diff := cmp.Diff(copied, was); diff != "" {
		t.Error("an argument was changed: ", diff)
	}
}

// "locally, removes the stale entries (1st kind of garbage)"; "after the removal, if all
// participating API servers have the same encodingVersion, then sets
// storageVersion.status.AgreedEncodingVersion and status.condtion."
func TestCollectRemovesStaleEntries(t *testing.T) {
	sv, changed := Collect(object(entry("a", "v1"), entry("b", "v2"), entry("c", "v1")), sets.New("a", "c", "d"), evening)
	is(t, sv, "a=v1 c=v1 v1 True 18h")
	again, twice := Collect(sv, sets.New("a", "c"), evening)
	is(t, again, "a=v1 c=v1 v1 True 18h")
	if !changed || twice {
		t.Error(changed, twice)
	}
}

// "checks if the storageVersion.status.serverStorageVersions is empty, if empty, deletes the
// storageVersion object (2nd kind of garbage)"
func TestCollectDeletesTheObject(t *testing.T) {
	for _, sv := range []*v1alpha1.StorageVersion{object(), object(entry("a", "v1"))} {
		next, changed := Collect(sv, sets.New("b"), evening)
		is(t, next, "deleted")
		if !changed {
			t.Error("nothing to do")
		}
	}
}

// "An API server needs to establish its membership in the list of participating API servers
// before updating storageVersion, otherwise the above control loop can mistake a
// storageVersion.status.serverStorageVersions entry added by a new API server as a stale
// entry."
func TestServersRegisterFirst(t *testing.T) {
	if _, err := Start(nil, routes, entry("a", "v1"), sets.New("b"), noon); err == nil || !strings.Contains(err.Error(), "register it first") {
		t.Error(err)
	}
}

// "we assume all API servers have access to the list of all participating API servers via
// some API": the leases that identify API servers.
func TestServersAreThoseWithLeases(t *testing.T) {
	lease := func(namespace, name, is string) coordinationv1.Lease {
		return coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"apiserver.kubernetes.io/identity": is}}}
	}
	got := Servers([]coordinationv1.Lease{
		lease("kube-system", "apiserver-a", "kube-apiserver"), lease("kube-system", "aggregated", "sample-apiserver"),
		lease("default", "apiserver-b", "kube-apiserver"), {ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}},
	})
	if !got.Equal(sets.New("apiserver-a")) {
		t.Error(got)
	}
}

// "If all API server instances agree on the same encoding storage version, then this field
// is set to that version. Otherwise this field is left empty."
// "The API server can decode objects encoded in these versions." "The API server can serve
// these versions."
func TestVersionsOfAllServers(t *testing.T) {
	a := v1alpha1.ServerStorageVersion{APIServerID: "a", EncodingVersion: "v1", DecodableVersions: []string{"v3", "v1", "v2"}, ServedVersions: []string{"v1", "v2"}}
	b := v1alpha1.ServerStorageVersion{APIServerID: "b", EncodingVersion: "v2", DecodableVersions: []string{"v2", "v3"}, ServedVersions: []string{"v2"}}
	for _, tt := range []struct {
		entries []v1alpha1.ServerStorageVersion
		want    string
	}{
		{nil, ` false [] [] []`},
		{[]v1alpha1.ServerStorageVersion{a}, `v1 true [v1] [v3 v1 v2] [v1 v2]`},
		{[]v1alpha1.ServerStorageVersion{a, b}, ` false [v1 v2] [v3 v2] [v2]`},
		{[]v1alpha1.ServerStorageVersion{b, b}, `v2 true [v2] [v2 v3] [v2]`},
	} {
		version, ok := Agreed(tt.entries)
		if got := fmt.Sprintf("%s %v %v %v %v", version, ok, Encoded(tt.entries), Decodable(tt.entries), Served(tt.entries)); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	if !slices.Equal(a.DecodableVersions, []string{"v3", "v1", "v2"}) {
		t.Error("an argument was changed")
	}
}

// "starts migration if the storageVersion.status.commonEncodingVersion differs from the
// storageState.status.persistedStorageVersionHashes, aborts ongoing migration if the
// storageVersion.status.commonEncodingVersion is empty."
func TestMigratorStartsAndAborts(t *testing.T) {
	agreed, mixed := object(entry("a", "v2"), entry("b", "v2")), object(entry("a", "v1"), entry("b", "v2"))
	for _, tt := range []struct {
		sv           *v1alpha1.StorageVersion
		stored       []string
		start, abort bool
	}{
		{agreed, []string{"v1"}, true, false},
		{agreed, []string{"v1", "v2"}, true, false},
		{agreed, []string{"v2"}, false, false},
		{mixed, []string{"v1", "v2"}, false, true},
		{object(), []string{"v1"}, false, true},
	} {
		if start, abort := ShouldStart(tt.sv, tt.stored), ShouldAbort(tt.sv); start != tt.start || abort != tt.abort {
			t.Errorf("%s, stored in %v: start %v, abort %v", summary(tt.sv), tt.stored, start, abort)
		}
	}
}

// "the migrator can determine if the storage version has changed in the middle of migration
// by comparing the RV of the storageVersion object before and after the migration"
func TestMigratorComparesResourceVersions(t *testing.T) {
	before, later, other := object(entry("a", "v1")), object(entry("a", "v1")), object(entry("a", "v1"))
	later.ResourceVersion, other.UID = "8", "1"
	if Disturbed(before, before.DeepCopy()) || !Disturbed(before, later) || !Disturbed(before, other) {
		t.Error("wrong")
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

// What is written is what Kubernetes' own function writes, but for the clock.
func TestSettleAsUpstream(t *testing.T) {
	versions := []string{"v1", "v2"}
	for n := range 4 { // entries
		for mask := range 1 << n {
			for _, common := range []*string{nil, &versions[0], &versions[1]} {
				for _, status := range []v1alpha1.ConditionStatus{"", v1alpha1.ConditionTrue, v1alpha1.ConditionFalse, v1alpha1.ConditionUnknown} {
					sv := &v1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Generation: 5}}
					for i := range n {
						sv.Status.StorageVersions = append(sv.Status.StorageVersions, entry(fmt.Sprint(i), versions[mask>>i&1]))
					}
					sv.Status.CommonEncodingVersion = common
					sv.Status.Conditions = []v1alpha1.StorageVersionCondition{{Type: "Other"}}
					if status != "" {
						sv.Status.Conditions = append(sv.Status.Conditions, v1alpha1.StorageVersionCondition{Type: v1alpha1.AllEncodingVersionsEqual, Status: status, LastTransitionTime: noon})
					}
					ours, theirs := sv.DeepCopy(), sv.DeepCopy()
					settle(ours, evening)
					upstream.SetCommonEncodingVersion(theirs)
					if at := &theirs.Status.Conditions[1].LastTransitionTime; !at.Equal(&noon) {
						*at = evening
					}
					if diff := cmp.Diff(theirs, ours); diff != "" {
						t.Errorf("%s: %s", summary(sv), diff)
					}
				}
			}
		}
	}
}
