package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// join writes texts as one stream. It writes a single text unchanged.
//
// If all texts are JSON, they follow each other, as kubectl and jq read them. Otherwise the stream is
// YAML, with a separator before each text that does not begin with one; before the first text too if
// it is JSON, since readers treat a stream that begins like JSON as JSON.
func join(w io.Writer, texts [][]byte) error {
	allJSON := !slices.ContainsFunc(texts, func(t []byte) bool { return !isJSON(t) })
	documents := false // the stream has a document
	ended := true      // the last line is terminated
	for i, part := range texts {
		var between []byte
		if i > 0 {
			part = bytes.TrimPrefix(part, byteOrderMark)
			if !ended {
				between = append(between, '\n')
			}
		}
		first := firstLine(part)
		if !allJSON && first != nil && (documents || len(texts) > 1 && isJSON(part)) {
			switch {
			case first[0] == '%': // a directive, which must follow a document's end
				between = append(between, "...\n"...)
			case !isSeparator(first):
				between = append(between, "---\n"...)
			}
		}
		documents = documents || first != nil
		if len(between)+len(part) > 0 {
			ended = bytes.HasSuffix(part, []byte("\n")) || len(part) == 0
		}
		for _, data := range [][]byte{between, part} {
			if _, err := w.Write(data); err != nil {
				return fileError("write standard output", err)
			}
		}
	}
	if !ended && len(texts) > 1 {
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
