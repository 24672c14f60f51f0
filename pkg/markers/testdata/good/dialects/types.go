// Package dialects has one kind per dialect.
//
// +groupName=dialects.example.com
package dialects

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Empty struct{}

// KubeOpenAPI has the forms that the union generator of kube-openapi takes.
type KubeOpenAPI struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Bare       Bare       `json:"bare,omitempty"`
	Strategy   Strategy   `json:"strategy,omitempty"`
	Required   Required   `json:"required,omitempty"`
	Deprecated Deprecated `json:"deprecated,omitempty"`
}

// +union

// Bare has no discriminator, and its marker above this.
type Bare struct {
	A *Empty `json:"a,omitempty"`
	B *Empty `json:"b,omitzero"`

	ignored int `json:"-"`
}

var _ = Bare{}.ignored

type StrategyType string

const (
	RecreateStrategyType StrategyType = "Recreate"
	RollingStrategyType  StrategyType = "rolling-update"
	StrategyTypeCanary   StrategyType = "canary/v1"
	CanaryWeight         StrategyType = "canary-weight"
)

// Strategy finds the values of its members among the constants.

// +union
type Strategy struct {
	// +unionDiscriminator
	Type StrategyType `json:"type,omitempty"`

	Rolling *Empty `json:"rollingUpdate,omitempty"`
	Canary  *Empty `json:"canary,omitempty"`
}

// Required has a discriminator that the schema demands, so that at most one
// would contradict it.
// +union
type Required struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Enum=http;TCP;None
	Type string `json:"type"`

	HTTP *Empty `json:"http,omitempty"`
	TCP  *Empty `json:"tcp,omitempty"`
}

// Deprecated is a union without a discriminator beside another field.
type Deprecated struct {
	Name string `json:"name"`
	// +unionDeprecated
	Value string `json:"value,omitempty"`
	// +unionDeprecated
	ValueFrom *Empty `json:"valueFrom,omitempty"`
}

// KEP2022 has several unions in one struct.
type KEP2022 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Two       Two       `json:"two,omitempty"`
	Undefined Undefined `json:"undefined,omitempty"`
}

type Two struct {
	// +unionDiscriminator
	// +required
	Source string `json:"source"`
	// +unionDiscriminator
	// +optional
	SinkType string `json:"sink"`

	// +unionMember=source
	Git *Empty `json:"git,omitempty"`
	// The Go name serves too.
	// +unionMember=SinkType
	Queue *Empty `json:"queue,omitempty"`
	// +unionMember=source
	Image *Empty `json:"image,omitempty"`
	// +unionMember=sink
	Topic *Empty `json:"topic,omitempty"`
}

// Undefined has no discriminator, and comments in between.
type Undefined struct {
	// +unionMember

	// A has its marker above its documentation.
	A *Empty `json:"a,omitempty"`
	// +unionMember
	B *Empty `json:"b,omitempty"`
}

// OpenShift has the form of openshift/api.
type OpenShift struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Storage  Storage  `json:"storage,omitempty"`
	Provider Provider `json:"provider,omitempty"`
}

// +kubebuilder:validation:Enum=External;PVC;""
type StorageType string

// Storage is required to be set when it is there.
type Storage struct {
	// type is the kind of storage.
	//
	// +unionDiscriminator
	// +required
	Type StorageType `json:"type"`

	// +unionMember
	// +optional
	External *Empty `json:"external,omitempty"`
	// +unionMember,optional
	// +optional
	PVC *Empty `json:"pvc,omitempty"`
}

// Provider is marked as a union and by member: the name is no member.
// +union
type Provider struct {
	Name string `json:"name,omitempty"`
	// +unionDiscriminator
	// +optional
	Type string `json:"type,omitempty"`

	// +unionMember,optional
	AWS *Empty `json:"aws,omitempty"`
	// +unionMember=type,optional
	Azure *Empty `json:"azure,omitempty"`
}

// ValidationGen has the tags of Kubernetes' own types.
type ValidationGen struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Exactly   Exactly   `json:"exactly,omitempty"`
	Selected  Selected  `json:"selected,omitempty"`
	Mandatory Mandatory `json:"mandatory,omitempty"`
	ZeroOrOne ZeroOrOne `json:"zeroOrOne,omitempty"`
	Modes     Modes     `json:"modes,omitempty"`
	Old       Old       `json:"old,omitempty"`
	Together  Together  `json:"together,omitempty"`
	Later     Later     `json:"later,omitempty"`
	Shared    Shared    `json:"shared,omitempty"`
	ForSome   ForSome   `json:"forSome,omitempty"`
	Related   Related   `json:"related,omitempty"`
	Struct    Struct    `json:"struct,omitempty"`
}

