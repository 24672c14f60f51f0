package servertest

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/server/v3/embed"
	apiservertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// etcdDeadline bounds the wait for the embedded etcd to elect itself. It
// takes milliseconds; the bound is there so that a machine that cannot run it
// gives an error instead of a test that hangs.
const etcdDeadline = time.Minute

// maxSocketPath is the longest path that a unix socket may have on every
// system Go runs on (104 bytes with the closing NUL on BSD, 108 on Linux).
const maxSocketPath = 103

// Server is a running API server that knows nothing but
// CustomResourceDefinitions and the objects they define. Its methods may be
// called from several goroutines at once, but not twice at a time for one CRD.
type Server struct {
	client *rest.RESTClient
	config *rest.Config

	mu        sync.Mutex
	resources map[schema.GroupKind]resource // of the CRDs this Server wrote
}

// Start starts an API server that lives until tb ends: it and its storage are
// torn down, and their files removed, by tb.Cleanup. Start returns when the
// server is ready, and fails tb when it cannot be had. With -short it skips tb.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("no API server with -short")
	}
	silence()

	dir, err := socketDir()
	if err != nil {
		tb.Fatalf("servertest: %v", err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })

	etcd, err := startEtcd(dir)
	if err != nil {
		tb.Fatalf("servertest: start etcd: %v", err)
	}
	tb.Cleanup(etcd.Close)

	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(unusedKubeconfig), 0o600); err != nil {
		tb.Fatalf("servertest: %v", err)
	}
	server, err := apiservertesting.StartTestServer(quiet{tb}, nil, flags(etcd, kubeconfig), nil)
	if err != nil {
		tb.Fatalf("servertest: start API server: %v", err)
	}
	tb.Cleanup(server.TearDownFn)

	client, err := newClient(server.ClientConfig)
	if err != nil {
		tb.Fatalf("servertest: client: %v", err)
	}
	// Before the server goes down: it would wait five seconds for the first
	// request on each connection that was opened to spare.
	tb.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Client.Transport) })
	return &Server{client: client, config: server.ClientConfig, resources: map[schema.GroupKind]resource{}}
}

// Config returns a configuration with which other clients may do everything on
// the server; it is the caller's. Unlike the methods of Server, what they write
// takes effect some milliseconds later, as on a cluster.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// unusedKubeconfig satisfies the delegated authentication and authorization
// options, which insist on a kube-apiserver to ask. It is never asked: the
// client speaks over the loopback connection, which is always privileged.
const unusedKubeconfig = `apiVersion: v1
kind: Config
clusters:
- {name: none, cluster: {server: "http://127.0.0.1:1"}}
contexts:
- {name: none, context: {cluster: none, user: none}}
users:
- {name: none, user: {}}
current-context: none
`

func flags(etcd *embed.Etcd, kubeconfig string) []string {
	return []string{
		"--etcd-servers=" + etcd.Config().ListenClientUrls[0].String(),
		"--authentication-skip-lookup",
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--kubeconfig=" + kubeconfig,
		// All that would ask a kube-apiserver for namespaces, webhooks,
		// policies or flow schemas.
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins=NamespaceLifecycle," +
			"MutatingAdmissionWebhook,ValidatingAdmissionWebhook," +
			"MutatingAdmissionPolicy,ValidatingAdmissionPolicy",
		// HTTP/2 makes the server linger for a second when it is torn down.
		"--disable-http2-serving",
		// Nothing goes on in the background: it would complain on stderr, past
		// every setting, when the storage goes away.
		"--etcd-count-metric-poll-period=0",
		"--etcd-compaction-interval=0",
		// A cache takes a tenth of a second to fill, again after each change
		// of a CRD.
		"--watch-cache=false",
	}
}

// newClient returns a client without the rate limit that would otherwise set
// the pace of every test.
func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = "application/json"
	config.WarningHandler = rest.NoWarnings{}
	return rest.UnversionedRESTClientFor(config)
}

// startEtcd starts a one-member etcd that keeps its data and its sockets in
// dir, and returns when it can serve.
func startEtcd(dir string) (*embed.Etcd, error) {
	clientURL := url.URL{Scheme: "unix", Path: filepath.Join(dir, clientSocket)}
	peerURL := url.URL{Scheme: "unix", Path: filepath.Join(dir, peerSocket)}

	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "data")
	config.ListenClientUrls = []url.URL{clientURL}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{peerURL}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	// It waits an election timeout before it elects itself.
	config.TickMs = 10
	config.ElectionMs = 50
	config.LogLevel = "panic"
	config.LogOutputs = []string{os.DevNull}

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(etcdDeadline):
		err = fmt.Errorf("not ready after %v", etcdDeadline)
	}
	etcd.Close()
	return nil, err
}

const (
	clientSocket = "client"
	peerSocket   = "peer"
)

// socketDir makes a directory whose path is short enough for the sockets in
// it. The test's own TempDir is not: it contains the name of the test.
func socketDir() (string, error) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		return "", err
	}
	if len(filepath.Join(dir, clientSocket)) <= maxSocketPath {
		return dir, nil
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", "etcd")
}

// silence turns klog off, once and for the whole process: the server's
// goroutines may log until the process ends, so it can never be given back.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// quiet keeps the server's progress reports out of the test's log.
type quiet struct{ testing.TB }

func (quiet) Logf(string, ...any) {}
