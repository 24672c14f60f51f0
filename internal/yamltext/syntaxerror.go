package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError reports why and where a stream is not valid YAML.
type SyntaxError struct {
	Line, Column int // 1-based; columns count characters
	Msg          string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
}

var errTrailing = errors.New("did not find expected <document start>")

// yamlPrefix matches the prefix of yaml.v3's messages. The line number may be missing, or may be
// the line of a context, counted from zero.
var yamlPrefix = regexp.MustCompile(`^yaml: (line (\d+): )?`)

// longSearched is the maximum size, in bytes, of a document in which locate searches for the
// position of an error. The search parses the document about twenty times. For larger documents,
// locate returns the line from yaml.v3.
const longSearched = 1 << 20

// locate adds a position to yaml.v3's error for a chunk. yaml.v3 does not report the position, so
// locate searches for the point from which on the error is inevitable.
func (f *File) locate(c chunk, text []byte, err error) error {
	msg := yamlPrefix.ReplaceAllString(err.Error(), "")
	if len(text) > longSearched {
		line := 1
		if m := yamlPrefix.FindStringSubmatch(err.Error()); m != nil && m[2] != "" {
			line, _ = strconv.Atoi(m[2])
		}
		return &SyntaxError{Line: c.line + line, Column: 1, Msg: msg}
	}
	at := -1
	switch {
	case msg == "found unexpected end of stream":
		at = openQuote(text, err)
		msg = "found unexpected end of stream in a quoted scalar"
		if c.end < len(f.Src) {
			msg = "found unexpected document indicator in a quoted scalar"
		}
	case strings.HasPrefix(msg, "did not find expected ','"), msg == "did not find expected node content":
		at = brokenFlow(text, err)
	}
	if at < 0 {
		at = shortestFailure(text, err)
		switch {
		case strings.HasPrefix(msg, "unknown anchor"), strings.HasPrefix(msg, "found undefined tag"):
			for at > 0 && text[at] != '*' && !isBlankOrEnd(text, at-1) {
				at--
			}
		case errors.Is(err, errTrailing) || strings.Contains(msg, "directive") || strings.Contains(msg, "<document start>"):
			for i := at; i > 0 && breakLen(text, i) == 0; i-- {
				if text[i] == '%' && breakLen(text, i-1) > 0 {
					at = i
				}
			}
		}
	}
	line, column := f.Position(c.text + at)
	return &SyntaxError{Line: line, Column: column, Msg: msg}
}

func fails(text []byte, err error) bool {
	_, e := decode(text)
	return e != nil && e.Error() == err.Error()
}

// shortestFailure returns the last character of the shortest prefix of the text with the same error
// as the whole text.
func shortestFailure(text []byte, err error) int {
	n := sort.Search(len(text), func(n int) bool {
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		return fails(text[:n], err)
	})
	at := max(0, min(n, len(text))-1)
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// openQuote returns the offset of the quote that is never closed: the last quote for which the text
// before it has no such error. It tries the last few quotes.
func openQuote(text []byte, err error) int {
	at := len(text)
	for range 32 {
		at = bytes.LastIndexAny(text[:at], "\"'")
		if at < 0 || !fails(text[:at], err) {
			break
		}
	}
	return at
}

// brokenFlow returns the offset of an error within a flow collection, or -1. A truncated flow
// collection always causes that error, so prefixes are tried with all brackets closed.
func brokenFlow(text []byte, err error) int {
	start := scanSpace(text, 0)
	if start == len(text) || text[start] != '{' && text[start] != '[' {
		start = openFlow(text, shortestFailure(text, err)+1)
	}
	if start < 0 {
		return -1
	}
	tokens := flowTokens(text, start)
	i := sort.Search(len(tokens), func(i int) bool {
		closed := append([]byte(nil), text[:tokens[i].end]...)
		closed = append(closed, closers(text, tokens[:i+1])...)
		_, err := decode(closed)
		return err != nil
	})
	if i < len(tokens) {
		return tokens[i].start
	}
	open := -1 // the last bracket without its closing bracket
	for depth := 0; i > 0 && depth <= 0; {
		i--
		switch text[tokens[i].start] {
		case '{', '[':
			depth++
			open = tokens[i].start
		case '}', ']':
			depth--
		}
		if depth <= 0 {
			open = -1
		}
	}
	return open
}

// openFlow returns the start of the outermost flow collection that is open at the end. The text
// before its bracket is valid. openFlow tries the last few brackets.
func openFlow(text []byte, end int) int {
	for range 32 {
		if end = bytes.LastIndexAny(text[:end], "[{"); end < 0 {
			break
		}
		if _, err := decode(text[:end]); err == nil {
			return end
		}
	}
	return -1
}

// flowTokens splits a flow collection into indicators, quoted text and plain text.
func flowTokens(text []byte, pos int) []span {
	var tokens []span
	depth := 0
	for pos = scanSpace(text, pos); pos < len(text); pos = scanSpace(text, pos) {
		end := pos + 1
		switch c := text[pos]; {
		case c == '"' || c == '\'':
			if end = scanQuoted(text, pos); end < 0 {
				end = len(text)
			}
		case !isFlowIndicator(c) && c != ':':
			if end, _ = scanPlain(text, pos, context{flow: true}); end == pos {
				end++
			}
		}
		tokens = append(tokens, span{pos, end})
		switch text[pos] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return tokens
			}
		}
		pos = end
	}
	return tokens
}

// closers returns the brackets that close the open ones.
func closers(text []byte, tokens []span) []byte {
	var stack []byte
	for _, t := range tokens {
		switch text[t.start] {
		case '{':
			stack = append(stack, '}')
		case '[':
			stack = append(stack, ']')
		case '}', ']':
			stack = stack[:max(0, len(stack)-1)]
		}
	}
	stack = append(stack, ' ')
	slices.Reverse(stack)
	return stack
}