// Exactly has members of all types.
//
// +union
type Exactly struct {
	Name string `json:"name,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	Pointer *Empty `json:"pointer,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	Text string `json:"text,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	TextPointer *string `json:"textPointer,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	// +kubebuilder:validation:Format=date
	Date string `json:"date,omitempty"`
	// +k8s:optional
	// +k8s:beta(since: "1.37")=+k8s:unionMember
	List []string `json:"list,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	Bytes []byte `json:"bytes,omitempty"`
	// +k8s:optional
	// +k8s:unionMember # not that anyone would
	Map map[string]string `json:"map,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	Number int `json:"number,omitempty"`
}

// Selected names its unions.
type Selected struct {
	// +k8s:unionDiscriminator(union: "to")
	// +k8s:optional
	To string `json:"to,omitempty"`
	// +k8s:unionDiscriminator(union: "from")
	From string `json:"from"`

	// +k8s:optional
	// +k8s:unionMember(union: "to", memberName: "Q")
	Queue *Empty `json:"queue,omitempty"`
	// +k8s:optional
	// +k8s:unionMember(union: "to")
	Topic *Empty `json:"topic,omitempty"`
	// +k8s:optional
	// +k8s:unionMember(memberName: "URL", union: "from")
	Address *string `json:"address,omitempty"`
}

// Mandatory has a discriminator that may not be "".
type Mandatory struct {
	// +unionDiscriminator
	// +k8s:unionDiscriminator
	// +k8s:required
	Type string `json:"type"`
	// +k8s:optional
	// +k8s:unionMember
	A *Empty `json:"a,omitempty"`
}

type ZeroOrOne struct {
	// +k8s:optional
	// +k8s:zeroOrOneOfMember
	A *Empty `json:"a,omitempty"`
	// +k8s:optional
	// +k8s:zeroOrOneOfMember
	B *Empty `json:"b,omitempty"`
	// +k8s:optional
	// +k8s:zeroOrOneOfMember(union: "other")
	C *Empty `json:"c,omitempty"`
	// +k8s:optional
	// +k8s:zeroOrOneOfMember(union: "other")
	D []Empty `json:"d,omitempty"`
}

// Modes has the tags of Kubernetes 1.37.
type Modes struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode"`

	// +k8s:ifMode("Static")=+k8s:required
	// +k8s:ifMode("Fixed")=+k8s:required
	// +k8s:ifMode("Auto")=+k8s:forbidden
	// +optional
	Static string `json:"static,omitempty"`
	// +k8s:ifMode(mode: "Auto")=+k8s:optional
	// +optional
	Auto *Empty `json:"auto,omitempty"`
}

// Old has those of 1.36.
type Old struct {
	// +k8s:discriminator(name: "mode")
	Mode string `json:"mode,omitempty"`

	// +k8s:member(discriminator: "mode", value: "A")=+k8s:required
	// +optional
	A *Empty `json:"a,omitempty"`
	// +k8s:alpha=+k8s:member(discriminator: "mode", value: "B")=+k8s:alpha=+k8s:optional
	// +optional
	B *Empty `json:"b,omitempty"`
}

// Together has values of several members, one by its name, and one without a member.
type Together struct {
	// +k8s:unionDiscriminator
	Type TogetherType `json:"type,omitempty"`

	// +k8s:optional
	// +k8s:unionMember
	Service *Empty `json:"service,omitempty"`
	// +k8s:optional
	// +k8s:unionMember(memberName: "Service")
	Pool *Empty `json:"pool,omitempty"`
	// +k8s:optional
	// +k8s:unionMember(memberName: "Host")
	Address *Empty `json:"address,omitempty"`
	// +k8s:optional
	// +k8s:unionMember(memberName: "Host")
	Port *Empty `json:"port,omitempty"`
}

// +kubebuilder:validation:Enum=None;Service;Host
type TogetherType string

// Later has discriminators whose members are still to come.
type Later struct {
	// +unioncel:union:discriminatorChange=Forbid
	// +k8s:unionDiscriminator(union: "type")
	Type string `json:"type,omitempty"`
	// +unionDiscriminator
	// +k8s:modeDiscriminator
	Mode string `json:"mode"`
	Name string `json:"name,omitempty"`
}

