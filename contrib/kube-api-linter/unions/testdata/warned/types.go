// Package warned has markers of a doubtful union.
//
// +groupName=warned.example.com
// +versionName=v1
package warned

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Other struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Policy Policy `json:"policy"`
}

type Policy struct {
	// want +1 `warning: UC212: discriminator Type has no members; hint: mark the members with \+k8s:unionMember`
	// +k8s:unionDiscriminator
	Type string `json:"type,omitempty"`

	Retry *int `json:"retry,omitempty"`
}
