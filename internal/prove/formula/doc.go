// Package formula translates CEL rules, and keywords such as oneOf, into Boolean formulas over
// facts about objects.
//
// A [Space] is the set of all objects that a schema admits, or of all updates of such objects. A
// [Fact] states that a property is present or null, that a value equals a constant or its old
// value, or that it is empty. A Space relates facts to each other: an absent object has no
// properties, a value equals at most one constant, and an enumeration has no other values.
//
// [Space.Rule] translates a CEL rule. It follows cel-go's syntax tree with all possible results of
// an expression, including errors: && and || absorb errors, reading an absent field fails, and
// other expressions propagate errors. Macros over literal lists are unrolled. An unsupported
// expression becomes a fact of its own, a [Question]. Its answer may be true, false or an error,
// regardless of the rest of the object. Therefore:
//   - If no values of the facts satisfy a formula, no object satisfies it.
//   - Values of the facts that satisfy a formula may not correspond to an object. Callers have to
//     construct an object and run the API server's evaluator.
package formula
