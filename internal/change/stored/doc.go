// Package stored predicts writes of stored objects after their CRD has changed. It decides which
// objects are invalid, which writes of them the API server rejects, which fields the server drops,
// and how to repair the objects.
//
// A [Judge] is created from the new CRD. [Judge.Object] takes an object in the form of kubectl get.
// The object is read and written through each version that the CRD serves ([InVersion]), in all
// ways that make a difference ([Write]): unchanged, as a storage migration does; with an
// annotation, by an update and by server-side apply; and with another field of the spec, another
// item in a list, or another status. The answers come from pkg/validate, and so from the API
// server's own code, including ratcheting.
//
// A [Summary] counts verdicts by reason, keeps a few verdicts for each reason, and prints them. It
// can take thousands of objects, because it does not keep them.
//
// [Advise] describes the ratcheting of one constraint without objects.
package stored
