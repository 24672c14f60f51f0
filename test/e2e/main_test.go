package e2e

import (
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
)

func TestMain(m *testing.M) { servertest.Main(m) }
