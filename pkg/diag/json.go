package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

type jsonPlace struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"`
}

type jsonDiagnostic struct {
	Code     Code        `json:"code"`
	Severity Severity    `json:"severity"`
	File     string      `json:"file"`
	Line     int         `json:"line"`
	Col      int         `json:"col"`
	Path     string      `json:"path"`
	Message  string      `json:"message"`
	Hint     string      `json:"hint"`
	Related  []jsonPlace `json:"related"`
}

// JSON writes the list, in its order, as one JSON array of objects. Every key
// is there every time: code, severity, file, line, col, path, message, hint
// and related, an array of objects with file, line, col and message. An empty
// list is an empty array.
func JSON(w io.Writer, l List) error {
	out := make([]jsonDiagnostic, len(l))
	for i, d := range l {
		related := make([]jsonPlace, len(d.Related))
		for j, r := range d.Related {
			related[j] = jsonPlace{r.Pos.File, r.Pos.Line, r.Pos.Col, r.Message}
		}
		out[i] = jsonDiagnostic{
			Code:     d.Code,
			Severity: d.Severity,
			File:     d.Pos.File,
			Line:     d.Pos.Line,
			Col:      d.Pos.Col,
			Path:     d.Path,
			Message:  d.Message,
			Hint:     d.Hint,
			Related:  related,
		}
	}
	return WriteJSON(w, out)
}

// WriteJSON writes a value as indented JSON, in whose texts everything that Escape
// spells out is written with the escapes of JSON.
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
