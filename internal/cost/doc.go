// Package cost estimates the costs of validation rules in a CustomResourceDefinition with the API
// server's own estimator. It has no table of its own: all costs come from
// k8s.io/apiextensions-apiserver, as linked.
//
// The estimator's unit is roughly a comparison. The cost of a rule is the cost of a single
// evaluation, in the worst case that the schema's bounds allow, times its executions: the number of
// times that one object can make the server evaluate it. The budgets are [RuleLimit] per rule,
// [MessageLimit] per message expression, and [VersionLimit] for the sum of all rules of a version's
// schema. The sum counts each message expression once.
//
// The estimator does not cover the time that rules take in a request: [Time] estimates it from
// their text.
package cost
