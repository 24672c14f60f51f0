// Package audit finds mistakes in hand-written CEL rules of CustomResourceDefinitions, with or
// without unions.
//
// [CRD] audits the served versions of one CRD. For each object with rules, the prover
// (internal/prove) looks for objects that show a mistake; the code of the API server (pkg/validate)
// then validates each of them. A finding therefore never rests on the formulas alone: it has an
// object that the API server accepts or rejects as the finding says. Rules that the prover cannot
// decide are listed in [Result].
//
// Only the intention of a rule can be misjudged: it is read from its message and from descriptions in a few
// known forms (internal/english), and from the form of the expression (items.go, and package formula).
//
// [Document], [Data] and [Diagnostics] print findings.
package audit
