// Package explain describes the result of compiling a CustomResourceDefinition: the rules that are
// added, their costs, and the errors that users will read.
//
// [Explain] turns a compilation plan into a [CRD], which is plain data; [Document] and [Data] return it
// for printing. The package decides nothing itself: pkg/union defines the legal states and changes,
// the plan has the costs, pkg/verify finds examples of violations, and the API server's own
// validators produce the errors.
package explain
