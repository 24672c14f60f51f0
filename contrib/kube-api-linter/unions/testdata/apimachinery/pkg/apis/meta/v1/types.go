// Package v1 is a stub: the real package takes several times as long to load.
package v1

type TypeMeta struct{}

type ObjectMeta struct{}
