package change

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apiserver/pkg/storageversion"
)

// TestKEP2339 has a row for each rule of KEP-2339 about names and agreement. The errors of names are
// the beginnings of those of Kubernetes 1.37.2. The API server's own code agrees on the same versions.
func TestKEP2339(t *testing.T) {
	name := func(group, resource string) string {
		return StorageVersionName(schema.GroupResource{Group: group, Resource: resource})
	}
	for _, tt := range []struct {
		rule string
		name string
		bad  []string // the errors of the name
		// servers has the encoding versions of API servers.
		servers []string
		agreed  string
	}{
		{rule: "The name is <group>.<resource>", name: name("example.com", "routes")},
		{rule: "the core group has the name core", name: name("", "pods")},
		{rule: "a name needs a group", name: "routes", bad: []string{"name must be in the form of <group>.<resource>"}},
		{rule: "the group is a DNS subdomain", name: ".pods", bad: []string{"the group segment a lowercase RFC 1123 subdomain"}},
		{rule: "the resource is a DNS label", name: "example.com.Routes", bad: []string{"the resource segment a DNS-1035 label"}},
		{rule: "both", name: "Example.com.Routes", bad: []string{"the group segment a lowercase RFC 1123 subdomain", "the resource segment a DNS-1035 label"}},

		{rule: "without entries, no version is agreed on", name: "core.pods"},
		{rule: "one server agrees with itself", name: "core.pods", servers: []string{"v1"}, agreed: "v1"},
		{rule: "all API server instances agree on the same encoding storage version", name: "core.pods", servers: []string{"v2", "v2", "v2"}, agreed: "v2"},
		{rule: "otherwise this field is left empty", name: "core.pods", servers: []string{"v1", "v2", "v1"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := ValidateStorageVersionName(tt.name)
			if len(got) != len(tt.bad) {
				t.Fatalf("%s: %q, want %q", tt.name, got, tt.bad)
			}
			for i, want := range tt.bad {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%s: %q, want %q", tt.name, got[i], want)
				}
			}
			sv := &v1alpha1.StorageVersion{}
			for i, v := range tt.servers {
				sv.Status.StorageVersions = append(sv.Status.StorageVersions, v1alpha1.ServerStorageVersion{APIServerID: fmt.Sprint("server", i), EncodingVersion: v})
			}
			upstream.SetCommonEncodingVersion(sv)
			server := ""
			if v := sv.Status.CommonEncodingVersion; v != nil {
				server = *v
			}
			version, ok := AgreedStorageVersion(sv.Status.StorageVersions)
			if version != tt.agreed || ok != (tt.agreed != "") || server != tt.agreed {
				t.Errorf("agreed on %q, %v; the API server has %q; want %q", version, ok, server, tt.agreed)
			}
		})
	}
	if core, routes := name("", "pods"), name("example.com", "routes"); core != "core.pods" || routes != "example.com.routes" {
		t.Errorf("the names are %s and %s", core, routes)
	}
}
