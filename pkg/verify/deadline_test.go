package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/unioncel/unioncel/pkg/verify"
)

// TestObjectDeadline tests that a proof is inconclusive, and no error, if it exceeds the deadline.
func TestObjectDeadline(t *testing.T) {
	ctx, done := verify.WithDeadline(t.Context(), time.Nanosecond)
	defer done()
	<-ctx.Done()
	crd := crdWith(t, "type: object\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: string}}\n"+rulesKey+rule(conditionalA))
	steps := []string{"properties", "spec"}
	unions := unionsOf(t, typed, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
	proofs, err := verify.Object(ctx, crd, 0, pathOf(steps), unions)
	if err != nil || len(proofs) != 1 || proofs[0].Proved() || !strings.Contains(proofs[0].Findings[0].Text, "not decided within") {
		t.Errorf("%+v, %v", proofs, err)
	}
}
