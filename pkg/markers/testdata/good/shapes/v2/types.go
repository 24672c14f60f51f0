// Package v2 has later versions of the kinds.
//
// +groupName=shapes.example.com
// +versionName=v2beta1
// +kubebuilder:validation:Optional
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Shape struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec Choice `json:"spec"`
}

// Skip is in this version only.
type Skip struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec Choice `json:"spec"`
}

// Choice has optional fields, as all of the package are.
type Choice struct {
	// +unionMember
	A *string `json:"a"`
	// +unionMember
	B *string `json:"b"`
}
