// Package imported is reached by import only.
package imported

// Choice is used by a CRD.
type Choice struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

// Unused is used by none, which is not for its users to mend.
type Unused struct {
	// +unionMember
	A string `json:"a"`
}

// Alias is a Choice by another name.
type Alias = Choice

// List is a list of them.
type List []Choice

// Mode is a discriminator's type.
// +kubebuilder:validation:Enum=on;off
type Mode string
