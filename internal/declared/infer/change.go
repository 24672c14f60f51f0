package infer

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// freeze compares discriminatorChange: Forbid with what hand-written rules say about
// changes of the discriminator; the result is zero when there are none. Rules on changes
// stay when a union is declared, so only what Forbid would reject beyond them matters:
// most often that an optional discriminator, or the object that it is in, is unset and
// set again.
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
	for _, undecided := range proofs[0].Of(verify.Undecided) {
		c.Verdict = verify.Inconclusive
		c.Inconclusive = append(c.Inconclusive, undecided.Text)
	}
	if accepted := proofs[0].Of(verify.Accepted); len(accepted) > 0 {
		c.Verdict, c.Tighter = verify.Tighter, &accepted[0]
	}
	return c, nil
}

// freezes reports whether a rule compares the discriminator with what it was, where the
// server knows that: on its own schema, or by its name on the object or further up.
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
		s = step.In(s)
	}
	look(s, discriminator)
	property := s.Properties[discriminator]
	look(&property)
	return found
}
