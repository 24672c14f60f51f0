package yamltext

import "unicode/utf8"

// The functions in this file follow yaml.v3's scanner step by step, because they have to find the
// same end of a scalar. src is the text up to the end of the document.

// context is the scanner's state around a node.
type context struct {
	indent int  // 0-based column of the innermost block collection, or -1
	flow   bool // inside of [] or {}
}

// scanSpace returns the offset of the next token, after blanks, line breaks and comments.
func scanSpace(src []byte, pos int) int {
	for pos < len(src) {
		if n := breakLen(src, pos); n > 0 {
			pos += n
		} else if isBlank(src, pos) {
			pos++
		} else if src[pos] == '#' {
			pos = scanToBreak(src, pos)
		} else {
			break
		}
	}
	return pos
}

func scanToBreak(src []byte, pos int) int {
	for pos < len(src) && breakLen(src, pos) == 0 {
		pos++
	}
	return pos
}

// appendBreak appends the value of a line break in a scalar.
func appendBreak(s, brk []byte) []byte {
	if brk[0] == 0xE2 {
		return append(s, brk...)
	}
	return append(s, '\n')
}

// scanPlain returns the end and the value of the plain scalar at pos.
func scanPlain(src []byte, pos int, in context) (end int, value []byte) {
	var blanks, leading, trailing []byte
	broken := false // a line break precedes pos; column counts from it
	column := 0
	end = pos
	for {
		if broken && column == 0 && (isMarker(src[pos:], "---") || isMarker(src[pos:], "...")) {
			break
		}
		if pos < len(src) && src[pos] == '#' {
			break
		}
		for !isBlankOrEnd(src, pos) {
			c := src[pos]
			if c == ':' && isBlankOrEnd(src, pos+1) || in.flow && isFlowIndicator(c) {
				break
			}
			if broken {
				if leading[0] != '\n' {
					value = append(value, leading...)
				} else if len(trailing) == 0 {
					value = append(value, ' ')
				}
				value = append(value, trailing...)
				leading, trailing, broken = leading[:0], trailing[:0], false
			} else {
				value = append(value, blanks...)
				blanks = blanks[:0]
			}
			_, n := utf8.DecodeRune(src[pos:])
			value = append(value, src[pos:pos+n]...)
			pos += n
			end = pos
		}
		if !isBlank(src, pos) && breakLen(src, pos) == 0 {
			break
		}
		for {
			if n := breakLen(src, pos); n > 0 {
				if broken {
					trailing = appendBreak(trailing, src[pos:pos+n])
				} else {
					blanks = blanks[:0]
					leading = appendBreak(leading, src[pos:pos+n])
					broken = true
				}
				pos, column = pos+n, 0
			} else if isBlank(src, pos) {
				if !broken {
					blanks = append(blanks, src[pos])
				}
				pos, column = pos+1, column+1
			} else {
				break
			}
		}
		if broken && !in.flow && column <= in.indent {
			break
		}
	}
	return end, value
}

func isFlowIndicator(c byte) bool {
	switch c {
	case ',', '?', '[', ']', '{', '}':
		return true
	}
	return false
}

// scanQuoted returns the offset after the closing quote of the scalar at pos, or -1.
func scanQuoted(src []byte, pos int) int {
	quote := src[pos]
	for pos++; pos < len(src); pos++ {
		switch {
		case src[pos] == '\\' && quote == '"':
			pos++
		case src[pos] != quote:
		case quote == '\'' && pos+1 < len(src) && src[pos+1] == quote:
			pos++
		default:
			return pos + 1
		}
	}
	return -1
}

// scanBlock returns the end and the value of the literal or folded scalar at pos. It ends after its
// last line with content or, if trailing line breaks are kept, before the last of them.
func scanBlock(src []byte, pos int, in context) (end int, value []byte) {
	folded := src[pos] == '>'
	keep, strip, indent := false, false, 0
	for pos++; pos < len(src); pos++ {
		c := src[pos]
		if c == '+' || c == '-' {
			keep, strip = c == '+', c == '-'
		} else if c >= '1' && c <= '9' {
			indent = max(in.indent, 0) + int(c-'0')
		} else {
			break
		}
	}
	end = pos
	pos = scanToBreak(src, pos)
	pos += breakLen(src, pos)

	column, lastBreak := 0, -1
	var leading, trailing []byte
	indentation := func() {
		deepest := 0
		for {
			for (indent == 0 || column < indent) && pos < len(src) && src[pos] == ' ' {
				pos, column = pos+1, column+1
			}
			deepest = max(deepest, column)
			n := breakLen(src, pos)
			if n == 0 {
				break
			}
			trailing = appendBreak(trailing, src[pos:pos+n])
			lastBreak = pos
			pos, column = pos+n, 0
		}
		if indent == 0 {
			indent = max(deepest, in.indent+1, 1)
		}
	}
	indentation()
	afterBlank := false // the previous line begins with a blank: do not fold
	for column == indent && pos < len(src) {
		blank := isBlank(src, pos)
		if !folded || afterBlank || blank || len(leading) == 0 || leading[0] != '\n' {
			value = append(value, leading...)
		} else if len(trailing) == 0 {
			value = append(value, ' ')
		}
		value = append(value, trailing...)
		leading, trailing = leading[:0], trailing[:0]
		afterBlank = blank

		end = scanToBreak(src, pos)
		value = append(value, src[pos:end]...)
		pos = end
		if n := breakLen(src, pos); n > 0 {
			leading = appendBreak(leading, src[pos:pos+n])
			lastBreak = pos
			pos, column = pos+n, 0
		}
		indentation()
	}
	if !strip {
		value = append(value, leading...)
	}
	if keep {
		value = append(value, trailing...)
		end = max(end, lastBreak)
	}
	return end, value
}
