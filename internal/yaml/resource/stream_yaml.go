package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/pkg/diag"
)

// yaml reads documents. It splits a list at the lines on which items begin.
//
// Splitting is safe because every piece is parsed. A line with a dash at the indentation of the
// first item begins an item unless the line is within quotes or brackets: plain and block scalars
// are indented further. A piece that ends within quotes or brackets cannot be parsed, and neither
// can a piece with an alias to an anchor in another piece. Such files are not read in parts. Items
// are yielded only after the lines above them have been parsed.
func (p *parts) yaml(in *objectReader) error {
	c := &cutter{parts: p}
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return c.endDocument()
		case errors.Is(err, errTooLong):
			return p.tooLong(c.line + 1)
		case err != nil:
			return err
		}
		if err := c.add(line); err != nil {
			return err
		}
	}
}

func (p *parts) tooLong(line int) error {
	return &partError{Diagnostic: diag.Diagnostic{Code: codes.OverLimit, Pos: diag.Pos{File: p.name, Line: line, Col: 1}, Hint: limit.Hint("size"),
		Message: fmt.Sprintf("the document that begins here is longer than the limit of %d bytes", p.limits.Size)}}
}

// cutter splits the lines of a file.
type cutter struct {
	*parts
	line   int // the number of the current line
	within func(*cutter, []byte) error
	// rest is the document without its items. It begins on line begins.
	rest   bytes.Buffer
	begins int
	cut    bool // whether items were cut out of the document
	// item is the current item. It begins on line itemBegins, with a dash after indent spaces.
	item       bytes.Buffer
	itemBegins int
	indent     int
}

// isMarker reports whether a line separates documents.
func isMarker(line []byte) bool {
	return (bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))) && isBlank(line[3:min(4, len(line))])
}

// isBlank reports whether b is empty or only white space.
func isBlank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// isNothing reports whether a line is empty or a comment. The line must not be within a scalar.
func isNothing(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// isItems reports whether a line consists of the key items without a value.
func isItems(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("items:"))
	return ok && isNothing(rest) && (isBlank(rest) || rest[0] != '#')
}

// dashed returns the indentation of a line that begins an item.
func dashed(line []byte) (indent int, ok bool) {
	content := bytes.TrimLeft(line, " ")
	rest, ok := bytes.CutPrefix(content, []byte("-"))
	return len(line) - len(content), ok && isBlank(rest[:min(1, len(rest))])
}

// hasOther reports whether a line contains a line break other than LF and CRLF.
func hasOther(line []byte) bool {
	cr := bytes.IndexByte(line, '\r')
	return cr >= 0 && (cr+2 != len(line) || line[cr+1] != '\n') ||
		bytes.Contains(line, []byte("\u0085")) || bytes.Contains(line, []byte("\u2028")) || bytes.Contains(line, []byte("\u2029"))
}

func (c *cutter) add(line []byte) error {
	c.line++
	if hasOther(line) {
		return c.wrong(c.line, "this line has a line break that is none to all readers")
	}
	if c.rest.Len()+c.item.Len()+len(line) > c.limits.Size {
		return c.tooLong(max(c.begins, c.itemBegins))
	}
	marker := isMarker(line)
	if marker {
		if err := c.endDocument(); err != nil || line[0] == '.' {
			return err
		}
	}
	if c.begins == 0 && (!marker || !isNothing(line[3:])) && !isNothing(line) {
		c.begins = c.line
	}
	if c.within == nil {
		c.within = (*cutter).inDocument
	}
	return c.within(c, line)
}

// inDocument handles a line above the items, or a line of a document without items.
func (c *cutter) inDocument(line []byte) error {
	c.rest.Write(line)
	if !isItems(line) {
		return nil
	}
	v, err := c.read(c.begins, c.rest.Bytes())
	if err != nil {
		return err
	}
	value, _ := v.(map[string]any)
	if kind, _ := value["kind"].(string); kind != "" && !isList(kind) {
		c.within = (*cutter).inRest
		return nil
	}
	c.within = (*cutter).beforeItems
	return nil
}

// beforeItems handles a line after "items:".
func (c *cutter) beforeItems(line []byte) error {
	indent, ok := dashed(line)
	if !ok {
		if !isNothing(line) {
			c.within = (*cutter).inRest
		}
		c.rest.Write(line)
		return nil
	}
	c.indent, c.cut, c.within = indent, true, (*cutter).inItems
	c.rest.WriteString(" []\n") // leave an empty list
	c.beginItem(line)
	return nil
}

func (c *cutter) beginItem(line []byte) {
	c.itemBegins = c.line
	c.item.Write(line)
}

// inItems handles a line of an item, or the first line after the items.
func (c *cutter) inItems(line []byte) error {
	indent, begins := dashed(line)
	if indent > c.indent || isNothing(line) {
		c.item.Write(line)
		return nil
	}
	if err := c.endItem(); err != nil {
		return err
	}
	if begins && indent == c.indent {
		c.beginItem(line)
		return nil
	}
	c.within = (*cutter).inRest
	return c.inRest(line)
}

// inRest handles a line outside of the items.
func (c *cutter) inRest(line []byte) error {
	if c.cut && isItems(line) {
		return c.wrong(c.line, "items occurs twice in this mapping")
	}
	c.rest.Write(line)
	return nil
}

func (c *cutter) endItem() error {
	text := c.item.Bytes()
	v, err := c.read(c.itemBegins, text)
	if err != nil {
		return err
	}
	l, ok := v.([]any)
	if !ok {
		return c.wrong(c.itemBegins, "this is not the item of a list")
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	pos := diag.Pos{File: c.name, Line: c.itemBegins, Col: c.indent + 1}
	if content := bytes.TrimSpace(first[c.indent+1:]); len(content) > 0 {
		pos.Col = bytes.Index(first, content) + 1
	}
	for _, item := range l {
		if err := c.objects(pos, item); err != nil {
			return err
		}
	}
	c.item.Reset()
	return nil
}

func (c *cutter) endDocument() error {
	if c.item.Len() > 0 {
		if err := c.endItem(); err != nil {
			return err
		}
	}
	v, err := c.read(c.begins, c.rest.Bytes())
	switch {
	case err != nil:
	case c.cut:
		err = c.ended(c.begins, v)
	default:
		err = c.objects(diag.Pos{File: c.name, Line: c.begins, Col: 1}, v)
	}
	c.rest.Reset()
	c.within, c.cut, c.begins = nil, false, 0
	return err
}
