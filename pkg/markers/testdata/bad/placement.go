// Package bad has everything that can be wrong with markers. It needs no kinds:
// structs of packages that are named are checked whether or not a CRD has them.
package bad

// +unionMember
type MemberOnType struct {
	A *string `json:"a,omitempty"`
}

type UnionOnField struct {
	// +union
	A *string `json:"a,omitempty"`
}

// +union
type UnionOnString string

type Places struct {
	// +unionMember
	Skipped *string `json:"-"`
	// +unionMember
	untagged *string
	// +unionMember
	Inlined `json:",inline"`
	// +unionMember
	Named Inlined `json:"named,inline"`
	// +kubebuilder:validation:ExactlyOneOf=a;b
	Field *string `json:"field,omitempty"`
}

var _ = Places{}.untagged

type Inlined struct{}

// +unionMember
func Function() {
	// +unionMember
}

// Typos are markers that nobody reads.
// +unoin
// +Union
type Typos struct {
	// +uniondiscriminator
	A string `json:"a,omitempty"`
	// +unionmember
	B string `json:"b,omitempty"`
	// +uinonMember
	C string `json:"c,omitempty"`
	// +k8s:unionmember
	D string `json:"d,omitempty"`
	// +k8s:unionsMember(union: "x")
	E string `json:"e,omitempty"`
	// +k8s:beta=+k8s:zeroOrOneofMember
	F string `json:"f,omitempty"`

	/* +unionMember */
	Block string `json:"block,omitempty"`
	Line  string `json:"line,omitempty"` /* é */ // +unionMember
	Next  string `json:"next,omitempty"`
}

type Arguments struct {
	// +unionDiscriminator=type
	A string `json:"a,omitempty"`
	// +unionMember,required
	B string `json:"b,omitempty"`
	// +unionMember=a,b
	C string `json:"c,omitempty"`
	// +unionDeprecated since v2
	D string `json:"d,omitempty"`
	// +k8s:unionMember(name: "x")
	E string `json:"e,omitempty"`
	// +k8s:unionMember("x")
	F string `json:"f,omitempty"`
	// +k8s:unionMember(union: "x", union: "y")
	G string `json:"g,omitempty"`
	// +k8s:unionMember=x
	H string `json:"h,omitempty"`
	// +k8s:unionMember(union: "x"
	I string `json:"i,omitempty"`
	// +k8s:ifMode=+k8s:required
	J string `json:"j,omitempty"`
	// +k8s:ifMode("A")
	K string `json:"k,omitempty"`
	// +k8s:ifMode("A")=+k8s:maxLength=5
	L string `json:"l,omitempty"`
	// +k8s:modeDiscriminator(modality: "default")
	M string `json:"m,omitempty"`
	// +k8s:modeDiscriminator(name: "x")
	N string `json:"n,omitempty"`
	// This is no marker: +k8s:unionMember("x")
	O string `json:"o,omitempty"`
}

type Items struct {
	// +k8s:item(type: "Approved")=+k8s:unionDiscriminator
	// +k8s:item(type: "Approved")=+k8s:zeroOrOneOfMember
	// +k8s:beta(since: "1.37")=+k8s:item(type: "Denied")=+k8s:unionMember
	Conditions []Inlined `json:"conditions,omitempty"`
	// +k8s:ifEnabled("Feature")=+k8s:unionMember
	Gated *string `json:"gated,omitempty"`
	// +k8s:item(type: "Approved")
	Left []Inlined `json:"left,omitempty"`
	// +k8s:item=+k8s:unionMember
	// +k8s:item("Denied")=+k8s:unionMember
	// +k8s:alpha(since: "1.37")=+k8s:item(type: "Denied")=
	Unnamed []Inlined `json:"unnamed,omitempty"`
}
