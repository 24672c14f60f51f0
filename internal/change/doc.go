// Package change judges the change of a CRD that is in use: the objects that the CRDs before and
// after it accept, the writes of stored objects, and the steps of a rollout.
//
// # Comparisons
//
// [Compare] takes two CRDs; [CompareVersions] takes one CRD and compares its served versions with
// each other. [ReadInputs] reads CRDs from a file and compiles their unions; [InputOf] takes a CRD
// from the API server. Differences are reported as [Change]s to unions, rules and keywords. Each has
// a [Class], the smallest object found that was accepted and is now rejected, and the reverse.
//
// A change is not a tightening if no object and no update that the old CRD accepts violates the new
// constraint (internal/prove/schemadiff). So an equivalent rule with another text makes no
// difference, and neither does a new rule that other rules imply. Any other decided change has an
// example that the API server's own code has validated under both CRDs. If other errors always mask
// the example, a [Change.Note] says so. An undecided change is [Undecided]. If the only open
// question is whether more objects are accepted, Undecided of the change has the reason.
//
// The objects are those that a client can write without losing a field, and so may be stored. The
// old schema does not accept an object with a property that it does not define. Removing a property
// is therefore tighter, although stored objects survive without the property.
//
// Ratcheting is ignored: each object is validated as a whole. Webhooks are not called. The effect
// of conversion on stored objects is not decided, but a [Change.Note] mentions it. Notes also
// mention changes with effects beyond their class.
//
// # Stored objects
//
// A [Judge] predicts writes of stored objects after their CRD has changed: which objects are
// invalid, which writes of them the API server rejects, which fields the server drops, and how to
// repair the objects. It is created from the new CRD. [Judge.Object] takes an object in the form of
// kubectl get. The object is read and written through each version that the CRD serves
// ([InVersion]), in all ways that make a difference ([Write]): unchanged, as a storage migration
// does; with an annotation, by an update and by server-side apply; and with another field of the
// spec, another item in a list, or another status. The answers come from internal/server, and so from
// the API server's own code, including ratcheting.
//
// A [Summary] counts verdicts by reason, keeps a few verdicts for each reason, and prints them. It
// can take thousands of objects, because it does not keep them. [Advise] describes the ratcheting of
// one constraint without objects.
//
// # Plans
//
// A [Plan] has the steps before and after the CRD is applied in their order, and decides whether the
// next step may be taken now. A step is a table of outcomes (steps.go), each with its condition, its
// reason and its commands. [NewPlan] takes the first outcome that applies to the [Facts]: the CRD
// before and after the change, the effect on the stored objects, the versions of the API servers, and
// storage migrations. The verdict is [Go], [Wait] or [Stop].
//
// A missing fact is unknown. Irrelevant facts may be unknown. For example, objects are irrelevant if the new schema accepts
// every object that the old one accepts. [Facts.ReadLive], [Facts.ReadMigrations] and [ReadServers]
// read facts from the output of kubectl, and report facts that contradict others.
//
// # Storage versions
//
// [AgreedStorageVersion], [StorageVersionName] and [ValidateStorageVersionName] are the rules of
// KEP-2339, the StorageVersion API, with the types of k8s.io/api/apiserverinternal/v1alpha1. In
// Kubernetes 1.37 the API is still alpha and off by default, and no server reports custom resources,
// so no command reads these objects.
package change
