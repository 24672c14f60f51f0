package server

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	kube "k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Kind validates the objects of a CRD. It is safe for concurrent use.
type Kind struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	versions []*kindVersion
}

// kindVersion is a version of a CRD with its validators, which are built on first use.
type kindVersion struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	crd    *apiextensionsv1.CustomResourceDefinition
	server *kube.Version
	build  sync.Once
	err    error

	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	status     validation.SchemaValidator // for the status alone
	rules      *cel.Validator
	scale      *apiextensions.CustomResourceSubresourceScale
	// withStatus reports whether the version has the status subresource. Other writes then do
	// not change the status.
	withStatus bool
	// deprecation is the warning on each write; empty if the version is not deprecated.
	deprecation string

	merging    sync.Once // guards the following fields
	mergingErr error
	types      managedfields.TypeConverter
}

// NewKind returns the kind that a CRD defines. It neither modifies nor retains the CRD.
func NewKind(crd *apiextensionsv1.CustomResourceDefinition) *Kind {
	return newKind(crd, LinkedVersion())
}

// NewKindFor is [NewKind] for an API server of a Kubernetes version, such as "1.30". Before 1.30 the server
// does not ratchet, and before 1.33 it does not ratchet writes to the status. There are no other
// differences from the linked version, which "" selects.
func NewKindFor(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) (*Kind, error) {
	if kubeVersion == "" {
		return NewKind(crd), nil
	}
	v, err := kube.ParseGeneric(kubeVersion)
	if err != nil {
		return nil, err
	}
	return newKind(crd, v), nil
}

func newKind(crd *apiextensionsv1.CustomResourceDefinition, server *kube.Version) *Kind {
	crd = Defaulted(crd.DeepCopy())
	k := &Kind{crd: crd}
	for i := range crd.Spec.Versions {
		k.versions = append(k.versions, &kindVersion{CustomResourceDefinitionVersion: &crd.Spec.Versions[i], crd: crd, server: server})
	}
	return k
}

// GroupKind returns the group and kind of the objects.
func (k *Kind) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.crd.Spec.Group, Kind: k.crd.Spec.Names.Kind}
}

// Served returns the names of the served versions, in the order of the CRD.
func (k *Kind) Served() []string {
	var l []string
	for _, v := range k.versions {
		if v.Served {
			l = append(l, v.Name)
		}
	}
	return l
}

// Storage returns the name of the storage version, or "" if there is none.
func (k *Kind) Storage() string {
	i := slices.IndexFunc(k.versions, func(v *kindVersion) bool { return v.Storage })
	if i < 0 {
		return ""
	}
	return k.versions[i].Name
}

// HasStatus reports whether a version has the status subresource.
func (k *Kind) HasStatus(name string) bool {
	return slices.ContainsFunc(k.versions, func(v *kindVersion) bool {
		return v.Name == name && v.Subresources != nil && v.Subresources.Status != nil
	})
}

// Check returns the reason why the server would not serve a version, such as a schema that is not
// structural, or nil.
func (k *Kind) Check(version string) error {
	_, err := k.version(version)
	return err
}

// version returns a version that is served or stored.
func (k *Kind) version(name string) (*kindVersion, error) {
	v, err := k.known(name)
	if v != nil && !v.Served && !v.Storage {
		return nil, fmt.Errorf("no version %q", name)
	}
	return v, err
}

// known returns a version, served or not.
func (k *Kind) known(name string) (*kindVersion, error) {
	i := slices.IndexFunc(k.versions, func(v *kindVersion) bool { return v.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no version %q", name)
	}
	v := k.versions[i]
	v.build.Do(func() { v.err = v.prepare() })
	return v, v.err
}

// prepare corresponds to getOrCreateServingInfoFor in pkg/apiserver, for one version.
func (v *kindVersion) prepare() error {
	var props *apiextensions.JSONSchemaProps
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		var err error
		if props, err = Internal(v.Schema.OpenAPIV3Schema); err != nil {
			return err
		}
		s, err := structuralschema.NewStructural(props)
		if err != nil && !v.crd.Spec.PreserveUnknownFields {
			return fmt.Errorf("the schema is not structural: %w", err)
		}
		if err == nil {
			s = s.DeepCopy() // s shares the defaults of props, which PruneDefaults modifies
			if !v.crd.Spec.PreserveUnknownFields {
				if err := defaulting.PruneDefaults(s); err != nil {
					return fmt.Errorf("the defaults cannot be pruned: %w", err)
				}
			}
		}
		v.structural = s
	}
	var err error
	if v.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return err
	}
	v.rules = cel.NewValidator(v.structural, true, celconfig.PerCallLimit)
	if sub := v.Subresources; sub != nil {
		if v.withStatus = sub.Status != nil; v.withStatus && props != nil {
			if status, ok := props.Properties["status"]; ok {
				if v.status, _, err = validation.NewSchemaValidator(&status); err != nil {
					return err
				}
			}
		}
		if sub.Scale != nil {
			v.scale = &apiextensions.CustomResourceSubresourceScale{}
			if err := apiextensionsv1.Convert_v1_CustomResourceSubresourceScale_To_apiextensions_CustomResourceSubresourceScale(sub.Scale, v.scale, nil); err != nil {
				return err
			}
		}
	}
	v.deprecation = v.warning()
	return nil
}

// warning returns the server's warning about a deprecated version.
func (v *kindVersion) warning() string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	spec := v.crd.Spec
	said := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	var newer []string
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && apiversion.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			newer = append(newer, other.Name)
		}
	}
	if len(newer) > 0 {
		said += fmt.Sprintf("; use %s/%s %s", spec.Group, slices.MaxFunc(newer, apiversion.CompareKubeAwareVersionStrings), spec.Names.Kind)
	}
	return said
}
