// Package prove finds objects, or updates of them, on which the tests of schemas have given answers,
// or shows that there are none.
//
// A [Problem] has the schemas from the root of a resource to an object, and tests on them
// (pkg internal/prove/sample). Each test becomes a formula over facts about the object
// (internal/prove/formula), and a solver (internal/prove/logic) looks for a model. A model becomes a
// whole resource, made of [Slot] values that the schemas accept, and the API server's own code
// evaluates the tests on it. Its answers are added to the formulas where the model has others, until
// both agree: only then there is an [Example]. Wishes make it small.
//
// The package does not know unions. A [Subject] says which properties of the object matter, its
// [Part] list, and which states are legal. The subjects are unions (pkg/verify), and two schemas
// (internal/prove/schemadiff).
package prove
