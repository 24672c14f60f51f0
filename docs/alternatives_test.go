//go:build exhaustive

package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// An alternative is a way to enforce a union.
type alternative struct {
	name  string
	write func(t *testing.T, s subject) written
}

// written is the part of a CRD that an alternative writes.
type written struct {
	schema      *apiextensionsv1.JSONSchemaProps
	annotation  string
	declaration int // bytes of YAML that the annotation preserves
}

// alternatives returns the alternatives for unions of a meaning.
func alternatives(meaning string) []alternative {
	var l []alternative
	for _, f := range comparisons[meaning].forms {
		if !f.ours && f.name != "controller-gen 0.21" {
			l = append(l, alternative{f.name, func(_ *testing.T, s subject) written {
				schema := s.schema.DeepCopy()
				schema.XValidations = f.write(s.Union)
				return written{schema: schema}
			}})
		}
	}
	if !comparisons[meaning].discriminated {
		l = append(l, alternative{"`oneOf`", func(_ *testing.T, s subject) written {
			schema := s.schema.DeepCopy()
			for _, name := range s.MemberNames() {
				schema.OneOf = append(schema.OneOf, apiextensionsv1.JSONSchemaProps{Required: []string{name}})
			}
			return written{schema: schema}
		}})
	}
	return append(l,
		alternative{unioncel, compiled(compile.Auto)},
		alternative{"unioncel, fine", compiled(compile.Fine)})
}

// unioncel is the name of the alternative without any flags.
const unioncel = "unioncel"

// crd returns a CRD with the given schema of spec.
func crd(t *testing.T, name string, spec any) []byte {
	t.Helper()
	text, err := sigsyaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": name + "s.example.com"},
		"spec": map[string]any{
			"group": "example.com",
			"names": map[string]any{"kind": name, "plural": name + "s"},
			"scope": "Namespaced",
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": spec},
				}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func compiled(encoding compile.Encoding) func(t *testing.T, s subject) written {
	return func(t *testing.T, s subject) written {
		t.Helper()
		var spec map[string]any
		if err := json.Unmarshal([]byte(s.text), &spec); err != nil {
			t.Fatal(err)
		}
		source := crd(t, "probe", spec)
		out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", source), crdpatch.Options{Encoding: encoding})
		var result apiextensionsv1.CustomResourceDefinition
		if err := sigsyaml.Unmarshal(out, &result); err != nil || len(diags) > 0 {
			t.Fatal(err, diags)
		}
		delete(spec, union.Key)
		schema := result.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		return written{&schema, result.Annotations[crdpatch.Annotation], len(source) - len(crd(t, "probe", spec))}
	}
}

// bytes returns the length, as JSON, of the keywords that enforce the union.
func (w written) bytes(t *testing.T) int {
	t.Helper()
	return asJSON(t, apiextensionsv1.JSONSchemaProps{XValidations: w.schema.XValidations, OneOf: w.schema.OneOf}) - len("{}")
}

// sizesBeside are the numbers of members in comparisons of alternatives.
var sizesBeside = []int{2, 8}

// beside returns a table of the sizes and costs of the alternatives.
func beside(t *testing.T, meaning string) string {
	t.Helper()
	head := []string{""}
	for _, n := range sizesBeside {
		head = append(head, fmt.Sprintf("%d members: bytes", n), "cost")
	}
	rows := [][]string{head}
	for _, a := range alternatives(meaning) {
		row := []string{a.name}
		for _, n := range sizesBeside {
			s := comparisons[meaning].of(t, n)
			w := a.write(t, s)
			size := thousands(uint64(w.bytes(t)))
			if w.annotation != "" {
				size += " + " + thousands(uint64(len(w.annotation)))
			}
			var greatest, sum uint64
			for _, c := range costs(t, s.schema, nil, w.schema.XValidations...) {
				greatest, sum = max(greatest, c.Once), sum+c.Once+c.MessageExpression
			}
			row = append(row, size, cell(greatest, sum))
		}
		rows = append(rows, row)
	}
	return grid(rows)
}

// TestAlternativesBytes limits the size of unioncel's default output, including the rule of Clear,
// relative to the shortest rules of others for the same union, and the size of the annotation
// relative to the declaration in it.
func TestAlternativesBytes(t *testing.T) {
	const most = 1.7
	for meaning, other := range map[string]string{"required": "OpenShift", "ExactlyOne": "controller-gen 0.23", "AtMostOne": "controller-gen 0.23"} {
		s := comparisons[meaning].of(t, 8)
		l := alternatives(meaning)
		named := func(name string) written {
			return l[slices.IndexFunc(l, func(a alternative) bool { return a.name == name })].write(t, s)
		}
		ours, theirs := named(unioncel), named(other)
		ratio := float64(ours.bytes(t)) / float64(theirs.bytes(t))
		t.Logf("%s: %d bytes, %s %d: %.2f times", meaning, ours.bytes(t), other, theirs.bytes(t), ratio)
		if ratio > most || math.IsNaN(ratio) {
			t.Errorf("%s: %.2f times the bytes of %s, more than %.1f times", meaning, ratio, other, most)
		}
		limit := ours.declaration + 40*len(ours.schema.XValidations) + 120
		t.Logf("%s: an annotation of %d bytes for %d", meaning, len(ours.annotation), ours.declaration)
		if len(ours.annotation) > limit {
			t.Errorf("%s: the annotation has %d bytes, more than %d", meaning, len(ours.annotation), limit)
		}
	}
}

// installed is a server with the CRDs of the alternatives, by kind.
type installed struct {
	*servertest.Server
	kinds map[string]bool
}

// errors returns the server's answer, under each alternative, to an object or an update.
func (i installed) errors(t *testing.T, meaning, objects string) string {
	t.Helper()
	s := comparisons[meaning].named(t, []string{"http", "tcp", "exec"}, []string{"HTTP", "TCP", "Exec"})
	var b strings.Builder
	for n, a := range alternatives(meaning) {
		kind := fmt.Sprintf("%s%d", strings.ToLower(meaning), n)
		if !i.kinds[kind] {
			i.kinds[kind] = true
			if err := i.Install(t.Context(), crd(t, kind, a.write(t, s).schema)); err != nil {
				t.Fatal(err)
			}
		}
		object := func(spec string) []byte {
			return []byte("apiVersion: example.com/v1\nkind: " + kind + "\nmetadata: {name: web}\nspec: " + spec + "\n")
		}
		before, after, update := strings.Cut(objects, " to ")
		_, err := i.Create(t.Context(), object(before))
		if update && err == nil {
			_, err = i.Update(t.Context(), object(after))
			if err := i.Delete(t.Context(), object(before)); err != nil {
				t.Fatal(err)
			}
		}
		var refused *apierrors.StatusError
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v", a.name, err)
		}
		fmt.Fprintf(&b, "%s\n", strings.Trim(a.name, "`"))
		for _, c := range refused.Status().Details.Causes {
			fmt.Fprintf(&b, "  %s: %s\n", c.Field, c.Message)
		}
	}
	return b.String()
}

