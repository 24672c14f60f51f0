package verify_test

import "testing"

// TestUnsetWays tests that all representations of a state are considered, even those that are far
// from a legal object. Its schema accepts null, which required counts as a value.
func TestUnsetWays(t *testing.T) {
	p := proofs(t, `
type: object
properties: {type: {type: string, nullable: true}, a: {type: string}, b: {type: string}}
allOf:
- oneOf:
  - required: [a]
  - required: [b]
  - not: {anyOf: [{required: [a]}, {required: [b]}]}
  anyOf:
  - {properties: {type: {enum: [A]}}, required: [type, a]}
  - {properties: {type: {enum: [B]}}, required: [type, b]}
  - not: {anyOf: [{required: [a]}, {required: [b]}, {properties: {type: {enum: [A, B, ""]}}}]}
`, "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, discriminatorChange: Allow}]")
	if got, want := summary(p[0]), "accepted: type is not set"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
