package yamledit

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// Suffix is a sentence that is appended to a string for human readers.
type Suffix struct {
	// Joint separates the text and the sentence. It is a space or a line break, each with or
	// without a full stop before it, two line breaks, or nothing.
	Joint string
	// Sentence is a single line without surrounding spaces.
	Sentence string
	// Ended reports whether the text ends with a line break. The result then ends with one, too.
	Ended bool
}

// SuffixOf returns the suffix that appends a sentence to a text: as a paragraph if the text has
// several paragraphs, on a new line if it has several lines, and otherwise at the end of the line.
func SuffixOf(text, sentence string) Suffix {
	lines := strings.TrimRight(text, "\n")
	s := Suffix{Sentence: sentence, Ended: len(lines) < len(text)}
	end, _ := utf8.DecodeLastRuneInString(lines)
	switch {
	case lines == "":
	case strings.Contains(lines, "\n\n"):
		s.Joint = strings.Repeat("\n", max(0, 2-(len(text)-len(lines))))
	case s.Ended || unicode.IsSpace(end):
	default:
		if s.Joint = " "; strings.Contains(lines, "\n") {
			s.Joint = "\n"
		}
		word := lines[strings.LastIndexAny(lines, " \n")+1:]
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(word, ")]}\"'`*_"))
		if (unicode.IsLetter(last) || unicode.IsDigit(last)) && !strings.Contains(word, "://") {
			s.Joint = "." + s.Joint
		}
	}
	return s
}

// String returns the text that is appended.
func (s Suffix) String() string {
	if s.Ended {
		return s.Joint + s.Sentence + "\n"
	}
	return s.Joint + s.Sentence
}

// Prose is a string for human readers in a mapping, such as a description.
type Prose struct {
	Key, Value *yaml.Node
	// Flow reports whether the mapping is in flow style.
	Flow bool
	// Wrap breaks lines as YAML encoders do, in styles in which line breaks have no meaning.
	Wrap bool
}

// Wraps reports whether a YAML encoder has wrapped a string at n or below.
func (d Text) Wraps(n *yaml.Node) bool {
	for n := range yamltext.All(n) {
		start, end, err := d.Span(d.Document, n)
		if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && err == nil && bytes.IndexByte(d.Src[start:end], '\n') >= 0 {
			return true
		}
	}
	return false
}

// Append returns the edit that appends a sentence. quoted reports whether the edit quotes a plain
// string, because the sentence requires quotes.
func (d Text) Append(p Prose, s Suffix) (edit yamltext.Edit, quoted bool, err error) {
	b, err := d.Body(p.Value)
	if err != nil {
		return yamltext.Edit{}, false, err
	}
	style, indent := p.Value.Style, d.continuation(p, b)
	sentence, end := s.Sentence, ""
	switch {
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		p.Wrap = false
	case style&yaml.DoubleQuotedStyle != 0:
		sentence = jsonString(sentence)
		sentence = sentence[1 : len(sentence)-1]
		if s.Ended {
			end = `\n`
		}
	default:
		quoted = style&yaml.SingleQuotedStyle == 0 && (p.Flow || !plainProse(s.Joint+sentence, true))
		if quoted || style&yaml.SingleQuotedStyle != 0 {
			sentence = strings.ReplaceAll(sentence, "'", "''")
		}
		if s.Ended {
			end = strings.Repeat(Newline(d.Src), 2) + indent
		}
	}
	text := d.wrapped(p, b.End, d.lead(style, s, b.End, indent), sentence, indent) + end
	if quoted {
		return yamltext.Edit{Start: b.Start, End: b.End, New: "'" + strings.ReplaceAll(string(d.Src[b.Start:b.End]), "'", "''") + text + "'"}, true, nil
	}
	return yamltext.Edit{Start: b.End, End: b.End, New: text}, false, nil
}

// lead returns the source text of the joint after a string that ends at an offset.
func (d Text) lead(style yaml.Style, s Suffix, end int, indent string) string {
	nl, breaks := Newline(d.Src), strings.Count(s.Joint, "\n")
	folded, block := style&yaml.FoldedStyle != 0, style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	stop := strings.TrimRight(s.Joint, " \n")
	switch {
	case breaks == 0 && folded && s.Joint != "":
		return stop + nl + indent
	case breaks == 0 && !(block && s.Ended):
		return s.Joint
	case style&yaml.DoubleQuotedStyle != 0:
		return stop + strings.Repeat(`\n`, breaks)
	}
	if block == s.Ended { // the string's own last line break follows it, or its lines are folded
		breaks++
	}
	line := d.Src[d.LineStart(end):end]
	if folded && len(blanks(line)) <= len(indent) { // more-indented lines are not folded
		breaks++
	}
	return stop + strings.Repeat(nl, breaks) + indent
}

