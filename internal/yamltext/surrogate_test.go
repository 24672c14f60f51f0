package yamltext_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestSurrogates has characters beyond U+FFFF, for which JSON has two escapes that YAML does not
// have. Positions and bytes must not change.
func TestSurrogates(t *testing.T) {
	const smile = `\ud83d\ude00`
	tests := []struct {
		name, src string
		want      any // nil if an error is expected
	}{
		{"value", `{"a": "x` + smile + `y"}`, map[string]any{"a": "x😀y"}},
		{"upper case", `{"a": "\uD83D\uDE00"}`, map[string]any{"a": "😀"}},
		{"slash", `{"a": "\/\\/"}`, map[string]any{"a": `/\/`}},
		{"key", `{"` + smile + `": 1, "b": 2}`, map[string]any{"😀": int64(1), "b": int64(2)}},
		{"other escapes", `{"a": "\"\\ud83d\/\u00e9` + smile + `\n", "b": ["\\", null, true, 1.5, -1]}`,
			map[string]any{"a": "\"\\ud83d/é😀\n", "b": []any{"\\", nil, true, 1.5, int64(-1)}}},
		{"half a pair", `{"a": "\ud83d", "b": "\ude00\ud83d"}`, map[string]any{"a": "\ufffd", "b": "\ufffd\ufffd"}},
		{"half a pair before a pair", `{"a": "\ud83d` + smile + `"}`, map[string]any{"a": "\ufffd😀"}},
		{"numbers", `{"a": ["` + smile + `", 1e3, 1.0, 10000000000000000000000]}`, map[string]any{"a": []any{"😀", int64(1000), int64(1), float64(1e22)}}},
		{"byte order mark", "\ufeff" + `{"a": "` + smile + `"}`, map[string]any{"a": "😀"}},
		{"lines", "{\r\n\t\"a\": [\r\n\t\t\"" + smile + "\", {}]\r\n}\r\n", map[string]any{"a": []any{"😀", map[string]any{}}}},
		{"not JSON", `{"a": "` + smile + `", }`, nil},
		{"YAML", `a: "` + smile + `"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := yamltext.Parse([]byte(tt.src))
			if tt.want == nil {
				if err == nil {
					t.Fatal("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(f.Src) != tt.src {
				t.Errorf("the source is %q now", f.Src)
			}
			v, err := f.Value(f.Docs[0])
			if diff := cmp.Diff(tt.want, v); diff != "" || err != nil {
				t.Error(err, diff)
			}
			var nodes any
			if err := f.Docs[0].Root.Decode(&nodes); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, ints(nodes)); diff != "" {
				t.Errorf("nodes: %s", diff)
			}
		})
	}
}

// ints converts the integers of yaml.v3, and integral floats, to the integers of JSON.
func ints(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case float64:
		if n := int64(v); float64(n) == v && n < 1<<53 {
			return n
		}
	case []any:
		for i := range v {
			v[i] = ints(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = ints(v[k])
		}
	}
	return v
}

// FuzzJSONString compares both YAML readers with JSON on texts that they can read.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{`\ud83d\ude00`, `\/\\/`, `\ude00\ud83d`, `\\\ud83d\ud83d\ude00\u00e9`, "é😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		src := []byte(`{"k": "` + s + `"}`)
		var want struct{ K string }
		file, err := yamltext.Parse(src)
		if !utf8.Valid(src) || err != nil || json.Unmarshal(src, &want) != nil || len(file.Docs[0].Root.Content) != 2 {
			return
		}
		v, err := file.Value(file.Docs[0])
		if err == nil && (file.Docs[0].Root.Content[1].Value != want.K || !cmp.Equal(v, any(map[string]any{"k": want.K}))) {
			t.Errorf("%q: %v, node %q, want %q", src, v, file.Docs[0].Root.Content[1].Value, want.K)
		}
	})
}

// TestSurrogateEdits asserts that nodes after a surrogate pair have the correct position.
func TestSurrogateEdits(t *testing.T) {
	const src = `{"\ud83d\ude00": "\ud83d\ude00", "b": {"c": 1}}`
	f, err := yamltext.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b := f.Docs[0].Root.Content[3]
	if b.Kind != yaml.MappingNode || b.Line != 1 || b.Column != 39 {
		t.Errorf("%+v", b)
	}
}
