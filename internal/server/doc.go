// Package server computes the answers of an API server without one: the answers to the creation and
// update of custom objects, and the costs of validation rules.
//
// # Objects
//
// [NewKind] takes a CustomResourceDefinition as the server would serve it, with compiled unions.
// [Kind.Create], [Kind.Update] and [Kind.UpdateStatus] process an object like the server,
// with the API server's own packages and in this order: strict decoding, which reports unknown
// fields; pruning, also of null; defaulting; on an update, checks of immutable fields, and
// ratcheting; then validation of metadata, schema, scale, embedded resources, and lists that are
// sets or maps; and, unless an error prevents it, CEL rules. Their errors are the errors that a
// client of the server gets.
//
// The server has these steps in k8s.io/apiextensions-apiserver/pkg/apiserver and
// pkg/registry/customresource. The functions of pkg/apiserver cannot be imported, and pkg/registry
// depends on storage and its clients. So this package repeats the order of the steps; test/e2e
// compares it with a running server.
//
// The package does not cover checks that depend on other objects or on the request, such as
// admission, quota and the existence of the object; the scale subresource; and conversion webhooks.
//
// [Kind.Read] and [Kind.Legal] are about persisted objects.
//
// [Set] validates the objects of files, and locates the errors in them.
//
// # Costs
//
// An [Estimator] estimates the costs of validation rules in a CustomResourceDefinition with the API
// server's own estimator. All costs come from the linked k8s.io/apiextensions-apiserver, and none
// from a table of this package.
//
// The unit of the estimator is roughly one comparison. The cost of a rule is the worst-case cost of
// an evaluation within the bounds of the schema, times its executions: the number of times that one
// object can make the server evaluate the rule. The budgets are [RuleLimit] per rule,
// [MessageLimit] per messageExpression, and [VersionLimit] for the sum of all rules in a version's
// schema. The sum counts each messageExpression once.
package server
