package bad

// TwoDiscriminators is a kube-openapi error.
// +union
type TwoDiscriminators struct {
	// +unionDiscriminator
	A string `json:"a,omitempty"`
	// +unionDiscriminator
	B string  `json:"b,omitempty"`
	C *string `json:"c,omitempty"`
}

// WhoseMember does not say to which of two discriminators a member belongs.
type WhoseMember struct {
	// +unionDiscriminator
	A string `json:"a,omitempty"`
	// +unionDiscriminator
	B string `json:"b,omitempty"`
	// +unionMember
	C *string `json:"c,omitempty"`
}

// NoMembers is a kube-openapi error.
type NoMembers struct {
	// +unionDiscriminator
	A string  `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

// +union
type NoMembersAtAll struct {
	A string `json:"-"`
}

// +union
type OnlyDiscriminator struct {
	// +unionDiscriminator
	A string `json:"a,omitempty"`
}

// Both is a kube-openapi error.
type Both struct {
	// +unionDiscriminator
	// +unionMember
	A string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// Embeds is a kube-openapi error.
// +union
type Embeds struct {
	Inlined `json:",inline"`
	A       *string `json:"a,omitempty"`
}

// Required is a kube-openapi error.
// +union
type Required struct {
	A *string `json:"a"`
	// +required
	B *string `json:"b,omitempty"`
	C *string `json:"c,omitempty"`
}

type RequiredMember struct {
	// +unionMember
	A *string `json:"a"`
	// +unionDeprecated
}

type RequiredDash struct {
	// +unionMember
	Dash *string `json:"-,"`
}

type RequiredDeprecated struct {
	// +unionDeprecated
	// +kubebuilder:validation:Required
	A *string `json:"a,omitempty"`
}

// NotString is a kube-openapi error in its prose.
type NotString struct {
	// +unionDiscriminator
	A float64 `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type NoDiscriminator struct {
	// +unionMember,optional
	A *string `json:"a,omitempty"`
}

type UnknownDiscriminator struct {
	Type string `json:"type,omitempty"`
	// +unionMember=type
	A *string `json:"a,omitempty"`
	// +unionMember=kind
	B *string `json:"b,omitempty"`
}

type MisspeltDiscriminator struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`
	// +unionMember=tpye
	A *string `json:"a,omitempty"`
}

// Spans has its members in what it inlines.
type Spans struct {
	// +unionDiscriminator
	Type string `json:"type,omitempty"`

	SpannedMembers `json:",inline"`
}

type SpannedMembers struct {
	// +unionMember
	A *string `json:"a,omitempty"`
}

// SpansUp has its discriminator in what inlines it, and SpansDown in what it inlines.
type SpansUp struct {
	// +unionMember=kind
	A *string `json:"a,omitempty"`
}

type Outer struct {
	// +unionDiscriminator
	Kind string `json:"kind,omitempty"`
	// +unionMember=kind
	B *string `json:"b,omitempty"`

	Middle `json:",inline"`
}

type Middle struct {
	*SpansUp `json:",inline"`
}

type SpansDown struct {
	// +unionMember=kind
	C *string `json:"c,omitempty"`

	Outer `json:",inline"`
}

// SameName has one JSON name twice.
type SameName struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"a,omitempty"`
}

type Fruit string

const (
	FruitApple  Fruit = "apple"
	GreenApple  Fruit = "Apple"
	FruitCherry Fruit = "cherry"
	Cherries    Fruit = "cherries"
)

// Values have no member, or two.
type Values struct {
	// +unionDiscriminator
	Type Fruit `json:"type,omitempty"`
	// +unionMember
	Apple *string `json:"apple,omitempty"`
	// +unionMember
	APPLE *string `json:"aPPLE,omitempty"`
	// +unionMember
	Cherry *string `json:"cherry,omitempty"`
	// +unionMember
	CHERRY *string `json:"cHERRY,omitempty"`
	// +unionMember
	Pear *string `json:"pear,omitempty"`
}

type EnumValues struct {
	// +unionDiscriminator
	// +kubebuilder:validation:Enum=A;B
	Type string `json:"type,omitempty"`
	// +unionMember
	C *string `json:"c,omitempty"`
}

// Deprecated is a kube-openapi error.
// +union
type Deprecated struct {
	// +unionDeprecated
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
}

type Mixed struct {
	// +unionDeprecated
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}
