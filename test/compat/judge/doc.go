// Package judge answers whether one minor version of Kubernetes accepts custom
// resources. It is one source program that compiles against
// k8s.io/apiextensions-apiserver v0.30 and every minor since; the modules
// beside it (../1.30, ../1.31, ...) each link it with one of them.
//
// # What it promises
//
// An answer is what the API server of that minor would say, computed by that
// minor's own packages with all feature gates at their defaults:
//
//   - A CRD is decoded, defaulted, and validated as for a create request.
//   - An object is pruned, nulls are dropped, embedded metadata is coerced and
//     defaults are set, as the server does with the body of a request and with
//     what it reads from etcd.
//   - Creating and updating, also through /status, runs what the registry's
//     strategies run: the OpenAPI schema, embedded resources, list types and
//     CEL rules, with ratcheting where that minor has it.
//
// The registry itself cannot be linked without etcd, so object.go and
// strategy.go repeat the few lines of it that call those packages, and name the
// functions they mirror. Left out are the validation of the object's
// metadata and of the paths of the scale subresource, conversion between
// versions, admission, and server-side apply.
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
// objects count as stored, valid or not. When the CRD has a status subresource,
// creating drops the status and updating keeps the old one, as on the server.
//
// With spread, each of objects is a value of any type, and the whole object that
// is asked about has a copy of it at every path. So the same states are asked of
// many places in one call. No path may lead through another. Beware: errors of
// the types required, unsupported value, too long, too many and wrong type keep
// the server from running any CEL rule of the whole object, the other places'
// rules too. It then adds an error at no place that says so.
//
// # Answers
//
// There is one line for each request, in the same order:
//
//	{"name": "my case", "install": [], "answers": [[], [{"field": ...}], ...]}
//
// install lists the errors that refuse the CRD; then nothing else is answered.
// Otherwise answers has an item for each ask: the errors, none if accepted.
// An [Error] has the "type" and "message" of the server's field.Error, and its
// whole "text". Its "field" is where the error is, also where the server says so
// in the message only, as for oneOf and not; it is "" for the whole object. In
// the errors of the schema, keys of maps are written like properties: m.key, not
// m[key]. An object that cannot be decoded gets one error of type "BadRequest".
//
// With brief, an item is a sorted list of numbers instead: the indices of the
// spread paths that have an error at or below them, and -1 if there is an error
// elsewhere. Without spread the whole object is the one path, so an item is [0]
// if the object is refused. A property whose name has a dot cannot be told from
// a nested one there.
//
// Requests are judged concurrently, and so are the asks of one. An input that is
// not as described ends Main with an error, after the answers before it.
package judge
