package yamltext

import (
	"bytes"
	"fmt"
	"sort"
)

// Edit replaces Src[Start:End] with New.
type Edit struct {
	Start, End int
	New        string
}

// Apply returns src with the edits applied. Edits may be in any order. Edits with the same start
// keep their order. Edits that overlap or exceed src are an error.
func Apply(src []byte, edits []Edit) ([]byte, error) {
	sorted := append([]Edit(nil), edits...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Start < sorted[j].Start })
	var out bytes.Buffer
	start, end := 0, 0 // range replaced by the last edit
	for _, e := range sorted {
		if e.Start < 0 || e.End < e.Start || e.End > len(src) {
			return nil, fmt.Errorf("edit [%d:%d] is outside of the %d bytes of text", e.Start, e.End, len(src))
		}
		insertion := e.Start == e.End
		if e.Start < end && !(insertion && e.Start == start) {
			return nil, fmt.Errorf("edit [%d:%d] overlaps edit [%d:%d]", e.Start, e.End, start, end)
		}
		if e.Start > end {
			out.Write(src[end:e.Start])
		}
		out.WriteString(e.New)
		start, end = e.Start, max(end, e.End)
	}
	out.Write(src[end:])
	return out.Bytes(), nil
}
