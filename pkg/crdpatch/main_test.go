package crdpatch

import (
	"github.com/unioncel/unioncel/internal/compiled"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/pkg/crdfile"
)

func open(name string, src []byte) *crdfile.File { return crdfile.Open(name, src) }

// Functions of package compiled, for tests with a local variable named compiled.
var (
	jsonOf = compiled.JSON
	sumOf  = compiled.Sum
)
