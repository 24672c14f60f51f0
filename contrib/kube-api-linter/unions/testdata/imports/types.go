// Package imports has a kind with a union of another package.
//
// +groupName=imports.example.com
// +versionName=v1
package imports

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/api/shared"
)

type Thing struct { // want `error: UC306: .*shared/types.go:5:5: the CRD things.imports.example.com accepts an object that this union forbids: a and b are set together; hint: run unioncel compile --go ./imports -w config/crd`
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Choice shared.Choice `json:"choice"`
}
