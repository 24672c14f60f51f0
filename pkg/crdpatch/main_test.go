package crdpatch

import _ "github.com/unioncel/unioncel/internal/testgc"