// Unappend returns the edit that removes a sentence from the end of a string. It reverts Append
// byte for byte. If the string was rewritten in another style, the edit restores the data, or
// Unappend returns an error. quoted is the result of Append.
func (d Text) Unappend(value *yaml.Node, s Suffix, quoted bool) (yamltext.Edit, error) {
	b, err := d.Body(value)
	if err != nil {
		return yamltext.Edit{}, err
	}
	visible := d.visible(value.Style, b)
	first := len(visible) - utf8.RuneCountInString(strings.ReplaceAll(s.Sentence, " ", ""))
	if first < 0 || first == len(visible) {
		return yamltext.Edit{}, errors.New("the string ends with something else")
	}
	start, last := visible[first].Start, b.Start
	if before := first - strings.Count(s.Joint, "."); before > 0 {
		last = visible[before-1].End
	}
	lead := d.lead(value.Style, s, last, blanks(d.Src[d.LineStart(start):start]))
	switch {
	case s.Joint == " " || s.Joint == ". ": // the space may be a line break
		start = last
	case bytes.HasSuffix(d.Src[b.Start:start], []byte(lead)):
		start -= len(lead)
	default:
		return yamltext.Edit{}, errors.New("the sentence is joined in another way")
	}
	if quoted && value.Style&yaml.SingleQuotedStyle != 0 {
		return yamltext.Edit{Start: b.Start - 1, End: b.End + 1, New: strings.ReplaceAll(string(d.Src[b.Start:start]), "''", "'")}, nil
	}
	return yamltext.Edit{Start: start, End: b.End}, nil
}

// Rewrite returns the edit that replaces a string.
func (d Text) Rewrite(value *yaml.Node, text string) (yamltext.Edit, error) {
	start, end, err := d.Span(d.Document, value)
	return yamltext.Edit{Start: start, End: end, New: jsonString(text)}, err
}

// Insert returns the edit that adds a key with a sentence to mapping n. The new entry goes before
// the first key that sorts after it, other than entry but, and before the comments above this key.
// If there is no such key, the new entry goes to the end.
func (d Text) Insert(n *yaml.Node, but int, key, sentence string, wrap bool) (yamltext.Edit, error) {
	e := Entry{Key: key, Value: StringNode(sentence), Plain: true}
	l, err := d.Entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	i := 0
	for i < len(l) && (i == but || n.Content[2*i].Value < key) {
		i++
	}
	if IsFlow(n) {
		if i == len(l) {
			return d.Put(n, e)
		}
		e.Plain = plain(n)
		lay := d.LayoutOf(n, l)
		return yamltext.Edit{Start: l[i].Start, End: l[i].Start, New: d.Broken(e.Flow(lay) + lay.comma())}, nil
	}
	at := d.LineEnd(l[len(l)-1].End)
	indent := strings.Repeat(" ", d.Indentation(n, l))
	if i < len(l) {
		if at = d.LineStart(l[i].Start); string(d.Src[at:l[i].Start]) != indent {
			return yamltext.Edit{}, errors.New("something precedes its first key on its line")
		}
		for at > 0 && bytes.HasPrefix(d.Src[d.LineStart(at-1):], []byte(indent+"#")) {
			at = d.LineStart(at - 1)
		}
	}
	head, text := indent+key+": ", ProseScalar(sentence, false)
	if wrap {
		text = broken(len(head), text, Newline(d.Src)+indent+"  ")
	}
	return yamltext.Edit{Start: at, End: at, New: d.Lines([]string{head + text})}, nil
}

// ProseScalar returns a sentence as a value in flow style or block style, with quotes only if the
// sentence requires them.
func ProseScalar(sentence string, flow bool) string {
	switch {
	case flow:
		return jsonString(sentence)
	case !plainProse(sentence, false):
		return "'" + strings.ReplaceAll(sentence, "'", "''") + "'"
	}
	return sentence
}

// plainProse reports whether a text needs no quotes in block style, either at the end of another
// text or alone.
func plainProse(text string, within bool) bool {
	letter := text != "" && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
	return (within || letter) && !strings.Contains(text, ": ") && !strings.Contains(text, " #") && !strings.HasSuffix(text, ":")
}

