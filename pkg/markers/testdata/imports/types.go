// Package imports has a kind with types of another package.
//
// +groupName=imports.example.com
// +versionName=v1
package imports

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/pkg/markers/testdata/imported"
)

type Example struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Choice  imported.Choice `json:"choice,omitempty"`
	Inlined `json:",inline"`
}

type Inlined struct {
	imported.Choice `json:",inline"`
}

// Unused is in no kind.
type Unused struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}
