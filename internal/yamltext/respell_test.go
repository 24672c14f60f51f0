package yamltext

import "testing"

func TestRespelt(t *testing.T) {
	for _, c := range []struct{ text, written, respelt string }{
		{"tpc", "tpc", "tcp"},
		{`"tpc"`, `"tpc"`, `"tcp"`},
		{"'tpc'", "'tpc'", "'tcp'"},
		{"'t''c'", "'t''c'", "'tcp'"},
		{`"t\u0070c"`, `"tpc"`, `"tcp"`}, // not the source text
		{`"t\"c"`, "", ""},
		{"two words", "", ""},
		{"two\n  words", "", ""},
		{"&a tpc", "", ""},
		{"!!str tpc", "", ""},
		{"|\n  tpc\n", "", ""},
	} {
		f, err := Parse([]byte("k: " + c.text))
		if err != nil {
			t.Fatal(err)
		}
		written := Written(f.Docs[0].Root.Content[1])
		if respelt := Respelt(written, "tcp"); written != c.written || respelt != c.respelt {
			t.Errorf("%s: %q becomes %q, want %q and %q", c.text, written, respelt, c.written, c.respelt)
		}
	}
	for s, want := range map[string]string{"On": `"On"`, "1e3": `"1e3"`, "a-b": "a-b", "a: b": "", "a,b": "", "-a": "", "": "", "é": "é"} {
		if got := Respelt("x", s); got != want {
			t.Errorf("%q is written %s, want %s", s, got, want)
		}
	}
}
