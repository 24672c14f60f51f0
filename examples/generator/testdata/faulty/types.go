// Package faulty has a union with an error.
// +groupName=example.com
// +versionName=v1
package faulty

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec []Choice `json:"spec,omitempty"`
}

// Choice has a member that is always set.
type Choice struct {
	// +unionDiscriminator
	// +optional
	Type string `json:"type,omitempty"`
	// +unionMember=A
	// +kubebuilder:default=a
	// +optional
	A string `json:"a,omitempty"`
	// +unionMember=B
	// +optional
	B string `json:"b,omitempty"`
}
