// Package prove finds objects or updates for which the tests of schemas have given results, or
// proves that there are none.
//
// A [Problem] consists of the schemas from the root of a resource to an object, and tests on these
// schemas (internal/prove/sample). Each test becomes a formula over facts about the object
// (internal/prove/formula), and a solver (internal/prove/logic) looks for a model. The model
// becomes a resource of [Slot] values that the schemas accept, and the API server's own code
// evaluates the tests on it. The formulas are extended with results that contradict the model, and
// the search continues until both agree. The result is an [Example]. A [Wish] makes it small.
//
// The package has no notion of unions. A [Subject] lists the relevant properties of the object,
// each a [Part], and the legal states. Subjects are unions (internal/prove/verify) and pairs of schemas
// (internal/prove/schemadiff).
package prove
