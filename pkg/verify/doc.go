// Package verify decides whether a CRD enforces the unions declared in it. Where it does not, the
// package finds a resource on which the CRD and the union differ.
//
// [Object] takes a CRD and the unions declared on one of its schemas. The rules may be compiled or
// hand-written, or be keywords such as oneOf and minProperties. The package shares nothing with the
// packages that write rules.
//
// # How a verdict comes about
//
// Each rule on the union object or an ancestor of it becomes a Boolean formula over facts about an
// object and its old self (internal/prove/formula). So does each of allOf, anyOf, oneOf, not,
// minProperties and maxProperties. The union becomes a formula with the same meaning as in
// pkg/union. A solver (internal/prove/logic) looks for disagreements:
//   - Do all rules accept a state that the union forbids, for each of its conditions?
//   - Does a rule reject a state that the union allows?
//   - Can the union object be removed where the union forbids the removal?
//
// If the solver finds no solution, there is no such object, however many members the union has.
// Otherwise the solution becomes a whole resource, or an update of one, with values that the
// schemas accept, and the API server's own code evaluates each rule on it. Results that contradict
// the solution are added to the formulas, and the solver searches again. Only confirmed examples
// become findings of kind [Accepted] or [Rejected], the smallest first: few broken conditions, few
// set members, usual values. A resource that the rules accept is also validated as a whole.
//
// An expression that internal/prove/formula does not understand may have any value, so no proof
// depends on overlooking it.
//
// # Stricter rules
//
// A rule may also read something other than the state of the union, such as another property or the
// content of a member. If it accepts one object and rejects another, both in the same state, and
// the union allows the state, the finding is [Restricted]: the union does not forbid such rules. If
// the rule can accept no object in that state, the finding is a difference.
//
// # Inconclusive results
//
//   - A rule cannot be evaluated.
//   - No object was found for a disagreement. The search tries values of the schema, values that
//     the rules mention, and a few others; a member may have no valid value.
//   - An object that the union forbids is accepted by all rules that read the union, and rejected
//     for another reason.
//   - The solver takes too long.
//
// # Exclusions
//
// Values that the discriminator's own schema rejects are excluded. Rules that read only other
// properties are assumed to hold. A union does not require its object to exist, or to stay.
//
// Ratcheting by the API server is not simulated: each rule is evaluated. Nothing is correlated
// below a list that is not of type map, so only rules on the list or its ancestors can restrict
// changes there.
//
// API servers before Kubernetes 1.37 (cel-go before 0.29) evaluate a rule with optionalOldSelf
// differently if it reads more of oldSelf than hasValue(): a null in the old object is a value, and
// a field whose name CEL escapes is always absent. Proofs follow the linked version of cel-go, and
// report such rules as findings of kind [Noted].
//
// # Hand-written constraints
//
// [Compare] reports the effect of replacing constraints of one schema by the rules of a union:
// none, or the smallest resource that is then rejected or accepted. [Replaceable] finds the
// constraints that the rules of a union make superfluous. [Implied] finds the constraints that a
// union implies, each considered alone.
//
// These functions ignore all other restrictions of the object and its ancestors, and consider every
// constraint, regardless of the properties it reads. They report no restrictions: a constraint that
// rejects an object which the union allows is a difference.
//
// # Examples
//
// [Examples] finds resources that illustrate a union, for messages and documentation: one for each
// condition, whether or not a rule enforces it.
package verify
