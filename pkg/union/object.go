package union

import "github.com/unioncel/unioncel/pkg/schemapath"

// Object is a union object: a schema in a CRD with its unions.
type Object struct {
	schemapath.Place
	// Declarations have their extensions applied. Unions are their unions, in the same order.
	Declarations []*Declaration
	Unions       []*Union
}
