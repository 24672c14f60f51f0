// Package none declares a kind.
package none

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +unionMember
	A *string `json:"a,omitempty"`
}
