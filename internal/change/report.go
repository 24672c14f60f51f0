package change

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Class is the effect of a change on the set of accepted objects.
type Class string

const (
	// Same is a change without effect: both CRDs provably accept the same objects.
	Same Class = "same"
	// Looser changes accept more objects, and reject no object that was accepted.
	Looser Class = "looser"
	// Tighter changes reject objects that were accepted. If Undecided is empty, they accept no
	// object that was rejected.
	Tighter Class = "tighter"
	// Both is a change that is tighter and looser.
	Both Class = "both"
	// Undecided is a change that could not be decided: it may reject objects that were accepted, or
	// may have no effect.
	Undecided Class = "unknown"
)

// Classes lists all classes, from harmless to harmful.
var Classes = []Class{Same, Looser, Undecided, Tighter, Both}

// Refuses reports whether objects that were accepted may be rejected.
func (c Class) Refuses() bool { return c == Tighter || c == Both || c == Undecided }

// ChangeKind distinguishes additions, removals, moves and other changes.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Moved   ChangeKind = "moved"
	Changed ChangeKind = "changed"
)

// Sort is the sort of constraint that changed. Ratcheting depends on it.
type Sort string

const (
	// UnionSort is the rules of a declared union.
	UnionSort Sort = "union"
	// Rule is a rule that reads only the new object, Transition a rule that reads oldSelf.
	Rule       Sort = "rule"
	Transition Sort = "transition rule"
	// KeywordSort is a keyword that constrains the value of its schema.
	KeywordSort Sort = "keyword"
	// Composition is allOf, anyOf, oneOf, not.
	Composition Sort = "composition"
	// Required is the required keyword for one property.
	Required Sort = "required"
	// Shape is a change of decoding, which precedes validation: properties, defaults, nullable.
	Shape Sort = "shape"
	// VersionSort is a version as a whole, or a field of the CRD outside its schemas.
	VersionSort Sort = "version"
)

// Change is a difference between two CRDs, or between two versions of one.
type Change struct {
	Class Class      `json:"class"`
	Kind  ChangeKind `json:"kind"`
	Sort  Sort       `json:"sort"`
	// Version and NewVersion are the names of the compared versions. They differ if two versions of
	// one CRD are compared. One of them is empty for a version that was added or removed.
	Version    string `json:"version,omitempty"`
	NewVersion string `json:"newVersion,omitempty"`
	// Path leads to the changed schema; From is its old path if it moved.
	Path schemapath.Path `json:"-"`
	From schemapath.Path `json:"-"`
	// Subject names the constraint that changed: "union backend", "enum", "rule".
	Subject string `json:"subject"`
	// What describes the change in a sentence: "member udp added".
	What string `json:"what"`
	// Keyword is the key of the schema, such as "enum" and "x-kubernetes-validations". It is empty
	// for versions.
	Keyword string `json:"-"`
	// Undecided states the open question with the reason.
	Undecided string `json:"undecided,omitempty"`
	// Note mentions an effect that the class does not cover. It is mostly empty.
	Note string `json:"note,omitempty"`
	// Advice describes which stored objects that violate the constraint can still be written. It is
	// empty for changes that reject no stored objects.
	Advice string `json:"advice,omitempty"`
	// Refused was accepted and is now rejected, and Accepted is the reverse. They are nil if there
	// is no such object, or if none was found.
	Refused  *Counterexample `json:"refused,omitempty"`
	Accepted *Counterexample `json:"accepted,omitempty"`
	// Pos is the position of the change in the new file or, for a removal, of the parent. It has no
	// line if the CRD was not read from a file.
	diag.Pos
}

// MattersToStored reports whether a change may affect stored objects: the new CRD may reject them
// or treat them differently, as after a change of the storage version.
func (c Change) MattersToStored() bool {
	return c.Class.Refuses() || c.Sort == VersionSort && c.Note != ""
}

// Counterexample is the creation of an object or, if Old is not nil, the update from Old to Object.
// One CRD accepts it, and the other one rejects it.
type Counterexample struct {
	Old    map[string]any `json:"old,omitempty"`
	Object map[string]any `json:"object"`
	// Exempt means that a rule with optionalOldSelf accepts the update, but would reject the
	// creation of Old. No update of objects that can be created differs.
	Exempt bool `json:"exempt,omitempty"`
	// Errors are the errors of the API server's own code under the CRD that rejects the example.
	Errors []string `json:"errors"`
}

// Comparison has the differences between two CRDs.
type Comparison struct {
	// Name of the CRD.
	Name string
	// Changes in the order of versions and paths.
	Changes []Change
}

// Class returns the class of all changes together. [Same] and [Looser] mean that every object
// accepted before is still accepted. The result is [Both] only if changes prove both directions.
func (r Comparison) Class() Class {
	has := func(c Class) bool { return slices.ContainsFunc(r.Changes, func(d Change) bool { return d.Class == c }) }
	loosens := slices.ContainsFunc(r.Changes, func(d Change) bool { return d.Class == Looser && d.Undecided == "" })
	switch {
	case has(Both) || has(Tighter) && loosens:
		return Both
	case has(Tighter):
		return Tighter
	case has(Undecided):
		return Undecided
	case has(Looser):
		return Looser
	}
	return Same
}