// Shared has fields that several modes share.
type Shared struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode,omitempty"`

	// +k8s:ifMode("Static")=+k8s:required
	// +k8s:ifMode("Auto")=+k8s:optional
	// +optional
	Size *int `json:"size,omitempty"`
	// +k8s:ifMode("Auto")=+k8s:required
	// +k8s:ifMode("Remote")=+k8s:optional
	// +k8s:ifMode("Static")=+k8s:forbidden
	// +optional
	Policy *Empty `json:"policy,omitempty"`
	// +k8s:ifMode("Auto")=+k8s:optional
	// +k8s:ifMode("Static")=+k8s:optional
	// +optional
	Hint *Empty `json:"hint,omitempty"`
	// +k8s:ifMode("Auto")=+k8s:required
	// +k8s:ifMode("Remote")=+k8s:required
	// +unioncel:union:optional
	// +optional
	Always *Empty `json:"always,omitempty"`
	// +k8s:ifMode("Auto")=+k8s:optional
	// +k8s:ifMode("Remote")=+k8s:optional
	// +unioncel:union:optional=Auto
	// +optional
	Own *Empty `json:"own,omitempty"`
}

// ForSome has members that are optional for some values, in every way to write it.
type ForSome struct {
	// +unionDiscriminator
	// +optional
	Type string `json:"type,omitempty"`
	// +unionMember
	// +unioncel:union:values=TCP;TLS
	// +unioncel:union:optional=TLS
	// +optional
	One *Empty `json:"one,omitempty"`
	// +unionMember,optional
	// +unioncel:union:values=[TCP, TLS, "true"]
	// +unioncel:union:optional=["true", TCP]
	// +optional
	Two *Empty `json:"two,omitempty"`
	// +unionMember
	// +unioncel:union:values=TCP;TLS
	// +unioncel:union:optional=TCP;TLS
	// +optional
	All *Empty `json:"all,omitempty"`
	// +unionMember,optional
	// +unioncel:union:optional=false
	// +optional
	None *Empty `json:"none,omitempty"`
	// +unionMember
	// +unioncel:union:optional=Named
	// +optional
	Named *Empty `json:"named,omitempty"`
}

// Related has presence relations alongside unions with common properties, and a tag for a mode that
// is no part of a union.
type Related struct {
	// +k8s:unionDiscriminator
	Type RelatedType `json:"type,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	HTTP *Empty `json:"http,omitempty"`
	// +k8s:optional
	// +k8s:unionMember
	// +k8s:modeDiscriminator(modality: "inner")
	TCP string `json:"tcp,omitempty"`
	// +k8s:optional
	// +k8s:ifMode(modality: "inner", mode: "A")=+k8s:optional
	// +k8s:ifMode(modality: "inner", mode: "A")=+k8s:maxLength=5
	Port *string `json:"port,omitempty"`
	// +k8s:optional
	// +k8s:alpha(since: "1.37")=+k8s:dependentRequired("http")
	// +k8s:dependentForbidden("tcp")
	Weight []string `json:"weight,omitempty"`
}

// +kubebuilder:validation:Enum=HTTP;TCP
type RelatedType string

// +unioncel:union:dependentRequired={a: b, b: a}
// +unioncel:union(c):dependentForbidden={c: [a]}
// +unioncel:union:ratchet
type Struct struct {
	A *Empty `json:"a,omitempty"`
	B *Empty `json:"b,omitempty"`
	C *Empty `json:"c,omitempty"`
}

// Kubebuilder has the markers of controller-gen.
type Kubebuilder struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KubebuilderSpec `json:"spec,omitempty"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=c;d
// +kubebuilder:validation:AtMostOneOf=e;f
// +kubebuilder:validation:AtLeastOneOf=g;h
type KubebuilderSpec struct {
	A *Empty `json:"a,omitempty"`
	B *Empty `json:"b,omitempty"`
	C *Empty `json:"c,omitempty"`
	D *Empty `json:"d,omitempty"`
	E *Empty `json:"e,omitempty"`
	F *Empty `json:"f,omitempty"`
	G *Empty `json:"g,omitempty"`

	KubebuilderInner `json:",inline"`
}

type KubebuilderInner struct {
	H *Empty `json:"h,omitempty"`
}
