package bad

// Spelling has markers that cannot be read.
// +unioncel:union
// +unioncel:ratchet
// +unioncel:union:allowedChanges={A: [
// +unioncel:unions:ratchet
type Spelling struct {
	A *string `json:"a,omitempty"`
}

// Keys has keys that do not exist, and such that are about a field.
// +unioncel:union:ratchett
// +unioncel:union:values=A
// +unioncel:union:optional
type Keys struct {
	// +unionMember
	// +unioncel:union:optinal
	// +unioncel:union(a):ratchet
	// +unioncel:union:members=a;b
	// +unioncel:union:optionalMembers=a
	A *string `json:"a,omitempty"`
	// +unioncel:union:ratchet
	B *string `json:"b,omitempty"`
}

// Which has two unions.
// +unioncel:union:ratchet
// +unioncel:union(x):ratchet
// +unioncel:union(c):ratchet
// +unioncel:union(C):ratchet=false
type Which struct {
	// +k8s:unionMember(union: "first")
	A *string `json:"a,omitempty"`
	// +k8s:unionMember(union: "first")
	B *string `json:"b,omitempty"`
	// +k8s:zeroOrOneOfMember
	C *string `json:"c,omitempty"`
	// +k8s:zeroOrOneOfMember
	D *string `json:"d,omitempty"`
}

// Nothing has no union.
// +unioncel:union:ratchet
type Nothing struct {
	A *string `json:"a,omitempty"`
}

// Written is checked as YAML is.
// +unioncel:union:ratchet=maybe
// +unioncel:union:cardinality=exactlyOne
// +unioncel:union:allowedChanges=A
// +unioncel:union:emptyIsUnset=[{}]
// +unioncel:union:discriminatorChange
type Written struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// Flag is no flag.
type Flag struct {
	// +k8s:unionMember
	// +unioncel:union:emptyIsUnset=maybe
	A []string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}

// OwnValues are said of members with a discriminator, once.
type OwnValues struct {
	// +unionDiscriminator
	// +unioncel:union:values=A
	Type string `json:"type,omitempty"`
	// +unionMember=type
	// +unioncel:union:values=V;V
	A *string `json:"a,omitempty"`
	// +unionMember=type
	// +unioncel:union:values=
	B *string `json:"b,omitempty"`
	// +unionMember=type
	// +unioncel:union:values=V
	C *string `json:"c,omitempty"`
}

// ValueTwice says the value in two dialects.
type ValueTwice struct {
	// +k8s:unionDiscriminator
	Type string `json:"type,omitempty"`
	// +k8s:unionMember(memberName: "A")
	// +unioncel:union:values=A
	A *string `json:"a,omitempty"`
}

// NoValues has no discriminator.
type NoValues struct {
	// +unionMember
	// +unioncel:union:values=A
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// NeverOptional has no discriminator.
type NeverOptional struct {
	// +unionMember
	// +unioncel:union:optional
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// ModeValues has modes.
type ModeValues struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	// +unioncel:union:values=B
	A *string `json:"a,omitempty"`
}

// Alone declares unions by itself.
// +unioncel:union:members=a;b
// +unioncel:union:members=a;c
// +unioncel:union(x):members=b;tpye
// +unioncel:union(y):discriminator=kind
// +unioncel:union(y):fields-to-discriminateBy={c: C}
type Alone struct {
	Type string  `json:"type,omitempty"`
	A    *string `json:"a,omitempty"`
	B    *string `json:"b,omitempty"`
	C    *string `json:"c,omitempty"`
}

// AloneField has members by the markers of the struct.
// +unioncel:union:members=a;b
type AloneField struct {
	// +unioncel:union:optional
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

// Listed has kubebuilder's lists.
// +unioncel:union:name=x
// +unioncel:union:name=y
// +kubebuilder:validation:ExactlyOneOf=a;b
type Listed struct {
	A *string `json:"a,omitempty"`
	// +unioncel:union:emptyIsUnset
	B *string `json:"b,omitempty"`
}

// OptionalFor lists values for which members are optional.
type OptionalFor struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	// +unioncel:union:values=TCP;TLS
	// +unioncel:union:optional=TSL
	A *string `json:"a,omitempty"`
	// +unionMember
	// +unioncel:union:optional=B;B
	B *string `json:"b,omitempty"`
	// +unionMember
	// +unioncel:union:optional=
	C *string `json:"c,omitempty"`
}

// OptionalBroken cannot be read.
type OptionalBroken struct {
	// +unionMember
	// +unioncel:union:optional=[A
	A *string `json:"a,omitempty"`
}

// OptionalModes has other modes.
type OptionalModes struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode,omitempty"`
	// +k8s:ifMode("A")=+k8s:required
	// +k8s:ifMode("B")=+k8s:required
	// +k8s:ifMode("C")=+k8s:forbidden
	// +unioncel:union:optional=C
	A *string `json:"a,omitempty"`
}

// OptionalNever has no discriminator.
type OptionalNever struct {
	// +unionMember
	// +unioncel:union:optional=A
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// Below names a property that the other struct does not have.
// +unioncel:union:discriminator=platform.tpye
// +unioncel:union:fields-to-discriminateBy={platform.nothing: A, aws: AWS, wsa.type: WSA}
type Below struct {
	Platform NestedType `json:"platform,omitempty"`
	AWS      *string    `json:"aws,omitempty"`
}

// Messages has messages of two markers for a field, and some that cannot be read.
// +unioncel:union:messages={a: a goes with A}
// +unioncel:union:message={required: ""}
type Messages struct {
	// +unionDiscriminator
	// +unioncel:union:messages={changed: type is immutable}
	Type string `json:"type,omitempty"`
	// +unionMember
	// +unioncel:union:messages=a; or b
	A *string `json:"a,omitempty"`
	// +unionMember
	// +unioncel:union:messages=true
	B *string `json:"b,omitempty"`
}

// ListedValues are lists of strings.
type ListedValues struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember
	// +unioncel:union:values={x: {y: z}}
	A *string `json:"a,omitempty"`
	// +unionMember
	// +unioncel:union:values=[B, [C]]
	B *string `json:"b,omitempty"`
	// +unionMember
	// +unioncel:union:optional=[{C: C}]
	C *string `json:"c,omitempty"`
	// +unionMember
	// +unioncel:union:optional={E: E}
	E *string `json:"e,omitempty"`
	// +unionMember
	// +unioncel:union:values=[D, ~]
	D *string `json:"d,omitempty"`
}

// ItemsOnly has a union of items, which markers of the struct cannot describe.
// +unioncel:union:message=one of them
type ItemsOnly struct {
	// +k8s:item(type: "A")=+k8s:zeroOrOneOfMember
	// +k8s:item(type: "B")=+k8s:zeroOrOneOfMember
	// +listType=map
	// +listMapKey=type
	// +optional
	List []Item `json:"list,omitempty"`
}

// Empty lists no members.
// +unioncel:union:members=
// +unioncel:union(x):message=one of them
type Empty struct {
	A *string `json:"a,omitempty"`
}

type Item struct {
	Type string `json:"type"`
}
