package diag

import (
	"reflect"
	"testing"
)

func TestPosString(t *testing.T) {
	for _, tt := range []struct {
		pos  Pos
		want string
	}{
		{Pos{"crd.yaml", 41, 5}, "crd.yaml:41:5"},
		{Pos{"crd.yaml", 41, 0}, "crd.yaml:41"},
		{Pos{"crd.yaml", 0, 0}, "crd.yaml"},
		{Pos{"crd.yaml", 0, 7}, "crd.yaml"},
		{Pos{"", 41, 5}, "41:5"},
		{Pos{}, "-"},
	} {
		if got := tt.pos.String(); got != tt.want {
			t.Errorf("%#v: %q, want %q", tt.pos, got, tt.want)
		}
	}
}

func TestSeverityText(t *testing.T) {
	for s, want := range map[Severity]string{Error: "error", Warning: "warning", Info: "info"} {
		if got, err := s.MarshalText(); err != nil || string(got) != want {
			t.Errorf("%d: %q, %v, want %q", int(s), got, err, want)
		}
	}
	if got, err := Severity(7).MarshalText(); err == nil {
		t.Errorf("Severity(7) marshals to %q", got)
	}
	if got := Severity(7).String(); got != "Severity(7)" {
		t.Errorf("Severity(7) is %q", got)
	}
}

func TestDiagnosticString(t *testing.T) {
	pos := Pos{"crd.yaml", 1, 2}
	for _, tt := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{Code: "UC1", Pos: pos, Message: "m"}, "crd.yaml:1:2: error: UC1: m"},
		{Diagnostic{Code: "UC1", Pos: pos, Message: "m", Severity: Warning}, "crd.yaml:1:2: warning: UC1: m"},
		{Diagnostic{Code: "UC1", Pos: pos, Message: "m", Severity: Info}, "crd.yaml:1:2: info: UC1: m"},
		{Diagnostic{Code: "UC1", Message: "a\r\nb\x1b[2J"}, `error: UC1: a b\u001b[2J`},
	} {
		if got := tt.d.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestSort(t *testing.T) {
	at := func(file string, line, col int, code Code, message string) Diagnostic {
		return Diagnostic{Code: code, Pos: Pos{file, line, col}, Message: message}
	}
	want := List{
		at("a.yaml", 0, 0, "UC2", "m"),
		at("a.yaml", 2, 1, "UC2", "m"),
		at("a.yaml", 2, 9, "UC2", "m"),
		at("a.yaml", 10, 1, "UC1", "m"),
		at("a.yaml", 10, 1, "UC2", "a"),
		at("a.yaml", 10, 1, "UC2", "b"),
		at("b.yaml", 1, 1, "UC1", "m"),
	}
	in := List{want[6], want[3], want[5], want[0], want[2], want[4], want[1], want[3], want[0]}
	before := append(List(nil), in...)
	if got := in.Sort(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !reflect.DeepEqual(in, before) {
		t.Errorf("the list itself was changed: %v", in)
	}
	if got := (List{}).Sort(); got != nil {
		t.Errorf("of an empty list: %#v", got)
	}
}

func TestSortKeepsTheMostSevere(t *testing.T) {
	d := Diagnostic{Code: "UC1", Pos: Pos{"a.yaml", 1, 1}, Message: "m"}
	warning, other := d, d
	warning.Severity = Warning
	other.Hint = "z"
	for _, in := range []List{{warning, other, d}, {d, other, warning}, {other, warning, d}} {
		if got, want := in.Sort(), (List{d}); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %v, want %v", in, got, want)
		}
	}
	elsewhere := d
	elsewhere.Path = "b"
	if got := (List{elsewhere, d}).Sort(); len(got) != 2 {
		t.Errorf("of two paths: %v", got)
	}
}

func TestCount(t *testing.T) {
	l := List{{Severity: Warning}, {}, {Severity: Info}, {Severity: Warning}}
	if e, w, i := l.Count(Error), l.Count(Warning), l.Count(Info); e != 1 || w != 2 || i != 1 {
		t.Errorf("counted %d, %d, %d", e, w, i)
	}
	if !l.HasErrors() {
		t.Error("an error was overlooked")
	}
	if (List{{Severity: Warning}, {Severity: Info}}).HasErrors() || List(nil).HasErrors() {
		t.Error("an error was seen where there is none")
	}
}
