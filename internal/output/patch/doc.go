// Package patch creates patches that clear the members which a union forbids: the patch from one
// object to another, and overlay patches that explicitly clear the other members. It uses the patch
// libraries of kubectl and the API server.
package patch
