// Package shared has a union that the kinds of other packages use.
package shared

type Choice struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}
