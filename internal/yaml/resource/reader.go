package resource

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errTooLong says that a part is longer than the limit.
var errTooLong = errors.New("too long")

// reader reads a file without holding it.
type reader struct {
	*bufio.Reader
	most int // bytes of a part
	left int // of the one that is decoded, as JSON
	// lines are the offsets of the line breaks that were read, but for those that were
	// counted: they are line-1.
	lines []int64
	line  int
	read  int64
}

func newReader(r io.Reader, most int) *reader {
	in := &reader{Reader: bufio.NewReaderSize(r, 64<<10), most: most, left: most, line: 1}
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	return in
}

// first is the first byte that is not white space, as far as the buffer goes.
func (r *reader) first() byte {
	_, _ = r.Peek(1)
	l, _ := r.Peek(r.Buffered())
	if l = bytes.TrimLeft(l, " \t\r\n"); len(l) > 0 {
		return l[0]
	}
	return 0
}

// Read is for a decoder.
func (r *reader) Read(b []byte) (int, error) {
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

// decode reads a value, which is no longer than the limit.
func (r *reader) decode(d *json.Decoder, v any) error {
	r.left = r.most
	return d.Decode(v)
}

// lineAt is the line of an offset, which is not before that of the last call.
func (r *reader) lineAt(offset int64) int {
	i := 0
	for i < len(r.lines) && r.lines[i] < offset {
		i++
	}
	r.line += i
	r.lines = r.lines[i:]
	return r.line
}

// next returns the next line with its line break; the error is io.EOF behind the last one.
// It may be kept.
func (r *reader) next() ([]byte, error) {
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
