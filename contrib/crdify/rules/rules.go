// Package rules lets crdify compare validation rules: x-kubernetes-validations, allOf, anyOf, oneOf
// and not. crdify compares their texts, so that every change is an unhandled one. With this package,
// a change is an error if objects that were accepted are rejected now.
package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/validations"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
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
	before, err := crd.Of(old, crd.Options{})
	if err != nil {
		return []error{fmt.Errorf("the old CRD: %w", err)}
	}
	after, err := crd.Of(new, crd.Options{})
	if err != nil {
		return []error{fmt.Errorf("the new CRD: %w", err)}
	}
	changes, found, err := after.Diff(context.Background(), before)
	if err != nil {
		return []error{fmt.Errorf("validation rules cannot be compared: %w", err)}
	}
	var errs []error
	for _, d := range found {
		if d.Severity == diag.Error {
			errs = append(errs, fmt.Errorf("validation rules cannot be compared: %s", d))
		}
	}
	for _, c := range changes {
		if slices.Contains(keywords, c.Keyword) && (c.Tighter || !c.Looser && c.Undecided != "") {
			errs = append(errs, errors.New(describe(c)))
		}
	}
	return errs
}

// keywords are the keys of validation rules and unions.
var keywords = []string{"x-kubernetes-unions", "x-kubernetes-validations", "allOf", "anyOf", "oneOf", "not"}

// describe describes a change in one line, with an object that it rejects.
func describe(c crd.Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s: %s: %s", c.Version, strings.TrimPrefix("^."+c.Path.String(), "^.(root)"), c.Subject, c.Text)
	if !c.Tighter {
		fmt.Fprintf(&b, "; it may reject objects that were accepted: %s", c.Undecided)
		return b.String()
	}
	if x := c.Rejected; x != nil {
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
