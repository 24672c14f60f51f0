package crddiff

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Class says which objects a change makes a difference to.
type Class string

const (
	// Same: none. What was accepted is, and what was refused is; this is proved.
	Same Class = "same"
	// Looser: more is accepted, and nothing is refused that was accepted.
	Looser Class = "looser"
	// Tighter: something is refused that was accepted. Whether more is accepted as well
	// is no question if Undecided is empty.
	Tighter Class = "tighter"
	// Both: something is refused that was accepted, and the reverse.
	Both Class = "both"
	// Unknown: whether something is refused that was accepted could not be decided, or
	// whether anything changes at all.
	Unknown Class = "unknown"
)

// Classes are all classes, the harmless ones first.
var Classes = []Class{Same, Looser, Unknown, Tighter, Both}

// Refuses reports whether what was accepted may be refused.
func (c Class) Refuses() bool { return c == Tighter || c == Both || c == Unknown }

// Kind is what became of something.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Moved   Kind = "moved"
	Changed Kind = "changed"
)

// Sort is what kind of demand changed. It decides what the API server ratchets.
type Sort string

const (
	// Union is the rules of a declared union.
	Union Sort = "union"
	// Rule is a rule that looks at the object alone, Transition one that reads oldSelf.
	Rule       Sort = "rule"
	Transition Sort = "transition rule"
	// Keyword is one keyword of a schema about the value that it stands on.
	Keyword Sort = "keyword"
	// Composition is allOf, anyOf, oneOf, not.
	Composition Sort = "composition"
	// Required is a property that has to be there.
	Required Sort = "required"
	// Shape is what the API server makes of an object before it judges it: which properties
	// there are, defaults, nullable.
	Shape Sort = "shape"
	// Version is a version as a whole, and what a CRD says beside its schemas.
	Version Sort = "version"
)

// Change is something that differs between two CRDs, or between two versions of one.
type Change struct {
	// Version and NewVersion are the names of the versions compared. They differ when two
	// versions of one CRD are compared, and one is empty for a version that was added or
	// removed.
	Version, NewVersion string
	// Path leads to the schema that the change is on; From to where it was if it moved.
	Path, From schemapath.Path
	Sort       Sort
	// Subject says what changed: "union backend", "enum", "rule".
	Subject string
	Kind    Kind
	// What says how in a sentence: "member udp added".
	What string
	// Keyword is the key of the schema, such as "enum" and "x-kubernetes-validations"; empty
	// for versions.
	Keyword string
	// OldRules and NewRules are the texts of the rules that the change consists of.
	OldRules, NewRules []string
	Class              Class
	// Undecided says what could not be decided, and why.
	Undecided string
	// Note is a remark on an effect that the class does not tell; mostly empty.
	Note string
	// Refused was accepted and is not any more, Accepted the reverse; nil when there is no
	// such thing, or none was found.
	Refused, Accepted *Counterexample
	// Advice says which stored objects that break it can still be written; it is empty
	// unless [Report.Advise] has found that some may not be.
	Advice string
	// Pos is where the change is in the new file or, for what was removed, in what it was
	// part of. It has no line if nothing is known of a file.
	Pos diag.Pos
}

// MattersToStored reports whether a change may affect stored objects: the new CRD may reject
// them, or treats them in another way, as after a change of the storage version.
func (c Change) MattersToStored() bool { return c.Class.Refuses() || c.Sort == Version && c.Note != "" }

// Counterexample is an object that is created or, when Old is not nil, an update of Old to
// it: one CRD accepts it, and the other does not.
type Counterexample struct {
	Old, Object map[string]any
	// Errors are what the API server's own code says under the CRD that does not.
	Errors []string
}

// Report is what differs between two CRDs.
type Report struct {
	// Name of the CRD.
	Name string
	// Changes in the order of versions and paths.
	Changes []Change
}

// Class is what all changes together come to: nothing that was accepted is refused if it
// is [Same] or [Looser]. It is [Both] only if some changes show both halves.
func (r Report) Class() Class {
	has := func(c Class) bool { return slices.ContainsFunc(r.Changes, func(d Change) bool { return d.Class == c }) }
	loosens := slices.ContainsFunc(r.Changes, func(d Change) bool { return d.Class == Looser && d.Undecided == "" })
	switch {
	case has(Both) || has(Tighter) && loosens:
		return Both
	case has(Tighter):
		return Tighter
	case has(Unknown):
		return Unknown
	case has(Looser):
		return Looser
	}
	return Same
}
