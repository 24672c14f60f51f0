// Package infer finds unions that a CRD enforces by hand-written rules, oneOf and the like, without
// declaring them.
//
// [CRD] reads the hand-written constraints of every object: each rule, and each of allOf, anyOf,
// oneOf, not, minProperties and maxProperties. A constraint counts if it depends only on which
// properties are set, which are empty, and the literals that a string equals. A rule that reads
// oldSelf, another type or a deeper path does not count. A rule of an ancestor that is only about
// the object counts where the object's own rules describe no union. Constraints are evaluated on
// the objects that they can tell apart, so that their meaning counts and not their spelling: two
// properties that may not be set together are members of a union, and so is a property that may be
// set with certain values of a string only. [Form] lists the usual spellings.
//
// The result has a declaration that the schema accepts, and the constraints that would be redundant
// with it. Package verify compares the two; its result is [Found.Comparison]. If the declaration is
// not equivalent, a variant that is equivalent is preferred: one that treats an unset discriminator
// or its unmapped values differently. Only an equivalent declaration changes nothing.
//
// A property is in at most one union, the one that replaces the most constraints. Constraints that
// no union expresses stay: a rule that requires two members together, or an update rule.
// Discriminators do not restrict changes (discriminatorChange: Allow), since no static rule does.
// If a rule compares the discriminator with oldSelf, and forbidding changes provably rejects
// nothing more, they do (Forbid).
//
// A rule may name only the values that exclude a member, not the values that select it. It makes a
// union only if an enum has the other values, verify proves the union, and no other union has its
// properties. Members that share a value make a union only if verify proves it; otherwise these
// members are left out.
//
// A [Located] is a [Found] in its file; [Document], [Data] and [Diagnostics] present it.
//
// A [Found] with Suggestion set is a guess from names or descriptions. Nothing enforces it.
//
// The typed CRD has no x-kubernetes-unions. Callers skip the schemas that declare unions, and
// remove compiled rules first.
package infer
