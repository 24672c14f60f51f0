// Package v1 has unions in all the places that a schema has.
//
// +groupName=shapes.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/pkg/markers/testdata/imported"
)

// Shape has a union on the resource itself.
//
// +kubebuilder:storageversion
type Shape struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +unionMember
	Data map[string]string `json:"data,omitempty"`
	// +unionMember
	BinaryData map[string][]byte `json:"binaryData,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

type ShapeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shape `json:"items"`
}

type Spec struct {
	Pointer     *Choice             `json:"pointer,omitempty"`
	List        []Choice            `json:"list,omitempty"`
	Pointers    []*Choice           `json:"pointers,omitempty"`
	Nested      [][]Choice          `json:"nested,omitempty"`
	Map         map[string]Choice   `json:"map,omitempty"`
	MapOfLists  map[string][]Choice `json:"mapOfLists,omitempty"`
	NamedList   NamedList           `json:"namedList,omitempty"`
	NamedMap    NamedMap            `json:"namedMap,omitempty"`
	Named       Named               `json:"named,omitempty"`
	Alias       Alias               `json:"alias,omitempty"`
	Array       [2]Choice           `json:"array,omitempty"`
	Imported    imported.Choice     `json:"imported,omitempty"`
	ImportAlias imported.Alias      `json:"importAlias,omitempty"`
	LocalAlias  LocalAlias          `json:"localAlias,omitempty"`
	ImportList  imported.List       `json:"importList,omitempty"`
	Tree        Tree                `json:"tree,omitempty"`
	Ring        Ring                `json:"ring,omitempty"`
	RingAgain   Link                `json:"ringAgain,omitempty"`
	Generic     Instance            `json:"generic,omitempty"`
	Switch      Switch              `json:"switch,omitempty"`

	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Schemaless Choice `json:"schemaless,omitempty"`
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Typed  Choice `json:"typed,omitempty"`
	Custom Custom `json:"custom,omitempty"`

	Skipped Choice `json:"-"`
	Dash    Choice `json:"-,"`
	inner   Choice `json:"inner,omitempty"`

	One, Other Choice `json:"both,omitempty"`

	Outer    `json:",inline"`
	*Pointed `json:",inline"`
	// A name makes an embedded struct a property.
	Embedded `json:"embedded,omitempty"`
	// And inline makes a named one none.
	Extra Extra `json:"extra,inline"`
}

var _ = Spec{}.inner

type Status struct {
	Choice Choice `json:"choice,omitempty"`
}

type Choice struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`
}

type (
	NamedList []Choice
	NamedMap  map[string]Choice
	Named     Choice
	Alias     = Choice

	LocalAlias = imported.Alias
)

// Tree refers to itself.
type Tree struct {
	// +unionMember
	Leaf *string `json:"leaf,omitempty"`
	// +unionMember
	Branch *string `json:"branch,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Trees []Tree `json:"trees,omitempty"`
	Twig  Twig   `json:"twig,omitempty"`
	// controller-gen stops at a type that it is in the middle of.
	// +kubebuilder:pruning:PreserveUnknownFields
	Self *Tree `json:"self,omitempty"`
}

type Twig struct {
	// +unionMember
	Bud *string `json:"bud,omitempty"`
	// +unionMember
	Bloom *string `json:"bloom,omitempty"`
}

// Ring and Link refer to each other. What controller-gen makes of a type that it
// has met inside another one is the same wherever it meets it next.
type Ring struct {
	// +unionMember
	R    *string `json:"r,omitempty"`
	Link *Link   `json:"link,omitempty"`
}

type Link struct {
	// +unionMember
	L    *string `json:"l,omitempty"`
	Ring *Ring   `json:"ring,omitempty"`
}

// Generic has a parameter that no property uses.
type Generic[T any] struct {
	// +unionMember
	A *string `json:"a,omitempty"`
	// +unionMember
	B *string `json:"b,omitempty"`

	Hidden T `json:"-"`
}

type Instance = Generic[int]

// Switch has a discriminator of another package's type.
type Switch struct {
	// +unionDiscriminator
	Mode imported.Mode `json:"mode,omitempty"`
	// +unionMember
	On *string `json:"on,omitempty"`
}

// Custom writes its JSON itself.
//
// +kubebuilder:validation:Type=string
type Custom struct {
	// +unionMember
	A *string `json:"a,omitempty"`
}

func (Custom) MarshalJSON() ([]byte, error) { return []byte(`""`), nil }

type Outer struct {
	// +unionMember
	OuterA *string `json:"outerA,omitempty"`
	// +unionMember
	OuterB *string `json:"outerB,omitempty"`

	Inner `json:",inline"`
}

type Inner struct {
	// +unionMember
	InnerA *string `json:"innerA,omitempty"`
	// +unionMember
	InnerB *string `json:"innerB,omitempty"`
}

type Pointed struct {
	// +unionMember
	PointedA *string `json:"pointedA,omitempty"`
}

type Embedded struct {
	// +unionMember
	EmbeddedA *string `json:"embeddedA,omitempty"`
}

type Extra struct {
	// +unionMember
	ExtraA *string `json:"extraA,omitempty"`
}

// Skip is in v2 only.
//
// +kubebuilder:skipversion
type Skip struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Choice `json:"spec,omitempty"`
}

// Plain has no union.
//
// +kubebuilder:resource:scope=Cluster,path=plainlings
type Plain struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Nested and Nesting contain each other. controller-gen writes no schema for a type inside itself.
type Nested struct {
	// +unionMember
	A *Nesting `json:"a,omitempty"`
	// +unionMember
	B *Nested `json:"b,omitempty"`
}

type Nesting struct {
	// +unionMember
	A *Nested `json:"a,omitempty"`
	// +unionMember
	B []Nesting `json:"b,omitempty"`
}
