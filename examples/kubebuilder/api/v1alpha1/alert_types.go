package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	notifyv1 "github.com/unioncel/unioncel/examples/kubebuilder/api/v1"
)

// AlertSpec says what is watched, when to complain, and to whom.
//
// It has two unions without a discriminator, written with the tags of
// validation-gen: one target, and at most one way to mute the alert. An empty list
// or string counts as unset.
type AlertSpec struct {
	// services are the names of what is watched.
	//
	// +k8s:unionMember(union: "target")
	// +listType=set
	// +optional
	Services []string `json:"services,omitempty"`

	// selector chooses what is watched by labels.
	//
	// +k8s:unionMember(union: "target")
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// condition is when the alert fires.
	//
	// +required
	Condition Condition `json:"condition"`

	// receivers are told when the alert fires.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Receivers []Receiver `json:"receivers,omitempty"`

	// escalation is what happens when nobody reacts.
	//
	// +optional
	Escalation *Escalation `json:"escalation,omitempty"`

	// mutedUntil keeps the alert quiet until then.
	//
	// +k8s:zeroOrOneOfMember(union: "mute")
	// +optional
	MutedUntil *metav1.Time `json:"mutedUntil,omitempty"`

	// mutedBy names another alert that keeps this one quiet while it fires.
	//
	// +k8s:zeroOrOneOfMember(union: "mute")
	// +kubebuilder:validation:MaxLength=253
	// +optional
	MutedBy string `json:"mutedBy,omitempty"`
}

// Condition is when an alert fires. controller-gen has a marker for such unions.
//
// +kubebuilder:validation:ExactlyOneOf=threshold;absence;expression
type Condition struct {
	// threshold fires when a metric is too high.
	//
	// +optional
	Threshold *Threshold `json:"threshold,omitempty"`

	// absence fires when a metric is gone.
	//
	// +optional
	Absence *Absence `json:"absence,omitempty"`

	// expression fires when a query has a result.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Expression *string `json:"expression,omitempty"`
}

// Threshold is a limit of a metric.
type Threshold struct {
	// metric is its name.
	//
	// +required
	Metric string `json:"metric"`

	// above is the highest value that is fine.
	//
	// +required
	Above int64 `json:"above"`
}

// Absence is a metric that should be there.
type Absence struct {
	// metric is its name.
	//
	// +required
	Metric string `json:"metric"`
}

// Receiver is who is told, by name.
type Receiver struct {
	// name tells receivers apart.
	//
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`

	notifyv1.Destination `json:",inline"`
}

// EscalationPolicy is a way to go on.
//
// +kubebuilder:validation:Enum=Never;Repeat;Forward
type EscalationPolicy string

const (
	// EscalationNever leaves it at one notification.
	EscalationNever EscalationPolicy = "Never"
	// EscalationRepeat notifies the same receivers again.
	EscalationRepeat EscalationPolicy = "Repeat"
	// EscalationForward notifies somebody else.
	EscalationForward EscalationPolicy = "Forward"
)

// Escalation is what happens when nobody reacts.
//
// Its union is written with the tags of validation-gen. The value of a member is
// its Go name unless memberName says otherwise. Never has no member.
type Escalation struct {
	// policy is the way to go on.
	//
	// +k8s:unionDiscriminator
	// +required
	Policy EscalationPolicy `json:"policy"`

	// repeat is for the policy Repeat.
	//
	// +k8s:unionMember
	// +optional
	Repeat *Repeat `json:"repeat,omitempty"`

	// contact is for the policy Forward: the name of a Contact.
	//
	// +k8s:unionMember(memberName: "Forward")
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Contact string `json:"contact,omitempty"`
}

// Repeat is how to notify again.
type Repeat struct {
	// minutes is the time between two notifications.
	//
	// +kubebuilder:validation:Minimum=1
	// +required
	Minutes int32 `json:"minutes"`
}

// AlertStatus is what the controller knows.
type AlertStatus struct {
	// lastFired is when the alert last fired.
	//
	// +optional
	LastFired *metav1.Time `json:"lastFired,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Alert tells people when something is wrong.
type Alert struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec AlertSpec `json:"spec"`
	// +optional
	Status AlertStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// AlertList is a list of alerts.
type AlertList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Alert `json:"items"`
}