// Body returns the range of a string's content, without tag, anchor and quotes, and without the
// header line of a block scalar.
func (d Text) Body(value *yaml.Node) (Span, error) {
	start, end, err := d.Span(d.Document, value)
	if err != nil {
		return Span{}, err
	}
	for start < end && (d.Src[start] == '&' || d.Src[start] == '!') {
		for start < end && bytes.IndexByte([]byte(" \t\r\n"), d.Src[start]) < 0 {
			start++
		}
		for start < end && bytes.IndexByte([]byte(" \t\r\n#"), d.Src[start]) >= 0 {
			if d.Src[start] == '#' {
				start = d.LineEnd(start)
			} else {
				start++
			}
		}
	}
	switch {
	case value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if start = d.LineEnd(start); start >= end {
			return Span{}, errors.New("the block scalar is empty")
		}
	case value.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		start, end = start+1, end-1
	}
	return Span{start, end}, nil
}

// continuation returns the indentation of further lines of a string.
func (d Text) continuation(p Prose, b Span) string {
	first, _, err := d.Span(d.Document, p.Key)
	if err != nil {
		first = b.Start
	}
	indent := strings.Repeat(" ", first-d.LineStart(first)+2)
	if p.Value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		if line := d.LineStart(b.End); line > b.Start {
			return blanks(d.Src[line:b.End])
		}
		return indent
	}
	header := bytes.TrimRight(d.Src[d.LineStart(b.Start-1):b.Start], " \t\r\n")
	if header, _, _ = bytes.Cut(header, []byte(" #")); bytes.ContainsAny(header[max(0, len(header)-3):], "123456789") {
		digit := header[bytes.LastIndexAny(header, "123456789")]
		return strings.Repeat(" ", first-d.LineStart(first)+int(digit-'0'))
	}
	for line := range bytes.Lines(d.Src[b.Start:b.End]) {
		if lead := blanks(line); len(bytes.TrimSpace(line)) > 0 {
			return lead
		}
	}
	return indent
}

// blanks returns the leading spaces of a line.
func blanks(line []byte) string { return string(line[:len(line)-len(bytes.TrimLeft(line, " "))]) }

// visible returns the ranges of a string's characters except white space.
func (d Text) visible(style yaml.Style, b Span) []Span {
	var l []Span
	for at := b.Start; at < b.End; {
		r, n := utf8.DecodeRune(d.Src[at:b.End])
		switch {
		case r == '\'' && style&yaml.SingleQuotedStyle != 0:
			n = 2
		case r == '\\' && style&yaml.DoubleQuotedStyle != 0:
			r, n = escaped(d.Src[at:b.End])
		}
		if !unicode.IsSpace(r) {
			l = append(l, Span{at, at + n})
		}
		at += n
	}
	return l
}

// escaped returns the character for an escape in double quotes, and the length of the escape. The
// character is exact only for white space.
func escaped(text []byte) (rune, int) {
	if len(text) < 2 {
		return '\\', len(text)
	}
	switch c := text[1]; c {
	case 'x', 'u', 'U':
		n := min(2+map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], len(text))
		r := rune(0)
		for _, digit := range text[2:n] {
			r = r<<4 + rune(strings.IndexByte("0123456789abcdef", digit|0x20))
			if digit <= '9' {
				r = r&^0xF + rune(digit-'0')
			}
		}
		if r >= 0xD800 && r < 0xDC00 && bytes.HasPrefix(text[n:], []byte(`\u`)) { // JSON writes surrogate pairs
			n = min(n+6, len(text))
		}
		return r, n
	case 't', 'n', 'v', 'f', 'r', 'N', '_', 'L', 'P', ' ', '\t', '\n':
		return ' ', 2
	}
	return '\\', 2
}

// wrapped returns a joint and the text after it. If p is wrapped, it adds line breaks.
func (d Text) wrapped(p Prose, at int, joint, text, indent string) string {
	if !p.Wrap || p.Flow {
		return joint + text
	}
	column := utf8.RuneCount(d.Src[d.LineStart(at):at])
	if strings.HasSuffix(joint, "\n"+indent) {
		return joint + broken(len(indent), text, Newline(d.Src)+indent)
	}
	return broken(column, joint+text, Newline(d.Src)+indent)
}

// width is the column after which YAML encoders break a line at the next space.
const width = 80

// broken wraps a text that begins at the given column. It replaces spaces beyond the width with
// line, which is a line break with indentation.
func broken(column int, text, line string) string {
	var b strings.Builder
	for i, r := range text {
		alone := r == ' ' && i+1 < len(text) && text[i+1] != ' ' && (i == 0 || text[i-1] != ' ')
		if alone && column > width {
			b.WriteString(line)
			column = len(line) - strings.LastIndexByte(line, '\n') - 1
			continue
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}
