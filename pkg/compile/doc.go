// Package compile turns the unions of one CustomResourceDefinition into the
// x-kubernetes-validations that enforce them. It reads a manifest and says
// which rules belong where; pkg/crdpatch writes them into the text.
//
// A [Compilation] runs the stages, in this order:
//
//   - locate: find the declarations, with their positions;
//   - decode: read the manifest the way the API server does;
//   - resolve: check them (pkg/union) and what prevents transition
//     rules: lists whose items cannot be correlated, versions that differ;
//   - encode: write the rules (pkg/rules), those on the union object and the
//     removal guards on its ancestors;
//   - validate: let the API server's own code validate the whole resulting CRD,
//     compiling and costing every rule;
//   - fit: only when that found a rule over its budget, choose cheaper
//     encodings by the API server's cost estimator, and validate again;
//   - proveOpenAPI: prove (pkg/verify) the schemas that are written in place of
//     rules, on request;
//   - beside: report hand-written constraints that repeat a union, or contradict it.
//
// The first three report all their problems together; a result with errors has no
// rules.
package compile
