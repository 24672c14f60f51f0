package e2e

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
