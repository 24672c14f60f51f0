package yamltext

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

func TestString(t *testing.T) {
	for _, c := range []struct{ src, want, err string }{
		{src: "HTTP", want: "HTTP"},
		{src: "a b", want: "a b"},
		{src: "type", want: "type"},
		{src: "-x", want: "-x"},
		{src: "/a", want: "/a"},
		{src: "1.2.3", want: "1.2.3"},
		{src: "1a", want: "1a"},
		{src: "é", want: "é"},
		{src: "=", want: "="},
		{src: "1:30", want: "1:30"},
		{src: "'on'", want: "on"},
		{src: "\"12\"", want: "12"},
		{src: "''", want: ""},
		{src: "|-\n  true", want: "true"},
		{src: ">-\n  1", want: "1"},
		{src: "!!str 12", want: "12"},
		{src: "!!str", want: ""},
		{src: "!!binary aGk=", err: "kubectl reads !!binary \"aGk=\" as \"hi\"; write that"},
		{src: "!!binary a", err: "kubectl cannot read !!binary \"a\": error converting YAML to JSON: yaml: !!binary value contains invalid base64 data"},
		{src: "yes\n\n  or no", want: "yes\nor no"},
		{src: "On", err: "kubectl reads On as the boolean true"},
		{src: "yes", err: "kubectl reads yes as the boolean true"},
		{src: "y", err: "kubectl reads y as the boolean true"},
		{src: "n", err: "kubectl reads n as the boolean false"},
		{src: "off", err: "kubectl reads off as the boolean false"},
		{src: "true", err: "kubectl reads true as the boolean true"},
		{src: "12", err: "kubectl reads 12 as the number 12"},
		{src: "010", err: "kubectl reads 010 as the number 8"},
		{src: "0o10", err: "kubectl reads 0o10 as the number 8"},
		{src: "1_000", err: "kubectl reads 1_000 as the number 1000"},
		{src: "1e3", err: "kubectl reads 1e3 as the number 1000"},
		{src: ".5", err: "kubectl reads .5 as the number 0.5"},
		{src: "~", err: "kubectl reads ~ as null"},
		{src: "null", err: "kubectl reads null as null"},
		{src: "", err: "kubectl reads the empty value as null"},
		{src: "2001-01-01", err: "yaml.v3 reads 2001-01-01 as a timestamp, kubectl as a string"},
		{src: "!!int '12'", err: "kubectl reads !!int \"12\" as the number 12"},
		{src: "{}", err: "a mapping is not a string"},
		{src: "[]", err: "a list is not a string"},
	} {
		f := parse(t, "v: "+c.src+"\n")
		got, err := String(f.Docs[0].Root.Content[1])
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: got %q, %v, want error %s", c.src, got, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.src, got, err, c.want)
		}
	}
	if _, err := String(nil); err == nil {
		t.Error("nothing is a string")
	}
	for _, src := range []string{".inf", "<<", "!x y", "!!float 1", "+1", "0b1", "0x1F", "-.5e1", "!!timestamp 2001-01-01"} {
		f := parse(t, "v: "+src+"\n")
		n := f.Docs[0].Root.Content[1]
		got, err := String(n)
		theirs, ours := ask(t, "v: "+src+"\n")
		s1, ok1 := theirs.(string)
		s2, ok2 := ours.(string)
		if (err == nil) != (ok1 && ok2 && s1 == s2) || err == nil && got != s1 {
			t.Errorf("%s: got %q, %v; kubectl %#v, yaml.v3 %#v", src, got, err, theirs, ours)
		}
	}
}

// ask decodes v with both libraries. nil also means an error.
func ask(t *testing.T, src string) (theirs, ours any) {
	t.Helper()
	var a, b struct{ V any }
	_ = sigs.Unmarshal([]byte(src), &a)
	_ = yaml.Unmarshal([]byte(src), &b)
	return a.V, b.V
}

// TestPlainlyString asserts that plainlyString accepts only scalars that both libraries read as
// strings. It tries all short words of relevant letters, and a few longer words in any mix of case.
func TestPlainlyString(t *testing.T) {
	var words []string
	var grow func(w string)
	grow = func(w string) {
		words = append(words, w)
		if len(w) < 3 {
			for _, c := range "yesnoftru" {
				grow(w + string(c))
			}
		}
	}
	for _, c := range "abcdefghijklmnopqrstuvwxyzYNTFOE_" {
		grow(string(c))
	}
	for _, w := range []string{"yes", "no", "on", "off", "true", "false", "null", "nan", "inf"} {
		for i := range 1 << len(w) {
			b := []byte(w)
			for j := range b {
				if i>>j&1 == 1 {
					b[j] -= 'a' - 'A'
				}
			}
			words = append(words, string(b))
		}
	}
	var doc strings.Builder
	for _, w := range words {
		doc.WriteString("- " + w + "\n")
	}
	var theirs, ours []any
	if err := sigs.Unmarshal([]byte(doc.String()), &theirs); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(doc.String()), &ours); err != nil {
		t.Fatal(err)
	}
	for i, w := range words {
		both := theirs[i] == any(w) && ours[i] == any(w)
		if plainlyString(&yaml.Node{Kind: yaml.ScalarNode, Value: w}) && !both {
			t.Errorf("%s: kubectl %#v, yaml.v3 %#v", w, theirs[i], ours[i])
		}
	}
}
