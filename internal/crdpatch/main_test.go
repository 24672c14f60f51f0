package crdpatch

import (
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
)

func open(name string, src []byte) *File { return Open(name, src) }
