package formula_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

const schema = `
type: object
properties:
  type: {type: string}
  mode: {type: string, enum: [X, Z, ""]}
  a: {type: object, nullable: true, properties: {x: {type: string, nullable: true}, "n": {type: integer}}}
  b: {type: string, nullable: true}
  c: {type: array, items: {type: string}}
  d: {type: object, additionalProperties: {type: string}}
  "n": {type: integer}
  "on": {type: boolean}
  if: {type: string}
`

func parse(t testing.TB, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigsyaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &s
}

// objects returns random objects that the schema accepts.
func objects(r *rand.Rand, n int) []map[string]any {
	pick := func(l ...any) any { return l[r.IntN(len(l))] }
	const absent = "absent"
	var out []map[string]any
	for range n {
		o := map[string]any{}
		set := func(m map[string]any, name string, v any) {
			if v != absent {
				m[name] = v
			}
		}
		set(o, "type", pick(absent, "", "A", "B", "C", "AB"))
		set(o, "mode", pick(absent, "", "X", "Z"))
		if a := pick(absent, nil, 1, 1); a == 1 {
			m := map[string]any{}
			set(m, "x", pick(absent, nil, "", "A", "q"))
			set(m, "n", pick(absent, int64(0), int64(3)))
			o["a"] = m
		} else {
			set(o, "a", a)
		}
		set(o, "b", pick(absent, nil, "", "A", "hello"))
		set(o, "c", pick(absent, []any{}, []any{"A"}, []any{"A", "b"}))
		set(o, "d", pick(absent, map[string]any{}, map[string]any{"k": "A"}, map[string]any{"k": "", "l": "B"}))
		set(o, "n", pick(absent, int64(0), int64(1), int64(7)))
		set(o, "on", pick(absent, true, false))
		set(o, "if", pick(absent, "", "A"))
		out = append(out, o)
	}
	return out
}

// rules generates random rules, both common and unusual ones.
type rules struct {
	*rand.Rand
	old bool // the rule may read oldSelf
	opt bool // oldSelf is optional
}

func (r rules) pick(l ...string) string { return l[r.IntN(len(l))] }

func (r rules) self() string {
	switch {
	case r.old && r.opt && r.IntN(3) == 0:
		return "oldSelf.value()"
	case r.old && !r.opt && r.IntN(2) == 0:
		return "oldSelf"
	}
	return "self"
}

func (r rules) text(depth int) string {
	s := r.self()
	if depth > 0 {
		switch r.IntN(12) {
		case 0:
			return "(" + r.condition(depth-1) + " ? " + r.text(depth-1) + " : " + r.text(depth-1) + ")"
		case 1:
			return "{'k': " + r.text(depth-1) + ", 'A': 'x'}[" + r.text(depth-1) + "]"
		case 2:
			return "[" + r.text(depth-1) + ", 'A'][" + r.pick("0", "1", "2") + "]"
		}
	}
	return r.pick(s+".type", s+".type", s+".mode", s+".b", s+".a.x", s+".d.k", s+".d['k']", s+".__if__", "'A'", "''", "'B'", "'X'",
		"self.?type.orValue('')", "self.?a.x.orValue('A')", "self.?a.?x.orValue('q')", "self.d[?'k'].orValue('')", s+".type + 'B'", s+".b.lowerAscii()")
}

func (r rules) has() string {
	s := r.self()
	return "has(" + s + "." + r.pick("type", "mode", "a", "b", "c", "d", "n", "on", "a.x", "a.n", "d.k", "__if__") + ")"
}

func (r rules) number(depth int) string {
	s := r.self()
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("("+r.condition(depth-1)+" ? 1 : 0)", "("+r.number(depth-1)+" + "+r.number(depth-1)+")", r.list(depth-1)+".size()", "size("+r.list(depth-1)+")")
	}
	return r.pick("0", "1", "2", "3", s+".n", s+".a.n", "size("+s+".b)", s+".c.size()", "size("+s+".d)", "[1, 2].sum()", "("+r.has()+" ? 1 : 0)", "("+r.has()+" ? 1 : 0)", s+".n - 1")
}

func (r rules) list(depth int) string {
	items := r.condition(depth) + ", " + r.condition(depth) + ", " + r.has()
	return r.pick("["+items+"].filter(x, x)", "["+items+"].filter(x, x == true)", "["+items+"]", "["+r.text(depth)+", "+r.text(depth)+"]",
		"['type', 'b'].filter(f, f == "+r.text(depth)+")", "["+items+"].map(x, x, 1)", r.self()+".c", "(['A'] + "+r.self()+".c)", "[?self.?b]", "["+r.has()+"] + ["+r.has()+"]")
}

