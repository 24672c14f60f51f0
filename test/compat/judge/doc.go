// Package judge answers whether one minor version of Kubernetes accepts custom
// resources. It is a source program that compiles against
// k8s.io/apiextensions-apiserver v0.30 and every later minor version. The
// modules in ../1.30, ../1.31, ... each link it with one of them.
//
// # Guarantees
//
// An answer is the answer of the API server of that minor version. It is
// computed by the server's own packages with all feature gates at their
// defaults:
//
//   - A CRD is decoded, defaulted, and validated as for a create request.
//   - An object is pruned, nulls are dropped, embedded metadata is coerced and
//     defaults are set, as the server does with the body of a request and with
//     objects read from etcd.
//   - Creates and updates, also through /status, run the same validation as the
//     registry's strategies: the OpenAPI schema, embedded resources, list types
//     and CEL rules, with ratcheting where that minor version has it.
//
// The registry itself cannot be linked without etcd. object.go and strategy.go
// therefore repeat its few lines that call those packages, and name the
// functions that they mirror. The following is omitted: validation of the
// object's metadata and of the paths of the scale subresource, conversion
// between versions, admission, and server-side apply.
//
// # Requests
//
// [Main] reads JSON documents, usually one per line:
//
//	{
//	  "name":    "my case",              copied to the answer
//	  "crd":     {...},                  a CustomResourceDefinition, v1
//	  "version": "v1",                   default: the first served version
//	  "objects": [{"spec": {...}}, ...], without apiVersion, kind and metadata
//	  "spread":  [["spec", "u0"], ...],  optional
//	  "asks":    [[-1, 0], [0, 1], [0, 1, "status"]],
//	  "brief":   true                    optional
//	}
//
// An ask is [old, new]: indices of objects. An old of -1 creates the new object,
// any other updates the stored old one; "status" does so through /status. Old
// objects count as stored, valid or not. If the CRD has a status subresource,
// creating drops the status and updating keeps the old one, as on the server.
//
// With spread, each of objects is a value of any type, and the whole object has
// a copy of it at every path. One request thus covers the same states at many
// paths. No path may lead through another. Beware: errors of the types
// required, unsupported value, too long, too many and wrong type prevent the
// server from evaluating any CEL rule of the whole object, including rules at
// other paths. It then adds an error without a field that says so.
//
// # Answers
//
// There is one line for each request, in the same order:
//
//	{"name": "my case", "install": [], "answers": [[], [{"field": ...}], ...]}
//
// install lists the errors that reject the CRD; without a CRD there are no
// answers. Otherwise answers has an item for each ask: a list of errors, empty
// if the object is accepted. An [Error] has the "type" and "message" of the
// server's field.Error, and its whole "text". Its "field" is the path of the
// error, even if the server has it only in the message, as for oneOf and not;
// it is "" for the whole object. In the errors of the schema, keys of maps are
// written like properties: m.key, not m[key]. An object that cannot be decoded
// gets one error of type "BadRequest".
//
// With brief, an item is a sorted list of numbers instead: the indices of the
// spread paths that have an error at or below them, and -1 if there is an error
// elsewhere. Without spread the whole object is the only path, so an item is
// [0] if the object is rejected. A property whose name has a dot cannot be
// distinguished from a nested one there.
//
// Requests are answered concurrently, and so are the asks of one. An input in
// any other format ends Main with an error, after the answers before it.
package judge
