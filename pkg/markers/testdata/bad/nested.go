package bad

// NestedType has a discriminator whose members are in another struct.
type NestedType struct {
	// +unionDiscriminator
	Type string `json:"type"`
}

// NamesNested names it by its path.
type NamesNested struct {
	Platform NestedType `json:"platform"`
	// +unionMember=platform.type
	AWS *string `json:"aws,omitempty"`
	// +unionMember=platform.type
	GCP *string `json:"gcp,omitempty"`
}

// NestedMembers has the members of a discriminator outside.
type NestedMembers struct {
	// +unionMember=kind
	A *string `json:"a,omitempty"`
}

// OutsideType has the discriminator.
type OutsideType struct {
	// +unionDiscriminator
	Kind   string         `json:"kind"`
	Config *NestedMembers `json:"config,omitempty"`
}

// UnmarkedNested names a path to a field without a marker.
type UnmarkedNested struct {
	Target struct {
		Type string `json:"type"`
	} `json:"target"`
	// +unionMember=target.type
	A *string `json:"a,omitempty"`
}

// NestedModes has modes of a discriminator outside.
type NestedModes struct {
	// +k8s:ifMode("A")=+k8s:required
	A *string `json:"a,omitempty"`
}

// OutsideMode has the discriminator.
type OutsideMode struct {
	// +k8s:modeDiscriminator
	Mode  string      `json:"mode"`
	Modes NestedModes `json:"modes"`
}

// NestedAlone has a discriminator only, and the members that it could have name none.
type NestedAlone struct {
	// +k8s:unionDiscriminator
	Type string `json:"type"`
}

// NamesNone is a holder of it.
type NamesNone struct {
	Platform *NestedAlone `json:"platform,omitempty"`
	// +k8s:unionMember
	AWS *string `json:"aws,omitempty"`
	// +k8s:unionMember
	GCP *string `json:"gcp,omitempty"`
}

// DottedName has a name that needs quotes.
type DottedName struct {
	Platform NestedType `json:"my.platform"`
	// +unionMember=type
	AWS *string `json:"aws,omitempty"`
}

// TaggedOutside has a discriminator that may get members; the union of TaggedNested is apart from it.
type TaggedOutside struct {
	// +k8s:unionDiscriminator
	Type   string        `json:"type,omitempty"`
	Nested *TaggedNested `json:"nested,omitempty"`
}

type TaggedNested struct {
	// +k8s:unionMember
	A *string `json:"a,omitempty"`
	// +k8s:unionMember
	B *string `json:"b,omitempty"`
}
