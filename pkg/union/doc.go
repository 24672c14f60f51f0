// Package union is the model of a Kubernetes union: the declaration as authors
// write it (x-kubernetes-unions, KEP-1027), the checks that tie it to the
// schema it is declared on, and what it means.
//
// [Parse] reads the declarations of one schema from YAML nodes, keeping
// positions. [Resolve] checks them against the schema of the union
// object and returns the [Union]s, plain data that needs neither. The meaning
// is in meaning.go: [Union.StateOf] reduces an object to the only thing a union
// looks at, its [State]; [Union.Violations] and [Union.ChangeViolations] judge
// states and pairs of states.
//
// These predicates are the reference. Rules, verification and every other
// output are tested against them; none of them may decide anything about the
// meaning of a union on its own.
//
// The structure of the predicates follows k8s.io/apimachinery/pkg/api/validate
// (Union, DiscriminatedUnion, ZeroOrOneOf). It differs on purpose: presence is
// what CEL's has() says, the default without a discriminator is AtMostOne, and
// transitions are judged too.
package union
