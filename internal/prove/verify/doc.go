// Package verify decides whether a CRD enforces the unions declared in it. If not, the package
// finds a resource that the CRD and the union treat differently.
//
// [Object] takes a CRD and the unions declared on one of its schemas. The rules may be compiled or
// hand-written, or be keywords such as oneOf and minProperties. The package shares no code with the
// packages that write rules.
//
// # How a verdict comes about
//
// Each rule on the union object or an ancestor becomes a Boolean formula over facts about an object
// and its old version (internal/prove/formula). So does each allOf, anyOf, oneOf, not,
// minProperties and maxProperties. The union becomes a formula with the same meaning as in
// pkg/union. A solver (internal/prove/logic) looks for disagreements:
//   - Do all rules accept a state that the union forbids, for each of its conditions?
//   - Does a rule reject a state that the union allows?
//   - Can the union object be removed where the union forbids the removal?
//
// If the solver finds no solution, there is no such object, regardless of the number of members.
// Otherwise the solution becomes a resource or an update, with values that the schemas accept, and
// the API server's own code evaluates each rule on it. If a result contradicts the solution, the
// formulas are extended with this result, and the solver searches again. Only confirmed examples
// become findings of kind [Accepted] or [Rejected]. The smallest come first: few broken conditions,
// few set members, usual values. A resource that the rules accept is also validated as a whole.
//
// An expression that internal/prove/formula does not support may have any value, so proofs cannot
// miss an effect of the expression.
//
// # Stricter rules
//
// A rule may also depend on something other than the state of the union, such as another property
// or the content of a member. If the union allows a state, and the rule accepts some objects in
// this state and rejects others, the finding is [Restricted]: the union does not forbid such rules.
// If the rule rejects all objects in this state, the finding is a difference.
//
// # Inconclusive results
//
//   - A rule cannot be evaluated.
//   - The solver found a disagreement, but no object that shows it. The search tries values of the
//     schema, values that the rules mention, and a few others; a member may have no valid value.
//   - All rules that read the union accept an object that the union forbids, and something else
//     rejects it.
//   - The solver takes too long.
//
// # Exclusions
//
// Proofs exclude values that the discriminator's own schema rejects, and assume that rules on other
// properties hold. A union does not require its object to exist, or to stay.
//
// Ratcheting by the API server is not simulated: each rule is evaluated. In a list that is not of
// type map, old and new items are not correlated, so only rules on the list or its ancestors can
// restrict changes.
//
// API servers before Kubernetes 1.37 (cel-go before 0.29) evaluate a rule with optionalOldSelf
// differently if it reads more of oldSelf than hasValue(): a null in the old object is a value, and
// a field whose name CEL escapes is always absent. Proofs follow the linked version of cel-go, and
// report such rules as findings of kind [Noted].
//
// # Hand-written constraints
//
// [Compare] returns the effect of replacing constraints of one schema by the rules of a union:
// none, or the smallest resource that would be rejected or accepted instead. [Replaceable] returns
// the constraints that the rules of a union make superfluous.
//
// These functions ignore all other restrictions of the object and its ancestors, and consider every
// constraint, regardless of the properties it reads. They report no [Restricted] findings: a
// constraint that rejects an object which the union allows is a difference.
//
// # Contradictions
//
// [Resolve] resolves declarations as pkg/union does, and reports unions of an object that contradict
// each other: their formulas have no solution with a member or a value that one of them allows.
//
// # Examples
//
// [Examples] finds resources that illustrate a union, for messages and documentation: one for each
// condition, whether or not a rule enforces it.
package verify
