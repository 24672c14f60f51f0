package formula_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
)

// TestOddRules repeats TestRules with unusual rules: values of unknown type, formats, sets, nulls
// in maps, numbers at the edge, shadowed variables, optional values.
func TestOddRules(t *testing.T) {
	s := parse(t, `
type: object
properties:
  port: {x-kubernetes-int-or-string: true}
  s: {type: string}
  t: {type: string}
  "on": {type: boolean}
  i: {type: integer}
  f: {type: number}
  d1: {type: string, format: duration, enum: [60s, 1m, 2m]}
  d2: {type: string, format: duration, enum: [60s, 1m, 2m]}
  o: {type: object, properties: {d: {type: string, format: duration}}}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  set2: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  z: {type: string, nullable: true}
  e: {type: string, enum: [A, null, ""], nullable: true}
  m: {type: object, additionalProperties: {type: string, nullable: true}}
  mm: {type: object, additionalProperties: {type: string}}
  date: {type: string, format: date}
  raw: {type: string, format: byte}
  l: {type: array, items: {type: object, properties: {k: {type: string}, v: {type: string}}}}
`)
	structural, err := server.Structural(s)
	if err != nil {
		t.Fatal(err)
	}
	objects := []map[string]any{
		{},
		{"port": int64(3)}, {"port": "http"}, {"port": int64(80), "s": "a", "t": "a"},
		{"s": "a", "t": "b", "on": true}, {"s": "", "on": false, "i": int64(5), "f": 5.0}, {"i": int64(5), "f": int64(5)}, {"i": int64(-3)},
		{"d1": "60s", "d2": "1m"}, {"d1": "60s", "d2": "60s"}, {"d1": "2m", "d2": "1m"},
		{"set": []any{"a", "b"}, "set2": []any{"b", "a"}}, {"set": []any{}, "set2": []any{}},
		{"z": nil, "e": nil}, {"z": "x", "e": ""}, {"e": "A"},
		{"m": map[string]any{"k": nil}, "mm": map[string]any{}}, {"m": map[string]any{"k": "", "a": "b"}, "mm": map[string]any{"k": "v"}}, {"m": map[string]any{}},
		{"date": "2020-01-01", "raw": "YQ=="}, {"s": "ü"}, {"s": "üü"}, {"o": map[string]any{"d": "60s"}}, {"o": map[string]any{"d": "1m"}},
		{"l": []any{map[string]any{"k": "a"}, map[string]any{"v": "b"}}}, {"l": []any{}},
	}
	unread := 0
texts:
	for _, text := range []string{
		"self.port < 5 || !(self.port < 5)", "self.port == 3 || self.port != 3", "self.port >= 5 || self.port < 5", "dyn(self.s) < 5 || dyn(self.s) >= 5",
		"!dyn(self.s)", "dyn(self.s) || true", "dyn(self.s) && false", "!self.port", "dyn('a') ? true : false", "!dyn(1)", "dyn(self.s).startsWith('a') || true", "dyn(self.i).startsWith('a') || !dyn(self.i).startsWith('a')",
		"dyn(self.i).contains('a') || !dyn(self.i).contains('a')", "size(dyn(self.i)) > 3 || size(dyn(self.i)) <= 3", "size(dyn(self.i)) == 0 || size(dyn(self.i)) > 0",
		"self.port.contains('a') || !self.port.contains('a')", "self.port.lowerAscii() == 'a' || self.port.lowerAscii() != 'a'",
		"size(self.port) >= 0", "size(self.port) >= 1 || size(self.port) < 1",
		"3 in dyn(self.mm) || !(3 in dyn(self.mm))", "self.i in dyn(self.mm) || !(self.i in dyn(self.mm))", "dyn(self.i) in self.mm || !(dyn(self.i) in self.mm)",
		"dyn(3) in {'a': 1}", "self.port in {'a': 1, 'http': 2}", "!(self.port in {'a': 1})", "self.port in ['http', 'x']", "self.port in [3, 4]",
		"self.s in []", "self.s in ([] + [])", "self.s in [1].filter(x, x > 1).map(x, 'a')", "!(self.s in [?optional.none()])", "self.s in [1].filter(x, x > 2).map(x, self.t)", "!(self.s in ['a'].filter(x, x == 'b'))",
		"9223372036854775807 + 1 == 0 || true", "9223372036854775807 + 1 < 0", "!(9223372036854775806 + 9223372036854775806 > 0)", "(has(self.s) ? 9223372036854775807 : 0) + (has(self.t) ? 9223372036854775807 : 0) > 1",
		"-1 < 0", "-1 + 2 == 1", "1 - 2 < 0", "-(1) == -1", "[self.i].sum() > 1", "size([]) == 0", "size({'a': 1}) == 1",
		"self.d1 == self.d2", "self.d1 != self.d2", "has(self.d1) && self.d1 == self.d2 ? self.d1 == duration('60s') : true", "self.d1 == duration('1m')", "self.d1 < self.d2", "string(self.d1) == '60s'", "self == oldSelf", "self.o == oldSelf.o", "[self.d1].exists(x, x == self.d2)", "self.d1 in [self.d2]", "self.o.d == oldSelf.o.d", "self.d1 == oldSelf.d1",
		"self.set == self.set2", "self.set == oldSelf.set", "self.set == ['a', 'b']", "self.set == self.set2 || self.set != self.set2", "self.l == oldSelf.l", "self.set == []", "self.set + self.set2 == []",
		"has(self.z)", "self.e == ''", "self.e == 'A'", "self.e == dyn(null)", "has(self.e) || self.e == 'A'", "self.?z.hasValue()", "self.?z.orValue('q') == 'q'", "self.?z == optional.none()",
		"has(self.m.k)", "'k' in self.m", "self.m.?k.hasValue()", "self.m[?'k'].orValue('q') == 'q'", "size(self.m) == 1", "self.m == {}", "self.m.exists(k, k == 'a')", "self.mm == self.m",
		"dyn(self.i) == dyn(self.f)", "self.f == 5.0", "dyn(self.f) == 5", "dyn(self.i) == 5.0", "self.i < 6.0", "dyn(self.i) in [dyn(5.0)]", "dyn(5) == dyn(5.0)", "dyn(5u) == dyn(5)", "dyn(5) in [dyn(5u)]", "dyn(1.0) == true || dyn(1.0) == false",
		"dyn(self.on) == 'true'", "dyn(self.s) == true", "dyn('a') == true", "dyn(self.s) == 1", "dyn(self.s) == self.i", "dyn(self.s) == null",
		"size(self.s) == 1", "size(self.s) > 1", "size('ü') == 1", "self.s == '\\u00fc'", "self.s.size() < 1", "1 > size(self.s)", "0 == size(self.s)", "-1 < size(self.s)", "size(self.l) != 1", "1 <= size(self.set)", "size(self.set) == size(self.set2)", "size(self.set) < 2 && size(self.set) < 1",
		"size(self.raw) == 0", "self.raw == b'a'", "size(self.raw) > 0", "self.date == timestamp('2020-01-01T00:00:00Z')", "self.date == self.date", "[self.t].all(a, [self.s].all(self, self.startsWith(a)))", "self.s in {}", "dyn(self.i - 1) == 4", "self.f == self.f", "[self.o].exists(a, [self].all(self, a == self.o))",
		"[self.s, self.t].exists_one(x, x == 'a')", "[1, 2].exists_one(x, x == 1 || self.s == 'a')", "[self.s].exists_one(x, x == 'a') || true", "[true, false].exists_one(x, x ? self.on : true)",
		"[1, 2, 3].map(x, x > 1, x + 1).size() == 2", "[self.s, 'b'].filter(x, x == 'a').size() == 1", "[1, 2].map(x, self.s == 'a', x) == []", "[[1], []].filter(x, x == []).size() == 1", "[[self.s], ['a']].exists(x, x == ['a'])",
		"[1, 2].all(i, v, i < v)", "['a'].exists(i, v, v == self.s)", "{'a': 1}.all(k, v, v == 1)", "['a', 'b'].transformList(i, v, v == self.s).size() == 2", "{'s': self.s}.exists(k, k == 's')", "self.mm.all(k, v, v != '')", "self.l.exists(i, x, has(x.v))",
		"self.?s.optMap(v, v == 'a').orValue(true)", "self.?s.optFlatMap(v, self.?t).hasValue()", "self.?s.or(self.?t).hasValue()", "self.?s.or(optional.of('q')).value() == 'q'", "self.?s.orValue(self.t) == 'a'", "optional.of(self.s).hasValue()", "optional.ofNonZeroValue(self.s).hasValue()", "has(self.?o.d)", "self.?o.?d.hasValue()", "optional.none() == self.?s", "self.?s == self.?t", "self.?s != optional.of('a')", "[?self.?s, ?self.?t].size() == 2", "{?'a': self.?s}.size() == 1", "{'a': self.?s}.a.hasValue()", "[?self.?s][0] == 'a'", "optional.of(optional.of(1)).value().hasValue()", "self.?s.value() == 'a'", "self.?o.d.orValue(duration('1m')) == duration('60s')",
		"[self.s].all(self, self == 'a')", "[self].exists(oldSelf, has(oldSelf.s))", "[1].all(self, self == 1)", "[self.o].all(self, has(self.d))", "[self.s, 'q'].exists(x, [x, 'b'].exists(x, x == 'b'))", "[self.t].all(a, [self.s].all(self, self.startsWith('a') && a.startsWith('b')))", "[self].all(x, [x.s].all(self, self.startsWith('a')))", "[self.o].all(self, string(self.d) == '60s') ", "[self.s].all(y, [self.t].all(x, x.startsWith(y)))",
		"[self.s.lowerAscii()].exists(x, x == 'a')", "[has(self.s), has(self.t)].filter(x, x).size() == 1",
		"self.s + self.t == 'ab'", "'a' + 'b' == 'ab'", "self.s.split('').size() == 1", "[1, 2] == [1, 2]", "[] == [1].filter(x, x > 1)", "['a'] != [self.s]", "{'a': 1} == {'a': 1}", "{} == {}", "{'a': self.s} == {}", "{'a': self.s}.b == 'a'", "{'a': self.s, 'b': 'x'}['b'] == 'x'", "{'a': 1}[self.s] == 1", "['a', 'b'][self.i] == 'a'", "[self.s][-1] == 'a'", "['a'][self.i - 5] == 'a'", "['a'][dyn(0.0)] == 'a'",
		"self.s == 'a' ? self.t == 'a' : self.on", "(self.s == 'a' || self.on) && !(self.t == 'b' && self.s == 'a')", "self.s == 'a' == true", "(self.i == 5) == (self.s == 'a')", "self.on == (self.s == 'a')", "has(self.s) == has(self.t)", "true == !false", "null == null", "self.s.matches('a') || true", "self.l[0].k == 'a'", "has(self.l[0].k)", "self.l.map(x, x.?k.orValue('')).exists(x, x == 'a')", "self.l.all(x, has(x.k) != has(x.v))",
		"type(self) == type(oldSelf)", "type(self.s) == string", "int(self.s) == 1 || int(self.s) != 1", "bool('true')", "double(self.i) == 5.0", "uint(1) == 1u", "self.i % 2 == 1", "self.i / 0 == 1 || true", "self.i * 2 > 5", "self.s > 'A'", "self.on > false", "self.on || self.on", "size(self.mm) <= 1", "self.s.size() == self.i", "self.i == 9223372036854775807", "isURL(self.s)", "quantity('1') == quantity('1000m')", "self.s.find('a') == 'a'", "self.s.charAt(0) == 'a' || true", "self.s.replace('a', 'b') == 'b'", "self.s == \"a\\\"b\\n\" || self.s != r'a\\b'", "self.s.startsWith('\\x00')", "self.s.startsWith(\"\\\"\") || self.s.startsWith('\\u00fc')", "b'\\xff' == b'\\xff'", "self.s.startsWith('\\\\')", "'\\u2028' == self.s", "self.s.endsWith('\\U0001F600')",
	} {
		no := false
		programs, errs := formula.Compile(structural, false, apiextensionsv1.ValidationRules{{Rule: text, OptionalOldSelf: &no}})
		if errs[0] != nil {
			t.Fatalf("%s: %v", text, errs[0])
		}
		tree, err := formula.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		reads := strings.Contains(text, "oldSelf")
		space := formula.New(s)
		f, err := space.Rule(tree, space.New, formula.Plain)
		if err != nil {
			unread++
			continue // a proof would be inconclusive
		}
		space.Close()
		answers := formula.NewAnswers()
		for i, object := range objects {
			olds := []any{nil}
			if reads {
				olds = []any{objects[max(i-1, 0)], object, objects[(i+1)%len(objects)]}
			}
			for _, old := range olds {
				want := "true"
				if holds, err := programs[0].Run(t.Context(), object, old, reads); err != nil {
					want = "error: " + err.Error()
				} else if !holds {
					want = "false"
				}
				m, ok := answers.Evaluate(t.Context(), space, object, old)
				if !ok {
					// The formula must admit the result for one of the answers to the question.
					verdict := f.Holds
					switch want {
					case "true":
					case "false":
						verdict = space.Or(f.Holds, f.Fails).Not()
					default:
						verdict = f.Fails
					}
					l := append(known(t, space, answers, object, old), verdict)
					if found, err := space.Satisfy(t.Context(), l...); err != nil || found == nil {
						t.Errorf("%s\non %v, before %v: the formula excludes %s", text, object, old, want)
						continue texts
					}
					continue
				}
				got := "false"
				if m(f.Fails) {
					got = "error"
				} else if m(f.Holds) {
					got = "true"
				}
				if !strings.HasPrefix(want, got) {
					t.Errorf("%s\non %v, before %v: got %s, want %s", text, object, old, got, want)
					continue texts
				}
				admitted(t, space, answers, object, old, text)
			}
		}
	}
	if unread != 6 {
		t.Errorf("%d rules are not read", unread)
	}
}

// known returns the facts about an object that can be evaluated.
func known(t *testing.T, s *formula.Space, answers *formula.Answers, object, old any) []logic.Lit {
	t.Helper()
	var l []logic.Lit
	for _, f := range s.Facts {
		if holds, ok := answers.Holds(t.Context(), f, object, old); ok {
			l = append(l, f.Lit.If(holds))
		}
	}
	return l
}

// TestConstants compares a value with hundreds of constants, which is supported, and with
// thousands, whose pairwise exclusion would take gigabytes.
func TestConstants(t *testing.T) {
	for n, ok := range map[int]bool{500: true, 5000: false} {
		tree, err := formula.Parse("self.b in ['" + strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := 0; i < n && yield(fmt.Sprint(i)); i++ {
			}
		}), "', '") + "']")
		if err != nil {
			t.Fatal(err)
		}
		space := formula.New(parse(t, schema))
		if _, err := space.Rule(tree, space.New, formula.Plain); (err == nil) != ok {
			t.Errorf("%d constants: %v", n, err)
		}
	}
}
