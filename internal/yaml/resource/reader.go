package resource

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
	*bufio.Reader
	most int // maximum bytes of a part
	left int // bytes left for the current JSON value
	// lines are the offsets of line breaks that were read but not counted in line yet. line is the
	// current line number.
	lines []int64
	line  int
	read  int64
}

func newReader(r io.Reader, most int) *objectReader {
	in := &objectReader{Reader: bufio.NewReaderSize(r, 64<<10), most: most, left: most, line: 1}
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	return in
}

// first returns the first buffered byte that is not white space, or 0.
func (r *objectReader) first() byte {
	_, _ = r.Peek(1)
	l, _ := r.Peek(r.Buffered())
	if l = bytes.TrimLeft(l, " \t\r\n"); len(l) > 0 {
		return l[0]
	}
	return 0
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

// next returns the next line with its line break, and io.EOF after the last line. The caller may
// keep the slice.
func (r *objectReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > r.most:
			return nil, errTooLong
		}
	}
}
