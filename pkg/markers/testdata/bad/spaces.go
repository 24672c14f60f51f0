package bad

// + union
// + union of A and B
type Spaces struct {
	// + unionDiscriminator
	// + a discriminator
	Type string `json:"type,omitempty"`
	//	+	unionMember=type , optional
	A *string `json:"a,omitempty"`
	// + unionMember of Type
	B *string `json:"b,omitempty"`
	// + k8s:alpha=+k8s:unionMember(union: "x")
	C *string `json:"c,omitempty"`
	// +  kubebuilder:validation:ExactlyOneOf=a;b
	// + optional
	// + kubebuilder:validation:Enum=union;unionMember
	D *string `json:"d,omitempty"`
	// +unionMember required
	E *string `json:"e,omitempty"`
}
