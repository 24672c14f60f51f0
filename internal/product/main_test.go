package product

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
