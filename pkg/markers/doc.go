// Package markers reads union declarations from the comments of Go types, in the dialects of
// Kubernetes projects, and locates them in CRDs.
//
// [Load] takes package patterns as controller-gen does. It finds the same types, builds the same
// CRDs in memory, and walks Go types and schemas side by side, so that a declaration gets the path
// that its struct has in the file controller-gen writes. The result is a [union.Externals]: one
// [union.External] per union and place, ready for crdpatch.Options. Load reads no CRD files: a CRD
// on disk that is older than the Go types is detected when the declarations are applied to it.
//
// [Declare] does the reverse: it adds markers for given unions to the text of the Go files. It never
// writes a file.
//
// The dialects, their origins and their defaults are in docs/markers.md. Each is turned into the
// declaration that an author of x-kubernetes-unions would write, with the defaults of the dialect
// spelled out. Its nodes have the positions of the markers, and union.Resolve checks it against the
// schema that controller-gen makes of the struct.
//
// Every struct of the packages named by the patterns is checked, whether a CRD has it or not.
// Structs of other packages are checked when a CRD has them. An error in a struct of another module
// is only information, since users cannot fix it; the unions of that struct are left out.
package markers
