// Package explain says what compiling adds to a CustomResourceDefinition, what
// that costs and what its users will read.
//
// [Of] turns a plan of compilation into a [CRD], which is plain data; [Text],
// [Markdown] and [JSON] print it. Nothing is decided here:
// pkg/union says which states and changes are legal, costs are those of the plan,
// pkg/verify finds examples of what is not, and errors are those of the API server's own
// validators on them.
package explain
