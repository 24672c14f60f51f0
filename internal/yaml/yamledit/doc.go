// Package yamledit edits YAML and JSON as text. It removes entries from collections and adds others
// in the style of the surrounding text, and keeps every other byte.
package yamledit
