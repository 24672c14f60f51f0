package yamltext

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// peek returns the byte at the current position, or 0 at the end.
func (w *walker) peek() byte {
	if w.pos < len(w.src) {
		return w.src[w.pos]
	}
	return 0
}

// indicator skips the character c, which has to come next.
func (w *walker) indicator(n *yaml.Node, c byte) error {
	w.pos = scanSpace(w.src, w.pos)
	if w.peek() != c {
		return w.fail(n, "no %c", c)
	}
	w.pos++
	return nil
}

func (w *walker) alias(n *yaml.Node) error {
	if !w.hasPrefix("*" + n.Value) {
		return w.fail(n, "no alias")
	}
	w.pos += 1 + len(n.Value)
	return nil
}

func (w *walker) scalar(n *yaml.Node, in context) error {
	if isEmpty(n) {
		return nil
	}
	var end int
	var value []byte
	switch style := n.Style & quotedStyle; {
	case style == 0:
		end, value = scanPlain(w.src, w.pos, in)
	case style == yaml.LiteralStyle && w.peek() == '|', style == yaml.FoldedStyle && w.peek() == '>':
		end, value = scanBlock(w.src, w.pos, in)
	case style == yaml.SingleQuotedStyle && w.peek() == '\'', style == yaml.DoubleQuotedStyle && w.peek() == '"':
		end = scanQuoted(w.src, w.pos)
		if end < 0 {
			return w.fail(n, "no closing quote")
		}
		value = quotedValue(w.src[w.pos:end], n.Value)
	default:
		return w.fail(n, "another kind of scalar")
	}
	if string(value) != n.Value {
		return w.fail(n, "another value")
	}
	w.pos = end
	return nil
}

// quotedValue returns the value of a quoted scalar. If the scalar has escapes or line breaks, it
// returns trusted, because only the quotes have been checked.
func quotedValue(text []byte, trusted string) []byte {
	quote, inner := text[:1], text[1:len(text)-1]
	for i := range inner {
		if breakLen(inner, i) > 0 || inner[i] == '\\' && quote[0] == '"' {
			return []byte(trusted)
		}
	}
	if quote[0] == '\'' {
		return bytes.ReplaceAll(inner, []byte("''"), quote)
	}
	return inner
}

func (w *walker) sequence(n *yaml.Node, in context) error {
	if n.Style&yaml.FlowStyle != 0 {
		if err := w.indicator(n, '['); err != nil {
			return err
		}
		for _, c := range n.Content {
			if err := w.node(c, context{flow: true}); err != nil {
				return err
			}
			w.comma()
		}
		return w.indicator(n, ']')
	}
	_, column := w.position(w.pos)
	for _, c := range n.Content {
		if err := w.indicator(n, '-'); err != nil {
			return err
		}
		if err := w.node(c, context{indent: column - 1}); err != nil {
			return err
		}
	}
	return nil
}

// comma skips a comma if it comes next.
func (w *walker) comma() {
	if next := scanSpace(w.src, w.pos); next < len(w.src) && w.src[next] == ',' {
		w.pos = next + 1
	}
}

// mapping walks a block mapping, a flow mapping, or a pair in a flow sequence. bare reports whether
// the mapping begins at its first key.
func (w *walker) mapping(n *yaml.Node, in context, bare bool) error {
	inner := context{flow: n.Style&yaml.FlowStyle != 0}
	braces := inner.flow && !bare && w.peek() == '{'
	if braces {
		w.pos++
	} else if !inner.flow {
		_, column := w.position(w.pos)
		inner.indent = column - 1
	}
	for key, value := range Pairs(n) {
		if err := w.entry(n, key, value, inner); err != nil {
			return err
		}
		if braces {
			w.comma()
		}
	}
	if braces {
		return w.indicator(n, '}')
	}
	return nil
}

// entry walks a key and its value.
func (w *walker) entry(m, key, value *yaml.Node, in context) error {
	explicit := false
	if next := scanSpace(w.src, w.pos); next < len(w.src) && w.src[next] == '?' && (in.flow || isBlankOrEnd(w.src, next+1)) {
		explicit = true
		w.pos = next + 1
		w.d.marks[key] = next
	}
	if err := w.node(key, in); err != nil {
		return err
	}
	next := scanSpace(w.src, w.pos)
	if next < len(w.src) && w.src[next] == ':' && (in.flow || isBlankOrEnd(w.src, next+1)) {
		_, column := w.position(next)
		// In a block, the colon of an explicit key is below its question mark. Any other colon
		// belongs to a mapping whose key is this mapping.
		if in.flow || !explicit || column-1 == in.indent {
			w.pos = next + 1
			return w.node(value, in)
		}
	}
	if !isEmpty(value) || !explicit && !in.flow {
		return w.fail(m, "no colon")
	}
	w.d.spans[value] = span{w.pos, w.pos}
	return nil
}
