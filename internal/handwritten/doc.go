// Package handwritten reads the rules that people wrote into CRDs: it finds unions that they enforce,
// and mistakes in them.
//
// # Unions
//
// [Infer] finds unions that a CRD enforces with hand-written rules, oneOf and the like, but does not
// declare. It reads the hand-written constraints of every object: each rule, and each allOf, anyOf,
// oneOf, not, minProperties and maxProperties. A constraint counts if it depends only on which
// properties are set, which are empty, and the constants that a string, boolean or integer equals. A
// rule that reads oldSelf or another type does not count. A discriminator and members may be in nested objects if
// verify proves the union. A rule of an ancestor that is only about the object, or about each item
// of a list, counts where the object's own rules describe no union. Constraints are formulas over
// such facts (internal/prove/formula), and a solver answers which states they allow, so that their
// meaning counts and not their spelling: two properties that may not be set together are members of
// a union, and so is a property that may be set with certain values of a string only.
//
// The result is a declaration that the schema accepts, and the constraints that it makes redundant.
// Package verify compares the two, with the result [Found.Comparison]. If the declaration is not
// equivalent, infer prefers an equivalent variant, which treats an unset discriminator or its
// unmapped values differently. Only an equivalent declaration leaves the accepted objects
// unchanged. A union is inconclusive if another constraint restricts only its properties, too.
//
// A property is in at most one union: the one that replaces the most constraints. Constraints that
// no union expresses stay, such as a rule that also reads other properties, or an update rule.
// Unions do not restrict changes of the discriminator (discriminatorChange: Allow), as static rules
// do not. The exception is a rule that compares the discriminator with oldSelf: the union has
// Forbid if this provably rejects nothing more.
//
// A rule that only requires one member for a value makes a union, which is tighter, if the member has
// the name of the value.
//
// A rule may name only the values that exclude or require a member, and leave it free with the others.
// It makes a union only if an enum has the other values, verify proves the union, and no other union
// has its properties. Members that share a value make a union only if verify proves it; otherwise these
// members are left out.
//
// A [Located] is a [Found] with its file. [InferReport] formats it.
//
// The typed CRD has no x-kubernetes-unions. Callers have to skip schemas that declare unions, and
// remove compiled rules first.
//
// # Mistakes
//
// [Audit] audits the served versions of one CRD. The compiled rules of its unions are not audited, but
// the examples satisfy them. For each object with rules,
// the prover (internal/prove) looks for objects that show a mistake; the code of the API server
// (internal/server) then validates each of them. A finding therefore never rests on the formulas alone:
// it has an object that the API server accepts or rejects as the finding says. Rules that the prover
// cannot decide are listed in [AuditResult].
//
// Only the intention of a rule can be misjudged: it is read from its message and from descriptions in
// a few known forms (audit_sentence.go), and from the form of the expression (audit_items.go, and
// package formula).
//
// [AuditDocument] and [AuditDiagnostics] print findings.
package handwritten
