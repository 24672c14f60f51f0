// Package stale has a CRD that was generated from other types.
//
// +groupName=stale.example.com
// +versionName=v1
package stale

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

type Spec struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// want +1 `error: UC203: .* is not a property of this object; hint: the CRD was not generated from these types: run controller-gen first`
	// +unionMember
	B *string `json:"b,omitempty"`
}
