// Package rollout plans the change of a CRD that is in use: what has to happen before it is
// applied and after, in which order, and whether now is the time.
//
// [New] makes a [Plan] of [Facts], without asking anybody: of the CRD before and after the
// change, what becomes of the objects that are stored, the versions of the API servers, what
// they report of storage versions, and migrations of these. A fact that is not given is
// unknown. The verdict is
//
//   - [Go] when the next step may be taken: until the CRD is applied that is this, later
//     what the plan says next, or nothing;
//   - [Wait] when another step has to be taken first, when something is still running, or
//     when something that matters is unknown;
//   - [Stop] when the API server would refuse the CRD, when a server does not understand it,
//     when a migration has failed, or when facts contradict each other.
//
// Facts that do not matter may be unknown: a change whose new schema accepts every object that
// the old one accepts needs no objects.
//
// [Read] reads facts from what kubectl prints.
package rollout
