// Package stored says what becomes of the objects that a server has in storage when their
// CRD changes: which of them are illegal now, which of these can still be written, and how
// to repair them.
//
// A [Judge] is made of the new CRD, and [Judge.Object] judges an object as kubectl get
// prints it. What is refused, and what the server forgives since it is as it was
// (ratcheting), is asked of pkg/validate, so of the API server's own code. Each write that
// matters is asked for: the unchanged object, as a storage migration sends it; the status; a
// label; something else in the object; and something within the value that is at fault.
//
// A [Summary] counts verdicts by reason, keeps a few of each, and prints them. It takes
// thousands of objects without keeping them.
//
// [Advise] says of a constraint, without any object, what the server forgives.
package stored
