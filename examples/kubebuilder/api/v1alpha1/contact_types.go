package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	notifyv1 "github.com/unioncel/unioncel/examples/kubebuilder/api/v1"
)

// ContactSpec is how to reach somebody. It has the same destinations as in v1, so
// that writing in this version bypasses nothing.
type ContactSpec struct {
	notifyv1.Destination `json:",inline"`
}

// +kubebuilder:object:root=true

// Contact is a person or a team that alerts can be forwarded to.
type Contact struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec ContactSpec `json:"spec"`
}

// +kubebuilder:object:root=true

// ContactList is a list of contacts.
type ContactList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Contact `json:"items"`
}
