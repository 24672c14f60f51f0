package yamltext

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPunctuation asserts that punctuation never counts too few nodes or documents.
func TestPunctuation(t *testing.T) {
	for _, text := range []string{
		"a: 1\n", "{a,b,c}", "[[],[],[]]", "- - - a", "? a\n? b", "a: |\n  x\n  y\n", "{? a, ? b: c}",
		"---\n---\n...\n---\na", "a\r---\rb", "a\u0085---\u0085b", "a\u2028---\u2029b", "%YAML 1.1\n---\na", "{a: {b: {c: d}}}",
		"\"a\": \"b\"\n", "a:\n- b\n-\n- c:\n  d:\n", "[a: b, c: d]", "{}{} [1]\n{}", "&a x: *a", "!t a: !u\nb:",
	} {
		file, wrong := ParseManifest("", []byte(text), Limits{})
		if wrong != nil {
			t.Fatalf("%q: %v", text, wrong)
		}
		nodes := 0
		for _, d := range file.Docs {
			nodes += size(d.Root)
		}
		mostNodes, mostDocuments := punctuation([]byte(text))
		if nodes > mostNodes || len(file.Docs) > mostDocuments {
			t.Errorf("%q: %d nodes in %d documents, counted %d in %d", text, nodes, len(file.Docs), mostNodes, mostDocuments)
		}
	}
	if _, wrong := ParseManifest("f", []byte(strings.Repeat("[", 600)+strings.Repeat("]", 600)), Limits{}); wrong == nil || !strings.Contains(wrong.String(), "f:1:501: error: UC108: ") {
		t.Error(wrong)
	}
}

func size(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	total := 1
	for _, c := range n.Content {
		total += size(c)
	}
	return total
}
