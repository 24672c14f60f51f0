// Package compile turns the unions of one CustomResourceDefinition into the
// x-kubernetes-validations that enforce them. It reads a manifest and returns
// the rules of each schema; internal/crdpatch writes them into the text.
//
// A [Compilation] runs the stages, in this order:
//
//   - locate: find the declarations, with their positions;
//   - decode: read the manifest the way the API server does;
//   - resolve: check the declarations (pkg/union), and find lists whose items
//     cannot be correlated and versions that differ;
//   - encode: choose the preferred encoding of each union's rules (pkg/rules);
//   - carry: report rules that do not reach the API server;
//   - validate: run the API server's own validation on the whole resulting CRD,
//     which compiles and costs every rule;
//   - fit: if a rule exceeds its budget, choose cheaper encodings with the API
//     server's cost estimator, and validate again;
//   - checkConstraints: report hand-written constraints that repeat or contradict a union.
//
// The first three stages report their problems together. With errors there is no
// result.
package compile
