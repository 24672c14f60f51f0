package diag

import "strings"

// Edit replaces text in a file. Callers must check that Old is at the position before they make the
// edit: the file may have the name with escapes, which Old does not have.
type Edit struct {
	Line, Col int // the start of Old, counted as in [Pos]
	Old, New  string
}

// Replace returns a list with the edit that replaces old by new, or nil when either is empty.
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
