package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// TestExamples checks the statements of the README about the examples.
func TestExamples(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	for name, test := range map[string]struct {
		bad     []string // the server's errors for the bad object
		updates []exampleUpdate
	}{
		"backup": {
			bad: []string{"spec.source.volume: Invalid value: exactly one of claimName, matchLabels must be set"},
			updates: []exampleUpdate{{
				name: "the type of a source cannot be changed",
				set:  map[string]any{"spec.source": map[string]any{"type": "Bucket", "bucket": map[string]any{"name": "orders"}}},
				want: []string{"spec.source.type: Forbidden: type may not change from 'Volume' to 'Bucket'"},
			}, {
				name: "a union in a member changes by clearing",
				set:  map[string]any{"spec.source.volume": map[string]any{"claimName": "orders-data"}},
			}, {
				name: "the members of the algorithm may be left out, those of others may not be there",
				set:  map[string]any{"spec.compression": map[string]any{"algorithm": "None", "zstd": map[string]any{}}},
				want: []string{"spec.compression.algorithm: Invalid value: when algorithm changes, the member of its old value must be cleared", "spec.compression.zstd: Forbidden: zstd may only be set when algorithm is 'Zstd'"},
			}, {
				name: "at most one of the retentions",
				set:  map[string]any{"spec.retention": map[string]any{"days": int64(30), "count": int64(1)}},
				want: []string{
					"spec.retention: Invalid value: at most one of count, days may be set",
				},
			}},
		},
		"broker": {
			bad: []string{"spec.authentication: Invalid value: authentication: at least one of clientCertificates, tokens, users must be set"},
			updates: []exampleUpdate{{
				name: "storage goes on to tiers and never back",
				set:  map[string]any{"spec.storage": map[string]any{"type": "Memory"}},
				want: []string{"spec.storage.type: Forbidden: storage: type may not change from 'Persistent' to 'Memory'; allowed are 'Memory' to 'Persistent', 'Tiered'; 'Persistent' to 'Tiered'"},
			}, {
				name: "the removal of storage is guarded",
				set:  map[string]any{"spec.storage": nil},
				want: []string{"spec.storage: Required value: storage: storage may not be removed while storage.type is set"},
			}},
		},
		"route": {
			bad: []string{"spec.rules[1].forward: Invalid value: forward is required when action is 'Forward', and forbidden otherwise"},
			updates: []exampleUpdate{{
				name: "a map value changes without clearing",
				set: map[string]any{"spec.policies.login": map[string]any{
					"type": "Cache", "cache": map[string]any{"ttlSeconds": int64(1)}, "rateLimit": map[string]any{"perSecond": int64(5)}}},
				want: []string{
					"spec.policies[login].rateLimit: Invalid value: rateLimit is required when type is 'RateLimit', and forbidden otherwise",
					"spec.policies[login].type: Invalid value: when type changes, the member of its old value must be cleared",
				},
			}, {
				name: "the older version bypasses nothing",
				set: map[string]any{
					"apiVersion":          "edge.example.com/v1alpha1",
					"spec.rules":          []any{map[string]any{"name": "admin", "action": "Deny"}},
					"spec.policies.login": map[string]any{"type": "Cache", "rateLimit": map[string]any{"perSecond": int64(5)}},
				},
				want: []string{
					"spec.policies[login].cache: Invalid value: cache is required when type is 'Cache', and forbidden otherwise",
					"spec.policies[login].rateLimit: Invalid value: rateLimit is required when type is 'RateLimit', and forbidden otherwise",
					"spec.policies[login].type: Invalid value: when type changes, the member of its old value must be cleared",
				},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			crd := newTrial(t, server, read(t, name+".yaml"), crdpatch.Options{})
			crd.install(t, nil)
			_, err := server.Create(t.Context(), read(t, "objects/"+name+"-bad.yaml"))
			wantErrors(t, err, test.bad)
			good := read(t, "objects/"+name+"-good.yaml")
			if _, err := server.Create(t.Context(), good); err != nil {
				t.Fatalf("the good object: %v", err)
			}
			for _, u := range test.updates {
				t.Run(u.name, func(t *testing.T) {
					_, err := server.Update(t.Context(), u.of(t, good))
					wantErrors(t, err, u.want)
				})
			}
		})
	}
}

// exampleUpdate sets fields of the good object by path; nil removes a field.
type exampleUpdate struct {
	name string
	set  map[string]any
	want []string
}

func (u exampleUpdate) of(t *testing.T, good []byte) []byte {
	t.Helper()
	var object map[string]any
	if err := sigsyaml.Unmarshal(good, &object); err != nil {
		t.Fatal(err)
	}
	for path, value := range u.set {
		fields := strings.Split(path, ".")
		if value == nil {
			unstructured.RemoveNestedField(object, fields...)
			continue
		}
		if err := unstructured.SetNestedField(object, value, fields...); err != nil {
			t.Fatal(err)
		}
	}
	return marshal(t, object)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
