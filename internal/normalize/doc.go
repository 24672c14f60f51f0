// Package normalize clears the members that a union excludes from objects that set a new member, as
// KEP-1027 ("Union types") intended for the API server. [union.Union.Normalize] decides which
// members to clear; this package finds the unions in an object and in its old object, and edits the
// object, as data or as text. [ExplicitPatches] edits patches so that they clear these members.
package normalize
