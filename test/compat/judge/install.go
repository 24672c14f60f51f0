package judge

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/features"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// linkedMinor returns the minor version of Kubernetes that this program is linked with. By default,
// servers are compatible with the previous minor version.
func linkedMinor() int {
	return int(environment.DefaultCompatibilityVersion().Minor()) + 1
}

// scheme contains the CRD types with their defaults and conversions.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	apiextensionsinstall.Install(s)
	return s
}()

// install handles a request to create a CRD like the server. It returns the stored CRD or the
// errors that reject it.
func install(manifest []byte) (crd *apiextensionsv1.CustomResourceDefinition, refused []string, err error) {
	obj, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(manifest, nil, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("decode CRD: %w", err)
	}
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return nil, nil, fmt.Errorf("not a CustomResourceDefinition of version v1, but a %T", obj)
	}
	scheme.Default(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(crd, internal, nil); err != nil {
		return nil, nil, fmt.Errorf("convert CRD: %w", err)
	}

	// Mirrors PrepareForCreate in pkg/registry/customresourcedefinition/strategy.go. It drops
	// fields whose feature gates are off; since 1.30, only the gate of selectableFields was off by
	// default.
	internal.Status = apiextensions.CustomResourceDefinitionStatus{}
	internal.Generation = 1
	for _, v := range internal.Spec.Versions {
		if v.Storage {
			internal.Status.StoredVersions = append(internal.Status.StoredVersions, v.Name)
			break
		}
	}
	if !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceFieldSelectors) {
		internal.Spec.SelectableFields = nil
		for i := range internal.Spec.Versions {
			internal.Spec.Versions[i].SelectableFields = nil
		}
	}

	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
		refused = append(refused, err.Error())
	}
	return crd, refused, nil
}
