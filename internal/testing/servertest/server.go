package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/pkg/validate"
)

// maxSocketPath is the longest path that a unix socket may have on every
// system Go runs on (104 bytes with the closing NUL on BSD, 108 on Linux).
const maxSocketPath = 103

// Server is a running API server that knows nothing but
// CustomResourceDefinitions and the objects they define. Its methods may be
// called from several goroutines at once, but not twice at a time for one CRD.
type Server struct {
	tb     testing.TB
	client *rest.RESTClient
	config *rest.Config
	// policies is the URL to which policies are written, empty when there are none.
	policies string
	dir      string // of its files
	settings int    // how often they were written
	probe    int    // the setting that made the CRD that tells when they take effect
	probed   int    // how many CRDs there were then

	mu        sync.Mutex
	resources map[schema.GroupKind]resource       // of the CRDs this Server wrote
	kinds     map[schema.GroupKind]*validate.Kind // what is expected of their objects
}

// program is the file of the program that is the server.
var program = sync.OnceValues(func() (string, error) { return testprog.Path("apiserver") })

// Start starts an API server that lives until tb ends: it and its storage are
// torn down, and their files removed, by tb.Cleanup. Start returns when the
// server is ready, and fails tb when it cannot be had. With -short it skips tb.
func Start(tb testing.TB) *Server { return start(tb) }

// StartForKubectl is [Start] for a server that publishes the schemas of its resources,
// without which kubectl does not write any.
func StartForKubectl(tb testing.TB) *Server { return start(tb, "openapi") }

// StartWithPolicies is [Start] for a server that has the admission plugins for policies,
// which [Server.SetPolicies] writes.
func StartWithPolicies(tb testing.TB) *Server { return start(tb, "policies") }

func start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("no API server with -short")
	}
	path, err := program()
	if err != nil {
		tb.Fatalf("servertest: %v", err)
	}
	dir, err := socketDir()
	if err != nil {
		tb.Fatalf("servertest: %v", err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	config, policies, err := run(tb, dir, path, args...)
	if err != nil {
		tb.Fatalf("servertest: start API server: %v", err)
	}
	client, err := newClient(config)
	if err != nil {
		tb.Fatalf("servertest: client: %v", err)
	}
	tb.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Client.Transport) })
	return &Server{tb: tb, client: client, config: config, policies: policies, dir: dir, resources: map[schema.GroupKind]resource{}, kinds: map[schema.GroupKind]*validate.Kind{}}
}

// run starts the program, which keeps its files in dir and ends with tb, or with this
// process, and returns how to connect with it, and where policies are written.
func run(tb testing.TB, dir, path string, args ...string) (_ *rest.Config, policies string, err error) {
	var stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stderr = &stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends when this is closed
		return nil, "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	end := sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // nothing is to be kept
		_ = cmd.Wait()
	})
	tb.Cleanup(end)
	var answer struct{ Host, Policies string }
	if err := json.NewDecoder(stdout).Decode(&answer); err != nil {
		end()
		return nil, "", fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	// A rate limit would set the pace of every test.
	return &rest.Config{Host: answer.Host, QPS: -1}, answer.Policies, nil
}

// Config returns a configuration with which other clients may do everything on
// the server, at any rate; it is the caller's. Unlike those of the methods of Server,
// their writes take effect some milliseconds later, as on a cluster.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = "application/json"
	config.WarningHandler = rest.NoWarnings{}
	return rest.UnversionedRESTClientFor(config)
}

// socketDir makes a directory whose path is short enough for the sockets in
// it. The test's own TempDir is not: it contains the name of the test.
func socketDir() (string, error) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		return "", err
	}
	if len(filepath.Join(dir, "client")) <= maxSocketPath {
		return dir, nil
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", "etcd")
}
