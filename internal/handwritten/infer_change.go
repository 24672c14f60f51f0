package handwritten

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// freeze compares discriminatorChange: Forbid with hand-written rules on changes of the
// discriminator. The result is zero if there are no such rules. A declaration does not replace
// these rules, so only additional rejections by Forbid matter. The usual one is an update that
// unsets an optional discriminator, or its object, and a later update that sets it again.
func (f *finder) freeze(u *union.Union) (verify.Comparison, error) {
	if u.Discriminator == "" || !f.freezes(u.Discriminator) {
		return verify.Comparison{}, nil
	}
	frozen := *u
	frozen.Change = union.Forbid
	proofs, err := verify.Object(f.ctx, f.crd, f.version, f.path, []*union.Union{&frozen})
	if err != nil || f.ctx.Err() != nil {
		return f.undecided(err)
	}
	c := verify.Comparison{Verdict: verify.Equivalent}
	for _, undecided := range proofs[0].OfKind(verify.Undecided) {
		c.Verdict = verify.Inconclusive
		c.Inconclusive = append(c.Inconclusive, undecided.Text)
	}
	if accepted := proofs[0].OfKind(verify.Accepted); len(accepted) > 0 {
		c.Verdict, c.Tighter = verify.Tighter, &accepted[0]
	}
	return c, nil
}

// freezes reports whether a rule compares the discriminator with its old value, and the server
// correlates the two values. The rule may be in the discriminator's schema, or name the
// discriminator in the schema of the object or an ancestor.
func (f *finder) freezes(discriminator string) bool {
	found := false
	s := f.crd.Spec.Versions[f.version].Schema.OpenAPIV3Schema
	look := func(s *apiextensionsv1.JSONSchemaProps, words ...string) {
		for _, r := range s.XValidations {
			found = found || !slices.ContainsFunc(append(words, "oldSelf"), func(w string) bool { return !strings.Contains(r.Rule, w) })
		}
	}
	for _, step := range f.path {
		if step == schemapath.Items && (s.XListType == nil || *s.XListType != "map") {
			return false
		}
		look(s, discriminator)
		s = step.Schema(s)
	}
	look(s, discriminator)
	property := s.Properties[discriminator]
	look(&property)
	return found
}
