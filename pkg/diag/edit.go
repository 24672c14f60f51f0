package diag

import "strings"

// Edit replaces a text in a file. Whoever makes the edit checks first whether Old is
// there: names may be written with escapes, which the edit does not know of.
type Edit struct {
	Line, Col int // where Old starts, counted like those of [Pos]
	Old, New  string
}

// Replace returns the one edit that puts a text in the place of another, or none when
// one of them is empty.
func Replace(line, col int, old, new string) []Edit {
	if old == "" || new == "" {
		return nil
	}
	return []Edit{{line, col, old, new}}
}

// End returns the position after Old.
func (e Edit) End() (line, col int) {
	line, col = e.Line, e.Col
	for i, r := range e.Old {
		if r == '\n' || r == '\r' && !strings.HasPrefix(e.Old[i+1:], "\n") {
			line, col = line+1, 1
		} else {
			col++
		}
	}
	return line, col
}
