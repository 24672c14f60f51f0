// Package infer finds unions that a CRD enforces without declaring them: by
// rules, oneOf and the like that somebody wrote by hand.
//
// [CRD] reads the hand-written constraints of every object: each rule, and each
// of allOf, anyOf, oneOf, not, minProperties and maxProperties. Those count that
// ask for nothing but which properties are set, which are empty, and what a
// string is compared with; a rule that reads oldSelf, another type or a deeper
// path does not. What is read so from further up counts where the rules of the object
// itself say nothing. Such a constraint is tried on the objects that it can tell
// apart, so that its meaning counts and not its spelling: two properties that
// may not be set together are members of a union, and so is one that may be set
// with certain values of a string only. [Form] names the ways in which this is
// usually written.
//
// What is found is a declaration that the schema admits, and the constraints that
// would be superfluous beside it. Package verify compares the two; what it says
// is in [Found.Comparison]. Where a declaration is not equivalent, one that
// differs in whether the discriminator may be left out, or in what its unmapped
// values may be, is preferred if that is. Only an equivalent one changes nothing.
//
// A property is in one union at most, the one that replaces the most constraints.
// What a union does not say stays: a rule that requires two members together, or
// an update rule. Discriminators do not restrict changes (discriminatorChange:
// Allow), since no static rule says so; where a rule compares the discriminator with
// oldSelf, and forbidding changes is proved to reject nothing more, they do (Forbid).
//
// A rule that names the values which exclude a member, and not those that select it,
// makes a union only where the others are known from an enum, verify proves it, and
// nothing else is found about its properties. Members that share a value make one only
// where verify proves it; failing that, those are left out.
//
// A [Located] is a [Found] in its file; [Text] and [JSON] print it.
//
// A [Found] with Suggestion set is a guess from names or descriptions. Nothing
// enforces it.
//
// The typed CRD has no x-kubernetes-unions. Callers skip the schemas that
// declare unions, and take away compiled rules first.
package infer
