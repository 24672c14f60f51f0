package union_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/union"
)

// Two unions with common properties are an error exactly if an enumeration of objects has none with
// some member or value that each of the unions allows alone.
func TestOverlaps(t *testing.T) {
	const schema = `{type: object, properties: {type: {type: string}, a: {type: string}, b: {type: string, enum: [A, B]}, c: {type: string}}}`
	declarations := []string{
		"members: [a, b]", "members: [b, c], cardinality: ExactlyOne", "members: [a, b, c], cardinality: AtLeastOne", "members: [c, a], emptyIsUnset: [a]",
		"dependentRequired: {a: b}", "dependentForbidden: {a: b, c: a}", "dependentRequired: {b: a}, dependentForbidden: {b: c}", "dependentRequired: {type: a}",
		"discriminator: type, fields-to-discriminateBy: {a: A, b: [A, B]}", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, unmappedValues: Forbid",
		"discriminator: b, fields-to-discriminateBy: {c: A}", "discriminator: a, fields-to-discriminateBy: {c: A, b: [A, B]}, optionalMembers: {b: B}",
		"discriminator: a, fields-to-discriminateBy: {b: A}, cardinality: ExactlyOne", "discriminator: type, fields-to-discriminateBy: {c: [A]}, deduceInvalidDiscriminator: true",
		"discriminator: b, fields-to-discriminateBy: {a: A, c: B}, deduceInvalidDiscriminator: true",
	}
	var objects []map[string]any
	for _, typ := range []any{nil, "", "A", "B", "X"} {
		for _, a := range []any{nil, "", "A", "B", "X"} {
			for _, b := range []any{nil, "A", "B"} {
				for _, c := range []any{nil, "x"} {
					objects = append(objects, map[string]any{"type": typ, "a": a, "b": b, "c": c})
				}
			}
		}
	}
	reported, fine := 0, 0
	for i, first := range declarations {
		for _, second := range declarations[i+1:] {
			unions := make([]*union.Union, 2)
			for k, d := range []string{first, second} {
				l, diags := resolve(t, "- {"+d+"}", schema, false)
				if len(diags) > 0 {
					t.Fatal(d, diags)
				}
				unions[k] = l[0]
			}
			if unions[0].Discriminator != "" && unions[0].Discriminator == unions[1].Discriminator || !unions[0].Shares(unions[1]) {
				continue
			}
			alone, together := map[string]bool{}, map[string]bool{}
			for _, o := range objects {
				legal := 0
				for _, u := range unions {
					if len(u.Violations(u.StateOf(o))) == 0 {
						legal++
					}
				}
				for k, u := range unions {
					s := u.StateOf(o)
					has := []string{}
					for i, is := range s.Present {
						if is {
							has = append(has, fmt.Sprint(k, u.Members[i].Name))
						}
					}
					if s.Value != "" && s.Value != "X" {
						has = append(has, fmt.Sprint(k, "=", s.Value))
					}
					for _, target := range has {
						alone[target] = alone[target] || len(u.Violations(s)) == 0
						together[target] = together[target] || legal == 2
					}
				}
			}
			want := false
			for target, possible := range alone {
				_, value, isValue := strings.Cut(target, "=")
				u := unions[target[0]-'0']
				known := !isValue || slices.Contains(slices.Concat(u.Values, u.MemberValues()), value)
				want = want || possible && known && !together[target]
			}
			_, diags := resolve(t, "- {"+first+"}\n- {"+second+"}", schema, false)
			if got := len(diags) > 0; got != want {
				t.Errorf("%s; %s: got %v, want an error: %t", first, second, diags, want)
			} else if got {
				reported++
				t.Log(diags)
			} else {
				fine++
			}
		}
	}
	if reported < 5 || fine < 5 {
		t.Errorf("%d pairs contradict each other, %d do not", reported, fine)
	}
}

func TestSharing(t *testing.T) {
	u := func(declaration string) *union.Union { return unionFor(t, declaration) }
	unions := []*union.Union{u("members: [a]"), u("members: [b]"), u("discriminator: type, fields-to-discriminateBy: {a: A}"), u("members: [c]"), u("dependentRequired: {type: c}")}
	if got := fmt.Sprint(union.Sharing(unions)); got != "[[0 2 3 4] [1]]" {
		t.Error(got)
	}
}
