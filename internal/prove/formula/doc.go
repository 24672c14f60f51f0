// Package formula reads what a schema demands of objects, CEL rules and keywords such as
// oneOf alike, as Boolean formulas over what they ask.
//
// A [Space] is all objects that a schema admits, or all updates from a stored object to
// a new one. What can be asked of them is a [Fact]: whether a property is there or
// null, whether a value equals a constant or its old self, whether it is empty. A Space
// knows how facts hang together: nothing is in an object that is not there, a value
// equals one constant at most, an enumeration has no other values.
//
// [Space.Rule] reads a CEL rule. It follows cel-go's syntax tree with all that may come
// of an expression, errors included: && and || absorb them, what reads an absent field
// is one, everything else passes them on. Macros over lists that are written out are
// unrolled. What it does not understand is a fact of its own, a [Question], whose answer
// may be true, false or an error, whatever the rest of the object is. So
//   - what no values of the facts satisfy, no object satisfies;
//   - values of the facts that satisfy a formula may be those of no object. Make one, and ask
//     the API server's evaluator.
package formula
