package product

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Schemas returns the JSON Schemas of a CRD's versions, by their paths in a catalog. With errors there are
// none. It rejects names that the API server rejects, because they may lead out of the catalog.
func Schemas(c *crdpatch.CRD) (map[string][]byte, diag.List, error) {
	crd, l := c.Source()
	declared, wrong := c.Declared()
	if l = slices.Concat(l, wrong); !l.HasErrors() {
		l = append(l, c.Faults(crd)...)
	}
	if l.HasErrors() {
		return nil, l, nil
	}
	files := map[string][]byte{}
	for i, v := range crd.Spec.Versions {
		var unions []union.Object
		for _, o := range declared.ObjectsOf(i) {
			unions = append(unions, o.Object)
		}
		schema, err := JSONSchema(crd, i, unions)
		if err != nil {
			return nil, l, err
		}
		if schema == nil {
			continue
		}
		group, kind := crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind)
		if l := append(validation.IsDNS1123Subdomain(group), append(validation.IsDNS1035Label(kind), validation.IsDNS1035Label(v.Name)...)...); len(l) > 0 {
			return nil, nil, fmt.Errorf("the CRD %s has an invalid group, kind or version: %s", crd.Name, l[0])
		}
		var b bytes.Buffer
		if err := diag.WriteJSON(&b, schema); err != nil {
			return nil, l, err
		}
		files[path.Join(group, kind+"_"+v.Name+".json")] = b.Bytes()
	}
	return files, l, nil
}
