// Package v1 has every marker of docs/markers.md, and every key of a declaration.
//
// +groupName=markers.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Everything has a field for each dialect.
type Everything struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec Spec `json:"spec,omitempty"`
}

// Spec has the structs with unions.
type Spec struct {
	// +optional
	KEP2022 *KEP2022 `json:"kep2022,omitempty"`
	// +optional
	KEP2019 *KEP2019 `json:"kep2019,omitempty"`
	// +optional
	Deprecated *Deprecated `json:"deprecated,omitempty"`
	// +optional
	ValidationGen *ValidationGen `json:"validationGen,omitempty"`
	// +optional
	Modes *Modes `json:"modes,omitempty"`
	// +optional
	Older *Older `json:"older,omitempty"`
	// +optional
	Kubebuilder *Kubebuilder `json:"kubebuilder,omitempty"`
	// +optional
	Keys *Keys `json:"keys,omitempty"`
	// +optional
	Tables *Tables `json:"tables,omitempty"`
	// +optional
	Listed *Listed `json:"listed,omitempty"`
	// +optional
	Relations *Relations `json:"relations,omitempty"`
	// +optional
	Switched *Switched `json:"switched,omitempty"`
	// +k8s:item(type: "Approved")=+k8s:zeroOrOneOfMember
	// +k8s:item(type: "Denied")=+k8s:zeroOrOneOfMember
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}

// Relations has relations of validation-gen, and those that only markers on the struct declare.
//
// +unioncel:union:dependentRequired={user: [password]}
// +unioncel:union:dependentForbidden={user: [token]}
type Relations struct {
	// +k8s:dependentRequired("key")
	// +k8s:dependentForbidden("insecure")
	// +optional
	Cert *string `json:"cert,omitempty"`
	// +optional
	Key *string `json:"key,omitempty"`
	// +optional
	Insecure *bool `json:"insecure,omitempty"`
	// +optional
	User *string `json:"user,omitempty"`
	// +optional
	Password *string `json:"password,omitempty"`
	// +optional
	Token *string `json:"token,omitempty"`
}

// Switched has a boolean discriminator that has a value while it is unset.
type Switched struct {
	// +unionDiscriminator
	// +unioncel:union:unset=false
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// +unionMember
	// +unioncel:union:values=true
	// +optional
	TLS *Empty `json:"tls,omitempty"`
}

// Condition is an item of a list.
type Condition struct {
	Type string `json:"type"`
}

// Empty has nothing to say.
type Empty struct {
	// +kubebuilder:validation:MaxLength=20
	// +optional
	Note string `json:"note,omitempty"`
}

// KEP2022 has two unions, as KEP-1027 of 2022 and OpenShift write them.
type KEP2022 struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Enum=HTTP;TCP;None
	// +required
	Type string `json:"type"`
	// +unionMember=type
	// +optional
	HTTP *Empty `json:"http,omitempty"`
	// +unionMember=type,optional
	// +optional
	TCP *Empty `json:"tcp,omitempty"`

	// +unionDiscriminator
	// +kubebuilder:validation:Enum=queue;file
	// +optional
	Sink string `json:"sink,omitempty"`
	// +unionMember=queue
	// +optional
	Topic *Empty `json:"topic,omitempty"`
	// +unionMember=file
	// +optional
	Path *Empty `json:"path,omitempty"`
}

// KEP2019 is a union by its own marker, with markers of unioncel.
//
// +union
// +unioncel:union:cardinality=ExactlyOne
type KEP2019 struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Enum=A;Beta
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	A *Empty `json:"a,omitempty"`
	// +unioncel:union:values=Beta
	// +optional
	B *Empty `json:"b,omitempty"`
}

// Deprecated has members in the way of KEP-1027 of 2019, without discriminator.
type Deprecated struct {
	// +unionDeprecated
	// +unioncel:union:discriminatorChange=Forbid
	// +optional
	A *Empty `json:"a,omitempty"`
	// +unionDeprecated
	// +optional
	B *Empty `json:"b,omitempty"`
}

