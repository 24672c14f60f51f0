// Package normalize clears the members that a union excludes from objects that set a new
// one, as KEP-1027 ("Union types") wanted the API server to do. What is cleared is for
// [union.Union.Normalize] to say; this package finds the unions in an object and in the
// one that it replaces, and edits it, as data or as text.
package normalize
