// Package cel builds CEL expressions and prints them.
//
// Functions and methods have the names of CEL: Var("l").Map(o, o.Field("x")) is l.map(o, o.x). An
// expression is a tree until it is printed: by [Expr.String] on one line, or by [Expr.Layout] on
// several lines. Only this package decides on parentheses, quotes, escapes, line breaks and
// indentation.
package cel
