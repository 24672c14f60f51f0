package crdpatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The checksum of a compiled rule does not make a rule trusted: a collision of eight digits is
// found in seconds.
func TestForgedSum(t *testing.T) {
	var members, properties strings.Builder
	var values []string
	for i := range 48 {
		fmt.Fprintf(&members, "                m%d: V%d\n", i, i)
		fmt.Fprintf(&properties, "              m%d: {type: string}\n", i)
		values = append(values, fmt.Sprintf("V%d", i))
	}
	src := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ws.example.com
spec:
  group: example.com
  names: {kind: W, plural: ws, listKind: WList, singular: w}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-unions:
            - discriminator: type
              fields-to-discriminateBy:
` + members.String() + `            properties:
              type: {type: string, enum: [` + strings.Join(values, ", ") + `]}
` + properties.String()
	out, diags := Compile(Open("crd.yaml", []byte(src)), Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	const forged = "true || self.type == '100001199841'"
	rule := map[string]any{"fieldPath": ".m0", "message": "m0 is required when type is 'V0', and forbidden otherwise", "rule": forged}
	text := string(out)
	start := strings.Index(text, "- fieldPath: .type\n")
	end := start + strings.Index(text[start:], "            properties:")
	if !strings.Contains(text, `"`+sumOf(rule)+`"`) {
		t.Fatal("the rules are others now: look for another number")
	}
	text = text[:start] + "- fieldPath: .m0\n              message: \"" + rule["message"].(string) + "\"\n              rule: \"" + forged + "\"\n" + text[end:]
	again, diags := Compile(Open("crd.yaml", []byte(text)), Options{})
	if again != nil || !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
		return d.Code == codes.UnconfirmedRule && strings.Contains(d.Message, forged)
	}) {
		t.Errorf("the forged rule is taken for a compiled one: %v", diags)
	}
}

// A compiled CRD keeps its bytes, however it was reformatted, if another CRD of its document is compiled.
func TestCompiledInList(t *testing.T) {
	const spec = "spec: {type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b]}]}"
	done, err := json.Marshal(values(t, mustCompile(t, []byte(testcrd.New("Done", spec)), Options{}))[0])
	if err != nil {
		t.Fatal(err)
	}
	in := "kind: List\napiVersion: v1\nitems:\n- " + string(done) + "\n- " + strings.ReplaceAll(strings.TrimSuffix(testcrd.New("New", spec), "\n"), "\n", "\n  ") + "\n"
	out := string(mustCompile(t, []byte(in), Options{}))
	if before, _, ok := strings.Cut(out, string(done)); !ok || !strings.HasPrefix(in, before) || strings.Count(out, Annotation) != 2 {
		t.Error(out)
	}
}
