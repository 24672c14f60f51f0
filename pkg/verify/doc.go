// Package verify decides whether a CRD enforces what its unions say, and shows a
// resource on which the two differ.
//
// [Object] takes a CRD as it stands and the unions declared on one of its schemas.
// Whether the rules were compiled, or written by hand, or are oneOf and minProperties,
// makes no difference. It shares nothing with the packages that write rules.
//
// # How a verdict comes about
//
// Each rule, and each of allOf, anyOf, oneOf, not, minProperties and maxProperties, on the
// union object or an ancestor of it, is read as a Boolean formula over what it asks of an
// object and its old self (internal/prove/formula). The union is another
// formula of them, of the same meaning as pkg/union's. A solver (internal/prove/logic) is asked where
// they disagree:
//   - what do all rules accept that the union forbids, for each of its conditions?
//   - what does each rule reject that the union allows?
//   - can the union object be removed where the union forbids that?
//
// Where there is no answer, there is no such object, however many members the union has.
// An answer is made into a whole resource, or an update of one, with values that the real
// schemas accept; and the API server's own code judges each rule on it. What it says
// otherwise than the answer supposed is added to what the solver knows, and the question
// is asked again. Only what the server confirms is a [Difference], the smallest first:
// few conditions broken, few members set, usual values. Where it is accepted, the whole
// resource is validated as well.
//
// A part of a rule that internal/prove/formula does not understand may have any value, so nothing
// is proved by overlooking it.
//
// # Stricter rules
//
// A rule may also depend on something else than the state of the union: on another
// property, or on what is in a member. Where it accepts one object and rejects another,
// both in the same state, which the union allows, that is a [Restriction] and none of the
// union's business. Where it can accept none in that state, it is a difference.
//
// # What is inconclusive
//
//   - a rule that cannot be evaluated;
//   - a disagreement of which no object was found: the values tried for what a rule reads
//     are those of the schema, those that the rule mentions, and a few others, and a
//     member may have no valid value;
//   - an object that the union forbids, all rules that read the union accept, and something
//     else rejects;
//   - a question that takes the solver too long.
//
// # What is no difference
//
// What the discriminator's own schema does not admit is left out. So are rules about
// nothing but other properties; what they forbid is taken to be so. That the union object
// has to be there, or to stay there, is not for the union to say.
//
// Ratcheting by the server is not simulated: each rule is evaluated. Below a list that is
// not of type map nothing is correlated: there only a rule on the list or above can
// restrict changes.
//
// A rule with optionalOldSelf that asks oldSelf for more than hasValue() is judged
// otherwise by servers before Kubernetes 1.37 (cel-go before 0.29): to them a null in
// the old object is a value, and a field whose name CEL escapes is never there. The
// linked version has the last word here, and Proof.Notes tells of such rules.
//
// # Hand-written constraints
//
// [Compare] takes constraints of one schema, and says what replacing them by the
// rules of a union would change: nothing, or the smallest resource that is then
// rejected, or accepted. [Replaceable] finds the constraints that the rules of a
// union make superfluous, [Implied] those that it implies one by one.
//
// The constraints stand alone for this: everything else that restricts the same
// object, or what it lies in, is left out, and every constraint counts, whatever it
// reads. There are no restrictions here: a constraint that rejects an object which the
// union allows, because of whatever it reads, is a difference.
//
// # Examples
//
// [Examples] finds resources in the same way that show what a union is about, for messages
// and documentation: one for each condition, whether or not any rule enforces it.
package verify
