// Package outdated has a CRD that was compiled with other markers of Changed.
//
// +groupName=outdated.example.com
// +versionName=v1
package outdated

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Kept    Kept    `json:"kept"`
	Changed Changed `json:"changed"`
}

type Kept struct {
	// +k8s:unionMember
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}

type Changed struct {
	// want +1 `error: UC306: the CRD things.outdated.example.com rejects an object that this union allows: no member is set; the rule is .*; hint: run unioncel compile --go ./outdated -w config/crd$`
	// +k8s:zeroOrOneOfMember
	A *string `json:"a,omitempty"`
	// +k8s:zeroOrOneOfMember
	B *string `json:"b,omitempty"`
}
