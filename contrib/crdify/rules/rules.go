// Package rules lets crdify compare validation rules: x-kubernetes-validations, allOf, anyOf, oneOf
// and not. crdify compares their texts, so that every change is an unhandled one. With this package,
// a change is an error if objects that were accepted are rejected now.
package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/validations"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// The names of the validations in a configuration of crdify.
const (
	// Rules compares all rules of two CRDs.
	Rules = "validationRules"
	// Texts hides the texts of rules from the check for unhandled changes, because Rules compares
	// them. With the policy None it hides them, too.
	Texts = "validationRuleTexts"
)

// Register registers both validations.
func Register(registry validations.Registry) {
	registry.Register(Rules, func(map[string]any) (validations.Validation, error) { return &rules{}, nil })
	registry.Register(Texts, func(map[string]any) (validations.Validation, error) { return &texts{}, nil })
}

type rules struct{ policy config.EnforcementPolicy }

func (r *rules) Name() string { return Rules }

func (r *rules) SetEnforcement(policy config.EnforcementPolicy) { r.policy = policy }

// Compare returns an error for each change of rules after which objects may be rejected that were
// accepted.
func (r *rules) Compare(old, new *apiextensionsv1.CustomResourceDefinition) validations.ComparisonResult {
	return validations.HandleErrors(Rules, r.policy, compare(old, new)...)
}

func compare(old, new *apiextensionsv1.CustomResourceDefinition) []error {
	report, err := change.Compare(context.Background(), read(old), read(new))
	if err != nil {
		return []error{fmt.Errorf("validation rules cannot be compared: %w", err)}
	}
	var errs []error
	for _, c := range report.Changes {
		switch c.Sort {
		case change.UnionSort, change.Rule, change.Transition, change.Composition:
			if c.Class.Refuses() {
				errs = append(errs, errors.New(describe(c)))
			}
		}
	}
	return errs
}

// read returns a CRD with the unions of its annotation, if it was compiled.
func read(crd *apiextensionsv1.CustomResourceDefinition) *change.Input {
	typed := crd.DeepCopy()
	typed.APIVersion, typed.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	if data, err := json.Marshal(typed); err == nil {
		if l, found := change.ReadInputs(crdpatch.Open(crd.Name, data), crdpatch.Options{}); !found.HasErrors() && len(l) == 1 {
			return l[0]
		}
	}
	return change.InputOf(crd)
}

// describe describes a change in one line, with an object that it rejects.
func describe(c change.Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s: %s: %s", c.NewVersion, strings.TrimPrefix("^."+c.Path.String(), "^.(root)"), c.Subject, c.What)
	if c.Class == change.Undecided {
		fmt.Fprintf(&b, "; it may reject objects that were accepted: %s", c.Undecided)
		return b.String()
	}
	if x := c.Refused; x != nil {
		object, _ := json.Marshal(x.Object) // JSON data can always be marshaled
		fmt.Fprintf(&b, "; was accepted: %s", object)
		if x.Old != nil {
			old, _ := json.Marshal(x.Old)
			fmt.Fprintf(&b, " in place of %s", old)
		}
		fmt.Fprintf(&b, "; now rejected: %s", strings.Join(x.Errors, "; "))
	}
	return b.String()
}

type texts struct{}

func (*texts) Name() string { return Texts }

func (*texts) SetEnforcement(config.EnforcementPolicy) {}

// Compare removes rules from both schemas, which crdify then compares for unhandled changes.
func (*texts) Compare(old, new *apiextensionsv1.JSONSchemaProps) validations.ComparisonResult {
	for _, s := range []*apiextensionsv1.JSONSchemaProps{old, new} {
		s.XValidations, s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil, nil
	}
	return validations.ComparisonResult{Name: Texts}
}
