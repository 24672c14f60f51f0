package crdpatch

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
