// Package patch creates patches that clear the members a union excludes: the patch from one object
// to another, and overlay patches that clear the siblings of a member explicitly. It uses the patch
// libraries of kubectl and the API server.
package patch
