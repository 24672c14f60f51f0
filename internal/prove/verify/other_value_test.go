package verify_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestOtherValues compares discriminators whose other values are unknown. The comparison is
// inconclusive unless the schema of the discriminator excludes other values.
func TestOtherValues(t *testing.T) {
	for name, tt := range map[string]struct {
		kind string
		want verify.Verdict
	}{
		"a rule that is hard to satisfy": {`x-kubernetes-validations: [{rule: "self in ['A', 'B'] || self.endsWith('-q') && self.size() == 17 && self.contains('7')"}]`, verify.Inconclusive},
		"a pattern":                      {`pattern: '^(A|B|x{3}y{2}.*z{5})$'`, verify.Tighter},
		"a pattern in a rule":            {`x-kubernetes-validations: [{rule: "self == 'A' || self == 'B' || self.matches('^(q[0-9]r){4,}$')"}]`, verify.Tighter},
		"a list in a rule":               {`x-kubernetes-validations: [{rule: "self in ['A', 'B']"}]`, verify.Equivalent},
		"equalities in rules":            {`x-kubernetes-validations: [{rule: "self != 'C'"}, {rule: "self == 'A' || self == 'B' || self == ''"}]`, verify.Equivalent},
		"a pattern of words":             {`pattern: '^(A|B)$'`, verify.Equivalent},
		"a pattern of letters":           {`pattern: '^[AB]?$'`, verify.Equivalent},
		"a pattern and a rule":           {`pattern: '^[A-D]$', x-kubernetes-validations: [{rule: "!(self in ['C', 'D'])"}]`, verify.Equivalent},
		"either case":                    {`pattern: '^(?i:[ab])$'`, verify.Tighter},
		"no end":                         {`pattern: '^(A|B)', maxLength: 1`, verify.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			// An object with another discriminator may have any members.
			c, u := compareAll(t, `
type: object
properties:
  type: {type: string, `+tt.kind+`}
  a: {type: string}
  b: {type: string}
`+rulesKey+rule("!has(self.a) || has(self.type) && self.type != 'B' && self.type != ''")+rule("!has(self.b) || has(self.type) && self.type != 'A' && self.type != ''")+
				rule("!has(self.type) || self.type != 'A' || has(self.a)")+rule("!has(self.type) || self.type != 'B' || has(self.b)"),
				"[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]")
			if c.Verdict != tt.want {
				t.Errorf("got %s, want %s", verdict(t, c, u), tt.want)
			}
		})
	}
}
