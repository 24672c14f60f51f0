// Package union is the model of a Kubernetes union: the declaration as authors
// write it (x-kubernetes-unions, KEP-1027), its checks against the schema, and
// its meaning.
//
// [Parse] reads the declarations of one schema from YAML nodes, keeping
// positions. [Resolve] checks them against the schema of the union object and
// returns [Union]s: plain data that refers to neither. The meaning is in
// meaning.go: [Union.StateOf] reduces an object to its [State], which is all that
// a union depends on; [Union.Violations] and [Union.ChangeViolations] validate
// states and pairs of states. A [Kind] has the unions of objects, whether they are declared in a
// CustomResourceDefinition or elsewhere.
//
// These predicates are the reference. Rules, verification and every other output
// are tested against them, and must not define the meaning of a union themselves.
//
// The structure of the predicates follows k8s.io/apimachinery/pkg/api/validate
// (Union, DiscriminatedUnion, ZeroOrOneOf). It differs on purpose: presence is
// the result of CEL's has(), the default without a discriminator is AtMostOne,
// and transitions are validated too.
package union
