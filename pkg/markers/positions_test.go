package markers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// The position of a union is the marker of its discriminator, or else its first member's marker, or
// that member if only the struct has a marker.
func TestPositions(t *testing.T) {
	const file = "testdata/good/dialects/types.go"
	want := map[string]string{
		"KubeOpenAPI strategy": position(t, file, "type Strategy struct", "+unionDiscriminator"),
		"KubeOpenAPI bare":     position(t, file, "type Bare struct", "A *Empty"),
		"KEP2022 undefined":    position(t, file, "type Undefined struct", "+unionMember"),
		"ValidationGen modes":  position(t, file, "type Modes struct", "+k8s:modeDiscriminator"),
	}
	for _, e := range good(t).Declarations {
		name := e.Kind + " " + path(e)
		if at, ok := want[name]; ok {
			if e.Pos().String() != at || e.File != file {
				t.Errorf("%s stands at %s, want %s", name, e.Pos(), at)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not declared: %v", want)
	}
}

// An error in a schema about a member is reported at the member's marker, as pkg/compile does.
func TestPositionsInSchema(t *testing.T) {
	const file = "testdata/good/dialects/types.go"
	const other = "{type: object, properties: {other: {type: string}}}"
	set, diags := loadDialects()
	if set == nil {
		t.Fatal(diags)
	}
	type at struct{ code, after, text string }
	for _, tt := range []struct {
		union, schema string
		want          []at
	}{
		{"KubeOpenAPI strategy", other, []at{
			{"UC204", "type Strategy struct", "+unionDiscriminator"},
			{"UC203", "type Strategy struct", "Rolling *Empty"},
			{"UC203", "type Strategy struct", "Canary  *Empty"},
		}},
		{"KEP2022 undefined", other, []at{
			{"UC203", "type Undefined struct", "+unionMember"},
			{"UC203", "A has its marker above its documentation", "+unionMember"},
		}},
		{"OpenShift storage", "{type: object, required: [pvc], properties: {type: {type: string, enum: [PVC]}, external: {type: object}, pvc: {type: object}}}", []at{
			{"UC218", "type Storage struct", "+unionMember"},
			{"UC214", "type Storage struct", "+unionMember,optional"},
		}},
		{"ValidationGen modes", "{type: object, properties: {mode: {type: string, enum: [Static]}, static: {type: string, format: date}, auto: {type: object, default: {}}}}", []at{
			{"UC219", "type Modes struct", `+k8s:ifMode("Static")`},
			{"UC218", "type Modes struct", `+k8s:ifMode("Fixed")`},
			{"UC214", "type Modes struct", `+k8s:ifMode(mode: "Auto")`},
			{"UC218", "type Modes struct", `+k8s:ifMode(mode: "Auto")`},
		}},
		{"Kubebuilder spec", "{type: object, properties: {a: {type: string}, b: {type: string}, d: {type: string}, e: {type: string}, f: {type: string}, g: {type: string}, h: {type: string}}}", []at{
			{"UC203", "type Kubebuilder struct", "+kubebuilder:validation:AtMostOneOf=c;d"},
		}},
	} {
		t.Run(tt.union, func(t *testing.T) {
			var schema apiextensionsv1.JSONSchemaProps
			if err := sigsyaml.UnmarshalStrict([]byte(tt.schema), &schema); err != nil {
				t.Fatal(err)
			}
			var found diag.List
			for _, e := range set.Declarations {
				if e.Kind+" "+path(e) == tt.union {
					declarations, diags := union.Parse(e.File, "", e.Value, e.At)
					_, resolved := union.Resolve(declarations, &schema, false)
					found = append(found, append(diags, resolved...)...)
				}
			}
			var got, want []string
			for _, d := range found.Sort() {
				got = append(got, d.Pos.String()+" "+string(d.Code))
			}
			for _, w := range tt.want {
				want = append(want, position(t, file, w.after, w.text)+" "+w.code)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s\n%v", diff, found)
			}
		})
	}
}
