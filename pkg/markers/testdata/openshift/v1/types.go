// Package v1 is written as OpenShift writes its API: with +union structs whose fields
// are not all named as the values of the discriminator are.
//
// +groupName=ship.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Harbour is where ships are.
type Harbour struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec HarbourSpec `json:"spec"`
}

// HarbourSpec is the wish.
type HarbourSpec struct {
	// +optional
	Machines *Machines `json:"machines,omitempty"`
	// +optional
	Publishing *Publishing `json:"publishing,omitempty"`
	// +optional
	Cookie *Cookie `json:"cookie,omitempty"`
	// +optional
	Platform *Platform `json:"platform,omitempty"`
	// +optional
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// +optional
	Route *Route `json:"route,omitempty"`
}

// MachineType is one of the API groups of machines.
// +kubebuilder:validation:Enum:=machines_v1beta1_example_com
type MachineType string

// Machines has a member that is called by its JSON name.
// +union
type Machines struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Required
	MachineType MachineType `json:"machineType,omitempty"`

	// +optional
	ExampleV1Beta1Machine *Template `json:"machines_v1beta1_example_com,omitempty"`
}

// Template is what machines are made from.
type Template struct {
	Name string `json:"name"`
}

// PublishingType is a way to publish.
// +kubebuilder:validation:Enum=LoadBalancerService;HostNetwork;Private
type PublishingType string

// These are the types of publishing.
const (
	LoadBalancerServicePublishing PublishingType = "LoadBalancerService"
	HostNetworkPublishing         PublishingType = "HostNetwork"
	PrivatePublishing             PublishingType = "Private"
)

// Publishing has a member that is named after no value.
// +union
type Publishing struct {
	// +unionDiscriminator
	// +required
	Type PublishingType `json:"type"`

	// +optional
	LoadBalancer *Template `json:"loadBalancer,omitempty"`
	// +optional
	HostNetwork *Template `json:"hostNetwork,omitempty"`
}

// MatchType is how to compare.
// +kubebuilder:validation:Enum=Exact;Prefix
type MatchType string

// Cookie says in its markers which values select the members.
type Cookie struct {
	// +unionDiscriminator
	// +required
	MatchType MatchType `json:"matchType,omitempty"`

	// +unionMember=Exact
	// +optional
	Name string `json:"name"`
	// +unionMember=Prefix,optional
	// +optional
	NamePrefix string `json:"namePrefix"`
}

// Platform forgets to say that it is a union.
type Platform struct {
	// +unionDiscriminator
	Type string `json:"type"`

	// +optional
	AWS *Template `json:"aws,omitempty"`
}

// LoadBalancer is a union without members so far.
type LoadBalancer struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Enum=Managed;UserManaged
	// +optional
	Type string `json:"type,omitempty"`
}

// Storage is sound.
// +union
type Storage struct {
	// +unionDiscriminator
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	PVC *Template `json:"pvc,omitempty"`
	// +optional
	EmptyDir *Template `json:"emptyDir,omitempty"`
}

// Route has values that are spelt as the members are.
type Route struct {
	// +unionDiscriminator
	// +optional
	Type string `json:"type,omitempty"`
	// +unionMember=http
	// +optional
	HTTP *Template `json:"http,omitempty"`
	// +unionMember=TCP
	// +optional
	Stream *Template `json:"tcp,omitempty"`
}
