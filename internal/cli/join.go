package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// shape holds the properties of a text that join needs.
type shape struct {
	json      bool // it consists of JSON objects or arrays, at least one
	document  bool // there is a line that is neither blank nor a comment
	directive bool // the first such line is a directive
	separated bool // it begins a YAML document
}

func shapeOf(text []byte) shape {
	first := firstLine(text)
	return shape{
		json:      isJSON(text),
		document:  first != nil,
		directive: first != nil && first[0] == '%',
		separated: isSeparator(first),
	}
}

// join writes texts as one stream, and calls text for one after the other. It writes a single text
// unchanged.
//
// If all texts are JSON, the stream is a sequence of JSON texts, as kubectl and jq read them.
// Otherwise it is YAML, with a separator before each text that does not begin with one. A JSON text
// among YAML documents is a YAML document; since readers treat a stream that begins like JSON as
// JSON, a separator then precedes the first text too.
func join(w io.Writer, shapes []shape, text func(i int) ([]byte, error)) error {
	allJSON := true
	for _, s := range shapes {
		allJSON = allJSON && s.json
	}
	documents := false // the stream has a document
	ended := true      // the last line is terminated
	for i, s := range shapes {
		part, err := text(i)
		if err != nil {
			return err
		}
		var between []byte
		if i > 0 {
			part = bytes.TrimPrefix(part, byteOrderMark)
			if !ended {
				between = append(between, '\n')
			}
		}
		if len(shapes) > 1 && !allJSON && s.document && (documents || s.json) {
			switch {
			case s.directive: // it must follow a document's end
				between = append(between, "...\n"...)
			case !s.separated:
				between = append(between, "---\n"...)
			}
		}
		documents = documents || s.document
		if len(between)+len(part) > 0 {
			ended = bytes.HasSuffix(part, []byte("\n")) || len(part) == 0
		}
		for _, data := range [][]byte{between, part} {
			if _, err := w.Write(data); err != nil {
				return fileError("write standard output", err)
			}
		}
	}
	if !ended && len(shapes) > 1 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return fileError("write standard output", err)
		}
	}
	return nil
}

var byteOrderMark = []byte("\ufeff")

// firstLine returns the first line of a YAML stream that is neither blank nor a comment, or nil.
func firstLine(text []byte) []byte {
	for line := range bytes.Lines(bytes.TrimPrefix(text, byteOrderMark)) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			return line
		}
	}
	return nil
}

// isSeparator reports whether a line begins a YAML document.
func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n"))
}

// isJSON reports whether a text consists of JSON objects or arrays, at least one.
func isJSON(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for n := 0; ; n++ {
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return n > 0
		case err != nil || value[0] != '{' && value[0] != '[':
			return false
		}
	}
}
