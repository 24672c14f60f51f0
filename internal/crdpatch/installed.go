package crdpatch

import (
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Installed is a CRD of a file as it is sent to an API server.
type Installed struct {
	*apiextensionsv1.CustomResourceDefinition
	// At is the position of the manifest.
	At diag.Pos
	// CRD is the CRD in the file; nil if its unions are not read.
	CRD *CRD
	// Compiled is true if compiling changed the CRD.
	Compiled bool
}

// Install returns the CRDs of a file as they are sent to an API server. It compiles authored CRDs.
// Compiled and live CRDs keep their rules, including edited rules, unless Options.InUse declares
// unions for them. The list is sorted; with errors the result is nil.
func Install(f *File, opts Options) ([]Installed, diag.List) {
	j := begin(f, opts)
	all := slices.Clone(j.crds)
	j.crds = slices.DeleteFunc(j.crds, (*CRD).mustStay)
	r := j.revision(j.base())
	if r == nil {
		return nil, j.diags.Sort()
	}
	objects, wrong := f.Objects()
	j.diags = append(j.diags, wrong...)
	if objects == nil {
		return nil, j.diags.Sort()
	}
	crds := map[diag.Pos]*CRD{}
	for _, c := range all {
		crds[c.pos()] = c
		if wrong := c.m.tooManyRules(c.m.node); wrong != nil {
			j.diags = append(j.diags, *wrong)
		}
	}
	var l []Installed
	for _, o := range objects.Objects {
		kind, _ := yamltext.LookupCarrier(o.GroupVersion().String(), o.Kind)
		if spec, _ := o.Value["spec"].(map[string]any); kind == nil || spec["versions"] == nil {
			continue // a CRD without versions is a patch of kustomize
		}
		in, value := Installed{At: o.Pos(nil)}, o.Value
		if in.CRD = crds[in.At]; in.CRD != nil {
			m := in.CRD.m.revised(r.of)
			want, edited := r.want[m.index]
			if !edited {
				_, want, _ = m.document.read()
			}
			value = m.selected(want)
			in.Compiled = !reflect.DeepEqual(value, o.Value)
		}
		data, err := json.Marshal(value)
		if err == nil {
			in.CustomResourceDefinition, _, err = kind.Decode(data)
		}
		if err != nil {
			j.diags = append(j.diags, diag.New(codes.UndecodableCRD, in.At, "the API server cannot read this %s: %v", o.Kind, err))
			continue
		}
		l = append(l, in)
	}
	return finish(l, j.diags)
}
