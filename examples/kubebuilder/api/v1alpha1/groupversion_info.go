// Package v1alpha1 contains the v1alpha1 API of the group notify.example.com.
//
// +kubebuilder:object:generate=true
// +groupName=notify.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the types in this package.
	GroupVersion = schema.GroupVersion{Group: "notify.example.com", Version: "v1alpha1"}

	// SchemeBuilder collects what registers the types with a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Alert{}, &AlertList{}, &Contact{}, &ContactList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
