package testcrd

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// Derived returns the manifest of the CRD that the API server gets: a CRD itself, or the CRD that
// Crossplane creates for a CompositeResourceDefinition.
func Derived(manifest []byte) ([]byte, error) {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal(manifest, &head); err != nil {
		return nil, err
	}
	kind, read := yamltext.LookupCarrier(head.APIVersion, head.Kind)
	if !read || kind == yamltext.CRDCarrier() {
		return manifest, nil
	}
	data, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		return nil, err
	}
	crd, _, err := kind.Decode(data)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": crd.Name}, "spec": crd.Spec})
}