func (r rules) condition(depth int) string {
	if depth > 0 {
		switch r.IntN(14) {
		case 0, 1:
			return "(" + r.condition(depth-1) + " && " + r.condition(depth-1) + ")"
		case 2, 3:
			return "(" + r.condition(depth-1) + " || " + r.condition(depth-1) + ")"
		case 4:
			return "!(" + r.condition(depth-1) + ")"
		case 5:
			return "(" + r.condition(depth-1) + " ? " + r.condition(depth-1) + " : " + r.condition(depth-1) + ")"
		case 6:
			return "(" + r.condition(depth-1) + r.pick(" == ", " != ") + r.condition(depth-1) + ")"
		case 7:
			return r.number(depth-1) + r.pick(" == ", " != ", " < ", " <= ", " > ", " >= ") + r.number(depth-1)
		case 8:
			return "[" + r.condition(depth-1) + ", " + r.condition(depth-1) + "]." + r.pick("all", "exists", "exists_one") + "(x, " + r.pick("x", "!x", "x == true", "x || "+r.has()) + ")"
		case 9:
			return r.pick("['A', ", "[") + r.text(depth-1) + ", " + r.text(depth-1) + "]." + r.pick("all", "exists", "exists_one") + "(x, x" + r.pick(" == ", " != ") + r.pick("self.type", "'A'", "'B'", r.text(0)) + ")"
		case 10:
			return r.text(depth-1) + " in " + r.pick("['A', 'B']", "[]", "["+r.text(depth-1)+", 'A']", "self.c", "self.d", "{'A': 1, 'X': 2}")
		}
	}
	s := r.self()
	if r.opt && r.IntN(3) == 0 {
		return r.pick("oldSelf.hasValue()", "oldSelf.?type.orValue('A') == "+r.text(0), "oldSelf.?a.hasValue()", "oldSelf.type.hasValue()", "has(oldSelf.?a)",
			"oldSelf.optMap(o, has(o.a)).orValue(true)", "oldSelf.?type == self.?type", "oldSelf.?b.orValue('') == ''")
	}
	return r.pick(r.has(), r.has(), r.has(), r.text(depth)+r.pick(" == ", " != ")+r.text(depth), r.text(depth)+" == 'A'", r.text(depth)+" == ''", r.text(depth)+" != 'B'",
		s+".on", "!"+s+".on", s+".on == "+r.self()+".on", s+".n == 1", s+".n > 1", "size("+s+".b) > 0", "size("+s+".b) == 3", s+".c == []", s+".d == {}", s+".c.size() == 0", "size("+s+".d) > 1",
		"self.type.startsWith('A')", s+".b.matches('^h.*o$')", s+".c.exists(x, x == 'A')", s+".c.all(x, x == self.type)", "self == "+r.self(), "self.a == "+r.self()+".a", "self.c == "+r.self()+".c",
		"['A', 'h'].exists(p, "+s+".b.startsWith(p))", "[self.b, self.type].exists(p, p.startsWith('A'))", "self.?b.hasValue()", "self.?a.?x.hasValue()", "true", "false", "'k' in "+s+".d", "dyn(self.type) == 'A'", "int('1') == self.n",
		"has(self.a.x) || has(self.b)", "self.b < 'B'", "type(self.b) == string", s+".__if__ == 'A'", "self.?b.optMap(v, v == 'A').orValue(false)", "self.type == self.b", "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)")
}

// TestRules tests that a formula agrees with the API server's evaluator on every object, including
// errors, and that the constraints of a space admit every object.
func TestRules(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := parse(t, schema)
	structural, err := server.Structural(s)
	if err != nil {
		t.Fatal(err)
	}
	var all apiextensionsv1.ValidationRules
	for range unioncases.Choose(100, 250, 1500) {
		gen := rules{Rand: r, old: r.IntN(2) == 0}
		gen.opt = gen.old && r.IntN(2) == 0
		all = append(all, apiextensionsv1.ValidationRule{Rule: gen.condition(1 + r.IntN(3)), OptionalOldSelf: &gen.opt})
	}
	programs, errs := formula.Compile(structural, false, all)
	counts := map[string]int{}
	for i, rule := range all {
		if errs[i] != nil {
			counts["does not compile"]++
			continue
		}
		text, optional := rule.Rule, *rule.OptionalOldSelf
		tree, err := formula.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		space := formula.New(s)
		kind := formula.Plain
		if optional {
			kind = formula.Optional
		}
		f, err := space.Rule(tree, space.New, kind)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		space.Close()
		answers := formula.NewAnswers()
		l := objects(r, 12)
		for j, object := range l {
			var old any
			if j > 0 && (j%2 > 0 || strings.Contains(text, "oldSelf") && !optional) {
				old = l[j-1]
			}
			if old == nil && strings.Contains(text, "oldSelf") && !optional {
				continue
			}
			want := said(t, programs[i], object, old, strings.Contains(text, "oldSelf"))
			m, ok := answers.Evaluate(t.Context(), space, object, old)
			if !ok {
				counts["not askable"]++
				continue
			}
			got := read(f, m)
			counts[got]++
			if got != want {
				t.Errorf("%s\non %v, before %v: got %s, want %s", text, object, old, got, want)
				for _, q := range space.Facts {
					t.Logf("%v: %v", q, m(q.Lit))
				}
				break
			}
			admitted(t, space, answers, object, old, text)
		}
		if t.Failed() {
			break
		}
	}
	t.Log(counts)
}

