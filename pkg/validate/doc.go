// Package validate says what the API server would answer to custom objects that are
// created or updated, without a server.
//
// [New] takes a CustomResourceDefinition as the server would serve it, so with its unions
// compiled, and [Kind.Create], [Kind.Update] and [Kind.UpdateStatus] an object. They do to it, in this order
// and by the API server's own packages, what the server does: strict decoding, which
// reports the fields that the schema does not have; pruning, also of null; defaulting;
// on an update what cannot be changed, and ratcheting; then metadata, schema, scale,
// embedded resources, lists that are sets or maps, and, unless an error is in the way, CEL
// rules. Errors are those that a client of the server gets.
//
// The server has these steps in k8s.io/apiextensions-apiserver/pkg/apiserver and
// pkg/registry/customresource. The functions of the former cannot be imported, and the
// latter come with storage and its clients, so the order is written down here once more;
// test/e2e holds it to a running server.
//
// Not here: what depends on other objects or on the request, such as admission, quota,
// and whether the object exists; the subresource scale; conversion webhooks.
//
// [Kind.Read] and [Kind.Legal] are about objects that are in storage already.
//
// [Objects] does it for files, and says where in them the errors are.
package validate
