// Package kep2022 has the types of the Go tags section of KEP-1027, as of 2022.
//
// +groupName=kep2022.example.com
// +versionName=v1alpha1
package kep2022

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Top     TopLevelUnion `json:"top"`
	Inlined InlinedUnion  `json:"inlined"`
	Labeled LabeledUnion  `json:"labeled"`
}

// TopLevelUnion has the union of what it embeds.
type TopLevelUnion struct {
	Name string `json:"name"`

	Union `json:",inline"`
}

// Union has a member without a marker, as in the text. The text counts two members
// all the same; a field without a marker is none here.
type Union struct {
	// +unionDiscriminator
	// +optional
	UnionType string `json:"unionType"`

	// +optional
	// +unionMember
	FieldA int `json:"fieldA"`
	// +optional
	FieldB int `json:"fieldB"`
}

// LabeledUnion is what the text says about Union.
type LabeledUnion struct {
	// +unionDiscriminator
	// +optional
	UnionType string `json:"unionType"`

	// +optional
	// +unionMember
	FieldA int `json:"fieldA"`
	// +optional
	// +unionMember
	FieldB int `json:"fieldB"`
}

// Union2 requires its discriminator: exactly one of two members.
type Union2 struct {
	// +unionDiscriminator
	// +required
	Type string `json:"type"`
	// +unionMember=type
	// +optional
	Alpha int `json:"alpha"`
	// +unionMember=type
	// +optional
	Beta int `json:"beta"`
}

// InlinedUnion has a union of its own fields and that of Union2; the one of Union
// stands one level below, in a field that is not exported.
type InlinedUnion struct {
	Name string `json:"name"`

	// +unionDiscriminator
	// +optional
	FieldType string `json:"fieldType"`
	// +unionMember=fieldType
	// +optional
	Field1 *int `json:"field1,omitempty"`
	// +unionMember=fieldType
	// +optional
	Field2 *int `json:"field2,omitempty"`

	union  Union `json:"union"`
	Union2 `json:",inline"`
}

var _ = InlinedUnion{}.union
