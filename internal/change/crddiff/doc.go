// Package crddiff compares the objects that two CRDs accept.
//
// [Compare] takes two CRDs; [Versions] takes one CRD and compares its served versions with each
// other. [Read] reads CRDs from a file and compiles their unions; [Plain] takes a CRD from the API
// server. Differences are reported as [Change]s to unions, rules and keywords. Each has a [Class],
// the smallest object found that was accepted and is now rejected, and the reverse.
//
// # Guarantees
//
// A change is not a tightening if no object and no update that the old CRD accepts violates the new
// constraint (internal/prove/schemadiff). So an equivalent rule with another text makes no
// difference, and neither does a new rule that other rules imply. Any other decided change has an
// example that the API server's own code has validated under both CRDs. If other errors always mask
// the example, a [Change.Note] says so. An undecided change is [Unknown]. If the only open question
// is whether more objects are accepted, Undecided has the reason.
//
// The objects are those that a client can write without losing a field, and so may be stored. The
// old schema does not accept an object with a property that it does not define. Removing a property
// is therefore tighter, although stored objects survive without the property.
//
// # Limits
//
// Ratcheting is ignored: each object is validated as a whole. Webhooks are not called. The effect
// of conversion on stored objects is not decided, but a [Change.Note] mentions it. Notes also
// mention changes with effects beyond their class.
package crddiff
