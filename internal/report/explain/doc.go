// Package explain describes the result of compiling a CustomResourceDefinition: the added rules,
// their costs, and the errors that users get.
//
// [Explain] turns a compilation plan into an [Explanation], which is plain data, to be written as
// JSON; [Document] formats it for people. The package makes no decisions itself. pkg/union defines
// the legal states and changes, the plan has the costs, pkg/verify finds examples of violations, and
// the API server's own validators return the errors.
package explain
