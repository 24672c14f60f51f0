// Package verify proves that what a CRD enforces is what its unions say, or
// shows a resource on which the two differ.
//
// [Object] takes a CRD as it stands and the unions declared on one of its
// schemas. Whether the rules were compiled, or written by hand, or are oneOf and
// minProperties, makes no difference: it builds objects in every state of each
// union, asks the API server's own code about creating them and about every
// update from one to another, and compares the answers with the predicates of
// pkg/union. It shares nothing with the packages that write rules.
//
// # How a verdict comes about
//
// Each rule, and each of allOf, anyOf, oneOf, not, minProperties and
// maxProperties, is evaluated by itself, on the union object or the ancestor that
// it stands on; nothing is ratcheted. Only those that read something of the union
// count. Members have the smallest values that their schemas, their rules
// included, accept; so does everything required around them.
//
// A rule is sure of itself when all it reads is which members are set, the
// discriminator, and whether the union object is there. Others are mixed: they
// read what is in a member, or other properties. When only mixed rules reject a
// state, other values are tried for what they read: those the schema lists, those
// the rule mentions, none. If some satisfy them, a state that the union forbids is
// accepted, since there is an object in it. If none does, the state is
// inconclusive, for it cannot be told whether there is such an object.
//
// A mixed rule that rejects some of those values in a state, or on a change, that
// the union allows makes the proof inconclusive as well, whether or not it rejects
// the usual ones: what it demands also depends on something else. Legal states
// with at most one member, and for rules that read oldSelf the changes between
// them, are tried for this, up to 20,000 in all. A value that the schema or a rule
// on nothing of the union forbids does not count.
//
// A member without a valid value, a rule that does not compile, a counterexample
// that something else rejects: all this is inconclusive. Neither a rule about
// other properties nor one that requires the union object to be there, or to stay
// there, is a difference: that is not for the union to say. What the
// discriminator's own schema does not admit is left out, and so are its defaults.
//
// A rule with optionalOldSelf that asks oldSelf for more than hasValue() is judged
// otherwise by servers before Kubernetes 1.37 (cel-go before 0.29): to them a null in
// the old object is a value, and a field whose name CEL escapes is never there. The
// linked version has the last word here, and Proof.Notes tells of such rules.
//
// # What is tried
//
// Every state, when there are no more than 4,096 of them: 8 members with up to 16
// values of the discriminator, 12 members without one. Beyond that, the states
// that differ from a legal one with at most one member in up to three members, or
// two, or one, and those with all members set.
//
// The values of the discriminator are those of the members and of its enumeration,
// unset, the strings in rules that read it, and one that nothing mentions, as far
// as the schema admits them; up to 64 of the strings. That is enough for rules that
// compare it with literals, with its old value, or look it up among those. A rule
// that reads it in another way (startsWith, size, matches) is inconclusive unless
// the schema enumerates the values; a few that look like what the rule mentions are
// tried all the same.
//
// Every pair of states, when every state is tried and those pairs whose new state
// is not rejected for itself are no more than 250,000; a new state rejected for
// itself is rejected whatever was before, and then counts as tried. Beyond that,
// transitions start from the legal states with at most one member and those one
// member away, and lead to all such legal states and to the states that differ
// from the old one in up to three members, or less.
//
// Every state, or of a sample the legal ones with at most one member and those one
// member away, is also written in other ways: null, "", {}, [], 0 and false, and for an object that
// counts as unset when it is empty each property alone, two of them, and all, up
// to 40; one property of the union at a time. And the union object is removed and
// added, with each property on the way to it that may be absent or null.
//
// All this is weighed by the size of the rules and kept within a budget. What does
// not fit is thinned out evenly, legal states last. [Proof.Complete] tells whether
// anything was left out, and nothing that was counts.
//
// Below a list that is not of type map nothing is correlated. Objects are created
// there, and unions that restrict changes are updated, which nothing but a rule on
// the list or above can restrict. That a change leaves members behind needs no
// proof of its own: no legal state has any.
//
// # Hand-written constraints
//
// [Compare] takes constraints of one schema, and says what replacing them by the
// rules of a union would change: nothing, or the smallest resource that is then
// refused, or accepted. [Replaceable] finds the constraints that the rules of a
// union make superfluous.
//
// The constraints stand alone for this: everything else that restricts the same
// object, or what it lies in, is left out, and every constraint counts, whatever it
// reads. The states are those that [Object] tries, and the ways to write them, but
// no changes, unless a constraint reads oldSelf or the union ratchets. Besides,
//   - every combination of the ways to write what one constraint reads is tried, as
//     far as it may tell them apart. Where several properties are told apart, and no
//     difference is found, the comparison is inconclusive;
//   - where properties are counted, every number of those beside the union's is;
//   - a legal state that is refused with some value of what else a constraint reads is
//     a difference, not a doubt.
//
// Beyond 4,096 states a sample is tried. It is enough, and [Comparison] complete, when
// no constraint tells ways of writing apart and each condition of the union is
// enforced by a constraint of its own, or by one that reads few members besides.
//
// A constraint that reads more than the state of the union is never called
// equivalent: values of the rest cannot all be tried. Neither is one that reads the
// discriminator in a way for which the values tried are not enough.
package verify
