package declared

import (
	"reflect"
	"strings"
)

// Declared exports a declaration to tests.
type Declared struct {
	Of     reflect.Type
	Others []string
	Unions string
	// Value, Source and Lax are the fields of the declaration.
	Value, Source string
	Lax           bool
}

// Table returns the declarations of Go types.
func Table() []Declared {
	var l []Declared
	for _, d := range declarations {
		l = append(l, Declared{d.of, d.others, d.unions, d.value, d.source, d.lax})
	}
	return l
}

// Published returns the name of a Go type of k8s.io/api in the OpenAPI.
func (d Declared) Published() string {
	return "io." + strings.NewReplacer("k8s.io", "k8s", "/", ".").Replace(d.Of.PkgPath()) + "." + d.Of.Name()
}

// Types returns the Go types of the covered kinds.
func Types() []reflect.Type {
	var l []reflect.Type
	for t := range all().types {
		l = append(l, t)
	}
	return l
}
