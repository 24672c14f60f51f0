package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// join makes one stream of all results. A single one is returned as it is.
//
// When all are JSON the stream is one JSON text after the other, as kubectl
// and jq read them. Otherwise it is YAML, and a separator is put between two
// results where the second does not begin with one. A JSON text among YAML
// documents is a YAML document; since readers take a stream that begins like
// JSON for JSON throughout, a separator then precedes the first result too.
func join(results []result) []byte {
	if len(results) == 1 {
		return results[0].out
	}
	allJSON := true
	for _, r := range results {
		allJSON = allJSON && isJSON(r.out)
	}
	var stream []byte
	documents := false // whether there is a document in the stream
	for i, r := range results {
		part := r.out
		if i > 0 {
			part = bytes.TrimPrefix(part, byteOrderMark)
			stream = endLine(stream)
		}
		first := firstLine(part)
		if !allJSON && first != nil && (documents || isJSON(part)) {
			switch {
			case first[0] == '%': // a directive, which must follow a document's end
				stream = append(stream, "...\n"...)
			case !isSeparator(first):
				stream = append(stream, "---\n"...)
			}
		}
		stream = append(stream, part...)
		documents = documents || first != nil
	}
	return endLine(stream)
}

var byteOrderMark = []byte("\ufeff")

// endLine adds a line end to a text that lacks its last.
func endLine(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

// firstLine returns the first line of a YAML stream that is neither blank nor
// a comment, nil if there is none.
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
