package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

type jsonEdit struct {
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndLine int    `json:"endLine"`
	EndCol  int    `json:"endCol"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

type jsonDiagnostic struct {
	Diagnostic
	Edits []jsonEdit `json:"edits"`
}

// JSON writes the list, in its order, as one JSON array of objects. Every object has all keys:
// code, severity, file, line, col, path, schema, message, hint; related, an array of objects with
// file, line, col and message; and edits, an array of objects with line, col, endLine, endCol, old
// and new. An empty list is an empty array.
func JSON(w io.Writer, l List) error {
	out := make([]jsonDiagnostic, len(l))
	for i, d := range l {
		d.Related = append([]Related{}, d.Related...) // never null
		out[i] = jsonDiagnostic{d, []jsonEdit{}}
		for _, e := range d.Edits {
			line, col := e.End()
			out[i].Edits = append(out[i].Edits, jsonEdit{e.Line, e.Col, line, col, e.Old, e.New})
		}
	}
	return WriteJSON(w, out)
}

// WriteJSON writes a value as indented JSON. Everything that [Escape] escapes is written with the
// escapes of JSON.
func WriteJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, Escape(text.String()))
	return err
}
