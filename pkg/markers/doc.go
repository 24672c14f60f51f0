// Package markers reads union declarations from the comments of Go types, in the
// dialects that Kubernetes projects write, and says where in which CRD each applies.
//
// [Load] takes package patterns as controller-gen does. It finds the same types,
// builds the same CRDs in memory, and walks Go types and schemas side by side, so
// that a declaration gets the path that its struct has in the file controller-gen
// writes. The result is a [union.Externals]: one [union.External] per union and place, ready
// for crdpatch.Options. Nothing is compared with a file here; that a CRD on disk is
// older than the Go types shows when the declarations meet it.
//
// The dialects, their defaults and where they come from are in docs/markers.md.
// Each is turned into the same declaration that an author of x-kubernetes-unions
// would write, with the defaults of the dialect spelled out.
//
// Every struct of the packages named by the patterns is checked, whether a CRD
// has it or not. Structs of other packages are checked when a CRD has them; what is wrong
// with one of another module is only mentioned, and leaves that struct's unions
// out, since its users cannot fix it.
package markers
