package formula_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/formula"
)

// always lists the paths that are present; all others may be absent.
var always = []string{"type", "size", formula.Item, "items." + formula.Item, "items." + formula.Item + ".kind"}

func mayLack(path []string) bool { return !slices.Contains(always, strings.Join(path, ".")) }

func TestGuarded(t *testing.T) {
	for _, tt := range []struct{ name, rule, want string }{
		{"operand", "self.a == 1", "has(self.a) && self.a == 1"},
		{"two reads", "self.a <= self.b", "has(self.a) && has(self.b) && self.a <= self.b"},
		{"each level", "self.a.b == 1", "has(self.a) && has(self.a.b) && self.a.b == 1"},
		{"present", "self.type == 'A' ? self.a == 1 : true", "self.type == 'A' ? has(self.a) && self.a == 1 : true"},
		{"double quotes", `self.type == "A" ? self.a == 1 : true`, `self.type == "A" ? has(self.a) && self.a == 1 : true`},
		{"a quote in a string", `self.type == 'A"' ? self.a == 'b' : true`, `self.type == "A\"" ? has(self.a) && self.a == "b" : true`},
		{"an escape", `self.type == 'A\\n' ? self.a == 1 : true`, `self.type == 'A\\n' ? has(self.a) && self.a == 1 : true`},
		{"guarded before", "has(self.a) && self.a == 1 && self.b == 2", "has(self.a) && self.a == 1 && has(self.b) && self.b == 2"},
		{"guarded behind", "self.a == 1 && has(self.a) || self.b == 1", "self.a == 1 && has(self.a) || has(self.b) && self.b == 1"},
		{"guarded by an alternative", "!has(self.a) || self.a.b == 1", "!has(self.a) || has(self.a.b) && self.a.b == 1"},
		{"guarded below", "!has(self.a.b) || self.a.b == 1", "!(has(self.a) && has(self.a.b)) || self.a.b == 1"},
		{"read before", "self.a == 1 || self.a == 2", "has(self.a) && self.a == 1 || has(self.a) && self.a == 2"},
		{"negation", "!(self.a == 1)", "!(has(self.a) && self.a == 1)"},
		{"disjunction in a conjunction", "(self.a == 1 || self.b == 1) && self.type == 'A'", "(has(self.a) && self.a == 1 || has(self.b) && self.b == 1) && self.type == 'A'"},
		{"inner condition", "(has(self.a) ? self.a : 1) == self.b", "has(self.b) && (has(self.a) ? self.a : 1) == self.b"},
		{"items", "self.items.all(i, i.kind == 'A' || i.x == 1)", "!has(self.items) || self.items.all(i, i.kind == 'A' || has(i.x) && i.x == 1)"},
		{"long", "self.a == 1 || [" + strings.Repeat("has(self.b) && ", 9) + "has(self.c)].exists(x, x)", "has(self.a) && self.a == 1 || [" + strings.Repeat("has(self.b) && ", 9) + "has(self.c)].exists(x, x)"},
		{"old", "self.a == oldSelf.a", "has(self.a) && has(oldSelf.a) && self.a == oldSelf.a"},
		{"an entry", "self.m['k'] == 1", "has(self.m) && 'k' in self.m && self.m['k'] == 1"},
		{"an entry that differs", "self.m['k'] != 1", "!has(self.m) || !('k' in self.m) || self.m['k'] != 1"},
		{"an entry with a guard", "'k' in self.m && self.m['k'] == 1", "has(self.m) && 'k' in self.m && self.m['k'] == 1"},
		{"a check of a conversion", "isIP(self.a) && ip(self.a).family() == 4", "has(self.a) && isIP(self.a) && ip(self.a).family() == 4"},
		{"nothing to guard", "has(self.a) && self.a == 1 && self.type == 'A'", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := formula.Parse(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := r.Guarded(mayLack, false)
			if ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("got %q, %t; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestMayFail(t *testing.T) {
	for rule, want := range map[string]bool{
		"self == oldSelf":                                             false,
		"self.size() < 3 && self.matches('^a')":                       false,
		"!has(self.a) || self.a in ['x', 'y']":                        false,
		"!has(self.items) || self.items.all(i, i.size() > 1)":         false,
		"self.all(k, k.startsWith('a'))":                              false,
		"!has(self.items) || self.items.all(i, !has(i.x) || i.x > 1)": false,
		"!has(self.items) || self.items.exists_one(i, has(i.x))":      false,
		"self.a == 'x'":                                                                     true,
		"self.req == 'x' && isCIDR(self.req)":                                               false,
		"isCIDR(self.req) && cidr(self.req).ip().family() == 6":                             false,
		"isURL(self.req) ? url(self.req).getScheme() == 's' : true":                         false,
		"isURL(self.req) || url(self.req).getScheme() == 's'":                               true,
		"isIP(self.req) && isURL(self.a) && url(self.req).getHost() == 's'":                 true,
		"!has(self.items) || self.items.exists(i, has(i.x)) != self.items.all(i, i.x == 1)": true,
		"!has(self.items) || self.items.all(i, v, v.x == 1)":                                true,
		"!has(self.items) || self.items.all(i, self.items.all(i, has(i.x)) && i.x == 1)":    true,
		"!has(self.items) || self.items.all(i, !has(i.x) || self.items.all(i, i.x == 1))":   true,
		"has(self.other) && self.other.metadata.name == 'a'":                                true,
		"semver(self.req, true).major() > 1":                                                true,
		"cidr(self.req).ip() == ip('10.0.0.1')":                                             true,
		"self.items.all(i, i.x == 1)":                                                       true,
		"!has(self.items) || self.items.all(i, i.x == 1)":                                   true,
		"self['a'] == 'x'":                          true,
		"'a' in self && self['a'] == 'x'":           false,
		"'a' in self || self['a'] == 'x'":           true,
		"'a' in self && self['b'] == 'x'":           true,
		"has(self.nulls) && 'a' in self.nulls":      true,
		"self[0] == 1":                              true,
		"int(self) == 1":                            true,
		"self / 2 > 1":                              true,
		"self.filter(i, has(i.x)).all(i, i.x == 1)": true,
		"self.all(i, i.l.all(j, j.x == 1))":         true,
	} {
		r, err := formula.Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		schema := parse(t, "type: object\nrequired: [req]\nproperties: {req: {type: string}, a: {type: string}, other: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}, "+
			"items: {type: array, items: {type: object, properties: {x: {type: integer}}}}}")
		switch {
		case strings.Contains(rule, "nulls"):
			schema = parse(t, "type: object\nproperties: {nulls: {type: object, additionalProperties: {type: string, nullable: true}}}")
		case strings.Contains(rule, "self['"):
			schema = parse(t, "type: object\nadditionalProperties: {type: string}")
		}
		if got := r.MayFail(schema); got != want {
			t.Errorf("%s: got %t, want %t", rule, got, want)
		}
	}
}

// The operator of a condition tells whether the condition holds for absent values; bounds and most
// functions do not.
func TestAbsent(t *testing.T) {
	for _, tt := range []struct{ rule, rejecting, accepting string }{
		{"self.a != 'x' || size(self.b) > 0", "!has(self.a) || self.a != 'x' || has(self.b) && size(self.b) > 0", ""},
		{"'x' != self.a", "!has(self.a) || 'x' != self.a", ""},
		{"self.a != ''", "has(self.a) && self.a != ''", ""},
		{"self.a == ''", "!has(self.a) || self.a == ''", ""},
		{"self.a == false || self.b != true", "!has(self.a) || self.a == false || !has(self.b) || self.b != true", ""},
		{"self.a", "has(self.a) && self.a", ""},
		{"!self.a", "!(has(self.a) && self.a)", ""},
		{"!(self.a != 'x')", "!(!has(self.a) || self.a != 'x')", ""},
		{"self.a in ['x', 'y']", "has(self.a) && self.a in ['x', 'y']", ""},
		{"size(self.a) == 0 || self.b.size() == 0", "!has(self.a) || size(self.a) == 0 || !has(self.b) || self.b.size() == 0", ""},
		{"size(self.a) <= 3", "!has(self.a) || size(self.a) <= 3", ""},
		{"size(self.a) >= 3", "has(self.a) && size(self.a) >= 3", "!has(self.a) || size(self.a) >= 3"},
		{"self.a <= self.b", "has(self.a) && has(self.b) && self.a <= self.b", "!has(self.a) || !has(self.b) || self.a <= self.b"},
		{"self.a == self.b", "has(self.a) && has(self.b) && self.a == self.b", "!has(self.a) || !has(self.b) || self.a == self.b"},
		{"self.a == self.size", "has(self.a) && self.a == self.size", ""},
		{"self.a != 0", "has(self.a) && self.a != 0", "!has(self.a) || self.a != 0"},
		{"self.a != '' && self.b.startsWith('x')", "has(self.a) && self.a != '' && has(self.b) && self.b.startsWith('x')", "has(self.a) && self.a != '' && (!has(self.b) || self.b.startsWith('x'))"},
		{"!(self.a != '' && self.b > 3)", "!(has(self.a) && self.a != '' && has(self.b) && self.b > 3)", ""},
		{"self.a > 3 ? self.b > 3 : true", "has(self.a) && self.a > 3 ? has(self.b) && self.b > 3 : true", "has(self.a) && self.a > 3 ? !has(self.b) || self.b > 3 : true"},
		{"has(self.a) && self.a.b == 1", "has(self.a) && has(self.a.b) && self.a.b == 1", ""},
		{"self.a != 'x' || self.a == 'x'", "!has(self.a) || self.a != 'x' || self.a == 'x'", ""},
		{"(size(self.a) == 0) != (size(self.b) == 0)", "(!has(self.a) || size(self.a) == 0) != (!has(self.b) || size(self.b) == 0)", ""},
		{"(self.a == 'x') == has(self.b)", "(has(self.a) && self.a == 'x') == has(self.b)", ""},
		{"self.items.all(i, i.x == 1)", "!has(self.items) || self.items.all(i, has(i.x) && i.x == 1)", ""},
		{"self.items.exists(i, i.x > 1)", "has(self.items) && self.items.exists(i, has(i.x) && i.x > 1)", "has(self.items) && self.items.exists(i, !has(i.x) || i.x > 1)"},
		{"has(self.a) && self.a == 1", "", ""},
	} {
		r, err := formula.Parse(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		for accepting, want := range map[bool]string{false: tt.rejecting, true: cmp.Or(tt.accepting, tt.rejecting)} {
			if got, ok := r.Guarded(mayLack, accepting); ok != (want != "") || ok && got != want {
				t.Errorf("%s, %t: got %q, %t; want %q", tt.rule, accepting, got, ok, want)
			}
		}
	}
}

func TestGuardedOld(t *testing.T) {
	for rule, want := range map[string]string{
		"self.a == oldSelf.a": "!has(oldSelf.a) || has(self.a) && self.a == oldSelf.a",
		"self.type == oldSelf.type ? self.b == oldSelf.b : true": "!has(oldSelf.b) || (self.type == oldSelf.type ? has(self.b) && self.b == oldSelf.b : true)",
		"self.a == 1": "",
	} {
		r, err := formula.Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := r.GuardedOld(mayLack); ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %t; want %q", rule, got, ok, want)
		}
	}
}

func TestNotAll(t *testing.T) {
	for _, tt := range []struct {
		rule, each, broken string
		conjuncts          int
	}{
		{"!self.items.all(x, has(x.a) && has(x.b))", "self.items.all(x, !(has(x.a) && has(x.b)))", "[self].all(x, has(x.a) && has(x.b))", 2},
		{"!has(self.items) || !self.items.all(x, x.a == 1)", "!has(self.items) || self.items.all(x, !(x.a == 1))", "[self].all(x, x.a == 1)", 1},
		{"self.items.all(x, has(x.a))", "", "", 0},
		{"!(!self.items.all(x, has(x.a) && has(x.b)))", "", "", 0},
		{"!self.items.all(x, has(x.a) && has(x.b)) ? has(self.b) : true", "", "", 0},
		{"!self.items.all(x, x.a == self.a && has(x.b))", "", "", 0},
	} {
		r, err := formula.Parse(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := r.NotAll()
		if ok != (tt.each != "") {
			t.Errorf("%s: %t", tt.rule, ok)
		}
		if ok && (n.Each != tt.each || n.Broken != tt.broken || n.Conjuncts != tt.conjuncts || !slices.Equal(n.List, []string{"items"})) {
			t.Errorf("%s: got %+v", tt.rule, n)
		}
	}
}
