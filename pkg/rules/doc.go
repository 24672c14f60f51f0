// Package rules turns a union into CEL: the x-kubernetes-validations that enforce it.
// It is pure, a function of the union alone.
//
// [Static] gives the rules on a state, [Transition] the rule on its changes and
// [RemovalGuard] the rule that keeps a guarded union from being removed with
// its object. Several encodings of the static rules exist; all of them mean
// exactly what pkg/union says, which tests verify state by state through the
// API server's own CEL.
//
// Every read of a field is guarded by has(): reading an absent field is an
// evaluation error, which the server never ratchets, so one unguarded read
// could block every update of a stored object.
//
// Expressions are built and printed by internal/cel; expr.go has the conditions
// on a union that all rules consist of.
package rules
