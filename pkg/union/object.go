package union

import "github.com/unioncel/unioncel/pkg/schemapath"

// Object is a union object: a schema in a CRD, and the unions of its properties.
type Object struct {
	schemapath.Place
	// Declarations are the declarations with their extensions applied. Unions are the resolved
	// unions in the same order.
	Declarations []*Declaration
	Unions       []*Union
}
