// Package crddiff compares the objects that two CRDs accept.
//
// [Compare] takes two CRDs; [Versions] takes one CRD and compares its served versions with each
// other. [Read] reads CRDs from a file and compiles their unions; [Plain] takes a CRD as the API
// server has it. Differences are reported as [Change]s to unions, rules and keywords. Each has a
// [Class], the smallest object found that was accepted and is now rejected, and the reverse.
//
// # Guarantees
//
// A change rejects nothing that was accepted if no object, and no update, that the old CRD accepts
// violates the new constraint (internal/prove/schemadiff). So an equivalent rule with another text
// is no difference, and neither is a new rule that follows from others. Any other decided change
// has an example that the API server's own code has validated under both CRDs, unless other errors
// always mask it; a [Change.Note] then says so. An undecided change is [Unknown]. If the only open
// question is whether more is accepted, Undecided gives the reason.
//
// An object is one that a client may write without losing a field, and so one that may be stored:
// the old schema did not accept an object with a property that it does not define. Removing a
// property is therefore tighter, although stored objects survive without it.
//
// # Limits
//
// Ratcheting is not considered: each object is validated as a whole. Webhooks are not called. The
// effect of conversion on stored objects is not decided; a [Change.Note] mentions it, and mentions
// changes that do more than their class says.
package crddiff
