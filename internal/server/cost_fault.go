package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/util/compatibility"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Fault is a rule that an API server does not support.
type Fault struct {
	schemapath.Place
	Index int // in the rules of the schema
	Rule  apiextensionsv1.ValidationRule
	// Feature is the feature that the server lacks; nil if the rule or its messageExpression does not
	// compile.
	Feature *Feature
	// Message and Hint describe the fault.
	Message, Hint string
}

// Feature is a field of a rule that older API servers do not support.
type Feature struct {
	Name  string
	Since *version.Version
	In    func(apiextensionsv1.ValidationRule) bool
}

// Features are all features.
var Features = []Feature{
	{"messageExpression", version.MajorMinor(1, 27), func(r apiextensionsv1.ValidationRule) bool { return r.MessageExpression != "" }},
	{"reason", version.MajorMinor(1, 28), func(r apiextensionsv1.ValidationRule) bool { return r.Reason != nil }},
	{"fieldPath", version.MajorMinor(1, 28), func(r apiextensionsv1.ValidationRule) bool { return r.FieldPath != "" }},
	{"optionalOldSelf", version.MajorMinor(1, 30), func(r apiextensionsv1.ValidationRule) bool { return r.OptionalOldSelf != nil }},
}

// LinkedVersion returns the Kubernetes version of the linked libraries.
func LinkedVersion() *version.Version {
	v := compatibility.DefaultBuildEffectiveVersion().BinaryVersion()
	return version.MajorMinor(v.Major(), v.Minor())
}

// Environment returns the CEL environment of an API server for new rules. The server compiles them
// for the previous minor version, so that it can be rolled back.
func Environment(v *version.Version) *environment.EnvSet {
	return environment.MustBaseEnvSet(version.MajorMinor(v.Major(), v.Minor()-1))
}

// Faults returns the rules of a CRD that the linked version does not support or, unless older is
// nil, that only the older version does not support.
func Faults(crd *apiextensionsv1.CustomResourceDefinition, older *version.Version) (l []Fault) {
	if older != nil {
		if older = version.MajorMinor(older.Major(), older.Minor()); !older.LessThan(LinkedVersion()) {
			return nil
		}
	}
	var e Estimator
	for i, version := range crd.Spec.Versions {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		schemapath.Walk(version.Schema.OpenAPIV3Schema, func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			if len(s.XValidations) == 0 {
				return true
			}
			if e.crd == nil { // CRDs without rules are common
				var err error
				if e, err = EstimatorOf(crd); err != nil {
					return false
				}
			}
			if older == nil {
				if _, err := e.Rules(i, path, s.XValidations); err == nil {
					return true
				}
			}
			for k, r := range s.XValidations {
				f := Fault{Place: schemapath.Place{Version: i, Name: version.Name, Path: path}, Index: k, Rule: r}
				if older == nil && f.broken(e) || older != nil && f.unsupported(e, older) {
					l = append(l, f)
				}
			}
			return true
		})
	}
	return l
}

// broken describes the error if the rule does not compile.
func (f *Fault) broken(e Estimator) bool {
	wrong := e.compile(f.Place, f.Rule)
	if wrong != nil {
		f.Message = fmt.Sprintf("this %s does not compile: %s", wrong.kind, wrong.reason())
		f.Hint = fmt.Sprintf("correct the %s, since the API server rejects the CRD", wrong.kind)
		name, isField := strings.CutPrefix(wrong.reason(), "undefined field '")
		name = strings.TrimSuffix(name, "'")
		if escaped, ok := apiservercel.Escape(name); isField && ok && escaped != name {
			f.Hint = fmt.Sprintf("write %s, if there is a field %s: CEL reserves the name", escaped, name)
		}
	}
	return wrong != nil
}

// unsupported describes the fault if the linked version supports the rule, and an older one does not.
func (f *Fault) unsupported(e Estimator, older *version.Version) bool {
	lacks := func(v *version.Version) (*ruleError, int) {
		e.env = Environment(v)
		return e.compile(f.Place, f.Rule), slices.IndexFunc(Features, func(x Feature) bool { return v.LessThan(x.Since) && x.In(f.Rule) })
	}
	wrong, lacked := lacks(older)
	if wrong == nil && lacked < 0 {
		return false
	}
	since := version.MajorMinor(older.Major(), older.Minor()+1)
	for ; !LinkedVersion().LessThan(since); since = version.MajorMinor(since.Major(), since.Minor()+1) {
		if wrong, lacked := lacks(since); wrong == nil && lacked < 0 {
			break
		}
	}
	if LinkedVersion().LessThan(since) {
		return false // no version supports the rule
	}
	f.Hint = fmt.Sprintf("rewrite the rule, or require Kubernetes %s or later", since)
	if lacked >= 0 {
		f.Feature = &Features[lacked]
		f.Message = fmt.Sprintf("this rule needs %s, which Kubernetes %s does not support", f.Feature.Name, older)
	} else {
		f.Message = fmt.Sprintf("this %s does not compile for Kubernetes %s: %s", wrong.kind, older, wrong.reason())
	}
	return true
}

// compile returns the error of a rule that does not compile.
func (e Estimator) compile(p schemapath.Place, r apiextensionsv1.ValidationRule) *ruleError {
	_, err := e.Rules(p.Version, p.Path, []apiextensionsv1.ValidationRule{r})
	var wrong *ruleError
	errors.As(err, &wrong)
	return wrong
}

// ruleError is the error of a rule or a messageExpression that does not compile.
type ruleError struct {
	kind, text string
	err        error
}

func (e *ruleError) Error() string { return fmt.Sprintf("%s %s: %v", e.kind, e.text, e.err) }
func (e *ruleError) Unwrap() error { return e.err }

// reason returns the first error without its position and the excerpt of the rule.
func (e *ruleError) reason() string {
	return celError().FindStringSubmatch(e.err.Error())[1]
}

// celError matches an error of the API server about a rule, and the first line of CEL's error in it.
var celError = english.Pattern(`^(?:(?:messageExpression )?compilation failed: )?(?:ERROR: <input>:\d+:\d+: )?(.*?)(?: \(in container ''\))?(?:\n|$)`)