// TestAlternatives checks alternatives.md. A comment describes the part that follows it:
//
//	beside MEANING  a table of the sizes and costs of the alternatives
//	errors MEANING OBJECT [to OBJECT]
//	                the answer of a real server to an object, or to its update
//
// It takes seconds, and only changes of rules concern it: it runs with [unioncases.Exhaustive] and with -update.
func TestAlternatives(t *testing.T) {
	if !unioncases.Exhaustive && !*update {
		t.Skip("it runs in the exhaustive stage")
	}
	d := open(t, "alternatives.md")
	server := installed{servertest.Start(t), map[string]bool{}}
	shown := map[string]bool{}
	for i, line := range d.lines {
		found := directive.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		meaning, objects, _ := strings.Cut(strings.TrimSpace(found[2]), " ")
		shown[found[1]+" "+meaning] = true
		switch found[1] {
		case "beside":
			end := i + 1
			for end < len(d.lines) && strings.HasPrefix(d.lines[end], "|") {
				end++
			}
			d.generated(t, i+1, end, beside(t, meaning))
		case "errors":
			b := d.blocks(t, i+1, len(d.lines))[0]
			d.generated(t, b.from, b.to, server.errors(t, meaning, objects))
		default:
			t.Errorf("%s:%d: no such directive", d.name, i+1)
		}
	}
	for _, want := range []string{"beside required", "beside ExactlyOne", "errors required", "errors ExactlyOne"} {
		if !shown[want] {
			t.Errorf("%s does not show %q", d.name, want)
		}
	}
	d.save(t)
}
