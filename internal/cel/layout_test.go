package cel_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/cel"
)

// long is a variable whose name has the given length.
func long(name string, length int) cel.Expr {
	return cel.Var(name + strings.Repeat("_", length-len(name)))
}

// TestLayout compares expressions with their lines. In these lines, an underscore stands for many.
func TestLayout(t *testing.T) {
	x, y, z := long("x", 40), long("y", 40), long("z", 40)
	names := cel.Each(strings.Fields("p q r s t u v"), func(name string) cel.Expr { return long(name, 20) })
	for _, tt := range []struct {
		name string
		got  cel.Expr
		want string
	}{
		{"just fits", cel.Add(long("x", 50), long("y", 47)), "x_ + y_"},
		{"just not", cel.Add(long("x", 50), long("y", 48)), "x_ +\ny_"},
		{"the operands that fit", cel.Add(x, y, z), "x_ + y_ +\nz_"},
		{"each condition", cel.And(x, a, cel.Or(y, z)), "x_ &&\na &&\n(y_ || z_)"},
		{"parentheses", cel.Not(cel.Or(x, y, z)), "!(\n  x_ ||\n  y_ ||\n  z_\n)"},
		{"in a list", x.In(cel.List(names...)), "x_ in [\n  p_, q_, r_, s_,\n  t_, u_, v_\n]"},
		{"ternary", cel.If(x, y, z), "x_\n  ? y_\n  : z_"},
		{"chain of ternaries", cel.If(x, y, cel.If(y, z, cel.If(z, y, x))), "x_\n  ? y_\n  : y_\n  ? z_\n  : z_\n  ? y_\n  : x_"},
		{"brackets in a ternary", cel.If(a, cel.Func("f", x, y, z), b), "a\n  ? f(\n      x_,\n      y_,\n      z_\n    )\n  : b"},
		{"sole item with brackets", cel.List(cel.Dyn(cel.Func("f", x, y, z))), "[dyn(f(\n  x_,\n  y_,\n  z_\n))]"},
		{"sole item without", cel.List(cel.Add(x, y, z)), "[\n  x_ + y_ +\n  z_\n]"},
		{"struct", cel.Struct("S", a.Entry(x), b.Entry(y), c.Entry(z)), "S{\n  a: x_,\n  b: y_,\n  c: z_\n}"},
		{"map", cel.Map(a.Entry(x), b.Entry(y), c.Entry(z)), "{\n  a: x_, b: y_,\n  c: z_\n}"},
		{"macro", x.Map(a, y.Eq(z)), "x_.map(a,\n  y_ == z_\n)"},
		{"macro with brackets in it", x.Map(a, cel.Struct("S", b.Entry(y), c.Entry(z))), "x_.map(a, S{\n  b: y_,\n  c: z_\n})"},
		{"macro with two values", x.TransformList(a, b, y, z), "x_.transformList(a, b,\n  y_,\n  z_\n)"},
		{"call behind a macro", x.TransformList(a, b, y, z).Call("flatten").Index(cel.Int(0)), "x_.transformList(a, b,\n  y_,\n  z_\n).flatten()[0]"},
		{"two macros", x.Filter(a, b).Map(a, y.Eq(z)), "x_.filter(a, b).map(a,\n  y_ == z_\n)"},
		{"three macros", x.Filter(a, b).Map(a, y.Eq(c)).Call("flatten").Map(a, b.Eq(c)), "x_\n  .filter(a, b)\n  .map(a, y_ == c).flatten()\n  .map(a, b == c)"},
		{"let", cel.Let(a, x, cel.Let(b, y, cel.If(a, b, z))), "[x_].map(a,\n  [y_].map(b,\n    a ? b : z_\n  )[0]\n)[0]"},
		{"raw", a.All(b, cel.Raw("b")), "a.all(b,\n  b\n)"},
	} {
		got := tt.got.Layout()
		for line := range strings.Lines(got) {
			if len(strings.TrimRight(line, "\n")) > 100 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%s: %q", tt.name, line)
			}
		}
		for strings.Contains(got, "__") {
			got = strings.ReplaceAll(got, "__", "_")
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if one := strings.Join(strings.Fields(tt.got.Layout()), ""); one != strings.ReplaceAll(tt.got.String(), " ", "") {
			t.Errorf("%s: %s on one line", tt.name, tt.got)
		}
	}
}

// TestSize prints deep and long expressions. Neither recursion nor time may be a problem.
func TestSize(t *testing.T) {
	e := a
	for range 10_000 {
		e = cel.If(b, e, c)
	}
	if n := len(e.String()); n < 90_000 {
		t.Error(n)
	}
	terms := make([]cel.Expr, 100_000)
	for i := range terms {
		terms[i] = a
	}
	if n := strings.Count(cel.Add(terms...).Layout(), "\n"); n < 1000 {
		t.Error(n)
	}
}
