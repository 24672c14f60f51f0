// Package rollout plans the change of a CRD that is in use. A plan has the steps before and after
// the CRD is applied in their order, and decides whether the next step may be taken now.
//
// [New] computes a [Plan] from [Facts] alone: the CRD before and after the change, the effect on
// the stored objects, the versions of the API servers, and storage migrations. A missing fact is
// unknown. The verdict is
//
//   - [Go] if the next step may be taken: applying the CRD or, once it is applied, the step
//     that the plan names, or nothing;
//   - [Wait] if another step comes first, if something is still running, or if a relevant fact
//     is unknown;
//   - [Stop] if the API server would reject the CRD, if a server does not support it, if a
//     migration has failed, or if facts contradict each other.
//
// Irrelevant facts may be unknown. For example, objects are irrelevant if the new schema accepts
// every object that the old one accepts.
//
// [Facts.ReadLive], [Facts.ReadMigrations] and [ReadServers] read facts from the output of kubectl.
package rollout
