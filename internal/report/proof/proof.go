// Package proof verifies the unions of a CRD for the command verify. It returns the results as a
// document and as data.
package proof

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Verified is a union with the proof of whether the rules of its CRD enforce it.
type Verified struct {
	Pos   diag.Pos // of the declaration
	CRD   string   // the name of the CRD
	Place schemapath.Place
	Index int    // the index among the unions of its object
	again string // the updates that a counterexample without a change represents
	verify.Proof
}

// Verify verifies the unions of one CRD.
func Verify(ctx context.Context, d compile.Declared) ([]Verified, error) {
	var l []Verified
	for _, o := range d.Objects {
		again := "this applies to any update that changes something else in the union object and leaves the union as it is; the server lets one that changes nothing pass"
		if at, open := union.Unnamed(o.Schema(d.CRD)); len(o.Path) == 0 {
			again = "this applies to any update that leaves the union as it is"
		} else if open {
			again += ", unless " + cmp.Or(at, "the object") + " has fields that the schema does not name"
		}
		proofs, err := verify.Object(ctx, d.CRD, o.Version, o.Path, o.Unions)
		if err != nil {
			return nil, err
		}
		for i, u := range o.Unions {
			for _, p := range proofs {
				if p.Union == u {
					l = append(l, Verified{o.Declarations[i].Pos, d.Name, o.Place, i, again, p})
				}
			}
		}
	}
	return l, nil
}

// Label returns the name of the union or, without a name, its members, on one line.
func (v Verified) Label() string {
	if v.Union.Name != "" {
		return v.Union.Name
	}
	if len(v.Union.Members) == 0 {
		return v.Union.Discriminator
	}
	return Members(v.Union)
}

// mostNamed bounds the number of members on a line.
const mostNamed = 8

// Members lists the first members of a union on one line.
func Members(u *union.Union) string {
	l := u.MemberNames()
	text := strings.Join(l[:min(len(l), mostNamed)], ", ")
	if more := len(l) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
