package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/rules"
)

// TestCosts checks a limit of docs/cost.md with the API server's estimator: below an unbounded
// list, no rule may cost more than 9 when the union object requires nothing. With -v it prints the
// costs of each encoding.
func TestCosts(t *testing.T) {
	const budget = 9
	type column struct {
		name        string
		schema      string // of the discriminator; no discriminator when empty
		keys        string
		encoding    rules.Encoding
		transition  bool
		upTo, limit int // up to this number of members, no rule may cost more than limit
	}
	columns := []column{
		{name: "plain fine", encoding: rules.Fine, upTo: 9, limit: budget},
		{name: "plain compact", encoding: rules.Compact},
		{name: "exactly one compact", keys: "cardinality: ExactlyOne", encoding: rules.Compact},
		{name: "disc fine", schema: "type: string", encoding: rules.Fine, upTo: 20, limit: budget},
		{name: "disc fine exactly one", schema: "type: string", keys: "cardinality: ExactlyOne", encoding: rules.Fine, upTo: 20, limit: budget},
		{name: "disc fine enum", schema: "type: string, enum: [%s]", encoding: rules.Fine, upTo: 20, limit: budget},
		{name: "disc compact", schema: "type: string", encoding: rules.Compact},
		{name: "disc compact enum", schema: "type: string, enum: [%s]", encoding: rules.Compact},
		{name: "deduce fine", schema: "type: string", keys: "deduceInvalidDiscriminator: true", encoding: rules.Fine},
		{name: "unmapped fine", schema: "type: string", keys: "unmappedValues: Forbid", encoding: rules.Fine},
		{name: "ratchet enum", schema: "type: string, enum: [%s]", keys: "ratchet: true", encoding: rules.Compact},
		{name: "clear", schema: "type: string", transition: true},
		{name: "clear enum", schema: "type: string, enum: [%s]", transition: true},
		{name: "clear plain", transition: true},
		{name: "forbid", schema: "type: string", keys: "discriminatorChange: Forbid", transition: true},
		{name: "forbid enum", schema: "type: string, enum: [%s]", keys: "discriminatorChange: Forbid", transition: true},
		{name: "forbid plain", keys: "discriminatorChange: Forbid", transition: true},
	}
	var table strings.Builder
	fmt.Fprintf(&table, "greatest cost of a rule / of all rules / of all messages\n")
	sizes := []int{2, 3, 4, 6, 9, 12, 13, 16, 20}
	for _, c := range columns {
		fmt.Fprintf(&table, "%-22s", c.name)
		for _, n := range sizes {
			if n > c.upTo && !testing.Verbose() {
				continue
			}
			var properties, fields, names, values []string
			for i := range n {
				name, value := fmt.Sprintf("member%d", i), fmt.Sprintf("Member%d", i)
				properties = append(properties, name+": {type: object}")
				names, values = append(names, name), append(values, value)
				fields = append(fields, name+": "+value)
			}
			declaration := "members: [" + strings.Join(names, ", ") + "]"
			if c.schema != "" {
				typ := strings.ReplaceAll(c.schema, "%s", strings.Join(values, ", "))
				properties = append(properties, "type: {"+typ+"}")
				declaration = "discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
			}
			if c.keys != "" {
				declaration += ", " + c.keys
			}
			schema := schemaOf(t, "{type: object, properties: {"+strings.Join(properties, ", ")+"}}")
			u := unionOf(t, "{"+declaration+"}", schema)
			l := rules.Static(u, c.encoding)
			if c.transition {
				l = rules.Transition(u, rules.Comparison{})
			}
			var most, sum, messages uint64
			for _, r := range compiled(t, structural(t, schema), l) {
				most, sum, messages = max(most, r.MaxCost), sum+r.MaxCost, messages+r.MessageExpressionMaxCost
			}
			fmt.Fprintf(&table, " | %d: %d/%d/%d", n, most, sum, messages)
			if n <= c.upTo && most > uint64(c.limit) {
				t.Errorf("%s with %d members: a rule costs %d", c.name, n, most)
			}
		}
		table.WriteByte('\n')
	}
	t.Log(table.String())
}
