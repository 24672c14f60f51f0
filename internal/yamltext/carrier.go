package yamltext

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/json"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Carrier is a kind of objects that contain schemas.
type Carrier struct {
	Group, Kind string
	// Versions are the supported versions, the preferred one first.
	Versions []string
	// Gone is the reason that other versions are not supported.
	Gone string

	decode func(data []byte) (crd *apiextensionsv1.CustomResourceDefinition, unknown []error, err error)
	lost   func(path schemapath.Path) (why string, always bool)
}

var kinds = []*Carrier{
	{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition", Versions: []string{"v1"}, Gone: "has not been served since Kubernetes 1.22", decode: decodeCRD},
	{Group: "apiextensions.crossplane.io", Kind: "CompositeResourceDefinition", Versions: []string{"v1", "v2"}, Gone: "is not known", decode: decodeXRD, lost: lostByCrossplane},
}

// CRDCarrier returns the kind of CustomResourceDefinitions.
func CRDCarrier() *Carrier { return kinds[0] }

// LookupCarrier returns the kind with that name in the group of an apiVersion, or nil. read reports
// whether the version is supported.
func LookupCarrier(apiVersion, kind string) (k *Carrier, read bool) {
	group, version, _ := strings.Cut(apiVersion, "/")
	for _, k := range kinds {
		if k.Group == group && k.Kind == kind {
			return k, slices.Contains(k.Versions, version)
		}
	}
	return nil, false
}

// Decode converts an object of the kind, as JSON, to the CustomResourceDefinition that the API
// server gets. unknown are the fields that the kind does not have, as [json.UnmarshalStrict]
// reports them.
func (k *Carrier) Decode(data []byte) (crd *apiextensionsv1.CustomResourceDefinition, unknown []error, err error) {
	Decodes.Add(1)
	return k.decode(data)
}

// Lost returns the reason that a schema at a path does not reach the API server, or "" if it does.
// Unless always is true, newer versions of the controller copy it.
func (k *Carrier) Lost(path schemapath.Path) (why string, always bool) {
	if k.lost == nil {
		return "", false
	}
	return k.lost(path)
}

// IsList reports whether an object of this kind is a list whose items may be carriers.
func IsList(kind string) bool {
	return slices.Contains([]string{"List", "ResourceList", "CustomResourceDefinitionList"}, kind)
}

// MayHold reports whether an object of this kind is a carrier, or a list whose items may be.
func MayHold(kind string) bool { return slices.Contains(CarrierNames(), kind) || IsList(kind) }

// CarrierNames returns the names of the kinds.
func CarrierNames() []string {
	var l []string
	for _, k := range kinds {
		l = append(l, k.Kind)
	}
	return l
}

func decodeCRD(data []byte) (*apiextensionsv1.CustomResourceDefinition, []error, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	unknown, err := json.UnmarshalStrict(data, crd)
	return crd, unknown, err
}
