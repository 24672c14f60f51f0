package yamltext

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

// Quoted returns the quoted replacement for a scalar that String rejects.
func Quoted(n *yaml.Node) string {
	if v, _ := askKubectl(n); n.ShortTag() == "!!binary" && v != nil {
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%q", n.Value)
}

const quotedStyle = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// String returns the string value of a scalar if kubectl (YAML 1.1, through sigs.k8s.io/yaml) and
// yaml.v3 agree on it. It follows aliases. The error describes the reading that differs.
func String(n *yaml.Node) (string, error) {
	n = Resolve(n)
	switch {
	case n == nil:
		return "", errors.New("there is no value")
	case n.Kind == yaml.MappingNode:
		return "", errors.New("a mapping is not a string")
	case n.Kind == yaml.SequenceNode:
		return "", errors.New("a list is not a string")
	case n.Kind != yaml.ScalarNode:
		return "", errors.New("not a string")
	case plainlyString(n):
		return n.Value, nil
	}
	text := excerpt(n)
	theirs, err := askKubectl(n)
	if err != nil {
		return "", fmt.Errorf("kubectl cannot read %s: %w", text, err)
	}
	s, ok := theirs.(string)
	if !ok {
		return "", fmt.Errorf("kubectl reads %s as %s", text, describe(theirs))
	}
	if n.ShortTag() == "!!binary" { // the decoded string differs from the text, and could hide in it
		return "", fmt.Errorf("kubectl reads %s as %q; write that", text, s)
	}
	var ours any
	if err := n.Decode(&ours); err != nil {
		return "", fmt.Errorf("yaml.v3 cannot read %s: %w", text, err)
	}
	switch o := ours.(type) {
	case string:
		if o != s {
			return "", fmt.Errorf("kubectl reads %s as %q, yaml.v3 as %q", text, s, o)
		}
	default:
		return "", fmt.Errorf("yaml.v3 reads %s as %s, kubectl as a string", text, describe(o))
	}
	return s, nil
}

// plainlyString reports whether a scalar is certainly read as its text: it is quoted, or plain in a
// form that neither library resolves. Both libraries look at the first character and, if it is a
// letter, compare the scalar with a few words.
func plainlyString(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	if n.Style&quotedStyle != 0 {
		return true
	}
	if n.Value == "" {
		return false
	}
	switch c := n.Value[0]; {
	case c == 'y', c == 'Y', c == 'n', c == 'N', c == 't', c == 'T', c == 'f', c == 'F', c == 'o', c == 'O':
		return len(n.Value) > len("false") || !resolved[strings.ToLower(n.Value)]
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	}
	return false
}

// resolved contains the words, in lower case, that YAML 1.1 does not read as strings.
var resolved = map[string]bool{
	"y": true, "yes": true, "n": true, "no": true, "on": true, "off": true,
	"true": true, "false": true, "null": true,
}

// scalarText returns the text of a document that consists of a scalar.
func scalarText(n *yaml.Node) (string, error) {
	text := n.Value
	if n.Style&quotedStyle != 0 || strings.ContainsAny(text, "\n\r") {
		quoted, err := json.Marshal(text)
		if err != nil {
			return "", err
		}
		text = string(quoted)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		text = "!<" + n.LongTag() + "> " + text
	}
	return text, nil
}

// askKubectl decodes a scalar with sigs.k8s.io/yaml.
func askKubectl(n *yaml.Node) (any, error) {
	text, err := scalarText(n)
	if err != nil {
		return nil, err
	}
	var doc struct{ V any }
	err = sigs.Unmarshal([]byte("v: "+text+"\n"), &doc)
	return doc.V, err
}

// keyText returns the name of a key after kubectl's conversion of the mapping to JSON.
func keyText(k *yaml.Node) string {
	if plainlyString(k) || isMerge(k) {
		return k.Value
	}
	text, err := scalarText(k)
	if err != nil {
		return k.Value
	}
	var doc map[string]any
	if sigs.Unmarshal([]byte("? "+text+"\n: 0\n"), &doc) == nil {
		for name := range doc {
			return name
		}
	}
	return k.Value
}

// excerpt shortens a scalar for an error message.
func excerpt(n *yaml.Node) string {
	text := n.Value
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "..."
	}
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Sprintf("%s %q", n.Tag, text)
	case text == "":
		return "the empty value"
	case strings.ContainsAny(text, "\n\r"):
		return fmt.Sprintf("%q", text)
	}
	return text
}

// describe names a value that is not a string.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case time.Time:
		return "a timestamp"
	case float64, int, int64, uint64:
		return fmt.Sprintf("the number %v", v)
	}
	return fmt.Sprintf("a %T", v)
}
