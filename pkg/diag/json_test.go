package diag

import (
	"bytes"
	"errors"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
)

func TestJSON(t *testing.T) {
	l := List{
		{
			Code: codes.UnknownMember, Pos: Pos{"crd.yaml", 41, 5}, Path: "spec", Message: "a < b", Hint: "h",
			Related: []Related{{Pos{"other.yaml", 1, 2}, "here"}}, Edits: Replace(41, 5, "é", "b"),
		},
		{Code: codes.VersionsDiffer, Severity: Warning},
	}
	want := `[
  {
    "code": "UC203",
    "severity": "error",
    "file": "crd.yaml",
    "line": 41,
    "col": 5,
    "path": "spec",
    "schema": "",
    "message": "a < b",
    "hint": "h",
    "related": [
      {
        "file": "other.yaml",
        "line": 1,
        "col": 2,
        "message": "here"
      }
    ],
    "edits": [
      {
        "line": 41,
        "col": 5,
        "endLine": 41,
        "endCol": 6,
        "old": "é",
        "new": "b"
      }
    ]
  },
  {
    "code": "UC502",
    "severity": "warning",
    "file": "",
    "line": 0,
    "col": 0,
    "path": "",
    "schema": "",
    "message": "",
    "hint": "",
    "related": [],
    "edits": []
  }
]
`
	var buf bytes.Buffer
	if err := JSON(&buf, l); err != nil {
		t.Fatal(err)
	}
	if got := buf.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEditEnd(t *testing.T) {
	for old, want := range map[string][2]int{"abc": {3, 8}, "é\u2028": {3, 7}, "a\n": {4, 1}, "a\r\nbc": {4, 3}, "\ra": {4, 2}} {
		if line, col := (Edit{Line: 3, Col: 5, Old: old}).End(); line != want[0] || col != want[1] {
			t.Errorf("%q ends at %d:%d, want %v", old, line, col, want)
		}
	}
}

func TestJSONEmpty(t *testing.T) {
	var buf bytes.Buffer
	if err := JSON(&buf, nil); err != nil || buf.String() != "[]\n" {
		t.Errorf("%q, %v", buf.String(), err)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	l := List{{Code: codes.Syntax, Message: "m"}}
	if err := JSON(fullDisk{}, l); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := Text(fullDisk{}, l, nil); !errors.Is(err, errFull) {
		t.Errorf("Text: %v", err)
	}
}
