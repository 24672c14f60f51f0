// Package proved has unions that the CRDs enforce, and unions that they do not.
//
// +groupName=proved.example.com
// +versionName=v1
package proved

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

type Spec struct {
	Enforced Enforced `json:"enforced"`
	Ignored  Ignored  `json:"ignored"`
	Again    *Ignored `json:"again,omitempty"`
	Strict   Strict   `json:"strict"`
	Tagged   Tagged   `json:"tagged"`
}

type Enforced struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type Ignored struct {
	// want +1 `error: UC306: the CRD things.proved.example.com accepts an object that this union forbids: a and b are set together; hint: run unioncel compile --go ./proved -w config/crd$`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type Strict struct {
	// want +1 `error: UC306: the CRD things.proved.example.com rejects an object that this union allows: no member is set; the rule is has\(self.a\) != has\(self.b\); hint: correct the rule or the union$`
	// +k8s:zeroOrOneOfMember
	A *string `json:"a,omitempty"`
	// +k8s:zeroOrOneOfMember
	B *string `json:"b,omitempty"`
}

type Tagged struct {
	// want +1 `error: UC306: the CRD things.proved.example.com accepts an object that this union forbids: git is not set while type is 'Git'; hint: run unioncel`
	// +unionDiscriminator
	Type string `json:"type"`
	// +unionMember
	Git *string `json:"git,omitempty"`
	// +unionMember
	HTTP *string `json:"http,omitempty"`
}
