package resource

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// errTooLong is returned for a part that exceeds the limit.
var errTooLong = errors.New("too long")

// bom is the byte order mark.
const bom = "\ufeff"

// objectReader reads a file without holding all of it.
type objectReader struct {
	io.Reader
	most int // maximum bytes of a part
	left int // bytes left for the current JSON value
	// lines are the offsets of line breaks that were read but not counted in line yet. line is the
	// current line number.
	lines []int64
	line  int
	read  int64
}

func newReader(r io.Reader, most int) *objectReader {
	b := bufio.NewReader(r)
	if start, err := b.Peek(len(bom)); err == nil && string(start) == bom {
		_, _ = b.Discard(len(bom))
	}
	return &objectReader{Reader: b, most: most, left: most, line: 1}
}

// Read limits a JSON decoder to the bytes left and records line breaks.
func (r *objectReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLong
	}
	n, err := r.Reader.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			r.lines = append(r.lines, r.read+int64(i))
		}
	}
	r.read += int64(n)
	r.left -= n
	return n, err
}

// decode decodes one value, whose length is limited to most bytes.
func (r *objectReader) decode(d *json.Decoder, v any) error {
	r.left = r.most
	return d.Decode(v)
}

// lineAt returns the line of an offset. Offsets must not decrease from call to call.
func (r *objectReader) lineAt(offset int64) int {
	i := 0
	for i < len(r.lines) && r.lines[i] < offset {
		i++
	}
	r.line += i
	r.lines = r.lines[i:]
	return r.line
}
