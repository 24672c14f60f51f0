package yamltext

import (
	"fmt"
	"strings"
	"testing"
)

func TestSyntaxError(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"tab as indentation", "a:\n\tb: 1\n", "2:1: found character that cannot start any token"},
		{"tab after quoted", "a: \"x\"\n\tb: 1\n", "2:1: found character that cannot start any token"},
		{"tab in indentation", "a:\n  b: 1\n \tc: 2\n", "3:2: found a tab character that violates indentation"},
		{"tab in literal", "a: |\n\tx\n", "2:1: found a tab character where an indentation space is expected"},
		{"second colon", "a: 1\nb: c: d\n", "2:5: mapping values are not allowed in this context"},
		{"no colon", "a: 1\nb\nc: 2\n", "2:1: could not find expected ':'"},
		{"indentation", "a:\n  b: 1\n c: 2\n", "3:2: did not find expected key"},
		{"indentation below", "x: 1\na:\n  b: 1\n c: 2\n", "4:2: did not find expected key"},
		{"list indentation", "x: 1\na:\n  - b\n - c\n", "4:2: did not find expected key"},
		{"open quote", "a: \"x\"\nb: \"c\nd: 1\n", "2:4: found unexpected end of stream in a quoted scalar"},
		{"open quote, one line", `{"a": "b", "c: 1}`, "1:12: found unexpected end of stream in a quoted scalar"},
		{"open quote before marker", "a: 'b\n---\nc: 1\n", "1:4: found unexpected document indicator in a quoted scalar"},
		{"open bracket", "a: 1\nb: [1, 2\nc: 3\n", "3:2: did not find expected ',' or ']'"},
		{"open bracket at the end", "a: 1\nb: [1, {c: 2}, 3\n", "2:4: did not find expected ',' or ']'"},
		{"bracket in a block", "a: 1\nb: {c: [1, 2}, d: 3}\n", "2:13: did not find expected ',' or ']'"},
		{"nothing behind a comma", "{\"a\": 1, \"b\": [1, }, \"c\": 2}\n", "1:19: did not find expected node content"},
		{"bracket out of place", "a: [1]\nb: }\n", "2:4: did not find expected node content"},
		{"only brackets", "[[[[", "1:4: did not find expected node content"},
		{"open JSON", "{\n  \"a\": {\n    \"b\": 1\n", "2:8: did not find expected ',' or '}'"},
		{"JSON without comma", "{\n  \"a\": \"x\"\n  \"b\": {\n  }\n}\n", "3:3: did not find expected ',' or '}'"},
		{"JSON without comma, number", "{\n  \"a\": 1\n  \"b\": {\n  }\n}\n", "3:6: did not find expected ',' or '}'"},
		{"wrong bracket", "{\"a\": [1, 2}\n", "1:12: did not find expected ',' or ']'"},
		{"too many brackets", "{\"a\": 1}}\n", "1:9: did not find expected <document start>"},
		{"text behind", "[a]\nb: 1\n", "2:1: did not find expected <document start>"},
		{"unknown anchor", "ä: é\nb: [ü, *nope]\n", "2:8: unknown anchor 'nope' referenced"},
		{"unknown tag", "b: !x!y z\n", "1:4: found undefined tag handle"},
		{"later document", "a: 1\n---\nb: 1\n---\n# ä\nc: d: e\n", "6:5: mapping values are not allowed in this context"},
		{"CRLF", "a: 1\r\nb: c: d\r\n", "2:5: mapping values are not allowed in this context"},
		{"control character", "a: 1\nä\x01: 2\n", "2:2: control characters are not allowed"},
		{"invalid UTF-8", "a: 1\nb: \xff\n", "2:4: invalid UTF-8"},
		{"UTF-16", "\xff\xfea\x00", "1:1: the file is encoded as UTF-16, not UTF-8"},
		{"behind the end marker", "a: 1\n... b\n", "2:5: did not find expected <document start>"},
		{"late directive", "a: 1\n%YAML 1.1\n---\nb: 2\n", "2:1: did not find expected <document start>"},
		{"escape", "a: \"b\\q\"\n", "1:6: found unknown escape character"},
		{"reserved", "a: @b\n", "1:4: found character that cannot start any token"},
		{"BOM", "\ufeffa: b: c\n", "1:5: mapping values are not allowed in this context"},
		{"too long to search", "---\n# " + strings.Repeat("x", longSearched) + "\na: 1\nb: c: d\n", "4:1: mapping values are not allowed in this context"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.src))
			if got := fmt.Sprint(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
