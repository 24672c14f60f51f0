package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Constraint is a hand-written restriction on the properties that are set together, in one schema.
type Constraint struct {
	// Key is the keyword of the schema: "x-kubernetes-validations", "allOf", "anyOf", "oneOf",
	// "not", "minProperties" or "maxProperties".
	Key string
	// Index is the index of the rule in x-kubernetes-validations, or of the item in allOf. It is 0
	// for other keys.
	Index int
	// Above is the number of levels from the schema of the union up to the schema with the
	// constraint: 0 is the schema of the union, 1 the schema that has it as a property, item or
	// value. Only rules may have Above > 0.
	Above int
}

// String returns the constraint as a path: "x-kubernetes-validations[2]", "oneOf",
// "../x-kubernetes-validations[2]".
func (c Constraint) String() string {
	up := strings.Repeat("../", c.Above)
	if c.Key == sample.RuleKey || c.Key == sample.AllOfKey {
		return fmt.Sprintf("%s%s[%d]", up, c.Key, c.Index)
	}
	return up + c.Key
}

// CopyTo adds the constraint of schema from to schema to. The two schemas share the constraint.
// CopyTo reports whether from has such a constraint.
func (c Constraint) CopyTo(to, from *apiextensionsv1.JSONSchemaProps) bool {
	switch {
	case c.Key == sample.RuleKey && c.Index >= 0 && c.Index < len(from.XValidations):
		to.XValidations = append(to.XValidations, from.XValidations[c.Index])
		return true
	case c.Key == sample.AllOfKey && c.Index >= 0 && c.Index < len(from.AllOf):
		to.AllOf = append(to.AllOf, from.AllOf[c.Index])
		return true
	case c.Index != 0:
		return false
	}
	i := slices.IndexFunc(sample.Keywords, func(k sample.Keyword) bool { return k.Key == c.Key })
	return i >= 0 && sample.Keywords[i].Copy(to, from)
}

// unrestricted returns a copy of s without the keywords that restrict several of its values
// together. The copy shares everything else.
func unrestricted(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	c := *s
	c.XValidations, c.AllOf, c.AnyOf, c.OneOf, c.Not, c.MinProperties, c.MaxProperties = nil, nil, nil, nil, nil, nil, nil
	return &c
}

// missing returns an error unless every constraint exists on the union object's schema or an
// ancestor and is given only once.
func missing(c *sample.Chain, constraints []Constraint) error {
	for i, k := range constraints {
		if k.Above < 0 || k.Above >= len(c.Schemas) || k.Above > 0 && k.Key != sample.RuleKey {
			return fmt.Errorf("%s has no %s to compare", c.Object().Path, k)
		}
		n := c.Schemas[len(c.Schemas)-1-k.Above]
		if !k.CopyTo(&apiextensionsv1.JSONSchemaProps{}, n.Props) {
			return fmt.Errorf("%s has no %s to compare", n.Path, k)
		}
		if slices.Contains(constraints[:i], k) {
			return fmt.Errorf("%s of %s is given twice", k, n.Path)
		}
	}
	return nil
}

// isolated returns a copy of a CRD in which only the given constraints restrict the object at path
// and its ancestors. The constraints must exist. Other properties of the ancestors are removed
// unless they are required or rules may read them. Restrictions inside properties stay. The copy
// shares unchanged parts.
func isolated(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, constraints []Constraint) *apiextensionsv1.CustomResourceDefinition {
	root := *crd.Spec.Versions[version].Schema.OpenAPIV3Schema
	for n := range len(path) + 1 {
		path[:n].Edit(&root, func(s *apiextensionsv1.JSONSchemaProps) {
			was := *s
			*s = *unrestricted(&was)
			for _, k := range constraints {
				if k.Above == len(path)-n {
					k.CopyTo(s, &was)
				}
			}
			if n == len(path) {
				return
			}
			if name, ok := path[n].Property(); ok {
				s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
				for _, other := range slices.Concat([]string{name}, s.Required, mentioned(s)) {
					if p, ok := was.Properties[other]; ok {
						s.Properties[other] = p
					}
				}
			}
		})
	}
	return withSchema(crd, version, &root)
}

// withSchema returns a copy of a CRD with another schema in a version.
func withSchema(crd *apiextensionsv1.CustomResourceDefinition, version int, root *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	c.Spec.Versions[version].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}
	return &c
}

// mentioned returns the properties of s that its rules read.
func mentioned(s *apiextensionsv1.JSONSchemaProps) []string {
	var names []string
	for _, r := range s.XValidations {
		rule, err := formula.Parse(r.Rule)
		if err != nil {
			continue // the API server does not evaluate this rule either
		}
		for _, path := range rule.Paths {
			if len(path) == 0 {
				return slices.Collect(maps.Keys(s.Properties))
			}
			names = append(names, path[0])
		}
	}
	return names
}

// Constraints returns the constraints of one schema that depend only on the set members and the
// discriminator of a union, and of the other unions of the object. Constraints in changes also read
// those of the old object, or may read them. Constraints that cannot be evaluated are left out.
// Errors are the same as for [Compare].
func Constraints(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, others ...*union.Union) (states, changes []Constraint, err error) {
	if u == nil {
		return nil, nil, errNoUnion
	}
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, nil, err
	}
	all := Written(c.Object().Props)
	if len(all) == 0 {
		return nil, nil, nil
	}
	unfit, touching, changing := make([]bool, len(all)), make([]bool, len(all)), make([]bool, len(all))
	p, owner, err := newComparison(context.Background(), crd, version, path, u, others, all, unfit)
	if err != nil {
		return nil, nil, err
	}
	for i, k := range p.Checks {
		of := owner[i]
		touching[of] = touching[of] || k.Touches
		changing[of] = changing[of] || k.Changing
		unfit[of] = unfit[of] || !k.Narrow
	}
	for i, constraint := range all {
		switch {
		case !touching[i] || unfit[i]:
		case changing[i]:
			changes = append(changes, constraint)
		default:
			states = append(states, constraint)
		}
	}
	return states, changes, nil
}

// Written returns all constraints of a schema.
func Written(s *apiextensionsv1.JSONSchemaProps) []Constraint {
	var l []Constraint
	for i := range s.XValidations {
		l = append(l, Constraint{Key: sample.RuleKey, Index: i})
	}
	for i := range s.AllOf {
		l = append(l, Constraint{Key: sample.AllOfKey, Index: i})
	}
	for _, k := range sample.Keywords {
		if k.Copy(&apiextensionsv1.JSONSchemaProps{}, s) {
			l = append(l, Constraint{Key: k.Key})
		}
	}
	return l
}
