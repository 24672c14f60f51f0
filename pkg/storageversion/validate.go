package storageversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/api/apiserverinternal/v1alpha1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns what the API server has against an object, as the validation of its
// internal type does, which cannot be linked; metadata is read for the name only.
func Validate(sv *v1alpha1.StorageVersion) field.ErrorList {
	var l field.ErrorList
	for _, message := range validateName(sv.Name) {
		l = append(l, field.Invalid(field.NewPath("metadata", "name"), sv.Name, message))
	}
	status := field.NewPath("status")
	ids := sets.New[string]()
	for i, e := range sv.Status.StorageVersions {
		at := status.Child("storageVersions").Index(i)
		if ids.Has(e.APIServerID) {
			l = append(l, field.Duplicate(at.Child("apiServerID"), e.APIServerID))
		}
		ids.Insert(e.APIServerID)
		l = append(l, validateEntry(e, at)...)
	}
	l = append(l, validateCommon(sv.Status, status.Child("commonEncodingVersion"))...)
	types := sets.New[v1alpha1.StorageVersionConditionType]()
	for i, c := range sv.Status.Conditions {
		at := status.Child("conditions").Index(i)
		if types.Has(c.Type) {
			l = append(l, field.Duplicate(at.Child("type"), c.Type))
		}
		types.Insert(c.Type)
		if c.Reason == "" {
			l = append(l, field.Required(at.Child("reason"), ""))
		}
		if c.Message == "" {
			l = append(l, field.Required(at.Child("message"), ""))
		}
	}
	return l
}

func validateName(name string) []string {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	var l []string
	for _, message := range validation.IsDNS1123Subdomain(name[:i]) {
		l = append(l, "the group segment "+message)
	}
	for _, message := range validation.IsDNS1035Label(name[i+1:]) {
		l = append(l, "the resource segment "+message)
	}
	return l
}

func validateCommon(status v1alpha1.StorageVersionStatus, at *field.Path) field.ErrorList {
	agreed, ok := Agreed(status.StorageVersions)
	switch is := status.CommonEncodingVersion; {
	case is == nil && ok:
		return field.ErrorList{field.Required(at, "the common encoding version is "+agreed)}
	case is != nil && !ok:
		return field.ErrorList{field.Invalid(at, *is, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")}
	case is != nil && *is != agreed:
		return field.ErrorList{field.Invalid(at, *is, "the actual common encoding version is "+agreed)}
	}
	return nil
}

func validateEntry(e v1alpha1.ServerStorageVersion, at *field.Path) field.ErrorList {
	var l field.ErrorList
	for _, message := range apivalidation.NameIsDNSSubdomain(e.APIServerID, false) {
		l = append(l, field.Invalid(at.Child("apiServerID"), e.APIServerID, message))
	}
	l = append(l, validateVersion(e.EncodingVersion, at.Child("encodingVersion"))...)
	for i, v := range e.DecodableVersions {
		l = append(l, validateVersion(v, at.Child("decodableVersions").Index(i))...)
	}
	if !slices.Contains(e.DecodableVersions, e.EncodingVersion) {
		l = append(l, field.Invalid(at.Child("decodableVersions"), e.DecodableVersions, "decodableVersions must include encodingVersion "+e.EncodingVersion))
	}
	for i, v := range e.ServedVersions {
		at := at.Child("servedVersions").Index(i)
		l = append(l, validateVersion(v, at)...)
		if !slices.Contains(e.DecodableVersions, v) {
			l = append(l, field.Invalid(at, v, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", v, e.DecodableVersions)))
		}
	}
	return l
}

// validateVersion checks that a version is one like v1 or example.com/v1.
func validateVersion(s string, at *field.Path) field.ErrorList {
	var l field.ErrorList
	version := s
	if group, rest, ok := strings.Cut(s, "/"); ok {
		version = rest
		for _, message := range validation.IsDNS1123Subdomain(group) {
			l = append(l, field.Invalid(at, s, "group part: "+message))
		}
	}
	for _, message := range validation.IsDNS1035Label(version) {
		l = append(l, field.Invalid(at, s, "version part: "+message))
	}
	return l
}
