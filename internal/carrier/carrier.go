// Package carrier lists the kinds of objects that carry schemas of custom resources:
// CustomResourceDefinitions, and what other controllers make CustomResourceDefinitions of.
//
// They have their schemas at spec.versions[*].schema.openAPIV3Schema, all of them, so a
// place in one is a place in the CustomResourceDefinition, and what is written there gets
// to the API server unless Kind.Lost says otherwise. To add a kind is to add it to kinds.
package carrier

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/json"

	"github.com/unioncel/unioncel/internal/work"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Kind is a kind of objects that carry schemas.
type Kind struct {
	Group, Kind string
	// Versions are those that are read, the one to convert others to first.
	Versions []string
	// Gone says of other versions why they are not.
	Gone string

	decode func(data []byte) (crd *apiextensionsv1.CustomResourceDefinition, unknown []error, err error)
	lost   func(path schemapath.Path, keyword string) (why string, always bool)
}

var kinds = []*Kind{
	{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition", Versions: []string{"v1"}, Gone: "has not been served since Kubernetes 1.22", decode: decodeCRD},
	{Group: "apiextensions.crossplane.io", Kind: "CompositeResourceDefinition", Versions: []string{"v1", "v2"}, Gone: "is not known", decode: decodeXRD, lost: lostByCrossplane},
}

// CRD is the kind of CustomResourceDefinitions.
func CRD() *Kind { return kinds[0] }

// Of returns the kind with that name in the group of an apiVersion, or nil. Read reports
// whether the version is one that is read.
func Of(apiVersion, kind string) (k *Kind, read bool) {
	group, version, _ := strings.Cut(apiVersion, "/")
	for _, k := range kinds {
		if k.Group == group && k.Kind == kind {
			return k, slices.Contains(k.Versions, version)
		}
	}
	return nil, false
}

// Decode makes of an object of the kind, as JSON, the CustomResourceDefinition that the
// API server gets. Unknown are fields that it does not have, as [json.UnmarshalStrict]
// reports them.
func (k *Kind) Decode(data []byte) (crd *apiextensionsv1.CustomResourceDefinition, unknown []error, err error) {
	work.Decodes.Add(1)
	return k.decode(data)
}

// Lost returns the reason why a keyword at a path does not get to the API server, or "" if it
// does. Unless always is true, newer versions of the controller copy it.
func (k *Kind) Lost(path schemapath.Path, keyword string) (why string, always bool) {
	if k.lost == nil {
		return "", false
	}
	return k.lost(path, keyword)
}

// IsList reports whether an object of this kind is a list, in whose items carriers are
// looked for.
func IsList(kind string) bool {
	return slices.Contains([]string{"List", "ResourceList", "CustomResourceDefinitionList"}, kind)
}

// MayHold reports whether an object of this kind carries schemas, or is a list of objects
// that may.
func MayHold(kind string) bool { return slices.Contains(Names(), kind) || IsList(kind) }

// Names are those of the kinds.
func Names() []string {
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
