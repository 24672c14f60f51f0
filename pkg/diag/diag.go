package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity is the importance of a diagnostic.
type Severity int

const (
	// Error means that no output is produced. It is the zero value, so that a diagnostic without a
	// severity is not overlooked.
	Error Severity = iota
	// Warning means that the output is produced but may not have the effect that its author wants.
	Warning
	// Info means that the output is correct and something about it is worth knowing.
	Info
)

// String returns "error", "warning" or "info".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Info:
		return "info"
	default:
		return "Severity(" + strconv.Itoa(int(s)) + ")"
	}
}

// MarshalText returns the text of [Severity.String], or an error for an unknown severity.
func (s Severity) MarshalText() ([]byte, error) {
	if s < Error || s > Info {
		return nil, fmt.Errorf("diag: no such severity: %d", int(s))
	}
	return []byte(s.String()), nil
}

// Pos is a position in a file. Line and Col start at 1 and Col counts characters, not bytes. A zero
// Line means the whole file, a zero Col the whole line.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// String returns "file:line:col" without the unknown parts, or "-" when all are unknown.
func (p Pos) String() string {
	var parts []string
	if p.File != "" {
		parts = append(parts, strings.ReplaceAll(p.File, "\n", `\n`))
	}
	if p.Line > 0 {
		parts = append(parts, strconv.Itoa(p.Line))
		if p.Col > 0 {
			parts = append(parts, strconv.Itoa(p.Col))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ":")
}

// Compare orders positions by file, line and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File),
		cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Col, q.Col),
	)
}

// Related is another position that a diagnostic refers to, such as the first of two declarations
// that collide.
type Related struct {
	Pos
	Message string `json:"message"`
}

// Diagnostic is one finding about the input.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Pos
	Path    string    `json:"path"`    // in objects, such as spec.channels[*].type, if known
	Schema  string    `json:"schema"`  // the path in the CRD, as in the API server's errors
	Message string    `json:"message"` // one line without a full stop
	Hint    string    `json:"hint"`    // how to correct the input; may have several lines
	Related []Related `json:"related"`
	Edits   []Edit    `json:"-"` // edits to the file of Pos that apply the hint; none if people must decide
}

// New returns a diagnostic with the severity of its code. The message is one line without a full
// stop.
func New(code Code, at Pos, format string, args ...any) Diagnostic {
	info, _ := Lookup(code)
	return Diagnostic{Code: code, Severity: info.Severity, Pos: at, Message: fmt.Sprintf(format, args...)}
}

// In returns the diagnostic with the paths of a schema, such as a schemapath.Place.
func (d Diagnostic) In(schema interface {
	String() string
	Structural() string
}) Diagnostic {
	d.Path, d.Schema = schema.String(), schema.Structural()
	return d
}

// At returns the diagnostic with a path in objects.
func (d Diagnostic) At(path string) Diagnostic {
	d.Path = path
	return d
}

// Hinted returns the diagnostic with a hint.
func (d Diagnostic) Hinted(hint string) Diagnostic {
	d.Hint = hint
	return d
}

// With returns the diagnostic with other positions that it refers to.
func (d Diagnostic) With(related ...Related) Diagnostic {
	d.Related = related
	return d
}

// As returns the diagnostic with another severity than its code has.
func (d Diagnostic) As(s Severity) Diagnostic {
	d.Severity = s
	return d
}

// String returns the first line of the output of [Text].
func (d Diagnostic) String() string {
	place, kind, message := d.head()
	if place != "" {
		place += ": "
	}
	return place + kind + ": " + message
}

// head returns the parts of the first line; the place is empty when it is unknown.
func (d Diagnostic) head() (place, kind, message string) {
	if d.Pos != (Pos{}) {
		place = inline(d.Pos.String())
	}
	return place, d.Severity.String() + ": " + string(d.Code), inline(d.Message)
}

func (d Diagnostic) compare(e Diagnostic) int {
	return cmp.Or(
		d.Pos.Compare(e.Pos),
		cmp.Compare(d.Code, e.Code),
		cmp.Compare(d.Message, e.Message),
		cmp.Compare(d.Path, e.Path),
		cmp.Compare(d.Schema, e.Schema),
	)
}

// List is a list of diagnostics, in no particular order.
type List []Diagnostic

// Sort returns a copy that is sorted by file, line, column, code, message, path and schema. Of
// diagnostics that agree in all of these, it keeps only the most severe, or else the first by hint.
// The result is nil when the list is empty.
func (l List) Sort() List {
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(d, e Diagnostic) int {
		return cmp.Or(
			d.compare(e),
			cmp.Compare(d.Severity, e.Severity),
			cmp.Compare(d.Hint, e.Hint),
		)
	})
	sorted = slices.CompactFunc(sorted, func(d, e Diagnostic) bool { return d.compare(e) == 0 })
	if len(sorted) == 0 {
		return nil
	}
	return sorted
}

// HasErrors reports whether any diagnostic is an [Error].
func (l List) HasErrors() bool {
	return l.Count(Error) > 0
}

// Count returns the number of diagnostics with this severity.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}
