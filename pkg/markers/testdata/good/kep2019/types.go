// Package kep2019 has the types of the Go tags section of KEP-1027, as of 2019.
//
// +groupName=kep2019.example.com
// +versionName=v1
package kep2019

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Example struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Top     TopLevelUnion `json:"top"`
	Inlined InlinedUnion  `json:"inlined"`
}

// TopLevelUnion has the union of what it embeds.
type TopLevelUnion struct {
	Name string `json:"name"`

	Union `json:",inline"`
}

// Union is one union: a discriminator and two members.
//
// +union
type Union struct {
	// +unionDiscriminator
	// +optional
	UnionType string `json:"unionType"`

	// +optional
	FieldA int `json:"fieldA"`
	// +optional
	FieldB int `json:"fieldB"`
}

// Union2 is one union too, marked field by field.
type Union2 struct {
	// +unionDiscriminator
	Type string `json:"type"`
	// +unionDeprecated
	// +optional
	Alpha int `json:"alpha"`
	// +unionDeprecated
	// +optional
	Beta int `json:"beta"`
}

// InlinedUnion has three unions: one of its own fields, Union, and Union2.
type InlinedUnion struct {
	Name string `json:"name"`

	// +unionDeprecated
	// +optional
	Field1 *int `json:"field1,omitempty"`
	// +unionDeprecated
	// +optional
	Field2 *int `json:"field2,omitempty"`

	Union  `json:",inline"`
	Union2 `json:",inline"`
}
