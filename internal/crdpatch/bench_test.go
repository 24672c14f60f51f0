package crdpatch_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
)

// sizes are CRDs as controller-gen writes them for small, usual and large APIs.
var sizes = []struct {
	name             string
	components, size int // the numbers of union objects, and of properties around each
}{
	{"small", 2, 12},
	{"medium", 8, 40},
	{"large", 24, 100},
}

// generate writes a CRD: components with a union each, some in lists, and
// ordinary properties with descriptions, constraints and a rule around them.
func generate(components, size int, unions bool) []byte {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat(" ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	b.WriteString(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.19.0
  name: machines.fleet.example.com
spec:
  group: fleet.example.com
  names:
    kind: Machine
    listKind: MachineList
    plural: machines
    singular: machine
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          apiVersion:
            type: string
          kind:
            type: string
          metadata:
            type: object
          spec:
            properties:
`)
	for i := range components {
		at := 14
		line(at, "component%d:", i)
		list := i%3 == 2
		if list {
			line(at+2, "items:")
			at += 2
		}
		line(at+2, "description: Component %d is one of the parts that a machine is made of.", i)
		line(at+2, "properties:")
		for j := range size {
			p := at + 4
			line(p, "setting%d:", j)
			line(p+2, "description: |-")
			line(p+4, "Setting %d of component %d says how the part behaves under load.", j, i)
			line(p+4, "It is read once, when the machine starts; see the handbook for its values.")
			switch j % 4 {
			case 0:
				line(p+2, "maxLength: 253")
				line(p+2, "minLength: 1")
				line(p+2, "type: string")
			case 1:
				line(p+2, "format: int32")
				line(p+2, "minimum: 0")
				line(p+2, "type: integer")
			case 2:
				line(p+2, "items:")
				line(p+4, "maxLength: 63")
				line(p+4, "type: string")
				line(p+2, "maxItems: 16")
				line(p+2, "type: array")
				line(p+2, "x-kubernetes-list-type: set")
			case 3:
				line(p+2, "properties:")
				line(p+4, "max:")
				line(p+6, "type: integer")
				line(p+4, "min:")
				line(p+6, "type: integer")
				line(p+2, "type: object")
				line(p+2, "x-kubernetes-validations:")
				line(p+2, "- message: min may not exceed max")
				line(p+2, "  rule: '!has(self.min) || !has(self.max) || self.min <= self.max'")
			}
		}
		for _, m := range []string{"block", "file", "object", "queue"} {
			line(at+4, "%s:", m)
			line(at+6, "description: The %s in use. Required when type names it.", m)
			line(at+6, "properties:")
			line(at+8, "name:")
			line(at+10, "type: string")
			line(at+6, "type: object")
		}
		line(at+4, "type:")
		line(at+6, "enum:")
		for _, v := range []string{"Block", "File", "Object", "Queue", "None"} {
			line(at+6, "- %s", v)
		}
		line(at+6, "type: string")
		line(at+2, "required:")
		line(at+2, "- type")
		line(at+2, "type: object")
		if unions {
			line(at+2, "x-kubernetes-unions:")
			line(at+2, "- discriminator: type")
			line(at+2, "  fields-to-discriminateBy:")
			for _, m := range []string{"block: Block", "file: File", "object: Object", "queue: Queue"} {
				line(at+2, "    %s", m)
			}
		}
		if list {
			line(at, "maxItems: 8")
			line(at, "type: array")
		}
	}
	line(12, "type: object")
	line(8, "type: object")
	line(4, "served: true")
	line(4, "storage: true")
	line(4, "subresources:")
	line(6, "status: {}")
	return []byte(b.String())
}

// read reads a manifest as the API server does.
func read(b *testing.B, src []byte) *apiextensionsv1.CustomResourceDefinition {
	data, err := yaml.YAMLToJSONStrict(src)
	if err != nil {
		b.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if strict, err := json.UnmarshalStrict(data, crd); err != nil || len(strict) > 0 {
		b.Fatal(err, strict)
	}
	return crd
}

// validate runs the API server's validation of a new CRD.
func validate(b *testing.B, crd *apiextensionsv1.CustomResourceDefinition) {
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		b.Fatal(err)
	}
	if errs := validation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
		b.Fatal(errs)
	}
}

func compileCRD(b *testing.B, src []byte) []byte {
	out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	return out
}

var freshened int

// fresh returns src with a new description each time, since pkg/compile caches validation results.
func fresh(src []byte) []byte {
	freshened++
	return bytes.Replace(src, []byte(" in use. "), fmt.Appendf(nil, " in use %d. ", freshened), 1)
}

// bench runs a benchmark of one operation on a CRD of n bytes.
func bench(b *testing.B, size, op string, n int, f func()) {
	b.Run("size="+size+"/op="+op, func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(n))
		for b.Loop() {
			f()
		}
	})
}

// BenchmarkCRD compares compiling with the API server's work on creating the compiled CRD.
// Compare the columns with benchstat -col /op.
func BenchmarkCRD(b *testing.B) {
	for _, s := range sizes {
		src := generate(s.components, s.size, true)
		out := compileCRD(b, src)
		run := func(op string, f func()) { bench(b, s.name, op, len(src), f) }
		run("server-read-and-validate", func() { validate(b, read(b, out)) })
		crd := read(b, out)
		run("server-validate", func() { validate(b, crd) })
		run("compile", func() { compileCRD(b, fresh(src)) })
		run("recompile", func() { compileCRD(b, fresh(out)) })
	}
}

// BenchmarkPlain compares compiling input without unions, which stays unchanged, with
// reading it.
func BenchmarkPlain(b *testing.B) {
	for _, s := range sizes {
		src := generate(s.components, s.size, false)
		run := func(op string, f func()) { bench(b, s.name, op, len(src), f) }
		run("read", func() { read(b, src) })
		run("compile", func() { compileCRD(b, src) })
	}
}
