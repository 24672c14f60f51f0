package rules_test

import (
	"fmt"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

func ExampleStatic() {
	u := &union.Union{
		Members:     []union.Member{{Name: "configMap"}, {Name: "secret"}, {Name: "my-volume"}},
		Cardinality: union.ExactlyOne,
		Change:      union.Clear,
	}
	for _, r := range rules.Static(u, rules.Fine) {
		fmt.Println(r.Rule)
		fmt.Println("  at", r.FieldPath, "with", r.Reason+":", r.Message)
	}
	// Output:
	// !(has(self.configMap) && has(self.my__dash__volume))
	//   at .configMap with FieldValueForbidden: exactly one of configMap, secret, my-volume must be set
	// !(has(self.secret) && has(self.configMap))
	//   at .secret with FieldValueForbidden: exactly one of configMap, secret, my-volume must be set
	// !(has(self.my__dash__volume) && has(self.secret))
	//   at .my-volume with FieldValueForbidden: exactly one of configMap, secret, my-volume must be set
	// has(self.configMap) || has(self.secret) || has(self.my__dash__volume)
	//   at  with FieldValueRequired: exactly one of configMap, secret, my-volume must be set
}

func ExampleStatic_compact() {
	u := &union.Union{
		Discriminator: "type",
		Members:       []union.Member{{Name: "http", Values: []string{"HTTP"}}, {Name: "tcp", Values: []string{"TCP"}}},
		Cardinality:   union.AtMostOne,
		Change:        union.Clear,
	}
	for _, r := range rules.Static(u, rules.Compact) {
		fmt.Println(r.Rule)
	}
	// Output:
	// has(self.http) ? has(self.type) && self.type == 'HTTP' && !has(self.tcp) : has(self.tcp) ? has(self.type) && self.type == 'TCP' : has(self.type) ? self.type != 'HTTP' && self.type != 'TCP' : true
}

func ExampleTransition() {
	u := &union.Union{
		Discriminator: "type",
		Members:       []union.Member{{Name: "http", Values: []string{"HTTP"}}, {Name: "tcp", Values: []string{"TCP"}}},
		Cardinality:   union.AtMostOne,
		Change:        union.AllowedChanges,
		Allowed:       map[string][]string{"HTTP": {"TCP"}},
	}
	r := rules.Transition(u, rules.Comparison{})[0]
	fmt.Println(r.Rule)
	fmt.Println(r.Message)

	// The removal guard covers removing the union object instead.
	r, _ = rules.RemovalGuard(u, []string{"backend"})
	fmt.Println(r.Rule)
	// Output:
	// has(oldSelf.type) && oldSelf.type != '' ? (has(self.type) && self.type == oldSelf.type) || (oldSelf.type == 'HTTP' && has(self.type) && self.type == 'TCP') : true
	// type may not change like this; allowed are 'HTTP' to 'TCP'
	// !(has(oldSelf.backend) && has(oldSelf.backend.type) && oldSelf.backend.type != '') || has(self.backend)
}
