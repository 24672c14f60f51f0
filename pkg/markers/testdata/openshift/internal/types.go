// Package internal has a kind that no API server knows as a custom resource.
package internal

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	_ "github.com/unioncel/unioncel/pkg/markers/testdata/openshift/generated"
)

// Config is read from a file.
type Config struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +unionMember
	// +optional
	File *string `json:"file,omitempty"`
	// +unionMember
	// +optional
	URL *string `json:"url,omitempty"`
}
