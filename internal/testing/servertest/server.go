package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testprog"
)

// maxSocketPath is the length of the longest unix socket path that every operating system accepts
// (104 bytes including the final NUL on BSD, 108 on Linux).
const maxSocketPath = 103

// Server is a running API server for CustomResourceDefinitions and their objects. Its methods are
// safe for concurrent use, except for concurrent writes of the same CRD.
type Server struct {
	tb     testing.TB
	client *rest.RESTClient
	config *rest.Config
	// policies is the URL that accepts policies, or "" without policies.
	policies string
	dir      string // of the server's files

	installed sync.Map // by schema.GroupKind, the CRDs that this Server wrote
}

// installed is a CRD on the server.
type installed struct {
	crd  *apiextensionsv1.CustomResourceDefinition
	kind *server.Kind // the expected validation of its objects
}

// program returns the path of the server's executable.
var program = sync.OnceValues(func() (string, error) { return testprog.Path("apiserver") })

// Start starts an API server that runs until tb ends: tb.Cleanup stops the server and its storage,
// and removes their files. Start returns when the server is ready, and fails tb if it cannot be
// started. With -short it skips tb.
func Start(tb testing.TB) *Server { return start(tb) }

// StartForKubectl is [Start] for a server that publishes the OpenAPI schemas of its resources.
// kubectl requires them for writes.
func StartForKubectl(tb testing.TB) *Server { return start(tb, "openapi") }

// StartWithPolicies is [Start] for a server with the admission plugins for policies.
func StartWithPolicies(tb testing.TB) *Server { return start(tb, "policies") }

func start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return of(tb, func() (*Server, error) { return begin(tb, args...) })
}

// Shared is [Start] for a server that runs until [Main] ends, and that all tests of a process share.
// The names of their CRDs must differ. It takes a fifth of the time of Start, because the server
// prepares its first answers only once.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	return of(tb, shared)
}

// whole owns the server of [Shared].
var whole process

var shared = sync.OnceValues(func() (*Server, error) { return begin(&whole) })

// Main runs tests that may call [Shared], and returns the exit code of the process.
func Main(m *testing.M) int {
	code := m.Run()
	for _, end := range slices.Backward(whole.cleanups) {
		end()
	}
	return max(code, whole.code)
}

// owner is a test or a process.
type owner interface {
	Cleanup(func())
	Errorf(string, ...any)
}

type process struct {
	cleanups []func()
	code     int
}

func (p *process) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

func (p *process) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	p.code = 1
}

// of returns a server for a test.
func of(tb testing.TB, begin func() (*Server, error)) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("no API server with -short")
	}
	s, err := begin()
	if err != nil {
		tb.Fatalf("servertest: %v", err)
	}
	return &Server{tb: tb, client: s.client, config: s.config, policies: s.policies, dir: s.dir}
}

// begin starts a server that runs until its owner ends.
func begin(o owner, args ...string) (*Server, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	dir, err := socketDir()
	if err != nil {
		return nil, err
	}
	o.Cleanup(func() { os.RemoveAll(dir) })
	config, policies, err := run(o, dir, path, args...)
	if err != nil {
		return nil, fmt.Errorf("start API server: %w", err)
	}
	client, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	o.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Client.Transport) })
	return &Server{client: client, config: config, policies: policies, dir: dir}, nil
}

// run starts the program, which keeps its files in dir and ends with its owner or with this process.
// It returns the client configuration and the URL for policies.
func run(o owner, dir, path string, args ...string) (_ *rest.Config, policies string, err error) {
	var stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stderr = &stderr
	if _, err := cmd.StdinPipe(); err != nil { // the program ends when this pipe is closed
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
		killed := cmd.Process.Kill() == nil // no data must be kept
		if err := cmd.Wait(); !killed || cmd.ProcessState.ExitCode() >= 0 {
			o.Errorf("servertest: the API server ended early: %v\n%s", err, stderr.Bytes())
		}
	})
	o.Cleanup(end)
	var answer struct{ Host, Policies string }
	if err := json.NewDecoder(stdout).Decode(&answer); err != nil {
		end()
		return nil, "", fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	// A rate limit would slow down every test.
	return &rest.Config{Host: answer.Host, QPS: -1}, answer.Policies, nil
}

// Policies returns the URL that accepts all policies and bindings, as one list, with PUT, and the file
// with the audit log of all requests, one line of JSON each. It requires [StartWithPolicies].
func (s *Server) Policies() (url, auditLog string) {
	return s.policies, filepath.Join(s.dir, "audit.log")
}

// Config returns a configuration for other clients, with full permissions and without a rate limit.
// The caller may modify it. Unlike the methods of Server, such clients see changes of CRDs take
// effect some milliseconds after the write, as in a cluster.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = "application/json"
	config.WarningHandler = rest.NoWarnings{}
	return rest.UnversionedRESTClientFor(config)
}

// socketDir creates a directory with a path that is short enough for unix sockets. The test's
// TempDir is too long, because it contains the name of the test.
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
