package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// setPolicies replaces all admission policies and their bindings by a stream of YAML documents. It
// returns when they are in force. This takes up to five seconds on the first call, and if CRDs were
// installed since the previous one, and longer for hundreds of policies beside other work.
func (s *policyServer) setPolicies(ctx context.Context, policies []byte) error {
	// The last changes take effect last: a CRD, and policies that together reject its objects.
	s.settings++
	if s.probe == 0 || s.crds != s.probed {
		if err := s.Install(ctx, fmt.Appendf(nil, probeCRD, s.settings)); err != nil {
			return err
		}
		s.probed, s.probe = s.crds, s.settings
	}
	mark := fmt.Sprintf("setting %d", s.settings)
	if err := s.writePolicies(ctx, io.MultiReader(bytes.NewReader(policies), strings.NewReader("\n---\n"+fmt.Sprintf(probePolicies, s.probe, mark, s.settings)))); err != nil {
		return err
	}
	object := fmt.Appendf(nil, `{"apiVersion": "probe%d.test/v1", "kind": "Probe", "metadata": {"name": "probe"}, "spec": {}}`, s.probe)
	return wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		request := s.client.Post().AbsPath(fmt.Sprintf("/apis/probe%d.test/v1/probes", s.probe)).Param("dryRun", "All")
		err := request.SetHeader("Content-Type", "application/json").Body(object).Do(ctx).Error()
		return err != nil && strings.HasSuffix(err.Error(), mark), ctx.Err()
	})
}

const probeCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: probes.probe%[1]d.test}
spec:
  group: probe%[1]d.test
  scope: Cluster
  names: {kind: Probe, plural: probes}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mark: {type: string}}}}}}}]
`

// The names differ in each setting, since policies and bindings take effect independently.
const probePolicies = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: probe%[3]d}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [probe%[1]d.test], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/mark', value: '%[2]s'}]"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: probe%[3]d}
spec: {policyName: probe%[3]d}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: probe%[3]d}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [probe%[1]d.test], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "!has(object.spec.mark) || object.spec.mark != '%[2]s'", message: "%[2]s"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: probe%[3]d}
spec: {policyName: probe%[3]d, validationActions: [Deny]}
`

// writePolicies writes a stream of policies and bindings.
func (s *policyServer) writePolicies(ctx context.Context, policies io.Reader) error {
	var objects []any
	for docs := utilyaml.NewYAMLReader(bufio.NewReader(policies)); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		o, err := policyOf(doc)
		if err != nil {
			return err
		}
		objects = append(objects, o)
	}
	body, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	url, _ := s.Policies()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("write policies: %s", answer.Status)
	}
	return nil
}

// policyOf decodes a policy or a binding and applies the API server's defaults.
func policyOf(doc []byte) (any, error) {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return nil, err
	}
	var object any
	var matching *admissionv1.MatchResources
	var err error
	read := func(into any) { object, err = into, yaml.UnmarshalStrict(doc, into) }
	switch head.Kind {
	case "MutatingAdmissionPolicy":
		p := &admissionv1.MutatingAdmissionPolicy{}
		read(p)
		matching = p.Spec.MatchConstraints
	case "ValidatingAdmissionPolicy":
		p := &admissionv1.ValidatingAdmissionPolicy{}
		read(p)
		matching = p.Spec.MatchConstraints
	case "MutatingAdmissionPolicyBinding":
		b := &admissionv1.MutatingAdmissionPolicyBinding{}
		read(b)
		matching = b.Spec.MatchResources
	case "ValidatingAdmissionPolicyBinding":
		b := &admissionv1.ValidatingAdmissionPolicyBinding{}
		read(b)
		matching = b.Spec.MatchResources
	default:
		return nil, fmt.Errorf("%q is not a kind of policy or binding", head.Kind)
	}
	if matching != nil {
		if matching.MatchPolicy == nil {
			matching.MatchPolicy = new(admissionv1.Equivalent)
		}
		if matching.NamespaceSelector == nil {
			matching.NamespaceSelector = &metav1.LabelSelector{}
		}
		if matching.ObjectSelector == nil {
			matching.ObjectSelector = &metav1.LabelSelector{}
		}
		for i := range matching.ResourceRules {
			if r := &matching.ResourceRules[i]; r.Scope == nil {
				r.Scope = new(admissionv1.AllScopes)
			}
		}
	}
	return object, err
}
