// Package b declares a kind.
//
// +groupName=example.com
// +versionName=v1
package b

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +unionMember
	A *string `json:"a,omitempty"`
}