// ValidationGen has three unions in the tags of validation-gen.
//
// +unioncel:union(first):name=choice
type ValidationGen struct {
	// +k8s:unionMember(union: "first")
	// +optional
	A *Empty `json:"a,omitempty"`
	// +k8s:unionMember(union: "first")
	// +unioncel:union:emptyIsUnset=false
	// +kubebuilder:validation:MaxItems=5
	// +optional
	B []string `json:"b,omitempty"`

	// +k8s:unionDiscriminator
	// +kubebuilder:validation:Enum=C;Delta
	// +optional
	Type string `json:"type,omitempty"`
	// +k8s:unionMember
	// +optional
	C *Empty `json:"c,omitempty"`
	// +k8s:unionMember(memberName: "Delta")
	// +kubebuilder:validation:MaxLength=20
	// +optional
	D string `json:"d,omitempty"`

	// +k8s:zeroOrOneOfMember
	// +optional
	E *Empty `json:"e,omitempty"`
	// +k8s:zeroOrOneOfMember
	// +optional
	F *Empty `json:"f,omitempty"`
}

// Modes has modes, and forbids others.
type Modes struct {
	// +k8s:modeDiscriminator
	// +unioncel:union:unmappedValues=Forbid
	// +kubebuilder:validation:MaxLength=20
	// +optional
	Mode string `json:"mode,omitempty"`
	// +k8s:ifMode("Static")=+k8s:required
	// +k8s:ifMode("Fixed")=+k8s:required
	// +optional
	Static *Empty `json:"static,omitempty"`
	// +k8s:ifMode("Auto")=+k8s:optional
	// +k8s:ifMode("Static")=+k8s:forbidden
	// +optional
	Auto *Empty `json:"auto,omitempty"`
}

// Older has modes as Kubernetes 1.36 spells them.
type Older struct {
	// +k8s:discriminator
	// +kubebuilder:validation:Enum=A;B
	// +optional
	Mode string `json:"mode,omitempty"`
	// +k8s:member("A")=+k8s:required
	// +optional
	A *Empty `json:"a,omitempty"`
	// +k8s:member("B")=+k8s:required
	// +optional
	B *Empty `json:"b,omitempty"`
}

// Kubebuilder has the markers of controller-gen.
//
// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=c;d
// +kubebuilder:validation:AtLeastOneOf=e;f
// +unioncel:union(a):name=source
type Kubebuilder struct {
	// +optional
	A *Empty `json:"a,omitempty"`
	// +optional
	B *Empty `json:"b,omitempty"`
	// +optional
	C *Empty `json:"c,omitempty"`
	// +unioncel:union:discriminatorChange=Clear
	// +optional
	D *Empty `json:"d,omitempty"`
	// +optional
	E *Empty `json:"e,omitempty"`
	// +optional
	F *Empty `json:"f,omitempty"`
}

// Keys has members with keys of their own.
type Keys struct {
	// +unionDiscriminator
	// +unioncel:union:deduceInvalidDiscriminator
	// +unioncel:union:ratchet
	// +kubebuilder:validation:Enum=A;B
	// +optional
	Type string `json:"type,omitempty"`
	// +unionMember
	// +unioncel:union:optional
	// +optional
	A *Empty `json:"a,omitempty"`
	// +unionMember
	// +unioncel:union:emptyIsUnset
	// +optional
	B *Empty `json:"b,omitempty"`
}

// Tables says which changes are allowed.
//
// +unioncel:union:allowedChanges={Draft: [Final], Final: []}
// +unioncel:union:optionalMembers=draft;final
// +unioncel:union:emptyIsUnset=
// +unioncel:union:message={changed: a final stage is final}
type Tables struct {
	// +k8s:unionDiscriminator
	// +kubebuilder:validation:Enum=Draft;Final
	// +required
	Stage string `json:"stage"`
	// +k8s:unionMember
	// +unioncel:union:messages=draft is for stage Draft; see final
	// +optional
	Draft []string `json:"draft,omitempty"`
	// +k8s:unionMember
	// +optional
	Final []string `json:"final,omitempty"`
}

// Listed has unions that nothing but unioncel knows of, and a rule for one of them by hand.
//
// +kubebuilder:validation:XValidation:rule="[has(self.inline), has(self.secret)].filter(x, x).size() == 1",message="one of inline and secret"
// +unioncel:union:handWrittenRules=Replace
// +unioncel:union:members=inline;secret
// +unioncel:union:cardinality=ExactlyOne
// +unioncel:union(via):discriminator=transport
// +unioncel:union(via):fields-to-discriminateBy={socket: Unix, host: [TCP, TLS]}
type Listed struct {
	// +optional
	Inline *Empty `json:"inline,omitempty"`
	// +optional
	Secret *Empty `json:"secret,omitempty"`
	// +kubebuilder:validation:MaxLength=20
	// +optional
	Transport string `json:"transport,omitempty"`
	// +optional
	Socket *Empty `json:"socket,omitempty"`
	// +optional
	Host *Empty `json:"host,omitempty"`
}
