package yamltext

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// compositeResourceDefinition has only the fields that are used here, so an unknown field is an
// error only within a schema.
type compositeResourceDefinition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group    string                                        `json:"group"`
		Names    apiextensionsv1.CustomResourceDefinitionNames `json:"names"`
		Scope    string                                        `json:"scope"`
		Versions []struct {
			Name               string                                           `json:"name"`
			Served             bool                                             `json:"served"`
			Referenceable      bool                                             `json:"referenceable"`
			Deprecated         bool                                             `json:"deprecated"`
			DeprecationWarning *string                                          `json:"deprecationWarning"`
			PrinterColumns     []apiextensionsv1.CustomResourceColumnDefinition `json:"additionalPrinterColumns"`
			Schema             *apiextensionsv1.CustomResourceValidation        `json:"schema"`
		} `json:"versions"`
		Conversion *apiextensionsv1.CustomResourceConversion `json:"conversion"`
	} `json:"spec"`
}

// decodeXRD returns the CRD of composite resources that Crossplane 2.2 generates (internal/xcrd of
// github.com/crossplane/crossplane, ForCompositeResource). Crossplane takes spec, status and the
// rules of the root from a schema, and adds its own properties to spec and status. The CRD of
// claims has the same schema with other added properties.
func decodeXRD(data []byte) (*apiextensionsv1.CustomResourceDefinition, []error, error) {
	xrd := &compositeResourceDefinition{}
	all, err := json.UnmarshalStrict(data, xrd)
	if err != nil {
		return nil, nil, err
	}
	// compositeResourceDefinition lacks fields of an XRD outside schemas.
	unknown := slices.DeleteFunc(all, func(e error) bool { return !strings.Contains(e.Error(), ".schema.") })

	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: xrd.ObjectMeta}
	crd.Spec.Group, crd.Spec.Names, crd.Spec.Conversion = xrd.Spec.Group, xrd.Spec.Names, xrd.Spec.Conversion
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
	legacy := xrd.Spec.Scope == "LegacyCluster" || xrd.Spec.Scope == "" && strings.HasSuffix(xrd.APIVersion, "/v1")
	if !legacy && xrd.Spec.Scope != "Cluster" {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	for _, v := range xrd.Spec.Versions {
		out := apiextensionsv1.CustomResourceDefinitionVersion{Name: v.Name, Served: v.Served, Storage: v.Referenceable,
			Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning, AdditionalPrinterColumns: v.PrinterColumns,
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}}
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			out.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: composite(v.Schema.OpenAPIV3Schema, legacy)}
		}
		crd.Spec.Versions = append(crd.Spec.Versions, out)
	}
	return crd, unknown, nil
}

// composite returns the schema of composite resources. It keeps properties other than spec and
// status, which Crossplane drops, so that unions in them are found and lostByCrossplane reports
// them.
func composite(s *apiextensionsv1.JSONSchemaProps, legacy bool) *apiextensionsv1.JSONSchemaProps {
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Description: s.Description, XValidations: s.XValidations, Required: []string{"spec"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, p := range s.Properties {
		root.Properties[name] = p
	}
	root.Properties["apiVersion"], root.Properties["kind"] = scalar("string"), scalar("string")
	name := scalar("string")
	name.MaxLength = new(int64(63))
	root.Properties["metadata"] = object(properties{"name": name})

	references := properties{
		"compositionRef":              object(properties{"name": scalar("string")}, "name"),
		"compositionSelector":         object(properties{"matchLabels": stringMap()}, "matchLabels"),
		"compositionRevisionRef":      object(properties{"name": scalar("string")}, "name"),
		"compositionRevisionSelector": object(properties{"matchLabels": stringMap()}, "matchLabels"),
		"compositionUpdatePolicy":     scalar("string"),
		"resourceRefs": {Type: "array", XListType: new("atomic"), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: new(
			object(properties{"apiVersion": scalar("string"), "kind": scalar("string"), "name": scalar("string")}, "apiVersion", "kind"))}},
	}
	reference := object(properties{"namespace": scalar("string"), "name": scalar("string")}, "namespace", "name")
	spec, status := copied(s.Properties["spec"]), copied(s.Properties["status"])
	status.XPreserveUnknownFields = nil
	if legacy {
		for name, p := range references {
			spec.Properties[name] = p
		}
		spec.Properties["claimRef"] = object(properties{"apiVersion": scalar("string"), "kind": scalar("string"), "namespace": scalar("string"), "name": scalar("string")}, "apiVersion", "kind", "namespace", "name")
		spec.Properties["writeConnectionSecretToRef"] = reference
		status.Properties["connectionDetails"] = object(properties{"lastPublishedTime": {Type: "string", Format: "date-time"}})
	} else {
		spec.Properties["crossplane"] = object(references)
	}
	status.Properties["conditions"] = apiextensionsv1.JSONSchemaProps{Type: "array", XListType: new("map"), XListMapKeys: []string{"type"}, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: new(object(properties{
		"lastTransitionTime": {Type: "string", Format: "date-time"}, "message": scalar("string"), "reason": scalar("string"), "status": scalar("string"), "type": scalar("string"), "observedGeneration": {Type: "integer", Format: "int64"},
	}, "lastTransitionTime", "reason", "status", "type"))}}
	root.Properties["spec"], root.Properties["status"] = spec, status
	return root
}

// copied returns the parts of the schema of spec or status that Crossplane copies.
func copied(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{Type: "object", Description: s.Description, Required: s.Required, OneOf: s.OneOf,
		XValidations: s.XValidations, XPreserveUnknownFields: s.XPreserveUnknownFields, Properties: properties{}}
	for name, p := range s.Properties {
		out.Properties[name] = p
	}
	return out
}

type properties = map[string]apiextensionsv1.JSONSchemaProps

func scalar(kind string) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: kind}
}

func object(p properties, required ...string) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: p, Required: required}
}

func stringMap() apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: new(scalar("string"))}}
}

// lostByCrossplane returns the reason if Crossplane does not copy the schema at a path, or did not
// copy its rules before 2.2.
func lostByCrossplane(path schemapath.Path) (why string, always bool) {
	if len(path) == 0 {
		return "Crossplane before 2.2 does not copy the rules of the root into the CRD", false
	}
	if top, _ := path[0].Property(); top != "spec" && top != "status" {
		return "Crossplane copies only spec and status of the properties of the root into the CRD", true
	}
	return "", false
}
