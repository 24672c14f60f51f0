package crd_test

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
