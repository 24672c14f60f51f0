// Package markers has union markers that contradict each other.
//
// +groupName=markers.example.com
// +versionName=v1
package markers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

type Spec struct {
	Source Source `json:"source"`
	Sink   Sink   `json:"sink"`
}

// +union
type Source struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// want +1 `error: UC602: \+unionmember is not a marker; hint: write \+unionMember$`
	// +unionmember
	Git *Empty `json:"git,omitempty"`
	// want +1 `error: UC602: the space after the \+ makes this a comment, not the marker \+unionMember; hint: delete the space`
	// + unionMember
	HTTP *Empty `json:"http,omitempty"`
}

type Sink struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// want +1 `error: UC602: \+k8s:unionMember makes Queue a union by itself: discriminator Type has \+unionDiscriminator, of another dialect; hint: write \+unionMember instead`
	// +k8s:unionMember
	Queue *Empty `json:"queue,omitempty"`
	// +unionMember
	Topic *Empty `json:"topic,omitempty"`
}

type Empty struct{}
