// Package stored predicts the writes of stored objects after their CRD has changed: which
// objects are invalid, which writes of them the API server rejects, which fields it drops, and
// how to repair the objects.
//
// A [Judge] is created from the new CRD, and [Judge.Object] takes an object as kubectl get prints
// it. The object is read and written through each version that the CRD serves ([InVersion]), in all
// ways that make a difference ([Write]): unchanged, as a storage migration does; with an
// annotation, by an update and by server-side apply; with another field of the spec, another item
// in a list, another status. The answers come from pkg/validate, and so from the API server's own
// code, including ratcheting.
//
// A [Summary] counts verdicts by reason, keeps a few of each, and prints them. It takes
// thousands of objects without keeping them.
//
// [Advise] describes the ratcheting of one constraint, without any object.
package stored
