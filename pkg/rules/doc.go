// Package rules translates a union into CEL: the x-kubernetes-validations that enforce it. Its
// functions are pure and depend on the union alone.
//
// [Static] returns the rules on a state, [Transition] the rules on its changes, and [RemovalGuard]
// the rule that keeps a guarded union from being removed together with its object. The static rules
// have several encodings, which all enforce exactly the conditions of pkg/union. Tests verify this
// for each state with the API server's own CEL.
//
// Every read of a field is guarded by has(). Reading an absent field is an evaluation error, which
// the server never ratchets, so one unguarded read could block every update of a stored object.
//
// Package internal/cel builds and prints the expressions. The conditions shared by all rules are in
// expr.go.
package rules
