package change_test

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
