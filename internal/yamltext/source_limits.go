package yamltext

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"

	"github.com/unioncel/unioncel/pkg/diag"
)

// TooMuch returns a diagnostic if an unparsed text exceeds a limit. It considers only the size and
// the punctuation, because counting them needs no memory.
func TooMuch(name string, text []byte, l Limits) *diag.Diagnostic {
	nodes, documents := punctuation(text)
	for _, x := range []struct {
		name, what string
		is, may    int
	}{
		{"size", "bytes", len(text), l.Size},
		{"documents", "documents", documents, l.Documents},
		{"nodes", "keys, values and items", nodes, l.Nodes},
	} {
		if x.is > x.may {
			return new(diag.New(codes.OverLimit, diag.Pos{File: name}, "the file has more %s than the limit of %d", x.what, x.may).
				Hinted(LimitHint(x.name)))
		}
	}
	return nil
}

// punctuation returns upper bounds for the numbers of nodes and documents. Except for the roots,
// each indicator accounts for at most two nodes; for example, a colon for a key and a value.
func punctuation(text []byte) (nodes, documents int) {
	documents = 1
	begins := true  // at the start of a line
	closed := false // after the end of a list or mapping
	for i, c := range text {
		if begins && i+3 <= len(text) && (string(text[i:i+3]) == "---" || string(text[i:i+3]) == "...") {
			documents++
		}
		// The last bytes of NEL, LS and PS also count as line breaks. In other characters, these
		// bytes only raise the bound.
		begins = c == '\n' || c == '\r' || c == 0x85 || c == 0xA8 || c == 0xA9
		if closed && (c == '{' || c == '[') {
			documents++ // in a stream of JSON
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			closed = c == '}' || c == ']'
		}
		switch c {
		case ',', ':', '[', '{', '-', '?':
			nodes += 2
		}
	}
	return nodes + documents, documents
}

// deepest returns the first list or mapping that is nested in more than levels others, or nil.
func deepest(n *yaml.Node, levels int) *yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode && n.Kind != yaml.MappingNode {
		return nil
	}
	if levels == 0 {
		return n
	}
	for _, c := range n.Content {
		if found := deepest(c, levels-1); found != nil {
			return found
		}
	}
	return nil
}
