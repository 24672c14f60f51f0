// Package yamledit edits YAML and JSON as text. It removes entries from collections and adds
// entries in the style of the surrounding text. Every other byte stays.
package yamledit
