package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"sync"
	"time"
)

// core stands in for the kube-apiserver that serves the extension server's admission plugins. It
// stores policies, which are written all at once to /policies. Every namespace exists. Schemas of
// custom resources are forwarded to the extension server.
type core struct {
	mu       sync.Mutex
	policies []map[string]any // including their bindings
	version  int
	changed  chan struct{} // closed when the policies change
	url      string        // of the extension server
	server   http.Handler  // the extension server
}

// kinds are the kinds of the resources that the admission plugins watch.
var kinds = map[string][2]string{
	"namespaces":                        {"v1", "Namespace"},
	"mutatingadmissionpolicies":         {"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"},
	"mutatingadmissionpolicybindings":   {"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"},
	"validatingadmissionpolicies":       {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"},
	"validatingadmissionpolicybindings": {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"},
}

// serve starts a core for the extension server at a URL and returns the URL of the core.
func serve(server string) (string, error) {
	to, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	c := &core{version: 1, changed: make(chan struct{}), url: server, server: httputil.NewSingleHostReverseProxy(to)}
	go func() { _ = http.Serve(l, c) }() // until the program ends
	return "http://" + l.Addr().String(), nil
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/policies" {
		c.replace(w, r)
		return
	}
	dir, last := path.Split(r.URL.Path)
	if dir == "/api/v1/namespaces/" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(namespace(last))
		return
	}
	if _, ok := kinds[last]; ok {
		c.watch(w, r, last)
		return
	}
	if r.URL.Path == "/openapi/v3" {
		c.awaitProbe(r.Context())
	}
	c.server.ServeHTTP(w, r)
}

// awaitProbe returns when the extension server publishes the schema of a probe, the last CRD that
// is installed before the first policies (see setPolicies in test/e2e). The plugins list schemas
// when they start, and then only every five seconds.
func (c *core) awaitProbe(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get(c.url + "/openapi/v3"); err == nil {
			schemas, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if bytes.Contains(schemas, []byte("apis/probe")) {
				return
			}
		}
	}
}

// replace replaces all policies by the list of objects in the request.
func (c *core) replace(w http.ResponseWriter, r *http.Request) {
	var policies []map[string]any
	if err := json.NewDecoder(r.Body).Decode(&policies); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	for _, p := range policies {
		p["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(c.version)
	}
	c.policies = policies
	close(c.changed)
	c.changed = make(chan struct{})
}

// watch streams the objects of a resource and their changes, in the order of the writes. Informers
// use no other request.
func (c *core) watch(w http.ResponseWriter, r *http.Request, resource string) {
	w.Header().Set("Content-Type", "application/json")
	send := func(event string, object map[string]any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": event, "object": object})
	}
	var known []map[string]any
	for first := true; ; first = false {
		c.mu.Lock()
		version, changed := c.version, c.changed
		now := slices.DeleteFunc(append([]map[string]any{namespace("default")}, c.policies...), func(o map[string]any) bool { return o["kind"] != kinds[resource][1] })
		c.mu.Unlock()
		for _, o := range known {
			if !has(now, o) {
				send("DELETED", o)
			}
		}
		for _, o := range now {
			if has(known, o) {
				send("MODIFIED", o)
			} else {
				send("ADDED", o)
			}
		}
		if known = now; first {
			send("BOOKMARK", object(resource, map[string]any{"resourceVersion": fmt.Sprint(version), "annotations": map[string]any{"k8s.io/initial-events-end": "true"}}))
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// has reports whether a list contains an object of the same name.
func has(l []map[string]any, o map[string]any) bool {
	return slices.ContainsFunc(l, func(other map[string]any) bool { return name(other) == name(o) })
}

func name(o map[string]any) any { return o["metadata"].(map[string]any)["name"] }

// namespace returns a namespace object. The plugins know the namespace default without a request,
// which they send only a few times a second.
func namespace(name string) map[string]any {
	return object("namespaces", map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/metadata.name": name}})
}

// object returns an object of a resource with only metadata.
func object(resource string, metadata map[string]any) map[string]any {
	return map[string]any{"apiVersion": kinds[resource][0], "kind": kinds[resource][1], "metadata": metadata}
}
