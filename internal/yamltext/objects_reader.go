package yamltext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errTooLong is returned for a part that exceeds the limit.
var errTooLong = errors.New("too long")

// objectReader reads a file without holding all of it.
type objectReader struct {
	in   *bufio.Reader
	rest []byte // the rest of the current line, or of its part in the buffer
	most int    // maximum bytes of a part
	left int    // bytes left for the current JSON value
	// lines are the offsets of line breaks that were read but not counted in line yet. line is the
	// current line number.
	lines []int64
	line  int
	read  int64
}

func newReader(r io.Reader, most int) *objectReader {
	b := bufio.NewReader(r)
	if start, err := b.Peek(len(bom)); err == nil && bytes.Equal(start, bom) {
		_, _ = b.Discard(len(bom))
	}
	return &objectReader{in: b, most: most, left: most, line: 1}
}

// Read limits a JSON decoder to the bytes left and records line breaks. It replaces the separators of
// documents with spaces: no line of a JSON value is ---. It fills b, because the decoder scans the
// same whitespace again after every Read.
func (r *objectReader) Read(b []byte) (n int, err error) {
	if r.left <= 0 {
		return 0, errTooLong
	}
	for n < len(b) && r.left > 0 && err == nil {
		if len(r.rest) == 0 {
			r.rest, err = r.in.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) && len(r.rest) > 0 {
				err = nil
			}
			if string(bytes.TrimRight(r.rest, " \t\r\n")) == "---" {
				copy(r.rest, "   ")
			}
		}
		m := copy(b[n:], r.rest)
		r.rest = r.rest[m:]
		n += m
		r.read += int64(m)
		r.left -= m
		if m > 0 && b[n-1] == '\n' {
			r.lines = append(r.lines, r.read-1)
		}
	}
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
