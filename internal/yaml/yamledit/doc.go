// Package yamledit edits YAML and JSON as text: it takes entries out of collections and
// puts others in, in the style of the text around them, and leaves every other byte as
// it is.
package yamledit
