// Package cel builds CEL expressions and prints them.
//
// Functions and methods are named for the CEL that they stand for: Var("l").Map(o, o.Field("x")) is
// l.map(o, o.x). An expression is a tree until it is printed, by [Expr.String] on one line or by
// [Expr.Layout] on several. The package alone decides on parentheses, quotes, escapes, line breaks and
// indentation.
package cel
