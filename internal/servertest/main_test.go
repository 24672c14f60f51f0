package servertest

import _ "github.com/unioncel/unioncel/internal/testgc"
