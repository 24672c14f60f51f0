package e2e

import (
	"os"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }
