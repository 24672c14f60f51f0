package cel_test

import (
	"strings"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"github.com/unioncel/unioncel/internal/cel"
)

var a, b, c, d = cel.Var("a"), cel.Var("b"), cel.Var("c"), cel.Var("d")

// TestString compares expressions with their text on one line. CEL must be able to parse the text.
func TestString(t *testing.T) {
	env := environment(t)
	k, v := cel.Var("k"), cel.Var("v")
	for _, tt := range []struct {
		got  cel.Expr
		want string
	}{
		{cel.Not(a), "!a"},
		{cel.Not(cel.Not(a)), "!(!a)"},
		{cel.Not(cel.And(a, b)), "!(a && b)"},
		{cel.Not(a.Eq(b)), "!(a == b)"},
		{cel.Not(cel.True), "false"},
		{cel.Not(cel.False), "true"},
		{cel.And(), "true"},
		{cel.Or(), "false"},
		{cel.And(a), "a"},
		{cel.And(a, cel.True), "a"},
		{cel.And(a, cel.False), "false"},
		{cel.Or(a, cel.True), "true"},
		{cel.Or(cel.And(a, b)), "a && b"},
		{cel.Or(cel.And(a, b), cel.False), "a && b"},
		{cel.Or(a, cel.And(b, c)), "a || (b && c)"},
		{cel.And(a, cel.Or(b, c)), "a && (b || c)"},
		{cel.And(a, cel.And(b, c)), "a && b && c"},
		{cel.Or(a, cel.Or(b, c)), "a || b || c"},
		{cel.And(cel.Not(a), b.Eq(c)), "!a && b == c"},
		{cel.And(a, b).Eq(cel.Not(c)), "(a && b) == !c"},
		{a.Eq(b).Eq(c), "(a == b) == c"},
		{a.Eq(cel.Add(b, c)), "a == b + c"},
		{a.Lt(b), "a < b"},
		{a.Le(b), "a <= b"},
		{a.Gt(cel.Int(0)), "a > 0"},
		{a.Eq(b).In(c), "(a == b) in c"},
		{cel.Not(a.In(cel.Strings("x", "it's"))), `!(a in ['x', 'it\'s'])`},
		{cel.Add(a, b.Eq(c)), "a + (b == c)"},
		{cel.Add(cel.Add(a, b), c), "a + b + c"},
		{cel.If(a, b, c), "a ? b : c"},
		{cel.If(a, b, b), "b"},
		{cel.If(cel.True, a, b), "a"},
		{cel.If(cel.False, a, b), "b"},
		{cel.If(cel.If(a, b, c), b, c), "(a ? b : c) ? b : c"},
		{cel.If(a, cel.If(b, c, d), d), "a ? (b ? c : d) : d"},
		{cel.If(a, b, cel.If(b, c, d)), "a ? b : b ? c : d"},
		{cel.If(cel.Or(a, b), cel.And(a, b), cel.Not(a)), "a || b ? a && b : !a"},
		{cel.Or(cel.If(a, b, c), d), "(a ? b : c) || d"},
		{cel.Add(cel.If(a, b, c), d), "(a ? b : c) + d"},
		{cel.Not(cel.If(a, b, c)), "!(a ? b : c)"},
		{cel.Not(cel.Raw("a && b")), "!(a && b)"},
		{cel.Paren(a), "(a)"},
		{cel.Paren(cel.True), "true"},
		{cel.Paren(cel.Paren(cel.If(a, b, c))), "(a ? b : c)"},
		{cel.Has(a.Field("x")), "has(a.x)"},
		{a.Field("namespace", "x-y"), "a.__namespace__.x__dash__y"},
		{cel.If(a, b, c).Field("x"), "(a ? b : c).x"},
		{cel.Not(a).Field("x"), "(!a).x"},
		{a.Optional("x", "in", "y/z").OrValue(cel.Null), "a.?x[?'in'][?'y/z'].orValue(null)"},
		{a.OptionalAt(cel.If(b, c, d)).OrValue(cel.Map()), "a[?b ? c : d].orValue({})"},
		{a.Index(cel.Int(0)).Index(b), "a[0][b]"},
		{cel.List(), "[]"},
		{cel.List(a, cel.If(a, b, c)), "[a, a ? b : c]"},
		{cel.Map(cel.String("x").Entry(cel.Strings("y")), b.Entry(cel.Or(a, b))), "{'x': ['y'], b: a || b}"},
		{cel.Map(cel.If(a, b, c).Entry(d)), "{(a ? b : c): d}"},
		{cel.Struct("Object", cel.Var("spec").Entry(cel.Map())), "Object{spec: {}}"},
		{cel.Dyn(cel.Size(a)), "dyn(size(a))"},
		{a.Call("indexOf", b).Gt(cel.Func("min", a, b)), "a.indexOf(b) > min(a, b)"},
		{a.Map(v, v.Field("x")).Filter(v, v.Ne(cel.Null)).Call("flatten"), "a.map(v, v.x).filter(v, v != null).flatten()"},
		{cel.List(a).All(v, v.Exists(k, k)), "[a].all(v, v.exists(k, k))"},
		{a.ExistsOne(v, v), "a.exists_one(v, v)"},
		{a.AllEntries(k, v, k.Eq(v)), "a.all(k, v, k == v)"},
		{a.TransformList(k, v, k), "a.transformList(k, v, k)"},
		{a.TransformMap(k, v, k.Ne(b), v), "a.transformMap(k, v, k != b, v)"},
		{a.TransformMapEntry(k, v, cel.Map(v.Entry(k))), "a.transformMapEntry(k, v, {v: k})"},
		{cel.Let(v, cel.Add(a, b), cel.If(v, v, c)), "[a + b].map(v, v ? v : c)[0]"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
		if _, issues := env.Parse(tt.want); issues.Err() != nil {
			t.Error(issues.Err())
		}
		if got := tt.got.Layout(); got != tt.want && !strings.Contains(tt.want, "!(a && b)") { // is raw
			t.Errorf("%s is laid out as\n%s", tt.want, got)
		}
	}
}

func environment(t testing.TB) *celgo.Env {
	t.Helper()
	env, err := celgo.NewEnv(celgo.OptionalTypes(), ext.TwoVarComprehensions())
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestIsName(t *testing.T) {
	for _, e := range []cel.Expr{a, cel.Var("variables.x"), cel.String("x y"), cel.List()} {
		if !e.IsName() {
			t.Errorf("%s is no name", e)
		}
	}
	for _, e := range []cel.Expr{cel.Not(a), a.Field("x"), cel.List(a), cel.Add(a, b), cel.Raw("a")} {
		if e.IsName() {
			t.Errorf("%s is a name", e)
		}
	}
}

// FuzzString asserts that CEL reads quoted strings back, and that they are on one line.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "HTTP", `it's "\n" \`, "a\nb\r\t\x00\x7f", "ü😀\U0010ffff", "\u2028\ufeff\u00a0", `\u0041\'`} {
		f.Add(s)
	}
	env := environment(f)
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		text := cel.String(s).String()
		ast, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		p, err := env.Program(ast)
		if err != nil {
			t.Fatal(err)
		}
		if out, _, err := p.Eval(celgo.NoVars()); err != nil || out.Value() != s {
			t.Errorf("%q is written %s and read %v, %v", s, text, out, err)
		}
		if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
			t.Errorf("%q is written %q", s, text)
		}
	})
}
