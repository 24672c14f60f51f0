package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ContactSpec is how to reach somebody.
type ContactSpec struct {
	Destination `json:",inline"`

	// displayName is what people call the contact.
	//
	// +kubebuilder:validation:MaxLength=80
	// +optional
	DisplayName string `json:"displayName,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion

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
