package rules_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestLarge compares the rules with the model in pkg/union for sizes that change the form of rules:
// chains end at a dozen members, computed messages and nesting at 80, flat sums at 100. Objects and
// updates are random, and most are almost legal. Without [unioncases.Exhaustive] the test covers one
// in three of the unions of 101 members.
func TestLarge(t *testing.T) {
	for _, n := range []int{13, 101} {
		if testing.Short() && n > 13 {
			continue
		}
		for _, discriminated := range []bool{true, false} {
			_, properties := manyMembers(t, n, discriminated)
			schema := schemaOf(t, properties)
			kinds := []string{"", "cardinality: ExactlyOne", "ratchet: true", "discriminatorChange: Forbid", "discriminatorChange: Clear"}
			if discriminated {
				kinds = append(kinds, "deduceInvalidDiscriminator: true", "deduceInvalidDiscriminator: true, ratchet: true",
					"deduceInvalidDiscriminator: true, discriminatorChange: Forbid", "unmappedValues: Forbid, optionalMembers: [member0, member7]")
			}
			for i, keys := range kinds {
				if testing.Short() && i%4 > 0 || n > 13 && i%3 > 0 && !unioncases.Exhaustive {
					continue
				}
				encodings := []rules.Encoding{rules.Paired, rules.Compact}
				if n > 13 {
					encodings = encodings[i%2 : i%2+1] // each union has one of the two encodings
				}
				t.Run(fmt.Sprintf("%d, %t, %s", n, discriminated, keys), func(t *testing.T) {
					t.Parallel()
					u := unionOf(t, manyDeclared(n, discriminated, keys), schema)
					random := rand.New(rand.NewPCG(uint64(n), uint64(len(keys))))
					for _, encoding := range encodings {
						e := newEvaluator(t, structural(t, schema), append(rules.Static(u, encoding), rules.Transition(u, rules.Comparison{Lookup: true})...), u.Discriminator)
						refuses := func(old, new map[string]any) bool {
							return slices.ContainsFunc(e.outcome(t, old, new), func(field string) bool { return field != "" })
						}
						for range 2000 / n {
							old, new := randomObject(u, random), randomObject(u, random)
							if random.IntN(4) == 0 {
								new = old
							}
							before, after := u.StateOf(old), u.StateOf(new)
							if refused, legal := refuses(old, new), len(u.Judge(&before, after)) == 0; refused == legal {
								t.Fatalf("%s: %v -> %v is refused: %t", encoding, old, new, refused)
							}
							if refused, legal := refuses(nil, new), len(u.Judge(nil, after)) == 0; refused == legal {
								t.Fatalf("%s: creating %v is refused: %t", encoding, new, refused)
							}
						}
					}
				})
			}
		}
	}
}

// randomObject has at most two members, mostly one. Its discriminator mostly selects the first
// member.
func randomObject(u *union.Union, random *rand.Rand) map[string]any {
	o := map[string]any{}
	first := random.IntN(len(u.Members))
	for i := range []int{0, 1, 1, 1, 2}[random.IntN(5)] {
		o[u.Members[(first+i*(1+random.IntN(20)))%len(u.Members)].Name] = map[string]any{}
	}
	switch at := random.IntN(5); {
	case u.Discriminator == "" || at == 0:
	case at == 1:
		o[u.Discriminator] = []string{"", "Other", u.Members[random.IntN(len(u.Members))].Values[0]}[random.IntN(3)]
	default:
		o[u.Discriminator] = u.Members[first].Values[0]
	}
	return o
}
