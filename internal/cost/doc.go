// Package cost estimates the costs of validation rules in a CustomResourceDefinition with the API
// server's own estimator. All costs come from the linked k8s.io/apiextensions-apiserver, and none
// from a table of this package.
//
// The unit of the estimator is roughly one comparison. The cost of a rule is the worst-case cost of
// an evaluation within the bounds of the schema, times its executions: the number of times that one
// object can make the server evaluate the rule. The budgets are [RuleLimit] per rule,
// [MessageLimit] per messageExpression, and [VersionLimit] for the sum of all rules in a version's
// schema. The sum counts each messageExpression once.
package cost
