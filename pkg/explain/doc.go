// Package explain says what compiling adds to a CustomResourceDefinition, what
// that costs and what its users will read.
//
// [Of] turns a plan of compilation into a [CRD], which is plain data; [Text],
// [Markdown] and [JSON] print it. Nothing is decided here:
// pkg/union says which states and changes are legal, costs are those of the plan,
// and errors are those of the API server's own validator on sample objects.
package explain