// keeps reports whether a view keeps all properties of an object. A nil object has no properties.
func keeps(v *formula.View, object map[string]any) bool {
	var in func(sent, seen map[string]any) bool
	in = func(sent, seen map[string]any) bool {
		for name, value := range sent {
			below, _ := value.(map[string]any)
			kept, _ := seen[name].(map[string]any)
			if value != nil && seen[name] == nil || !in(below, kept) {
				return false
			}
		}
		return true
	}
	return object == nil || in(object, v.Decode(object))
}

// said returns the result of the API server's evaluator as text.
func said(t *testing.T, p *formula.Program, object, old any, readsOld bool) string {
	t.Helper()
	holds, err := p.Run(t.Context(), object, old, readsOld)
	if err != nil {
		return "error"
	}
	return fmt.Sprint(holds)
}

// read returns the result of a formula as text.
func read(f formula.Formula, m logic.Model) string {
	if m(f.Fails) {
		return "error"
	}
	return fmt.Sprint(m(f.Holds))
}

// TestViews tests, for two schemas, that a formula over the object as sent agrees with the API
// server's evaluator on the object after defaulting and pruning.
func TestViews(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	edits := []string{
		"type: {type: string}", "type: {type: string, default: A}",
		"b: {type: string, nullable: true}", "b: {type: string}",
		"b: {type: string, nullable: true}", "b: {type: string, default: hello}",
		"x: {type: string, nullable: true}", "x: {type: string, default: q}",
		"a: {type: object, nullable: true,", "a: {type: object, default: {},",
		"a: {type: object, nullable: true,", "a: {type: object, default: {n: 3},",
		`, "n": {type: integer}}}`, "}}",
		`"on": {type: boolean}`, `"on": {type: boolean, default: true}`,
		"if: {type: string}", "z: {type: string}",
		"if: {type: string}", "if: {type: string}\n  y: {type: string, default: A}",
		"x: {type: string, nullable: true}", "x: {type: string, nullable: true}, y: {type: string, default: A}",
		"c: {type: array, items: {type: string}}", "c: {type: array, items: {type: string}, default: [A]}",
	}
	base := parse(t, schema)
	counts := map[string]int{}
	for range unioncases.Choose(70, 100, 1500) {
		gen := rules{Rand: r, old: r.IntN(3) == 0}
		gen.opt = gen.old && r.IntN(2) == 0
		text := gen.condition(1 + r.IntN(2))
		if r.IntN(3) == 0 {
			gen.old, gen.opt = true, false
			text = gen.pick("self.a == oldSelf.a", "self == oldSelf", "[self.a].all(x, x == oldSelf.a)", "[self].exists(x, x != oldSelf)", "self.a != oldSelf.a || self == oldSelf")
		}
		tree, err := formula.Parse(text)
		if err != nil {
			counts["does not compile"]++
			continue
		}
		kind := formula.Plain
		if gen.opt {
			kind = formula.Optional
		}
		space := formula.New(base)
		var views [2]*formula.View
		var formulas [2]formula.Formula
		var programs [2]*formula.Program
		for i := range views {
			changed := schema
			for j := 0; j < len(edits); j += 2 {
				if r.IntN(6) == 0 {
					changed = strings.Replace(changed, edits[j], edits[j+1], 1)
				}
			}
			s := parse(t, changed)
			structural, err := server.Structural(s)
			if err != nil {
				t.Fatal(err)
			}
			l, errs := formula.Compile(structural, false, apiextensionsv1.ValidationRules{{Rule: text, OptionalOldSelf: &gen.opt}})
			if errs[0] != nil {
				counts["does not compile"]++
				continue
			}
			programs[i], views[i] = l[0], space.View(s, structural)
			if formulas[i], err = space.Rule(tree, views[i].New, kind); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		space.Close()
		alike := logic.True
		if views[0] != nil && views[1] != nil {
			views[0].Cover()
			views[1].Cover()
			alike = space.Alike(views[0], views[1])
		}
		answers := formula.NewAnswers()
		l := objects(r, 8)
		for i, object := range l {
			var old map[string]any
			if i > 0 && (i%2 > 0 || strings.Contains(text, "oldSelf") && !gen.opt) {
				old = l[i-1]
			}
			if old == nil && strings.Contains(text, "oldSelf") && !gen.opt {
				continue
			}
			before := func(v *formula.View) any {
				if old == nil {
					return nil
				}
				return v.Decode(old)
			}
			var stored any
			if old != nil {
				stored = old
			}
			m, ok := answers.Evaluate(t.Context(), space, object, stored)
			if !ok {
				counts["not askable"]++
				continue
			}
			for j, v := range views {
				if v == nil {
					continue
				}
				want := said(t, programs[j], v.Decode(object), before(v), strings.Contains(text, "oldSelf"))
				got := read(formulas[j], m)
				if counts[got]++; got != want {
					for _, q := range space.Facts {
						t.Logf("%v: %v", q, m(q.Lit))
					}
					t.Fatalf("%s\non %v, before %v, seen as %v: got %s, want %s", text, object, old, v.Decode(object), got, want)
				}
			}
			admitted(t, space, answers, object, stored, text)
			if views[0] != nil && keeps(views[0], object) && keeps(views[0], old) && !m(alike) {
				t.Fatalf("%s\non %v, before %v: not alike", text, object, old)
			}
		}
	}
	t.Log(counts)
}

// admitted checks that the constraints of a space admit an existing object.
func admitted(t *testing.T, s *formula.Space, answers *formula.Answers, object, old any, text string) {
	t.Helper()
	m, ok := answers.Evaluate(t.Context(), s, object, old)
	if !ok {
		return
	}
	n := len(s.Facts)
	all := append(s.Facts[:0:0], s.Facts...)
	for k := n; k >= 0; k-- { // find the fact that excludes the object
		l := all[:k]
		facts := make([]logic.Lit, 0, len(l))
		for _, f := range l {
			facts = append(facts, f.Lit.If(m(f.Lit)))
		}
		found, err := s.Satisfy(context.Background(), facts...)
		if err != nil {
			t.Fatal(err)
		}
		if found != nil {
			if k < n {
				t.Fatalf("%s: %v, before %v, is excluded by %s", text, object, old, all[k])
			}
			return
		}
	}
}

// TestKeywords tests that formulas for keywords agree with the API server's validator.
func TestKeywords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	var keywords func(depth int) string
	keywords = func(depth int) string {
		if depth > 0 && r.IntN(3) > 0 {
			return pick(
				fmt.Sprintf("{%s: [%s, %s]}", pick("anyOf", "oneOf", "allOf"), keywords(depth-1), keywords(depth-1)),
				"{not: "+keywords(depth-1)+"}",
				fmt.Sprintf("{properties: {%s: %s}}", pick("a", "b", "type"), keywords(depth-1)),
			)
		}
		return pick("{required: [a]}", "{required: [a, b]}", "{required: [type]}", "{required: [x]}", "{properties: {type: {enum: [A, '']}}}", "{properties: {mode: {enum: [X]}}, required: [mode]}",
			"{properties: {b: {not: {}}}}", "{properties: {b: {minLength: 1}}}", "{properties: {b: {maxLength: 2}}}", "{properties: {b: {pattern: '^h'}}}", "{properties: {\"n\": {minimum: 1}}}", "{properties: {\"n\": {enum: [1, 7]}}}",
			"{properties: {\"on\": {enum: [true]}}}", "{properties: {c: {minItems: 1}}}", "{properties: {c: {maxItems: 1}}}", "{properties: {d: {minProperties: 1}}}", "{properties: {d: {maxProperties: 1}}}", "{properties: {a: {required: [x]}}}",
			"{minProperties: 2}", "{maxProperties: 3}", "{minProperties: 9}", "{maxProperties: 9}", "{maxProperties: 20}", "{minProperties: 20}", "{minProperties: 3, maxProperties: 4}", "{maxProperties: 0}", "{}", "{properties: {a: {properties: {x: {enum: [A]}}}}}")
	}
	s := parse(t, schema)
	counts := map[bool]int{}
	for range unioncases.Choose(200, 300, 1500) {
		text := keywords(3)
		only := parse(t, text)
		in, err := server.Internal(only)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := apiservervalidation.NewSchemaValidator(in)
		if err != nil {
			t.Fatal(err)
		}
		space := formula.New(s)
		f := space.Schema(only, space.New)
		answers := formula.NewAnswers()
		for _, object := range objects(r, 10) {
			want := len(apiservervalidation.ValidateCustomResource(nil, object, v)) == 0
			m, ok := answers.Evaluate(t.Context(), space, object, nil)
			if !ok {
				t.Fatalf("%s: not askable", text)
			}
			counts[want]++
			if m(f) != want {
				for _, q := range space.Facts {
					t.Logf("%v: %v", q, m(q.Lit))
				}
				t.Fatalf("%s\non %v: got %v, want %v", text, object, m(f), want)
			}
			admitted(t, space, answers, object, nil, text)
		}
	}
	t.Log(counts)
}
