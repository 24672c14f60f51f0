package cli

import (
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"one, untouched", []string{"a: 1"}, "a: 1"},
		{"one, nothing", []string{""}, ""},
		{"nothing", []string{"", ""}, ""},
		{"two", []string{"a: 1\n", "b: 1\n"}, "a: 1\n---\nb: 1\n"},
		{"no last newline", []string{"a: 1", "b: 1"}, "a: 1\n---\nb: 1\n"},
		{"separator there", []string{"a: 1\n", "---\nb: 1\n"}, "a: 1\n---\nb: 1\n"},
		{"separator with content", []string{"a: 1\n", "--- {b: 1}\n"}, "a: 1\n--- {b: 1}\n"},
		{"separator alone", []string{"a: 1\n", "---"}, "a: 1\n---\n"},
		{"separator after CR", []string{"a: 1\r\n", "---\r\nb: 1\r\n"}, "a: 1\r\n---\r\nb: 1\r\n"},
		{"no separator", []string{"a: 1\n", "---b: 1\n"}, "a: 1\n---\n---b: 1\n"},
		{"separator below comments", []string{"a: 1\n", "# c\n\n  # d\n---\nb: 1\n"}, "a: 1\n# c\n\n  # d\n---\nb: 1\n"},
		{"comments", []string{"a: 1\n", "# c\nb: 1\n"}, "a: 1\n---\n# c\nb: 1\n"},
		{"only comments first", []string{"# c\n", "a: 1\n"}, "# c\na: 1\n"},
		{"only comments last", []string{"a: 1\n", "# c\n"}, "a: 1\n# c\n"},
		{"only comments between", []string{"a: 1\n", "# c\n", "b: 1\n"}, "a: 1\n# c\n---\nb: 1\n"},
		{"document end", []string{"a: 1\n...\n", "b: 1\n"}, "a: 1\n...\n---\nb: 1\n"},
		{"directive", []string{"a: 1\n", "%YAML 1.1\n---\nb: 1\n"}, "a: 1\n...\n%YAML 1.1\n---\nb: 1\n"},
		{"byte order marks", []string{"\ufeffa: 1\n", "\ufeff---\nb: 1\n", "\ufeffc: 1\n"}, "\ufeffa: 1\n---\nb: 1\n---\nc: 1\n"},
		{"JSON", []string{"{}", "[{}]\n", " {} {}\n"}, "{}\n[{}]\n {} {}\n"},
		{"JSON before YAML", []string{"{}\n", "a: 1\n"}, "---\n{}\n---\na: 1\n"},
		{"JSON after YAML", []string{"a: 1\n", "{}\n"}, "a: 1\n---\n{}\n"},
		{"flow style is YAML", []string{"{a: 1}\n", "{b: 1}\n"}, "{a: 1}\n---\n{b: 1}\n"},
		{"a string is YAML", []string{"\"a\"\n", "\"b\"\n"}, "\"a\"\n---\n\"b\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var texts [][]byte
			for _, part := range tt.parts {
				texts = append(texts, []byte(part))
			}
			var got strings.Builder
			err := join(&got, texts)
			if err != nil || got.String() != tt.want {
				t.Errorf("got %q, %v\nwant %q", got.String(), err, tt.want)
			}
		})
	}
}
