package source

import "slices"

// CRDKind is the kind of CRDs.
const CRDKind = "CustomResourceDefinition"

// IsList reports whether an object of this kind is a list, in whose items CRDs are
// looked for.
func IsList(kind string) bool {
	return slices.Contains([]string{"List", "CustomResourceDefinitionList"}, kind)
}

// MayHoldCRDs reports whether an object of this kind is a CRD, or a list of objects
// that may be some.
func MayHoldCRDs(kind string) bool { return kind == CRDKind || IsList(kind) }
