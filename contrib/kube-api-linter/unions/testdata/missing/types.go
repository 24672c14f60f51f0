// Package missing has a union of a kind without a CRD.
//
// +groupName=missing.example.com
// +versionName=v1
package missing

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

type Spec struct {
	// want +1 `error: UC702: this union is for CustomResourceDefinition things.missing.example.com, which no input has; hint: generate it into config/crd, or correct crds in the configuration`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}
