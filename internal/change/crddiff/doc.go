// Package crddiff says what two CRDs accept differently.
//
// [Compare] takes two CRDs, [Versions] one whose served versions are compared with each
// other. [Read] takes CRDs from a file, with the unions declared in them, and compiles
// these; [Plain] takes one as the API server has it. What differs are [Change]s: of each
// union, rule and keyword, with its [Class], the smallest object found that was accepted
// and is refused now, and the reverse.
//
// # What is proved
//
// A change refuses nothing that was accepted if no object, or update, that the old CRD
// accepts breaks what the change demands (pkg/verify's Pair). So rules that say the same
// in other words are the same, and so is a new rule that follows from others. What is
// different has an example that the API server's own code has judged under both CRDs. What
// could not be decided is [Unknown] or, where only that nothing more is accepted could not,
// says so in Undecided.
//
// An object is what a client that wants no field dropped may write, and so what is stored:
// one with a property that the old schema does not have was not accepted. A property that
// is removed is tighter for this reason, though stored objects survive without it.
//
// # What is not
//
// Ratcheting: each object is validated as a whole. Webhooks. What a conversion makes of
// stored objects; a [Change.Note] tells of it, and of changes whose class is not all they do.
package crddiff
