package e2e

import (
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// crdResource is the resource of CRDs.
var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// clientOf returns a client of a server that ignores warnings. Unlike the methods of the server, it does
// not wait for changes of CRDs.
func clientOf(t *testing.T, s *servertest.Server) dynamic.Interface {
	t.Helper()
	config := s.Config()
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
