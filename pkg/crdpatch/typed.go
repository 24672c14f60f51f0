package crdpatch

import (
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/diag"
)

// CompileCRD returns a copy of a CRD with the rules of its unions, for generators that hold CRDs in
// memory. The Go type has no field for declarations, so they must be external. The result has no
// annotation. The list is sorted; with errors the result is nil.
func CompileCRD(crd *apiextensionsv1.CustomResourceDefinition, opts Options) (*apiextensionsv1.CustomResourceDefinition, diag.List) {
	crd = crd.DeepCopy()
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	src, err := json.MarshalIndent(crd, "", "  ")
	if err != nil {
		return nil, diag.List{unproved(crd.Name, err)}
	}
	crds, diags := Open(crd.Name, src).CRDs(opts)
	for _, c := range crds {
		source, wrong := c.Source()
		compilation, more := c.compilation()
		if diags = slices.Concat(diags, wrong, more); diags.HasErrors() {
			break
		}
		if crd = source; compilation == nil {
			break
		}
		result, more := compilation.Result()
		if diags = append(diags, c.hinted(more)...); result != nil && result.CRD != nil {
			crd = result.CRD.DeepCopy()
		}
	}
	return finish(crd, diags)
}
