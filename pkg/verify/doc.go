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
// state, other values are tried for what they read. If they are satisfied by some,
// the state is accepted, since there is an object in it. If not, the state is
// inconclusive, for it cannot be told whether there is such an object.
//
// A member without a valid value, a rule that does not compile, a counterexample
// that something else rejects: all this is inconclusive. Neither a rule about
// other properties nor one that requires the union object to be there, or to stay
// there, is a difference: that is not for the union to say. What the
// discriminator's own schema does not admit is left out, and so are its defaults.
//
// # What is tried
//
// Every state, when there are no more than 4,096 of them: 8 members with up to 16
// values of the discriminator, 12 members without one. Beyond that, the states
// that differ from a legal one with at most one member in up to three members
// (two or one, from about 40 members on), and those with all members set. The
// values of the discriminator are all that are known, unset, and an unknown one
// if the schema admits any.
//
// Every pair of states, when every state is tried and those pairs whose new state
// is not rejected for itself are no more than 250,000; a new state rejected for
// itself is rejected whatever was before, which counts as tried. Beyond that,
// transitions start from the legal states with at most one member and those one
// member away, and lead to all such legal states and to the states that differ
// from the old one in up to three members, or two or one, as many as fit.
//
// The legal states with at most one member, and those one member away, are also
// written in all other ways there are: null, "", {}, [], 0 and false, for one
// property at a time. And the union object is removed and added, with each
// property on the way to it that may be absent or null.
//
// Below a list that is not of type map nothing is correlated. Objects are created
// there, and unions that restrict changes are updated, which nothing but a rule on
// the list or above can restrict. That a change leaves members behind needs no
// proof of its own: no legal state has any.
package verify
