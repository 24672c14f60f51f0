// Command apiserver is the API server that judges custom objects, for
// internal/servertest: k8s.io/apiextensions-apiserver on an embedded etcd. It
// prints how to connect, as JSON, when it is ready, and runs until its standard
// input ends. All its files are in the directory for temporary files. With the
// argument policies it has admission policies, too.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/server/v3/embed"
	apiservertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// etcdDeadline bounds the wait for the embedded etcd to elect itself. It
// takes milliseconds; the bound is there so that a machine that cannot run it
// gives an error instead of a test that hangs.
const etcdDeadline = time.Minute

func main() {
	config, policies, err := start(len(os.Args) > 1 && os.Args[1] == "policies")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{
			"Host": config.Host, "BearerToken": config.BearerToken, "ServerName": config.ServerName, "CAData": config.CAData, "Policies": policies,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// start starts the server and returns how to connect with it and, if it has admission
// policies, the URL to which they are written.
func start(withPolicies bool) (_ *rest.Config, policies string, err error) {
	klog.SetLogger(logr.Discard())
	etcd, err := startEtcd(os.TempDir())
	if err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	config, audit := filepath.Join(os.TempDir(), "kubeconfig"), filepath.Join(os.TempDir(), "audit")
	url, more := "http://127.0.0.1:1", []string{"--disable-admission-plugins=MutatingAdmissionPolicy,ValidatingAdmissionPolicy"}
	var core *core
	if withPolicies {
		generic.SetPolicyRefreshIntervalForTests(5 * time.Millisecond)
		if core, url, err = serve(); err != nil {
			return nil, "", err
		}
		policies = url + "/policies"
		more = []string{"--audit-policy-file=" + audit, "--audit-log-path=" + audit + ".log"}
		if err := os.WriteFile(audit, []byte(auditPolicy), 0o600); err != nil {
			return nil, "", err
		}
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, kubeconfig, url), 0o600); err != nil {
		return nil, "", err
	}
	server, err := apiservertesting.StartTestServer(logger{}, nil, append(flags(etcd, config), more...), nil)
	if err != nil {
		return nil, "", fmt.Errorf("start API server: %w", err)
	}
	if core != nil {
		err = core.forward(server.ClientConfig)
	}
	return server.ClientConfig, policies, err
}

// kubeconfig satisfies the delegated authentication and authorization options, which insist
// on a kube-apiserver to ask. They never ask: the client speaks over the loopback
// connection, which is always privileged.
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- {name: core, cluster: {server: %q}}
contexts:
- {name: core, context: {cluster: core, user: none}}
users:
- {name: none, user: {}}
current-context: core
`

// auditPolicy logs all requests that are through.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
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
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
		"--disable-http2-serving",
		// Nothing goes on in the background.
		"--etcd-count-metric-poll-period=0",
		"--etcd-compaction-interval=0",
		// A cache takes a tenth of a second to fill, again after each change
		// of a CRD.
		"--watch-cache=false",
	}
}

// startEtcd starts a one-member etcd that keeps its data and its sockets in
// dir, and returns when it can serve.
func startEtcd(dir string) (*embed.Etcd, error) {
	clientURL := url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	peerURL := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}

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
	case err := <-etcd.Err():
		return nil, err
	case <-time.After(etcdDeadline):
		return nil, fmt.Errorf("not ready after %v", etcdDeadline)
	}
}

// logger prints what is wrong, and no progress.
type logger struct{}

func (logger) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (logger) Logf(string, ...any)               {}
func (l logger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	os.Exit(1)
}
