package rules

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func TestPrecedence(t *testing.T) {
	a, b, c, d := atom("a"), atom("b"), atom("c"), atom("d")
	tests := []struct {
		got  expr
		want string
	}{
		{not(a), "!a"},
		{not(not(a)), "!(!a)"},
		{not(and(a, b)), "!(a && b)"},
		{not(eq(a, b)), "!(a == b)"},
		{not(yes), "false"},
		{not(no), "true"},
		{and(), "true"},
		{or(), "false"},
		{and(a), "a"},
		{or(and(a, b)), "a && b"},
		{or(a, and(b, c)), "a || (b && c)"},
		{and(a, or(b, c)), "a && (b || c)"},
		{and(a, and(b, c)), "a && b && c"},
		{or(a, or(b, c)), "a || b || c"},
		{and(not(a), eq(b, c)), "!a && b == c"},
		{eq(and(a, b), not(c)), "(a && b) == !c"},
		{eq(eq(a, b), c), "(a == b) == c"},
		{eq(a, add(b, c)), "a == b + c"},
		{add(a, eq(b, c)), "a + (b == c)"},
		{add(add(a, b), c), "a + b + c"},
		{cond(a, b, c), "a ? b : c"},
		{cond(cond(a, b, c), b, c), "(a ? b : c) ? b : c"},
		{cond(a, cond(b, c, d), d), "a ? (b ? c : d) : d"},
		{cond(a, b, cond(b, c, d)), "a ? b : b ? c : d"},
		{cond(or(a, b), and(a, b), not(a)), "a || b ? a && b : !a"},
		{or(cond(a, b, c), d), "(a ? b : c) || d"},
		{add(cond(a, b, c), d), "(a ? b : c) + d"},
		{not(cond(a, b, c)), "!(a ? b : c)"},
		{has(field(atom("self"), "x")), "has(self.x)"},
		{field(atom("self"), "namespace"), "self.__namespace__"},
		{field(cond(a, b, c), "x"), "(a ? b : c).x"},
		{field(not(a), "x"), "(!a).x"},
		{paren(a), "(a)"},
		{paren(cond(a, b, c)), "(a ? b : c)"},
		{oneOf(a, nil), "false"},
		{oneOf(a, []string{"x"}), "a == 'x'"},
		{oneOf(a, []string{"x", "it's"}), `a == 'x' || a == 'it\'s'`},
		{oneOf(cond(a, b, c), []string{"x"}), "(a ? b : c) == 'x'"},
		{oneOf(eq(a, b), []string{"1", "2", "3", "4", "5", "6", "7"}), "(a == b) in ['1', '2', '3', '4', '5', '6', '7']"},
		{count([]expr{a, and(b, c)}), "(a ? 1 : 0) + (b && c ? 1 : 0)"},
		{atMostOneOf([]expr{a}), "true"},
		{atMostOneOf([]expr{a, b}), "!(a && b)"},
		{atMostOneOf([]expr{a, b, c}), "a ? !(b || c) : !(b && c)"},
		{exactlyOneOf([]expr{a}), "a"},
		{exactlyOneOf([]expr{a, b}), "a ? !b : b"},
		{exactlyOneOf([]expr{a, and(b, c), d}), "a ? !((b && c) || d) : b && c ? !d : d"},
	}
	for _, tt := range tests {
		if tt.got.text != tt.want {
			t.Errorf("%s, want %s", tt.got.text, tt.want)
		}
	}
}

// TestChains holds the counting expressions to counting, below and beyond the
// length where a sum takes over.
func TestChains(t *testing.T) {
	env, err := cel.NewEnv(cel.Variable("v", cel.ListType(cel.BoolType)))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= chained+2; n++ {
		var conditions []expr
		for i := range n {
			conditions = append(conditions, atom("v["+strings.Repeat("1+", i)+"0]"))
		}
		atMost, exactly := program(t, env, atMostOneOf(conditions)), program(t, env, exactlyOneOf(conditions))
		try := func(set ...int) {
			v, held := make([]bool, n), 0
			for _, i := range set {
				v[i] = true
			}
			for _, is := range v {
				if is {
					held++
				}
			}
			if got := evaluated(t, atMost, v); got != (held <= 1) {
				t.Errorf("atMostOneOf %v: %t", v, got)
			}
			if got := evaluated(t, exactly, v); got != (held == 1) {
				t.Errorf("exactlyOneOf %v: %t", v, got)
			}
		}
		try()
		for i := range n {
			for j := range i + 1 {
				try(i, j)
				try(i, j, n-1)
			}
		}
	}
}

func program(t *testing.T, env *cel.Env, e expr) cel.Program {
	t.Helper()
	ast, issues := env.Compile(e.text)
	if issues.Err() != nil {
		t.Fatalf("%s: %v", e.text, issues.Err())
	}
	p, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func evaluated(t *testing.T, p cel.Program, v []bool) bool {
	t.Helper()
	out, _, err := p.Eval(map[string]any{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	return out == types.True
}

// FuzzQuote holds quote to CEL's own reading, and messages to one line.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "HTTP", `it's "\n" \`, "a\nb\r\t\x00\x7f", "ü😀\U0010ffff", "\u2028\ufeff\u00a0", `\u0041\'`} {
		f.Add(s)
	}
	env, err := cel.NewEnv()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		out, _, err := program(t, env, literal(s)).Eval(cel.NoVars())
		if err != nil || out.Value() != s {
			t.Errorf("%q is written %s and read %v, %v", s, Quote(s), out, err)
		}
		for _, message := range []string{show(s), plain(plain(s)), labelled(&union.Union{Name: s}, plain(s))} {
			if strings.ContainsAny(message, "\n\r\v\f\u0085\u2028\u2029") {
				t.Errorf("%q is shown as %q", s, message)
			}
		}
		if plain(s) != plain(plain(s)) {
			t.Errorf("plain changes %q twice: %q, %q", s, plain(s), plain(plain(s)))
		}
	})
}

func TestFieldPath(t *testing.T) {
	for name, want := range map[string]string{"a": ".a", "my-field": ".my-field", "_x1": "._x1", "a.b": "['a.b']", "a/b": "['a/b']", `a'\`: `['a\'\\']`} {
		if got := fieldPath(schemapath.Of(name)); got != want {
			t.Errorf("fieldPath(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for want, values := range map[string][]string{
		"'A'":                     {"A"},
		"'A' or 'B'":              {"A", "B"},
		`'A', 'it's' or '\n\'`:    {"A", "it's", "\n\\"},
		`'tab\t', 'ü', '"' or ''`: {"tab\t", "ü", `"`, ""},
	} {
		if got := alternatives(values); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
