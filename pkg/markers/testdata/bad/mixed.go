package bad

type MixedDialects struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}

type MixedZeroOrOne struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +k8s:zeroOrOneOfMember
	B *string `json:"b,omitempty"`
}

type MixedTagged struct {
	// +k8s:unionDiscriminator(union: "x")
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(union: "x")
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type MixedModes struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// TwoUnions are of different dialects, and both are whole.
type TwoUnions struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
	// +k8s:unionMember
	C *string `json:"c,omitempty"`
}

// OneDialect has a union of one member beside another union.
type OneDialect struct {
	// +k8s:unionDiscriminator(union: "x")
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(union: "x")
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}

// MixedItems has no errors: a union of items is apart from the one of the discriminator.
type MixedItems struct {
	// +unionDiscriminator
	Type string `json:"type"`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +k8s:item(type: "B")=+k8s:zeroOrOneOfMember
	// +listType=map
	// +listMapKey=type
	// +optional
	List []Item `json:"list,omitempty"`
}
