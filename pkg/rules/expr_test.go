package rules

import (
	"strings"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func TestConditions(t *testing.T) {
	a, b, c, d := cel.Var("a"), cel.Var("b"), cel.Var("c"), cel.Var("d")
	o := self(&union.Union{})
	is := self(&union.Union{Type: union.BooleanValue})
	n := self(&union.Union{Type: union.IntegerValue, Unset: "8080", Discriminator: "n"})
	for _, tt := range []struct {
		got  cel.Expr
		want string
	}{
		{o.oneOf(a, nil), "false"},
		{o.oneOf(a, []string{"x"}), "a == 'x'"},
		{o.oneOf(a, []string{"x", "it's"}), `a == 'x' || a == 'it\'s'`},
		{o.oneOf(cel.If(a, b, c), []string{"x"}), "(a ? b : c) == 'x'"},
		{o.oneOf(a.Eq(b), []string{"1", "2", "3", "4", "5", "6", "7"}), "(a == b) in ['1', '2', '3', '4', '5', '6', '7']"},
		{is.oneOf(a, []string{"true"}), "a"},
		{is.noneOf(a, []string{"true", ""}), "!a"},
		{is.oneOf(a, []string{"true", "false"}), "true"},
		{n.oneOf(a, []string{"8080", "-1", ""}), "a == 8080 || a == -1"},
		{n.isInList([]string{"8080", "-1"}), "!has(self.n) || self.n in [8080, -1]"},
		{n.isInList([]string{"-1"}), "has(self.n) && self.n == -1"},
		{n.value(), "has(self.n) ? self.n : 8080"},
		{count([]cel.Expr{a, cel.And(b, c)}), "(a ? 1 : 0) + (b && c ? 1 : 0)"},
		{atMostOneOf([]cel.Expr{a}), "true"},
		{atMostOneOf([]cel.Expr{a, b}), "!(a && b)"},
		{atMostOneOf([]cel.Expr{a, b, c}), "a ? !(b || c) : !(b && c)"},
		{exactlyOneOf([]cel.Expr{a}), "a"},
		{exactlyOneOf([]cel.Expr{a, b}), "a ? !b : b"},
		{exactlyOneOf([]cel.Expr{a, cel.And(b, c), d}), "a ? !((b && c) || d) : b && c ? !d : d"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// TestChains compares the counting expressions with a count. The lengths include those for which a
// sum replaces the chain.
func TestChains(t *testing.T) {
	env, err := celgo.NewEnv(celgo.Variable("v", celgo.ListType(celgo.BoolType)))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= chained+2; n++ {
		var conditions []cel.Expr
		for i := range n {
			conditions = append(conditions, cel.Var("v["+strings.Repeat("1+", i)+"0]"))
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

func program(t *testing.T, env *celgo.Env, e cel.Expr) celgo.Program {
	t.Helper()
	ast, issues := env.Compile(e.String())
	if issues.Err() != nil {
		t.Fatalf("%s: %v", e.String(), issues.Err())
	}
	p, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func evaluated(t *testing.T, p celgo.Program, v []bool) bool {
	t.Helper()
	out, _, err := p.Eval(map[string]any{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	return out == types.True
}

// Messages stay on one line.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{"", "HTTP", `it's "\n" \`, "a\nb\r\t\x00\x7f", "ü😀\U0010ffff", "\u2028\ufeff\u00a0", `\u0041\'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, message := range []string{show(&union.Union{}, s), plain(plain(s)), labelled(&union.Union{Name: s}, plain(s))} {
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
		if got := fieldPath(schemapath.New(name)); got != want {
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
		if got := alternatives(&union.Union{}, values); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
