package storageversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/api/apiserverinternal/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the API server's validation errors for a new object with this status. It follows
// ValidateStorageVersion of k8s.io/kubernetes/pkg/apis/apiserverinternal/validation, which cannot
// be imported. As there, errors of conditions have paths such as status[0].type.
func Validate(sv *v1alpha1.StorageVersion) field.ErrorList {
	metadata, status := field.NewPath("metadata"), field.NewPath("status")
	l := apivalidation.ValidateObjectMeta(&sv.ObjectMeta, false, validateName, metadata)
	for i, name := range sv.Finalizers {
		if standard := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}; !strings.Contains(name, "/") && !slices.Contains(standard, name) {
			l = append(l, field.Invalid(metadata.Child("finalizers").Index(i), name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	seen := map[string]bool{}
	for i, e := range sv.Status.StorageVersions {
		at := status.Child("storageVersions").Index(i)
		if seen[e.APIServerID] {
			l = append(l, field.Duplicate(at.Child("apiServerID"), e.APIServerID))
		}
		seen[e.APIServerID] = true
		l = append(l, validateEntry(e, at)...)
	}
	l = append(l, validateCommon(sv.Status, status.Child("commonEncodingVersion"))...)
	return append(l, validateConditions(sv.Status.Conditions, status)...)
}

func validateName(name string, _ bool) []string {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	return append(prefixed("the group segment ", validation.IsDNS1123Subdomain(name[:i])),
		prefixed("the resource segment ", validation.IsDNS1035Label(name[i+1:]))...)
}

func prefixed(prefix string, messages []string) []string {
	for i := range messages {
		messages[i] = prefix + messages[i]
	}
	return messages
}

func validateCommon(status v1alpha1.StorageVersionStatus, at *field.Path) field.ErrorList {
	agreed, ok := Agreed(status.StorageVersions)
	switch is := status.CommonEncodingVersion; {
	case is == nil && ok:
		return field.ErrorList{field.Invalid(at, is, "the common encoding version is "+agreed)}
	case is != nil && !ok:
		return field.ErrorList{field.Invalid(at, *is, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")}
	case is != nil && *is != agreed:
		return field.ErrorList{field.Invalid(at, *is, "the actual common encoding version is "+agreed)}
	}
	return nil
}

func validateConditions(conditions []v1alpha1.StorageVersionCondition, at *field.Path) field.ErrorList {
	var l field.ErrorList
	last := map[v1alpha1.StorageVersionConditionType]int{}
	for i, c := range conditions {
		at := at.Index(i)
		if j, ok := last[c.Type]; ok {
			l = append(l, field.Invalid(at.Child("type"), string(c.Type), fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", j)))
		}
		last[c.Type] = i
		for _, message := range validation.IsQualifiedName(string(c.Type)) {
			l = append(l, field.Invalid(at.Child("type"), string(c.Type), message))
		}
		for _, message := range validation.IsQualifiedName(string(c.Status)) {
			l = append(l, field.Invalid(at.Child("status"), string(c.Status), message))
		}
		if c.Reason == "" {
			l = append(l, field.Required(at.Child("reason"), ""))
		}
		if c.Message == "" {
			l = append(l, field.Required(at.Child("message"), ""))
		}
	}
	return l
}

func validateEntry(e v1alpha1.ServerStorageVersion, at *field.Path) field.ErrorList {
	var l field.ErrorList
	version := func(v string, at *field.Path) {
		if wrong := validateVersion(v); len(wrong) > 0 {
			l = append(l, field.Invalid(at, v, strings.Join(wrong, ",")))
		}
	}
	for _, message := range apivalidation.NameIsDNSSubdomain(e.APIServerID, false) {
		l = append(l, field.Invalid(at.Child("apiServerID"), e.APIServerID, message))
	}
	version(e.EncodingVersion, at.Child("encodingVersion"))
	for i, v := range e.DecodableVersions {
		version(v, at.Child("decodableVersions").Index(i))
	}
	if !slices.Contains(e.DecodableVersions, e.EncodingVersion) {
		l = append(l, field.Invalid(at.Child("decodableVersions"), e.DecodableVersions, "decodableVersions must include encodingVersion "+e.EncodingVersion))
	}
	for i, v := range e.ServedVersions {
		at := at.Child("servedVersions").Index(i)
		version(v, at)
		if !slices.Contains(e.DecodableVersions, v) {
			l = append(l, field.Invalid(at, v, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", v, e.DecodableVersions)))
		}
	}
	return l
}

// validateVersion returns the reasons why a version is not of a form such as v1 or example.com/v1.
func validateVersion(s string) []string {
	group, version, ok := strings.Cut(s, "/")
	switch {
	case !ok:
		group, version = "", s
	case strings.Contains(version, "/"):
		const format, message = "[a-z]([-a-z0-9]*[a-z0-9])?", "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
		return []string{"an apiVersion is " + validation.RegexError(message, format, "my-name", "abc-123") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"}
	}
	part := func(name, s string, check func(string) []string) []string {
		if s == "" {
			return []string{name + validation.EmptyError()}
		}
		return prefixed(name, check(s))
	}
	var l []string
	if ok {
		l = part("group part: ", group, validation.IsDNS1123Subdomain)
	}
	return append(l, part("version part: ", version, validation.IsDNS1035Label)...)
}
