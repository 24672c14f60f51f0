package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// openAPI returns the schema that replaces the static rules of a union. It is nil in other
// encodings, and for a union without static rules.
func (c *compiler) openAPI(o *unionObject, i int) *apiextensionsv1.JSONSchemaProps {
	if c.opts.Encoding != OpenAPI {
		return nil
	}
	s, err := rules.OpenAPI(o.Unions[i])
	if err != nil {
		c.inexpressible(o, i, err.Error())
	}
	return s
}

func (c *compiler) inexpressible(o *unionObject, i int, why string) {
	c.report(diag.Diagnostic{Code: codes.NotExpressible, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Schema: o.Place.Structural(),
		Message: "no OpenAPI schema expresses this union: " + why,
		Hint:    "compile with another --encoding"})
}

// proveOpenAPI verifies all unions on the resulting CRD. Unlike rules.OpenAPI, it takes into
// account nullable members and other constraints on the union.
func (c *compiler) proveOpenAPI() {
	if c.opts.Encoding != OpenAPI {
		return
	}
	crd := c.extended(c.additions())
	for _, o := range c.objects {
		proofs, err := verify.Object(context.Background(), crd, o.Version, o.Path, o.Unions)
		if err != nil {
			c.inexpressible(o, 0, "it cannot be verified: "+err.Error())
			continue
		}
		for i, p := range proofs {
			if p.Proved() {
				continue
			}
			// A difference explains more than an undecided proof.
			switch f := p.OfKind(verify.Accepted, verify.Rejected, verify.Undecided)[0]; {
			case f.Kind == verify.Undecided:
				c.inexpressible(o, i, "it cannot be proved that this one does: "+f.Text)
			case f.Kind == verify.Rejected && f.Rule != "allOf":
				c.report(diag.Diagnostic{Code: codes.NotExpressible, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Schema: o.Place.Structural(),
					Message: "the rest of the schema contradicts this union: " + o.differs(i, f),
					Hint:    "fix one or the other; to see all differences, compile with another --encoding and run unioncel verify"})
			default:
				c.inexpressible(o, i, o.differs(i, f))
			}
		}
	}
}

// differs describes a state that the resulting CRD and the union validate differently.
func (o *unionObject) differs(i int, d verify.Finding) string {
	u := o.Unions[i]
	why := fmt.Sprintf("%s would reject this, which the union allows: %s", d.Rule, d.Words(u))
	if d.Kind == verify.Accepted {
		why = "the API server would accept this, which the union forbids: " + d.Words(u)
	}
	names := slices.DeleteFunc(u.MemberNames(), func(name string) bool {
		_, p := union.Property(o.schema, name)
		return !p.Nullable
	})
	if len(names) > 0 {
		why += "; the union treats null as unset, and required as a value: " + strings.Join(names, ", ") + " can be null"
	}
	return why
}
