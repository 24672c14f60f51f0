package bad

type Tagged struct {
	// +k8s:unionDiscriminator
	Type float64 `json:"type,omitempty"`
	// +k8s:unionMember
	Struct Inlined `json:"struct,omitempty"`
	// +k8s:unionMember
	Required *string `json:"required"`
}

type TaggedTwice struct {
	// +k8s:unionDiscriminator
	A string `json:"a,omitempty"`
	// +k8s:unionDiscriminator
	B string `json:"b,omitempty"`
	// +k8s:unionMember
	C *string `json:"c,omitempty"`
}

type TaggedValues struct {
	// +k8s:unionDiscriminator
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(memberName: "V")
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	V *string `json:"v,omitempty"`
	// +k8s:unionMember(memberName: "")
	E *string `json:"e,omitempty"`
}

type TaggedShared struct {
	// +k8s:unionDiscriminator(union: "x")
	// +k8s:unionDiscriminator(union: "y")
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(union: "x")
	// +k8s:unionMember(union: "y")
	A *string `json:"a,omitempty"`
	// +k8s:unionMember(union: "y")
	// +k8s:zeroOrOneOfMember
	B *string `json:"b,omitempty"`
	// +k8s:unionDiscriminator(union: "z")
	// +k8s:unionMember(union: "x")
	C string `json:"c,omitempty"`
	// +k8s:unionMember(union: "z")
	D *string `json:"d,omitempty"`
}

type TaggedAndNot struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +k8s:unionMember
	A *string `json:"a,omitempty"`
}

// TaggedBesideOthers has members that are of another dialect than the discriminator.
type TaggedBesideOthers struct {
	// +k8s:unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type TaggedNone struct {
	// +k8s:unionDiscriminator(union: "x")
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(union: "y")
	A *string `json:"a,omitempty"`
}

type TaggedSpansDiscriminator struct {
	// +k8s:unionDiscriminator
	Type string `json:"type,omitempty"`

	TaggedInnerMember `json:",inline"`
}

type TaggedInnerMember struct {
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}

type Modes struct {
	// +k8s:modeDiscriminator
	Mode float64 `json:"mode,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	// +k8s:ifMode("B")=+k8s:optional
	Mixed *string `json:"mixed,omitempty"`
	// +k8s:ifMode("C")=+k8s:optional
	// +k8s:ifMode("C")=+k8s:required
	Contradiction *string `json:"contradiction,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	Again *string `json:"again,omitempty"`
	// +k8s:ifMode("")=+k8s:required
	Empty *string `json:"empty,omitempty"`
	// +k8s:ifMode("D")=+k8s:required
	// +k8s:ifMode("E")=+k8s:required
	Required *string `json:"required"`
	// +k8s:ifMode("F")=+k8s:required
	Struct Inlined `json:"struct,omitempty"`
}

type Forbidden struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode,omitempty"`
	// +k8s:ifMode("A")=+k8s:forbidden
	Never *string `json:"never,omitempty"`
}

type Modeless struct {
	// +k8s:ifMode("A")=+k8s:required
	A *string `json:"a,omitempty"`
}

type ModesSpan struct {
	// +k8s:modeDiscriminator(modality: "x")
	Mode string `json:"mode,omitempty"`

	ModesInner `json:",inline"`
}

type ModesInner struct {
	// +k8s:ifMode(modality: "x", mode: "A")=+k8s:required
	A *string `json:"a,omitempty"`
}

type TwoModes struct {
	// +k8s:modeDiscriminator
	A string `json:"a,omitempty"`
	// +k8s:modeDiscriminator
	B string `json:"b,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	C *string `json:"c,omitempty"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=b;c
type Overlap struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
	C *string `json:"c,omitempty"`
}

type Relations struct {
	// +k8s:dependentRequired
	// +k8s:dependentRequired("nme")
	// +k8s:dependentRequired("a")
	// +k8s:dependentForbidden("b")
	// +k8s:dependentForbidden("b")
	// +k8s:dependentForbidden(name: "b")
	// +k8s:dependentForbiden("b")
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

type RelationsOf struct {
	// +k8s:dependentRequired("nme")
	// +k8s:dependentRequired("a")
	// +k8s:dependentForbidden("b")
	// +k8s:dependentForbidden("b")
	// +k8s:dependentRequired("c")
	// +k8s:dependentRequired("d")
	A *string  `json:"a,omitempty"`
	B *string  `json:"b,omitempty"`
	C string   `json:"c"`
	D struct{} `json:"d,omitempty"`
}

// ModeTwice says two things of one mode, whichever comes first.
type ModeTwice struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode"`
	// +k8s:ifMode("A")=+k8s:forbidden
	// +k8s:ifMode("A")=+k8s:required
	// +optional
	A *string `json:"a,omitempty"`
}

type TaggedSpans struct {
	// +k8s:zeroOrOneOfMember(union: "x")
	A *string `json:"a,omitempty"`

	TaggedBetween `json:",inline"`
}

type TaggedBetween struct {
	*TaggedInner `json:",inline"`
}

type TaggedInner struct {
	// +k8s:zeroOrOneOfMember(union: "x")
	B *string `json:"b,omitempty"`

	*TaggedBetween `json:",inline"`
}
