// Command apiserver is the API server for custom resources that internal/testing/servertest starts:
// k8s.io/apiextensions-apiserver on an embedded etcd, without access control. It prints its
// address, as JSON, when it is ready, and runs until its standard input ends. All its files are in
// the directory for temporary files. The argument openapi makes it publish the schemas of its
// resources, which kubectl requires. The argument policies enables admission policies.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// readyDeadline limits the wait for the embedded etcd to elect itself, and for the server. Both
// take milliseconds; on a machine that cannot run them, tests fail instead of hanging.
const readyDeadline = time.Minute

func main() {
	var openAPI, policies bool
	if len(os.Args) > 1 {
		openAPI, policies = true, os.Args[1] == "policies"
	}
	host, policiesURL, err := start(openAPI, policies)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]string{"Host": host, "Policies": policiesURL})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// start starts the server and returns its URL and, if it has admission policies, the URL that accepts
// them.
func start(openAPI, policies bool) (host, policiesURL string, err error) {
	klog.SetLogger(logr.Discard())
	etcd, err := startEtcd(os.TempDir())
	if err != nil {
		return "", "", fmt.Errorf("start etcd: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	host = "http://" + l.Addr().String()
	config, audit := filepath.Join(os.TempDir(), "kubeconfig"), filepath.Join(os.TempDir(), "audit")
	coreURL, more := "http://127.0.0.1:1", []string{"--disable-admission-plugins=MutatingAdmissionPolicy,ValidatingAdmissionPolicy"}
	if policies {
		generic.SetPolicyRefreshIntervalForTests(5 * time.Millisecond)
		if coreURL, err = serve(host); err != nil {
			return "", "", err
		}
		policiesURL = coreURL + "/policies"
		more = []string{"--audit-policy-file=" + audit, "--audit-log-path=" + audit + ".log"}
		if err := os.WriteFile(audit, []byte(auditPolicy), 0o600); err != nil {
			return "", "", err
		}
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, kubeconfig, coreURL), 0o600); err != nil {
		return "", "", err
	}
	server, err := newServer(host, append(flags(etcd, config), more...), openAPI)
	if err != nil {
		return "", "", fmt.Errorf("start API server: %w", err)
	}
	go func() { _ = server.PrepareRun().RunWithContext(context.Background()) }()
	go func() { _ = http.Serve(l, server.Handler) }()
	return host, policiesURL, awaitReady(host + "/healthz")
}

// newServer returns a server that will be served at a URL.
func newServer(host string, flags []string, openAPI bool) (*genericserver.GenericAPIServer, error) {
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, os.Stderr)
	// Creating certificates would take half as long as starting the server without them.
	o.RecommendedOptions.SecureServing = &genericoptions.SecureServingOptionsWithLoopback{}
	o.RecommendedOptions.Authentication = nil
	fs := pflag.NewFlagSet("apiserver", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(flags); err != nil {
		return nil, err
	}
	if err := o.ServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	config.GenericConfig.ExternalAddress = strings.TrimPrefix(host, "http://")
	config.GenericConfig.LoopbackClientConfig = &rest.Config{Host: host, QPS: -1}
	config.GenericConfig.Authentication.Authenticator = authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: "test", Groups: []string{user.SystemPrivilegedGroup}}}, true, nil
	})
	// Publishing schemas would take a fifth of the time of writing a CRD.
	config.GenericConfig.SkipOpenAPIInstallation = !openAPI
	config.GenericConfig.OpenAPIConfig = genericserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, openapinamer.NewDefinitionNamer(extensions.Scheme))
	server, err := config.Complete().New(genericserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	return server.GenericAPIServer, server.Informers.Apiextensions().V1().CustomResourceDefinitions().Informer().SetTransform(observable)
}

// observable modifies CRDs as the server sees them, so that internal/testing/servertest can tell
// which one is in force. Tables of objects get another column, which only "kubectl get -o wide"
// prints; its name is the UID and generation of the CRD. The establishment of the CRD is moved into
// the past: for two seconds after it, the server delays creates, for clusters with several API
// servers.
func observable(object any) (any, error) {
	crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return object, nil
	}
	generation := apiextensionsv1.CustomResourceColumnDefinition{Name: fmt.Sprint(crd.UID, " ", crd.Generation), Type: "string", JSONPath: ".metadata.name", Priority: 1}
	for i := range crd.Spec.Versions {
		columns := &crd.Spec.Versions[i].AdditionalPrinterColumns
		if len(*columns) == 0 {
			*columns = append(*columns, apiextensionsv1.CustomResourceColumnDefinition{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"})
		}
		*columns = append(*columns, generation)
	}
	for i := range crd.Status.Conditions {
		if c := &crd.Status.Conditions[i]; c.Type == apiextensionsv1.Established {
			c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Add(-time.Minute))
		}
	}
	return crd, nil
}

// awaitReady returns when a URL answers with status 200.
func awaitReady(url string) error {
	for deadline := time.Now().Add(readyDeadline); ; time.Sleep(5 * time.Millisecond) {
		answer, err := http.Get(url)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("%s: %s", url, answer.Status)
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// kubeconfig satisfies the delegated authorization options, which require a kube-apiserver. It is
// never called, because every user is privileged.
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

// auditPolicy logs all completed requests.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

func flags(etcd *embed.Etcd, kubeconfig string) []string {
	return []string{
		"--etcd-servers=" + etcd.Config().ListenClientUrls[0].String(),
		"--authorization-kubeconfig=" + kubeconfig,
		"--kubeconfig=" + kubeconfig,
		// Disable everything that requires namespaces, webhooks, policies or flow schemas of a
		// kube-apiserver.
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
		// Disable background work.
		"--etcd-count-metric-poll-period=0",
		"--etcd-compaction-interval=0",
		// Filling a cache takes a tenth of a second, after each change of a CRD.
		"--watch-cache=false",
	}
}

// startEtcd starts a single etcd member with its data and sockets in dir, and returns when it is
// ready.
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
	// The member waits for an election timeout before it elects itself.
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
	case <-time.After(readyDeadline):
		return nil, fmt.Errorf("not ready after %v", readyDeadline)
	}
}
