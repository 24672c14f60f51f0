// Package cost asks the API server's own estimator what validation rules cost
// at their places in a CustomResourceDefinition. It has no table of its own: all
// costs come from k8s.io/apiextensions-apiserver, as linked.
//
// The estimator works in its own unit, roughly a comparison. A rule's cost is
// that of evaluating it once, in the worst case that the schema's bounds allow,
// times the number of times that one object can make the server evaluate it, its
// executions. The budgets are [RuleLimit] per rule and [MessageLimit] per
// message expression, and [VersionLimit] for the sum of all rules of a version's
// schema, where message expressions count once.
//
// The time that rules take in a request is a different matter, which the estimator does not cover:
// [Time] estimates it from their text.
package cost
