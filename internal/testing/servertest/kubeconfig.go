package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster adds the endpoints that kubectl requires for the list of API groups. In a cluster, they
// are not served by the server of CRDs.
type cluster struct {
	*Server
	proxy http.Handler // to the server
}

// Kubeconfig returns a kubeconfig for kubectl. It is valid until the test ends, and requires
// [StartForKubectl] or [StartWithPolicies].
func (s *Server) Kubeconfig() ([]byte, error) {
	address, err := url.Parse(s.config.Host)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(address)
	// Servers of other tests close the idle connections of the default transport when they end.
	proxy.Transport = &http.Transport{}
	front := httptest.NewServer(&cluster{s, proxy})
	s.tb.Cleanup(front.Close)
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {}}]
current-context: test
`, front.URL), nil
}

// ServeHTTP answers /api, /api/v1 and /apis, and forwards any other request to the server.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	var err error
	switch r.URL.Path {
	case "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/api/v1": // without it kubectl does not know lists
		answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: "v1"}
	case "/apis":
		answer, err = c.groups(r.Context())
	default:
		// The proxy may read the body until the answer is written. The HTTP server would have closed
		// it then, which breaks the connection.
		var body []byte
		if body, err = io.ReadAll(r.Body); err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			c.proxy.ServeHTTP(w, r)
			return
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// groups lists the API groups of the server: the group of CRDs, and the groups of established CRDs.
// The server serves the resources of an established CRD with a small delay; groups waits for that.
func (c *cluster) groups(ctx context.Context) (*metav1.APIGroupList, error) {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		// Other clients may change the CRDs in the meantime.
		var crds apiextensionsv1.CustomResourceDefinitionList
		if err := c.get(ctx, crdsPath, &crds); err != nil {
			return false, err
		}
		names := []string{"apiextensions.k8s.io"}
		for _, crd := range crds.Items {
			if !isTrue(&crd, apiextensionsv1.Established) {
				continue
			}
			for _, version := range crd.Spec.Versions {
				if version.Served && !c.discovered(ctx, crd.Spec.Group+"/"+version.Name, crd.Spec.Names.Plural) {
					return false, ctx.Err()
				}
			}
			names = append(names, crd.Spec.Group)
		}
		slices.Sort(names)
		list.Groups = nil
		for _, name := range slices.Compact(names) {
			var group metav1.APIGroup
			if err := c.get(ctx, "/apis/"+name, &group); err != nil {
				return false, ctx.Err()
			}
			list.Groups = append(list.Groups, group)
		}
		return true, nil
	})
	return list, err
}

// discovered reports whether discovery lists a resource.
func (c *cluster) discovered(ctx context.Context, groupVersion, name string) bool {
	var list metav1.APIResourceList
	err := c.get(ctx, "/apis/"+groupVersion, &list)
	return err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
}

// get decodes the server's answer at a path into v.
func (c *cluster) get(ctx context.Context, path string, v any) error {
	data, err := c.client.Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
