package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// marker begins the text of a comment that disables findings:
//
//	# unioncel:ignore UC521,UC523: why
const marker = "unioncel:ignore"

// Comments are the comments in a file that disable diagnostics. A comment above the key
// x-kubernetes-unions applies to all unions of this key. A comment above an item, or on a line of
// the item, applies to this union.
type Comments struct {
	file string
	l    []*comment
}

// comment is a comment that disables diagnostics.
type comment struct {
	at    diag.Pos
	codes []ignored
	scope *commentScope // nil if the comment is not at a declaration
}

// ignored is a code in a comment.
type ignored struct {
	code   diag.Code
	at     diag.Pos
	used   bool
	delete []diag.Edit // nil if the code cannot be deleted
}

// commentScope is the range that a comment applies to.
type commentScope struct {
	list     *yaml.Node // the value of x-kubernetes-unions
	from, to int        // lines
	path     string     // if not empty, only diagnostics at this schema path
}

func (s *commentScope) holds(d diag.Diagnostic) bool {
	return s != nil && s.from <= d.Pos.Line && d.Pos.Line <= s.to && (s.path == "" || s.path == d.Schema)
}

// ReadComments reads the comments of a YAML file. name is the file's name in diagnostics. If src is
// not YAML, the result is empty.
func ReadComments(name string, src []byte) *Comments {
	c := &Comments{file: name}
	if !bytes.Contains(src, []byte(marker)) {
		return c
	}
	file, wrong := source.Parse(name, src, limit.None())
	if wrong != nil {
		return c
	}
	for _, d := range file.Docs {
		if d.Root != nil && bytes.Contains(src[d.Start:d.End], []byte(marker)) {
			c.document(file, d)
		}
	}
	return c
}

// Apply returns the diagnostics that no comment disables. Errors stay. Apply does not change l.
func (c *Comments) Apply(l diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(l), func(d diag.Diagnostic) bool {
		if d.Pos.File != c.file || fixed(d.Code) || d.Severity == diag.Error {
			return false
		}
		off := false
		for _, one := range c.l {
			for i := range one.codes {
				if one.codes[i].code == d.Code && one.scope.holds(d) {
					one.codes[i].used, off = true, true
				}
			}
		}
		return off
	})
}

// Useless returns a warning for each comment, or code in one, that has disabled nothing so far.
func (c *Comments) Useless() diag.List {
	var l diag.List
	report := func(at diag.Pos, path, hint, format string, args ...any) {
		l = append(l, diag.Diagnostic{Code: codes.UselessIgnore, Severity: diag.Warning, Pos: at, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	for _, one := range c.l {
		path := ""
		if one.scope != nil {
			path = one.scope.path
		}
		switch {
		case one.scope == nil:
			report(one.at, path, "put it above "+union.Key+", above one of its items, or on a line of one", "this comment is not next to the declaration of a union")
			continue
		case len(one.codes) == 0:
			report(one.at, path, "write it like # "+marker+" UC521: why", "this comment names no code to ignore")
		}
		for _, i := range one.codes {
			switch hint := unknownCode(i.code); {
			case hint != "":
				report(i.at, path, hint, "there is no diagnostic %q to ignore", i.code)
				if upper := strings.ToUpper(string(i.code)); i.delete != nil && unknownCode(diag.Code(upper)) == "" {
					l[len(l)-1].Edits = diag.Replace(i.at.Line, i.at.Col, string(i.code), upper)
				}
			case fixed(i.code):
				report(i.at, path, "fix the error, and delete the code here", "%s is an error, which cannot be ignored", i.code)
			case !i.used:
				report(i.at, path, "delete it", "there is no %s here to ignore", i.code)
				l[len(l)-1].Edits = i.delete
			}
		}
	}
	return l
}

// fixed reports whether a code is always an error.
func fixed(code diag.Code) bool {
	info, ok := code.Info()
	return ok && info.Severity == diag.Error
}

// unknownCode returns a hint for a code that does not exist, and "" for other codes.
func unknownCode(code diag.Code) string {
	if _, ok := code.Info(); ok {
		return ""
	}
	var known []string
	for _, c := range Codes() {
		known = append(known, string(c))
	}
	if upper := strings.ToUpper(string(code)); slices.Contains(known, upper) {
		return "write " + upper
	}
	if best := spelling.Closest(string(code), known); best != "" && looksLikeCode(string(code)) {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return "codes are written like UC521; docs/diagnostics.md lists them"
}

func looksLikeCode(s string) bool { return strings.HasPrefix(strings.ToUpper(s), "UC") }

// lineSpan is a range of bytes.
type lineSpan struct{ start, end int }

// codePattern matches a code in a comment.
var codePattern = regexp.MustCompile(`[^\s,]+`)

// document reads the comments of one document.
func (c *Comments) document(f *yamltext.File, d *yamltext.Document) {
	var scalars []lineSpan
	var keys []declaring
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			if start, end, err := f.Span(d, n); err == nil {
				scalars = append(scalars, lineSpan{start, end})
			}
		}
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == union.Key && child.Kind == yaml.SequenceNode {
				keys = append(keys, newDeclaring(f, d, n.Content[i-1], child))
			}
			visit(child)
		}
	}
	visit(d.Root)
	for at := d.Start; ; at += len(marker) {
		i := bytes.Index(f.Src[at:d.End], []byte(marker))
		if i < 0 {
			return
		}
		at += i
		start, ok := commentStart(f.Src, at)
		inText := slices.ContainsFunc(scalars, func(s lineSpan) bool { return s.start <= start && start < s.end })
		if !ok || inText {
			continue
		}
		c.l = append(c.l, c.read(f, start, at, keys))
	}
}

// commentStart returns the start of the comment whose text begins at offset at.
func commentStart(src []byte, at int) (int, bool) {
	i := at
	for i > 0 && (src[i-1] == ' ' || src[i-1] == '\t') {
		i--
	}
	for i > 0 && src[i-1] == '#' {
		i--
	}
	return i, i < at && src[i] == '#' && (i == 0 || bytes.IndexByte([]byte(" \t\r\n"), src[i-1]) >= 0)
}

// read reads the comment that begins at start and has its marker at offset at.
func (c *Comments) read(f *yamltext.File, start, at int, keys []declaring) *comment {
	text := f.Src[at+len(marker):]
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	codes, _, _ := bytes.Cut(text, []byte(":"))
	one := &comment{at: c.pos(f, start)}
	var words []lineSpan
	for _, w := range codePattern.FindAllIndex(codes, -1) {
		if !looksLikeCode(string(codes[w[0]:w[1]])) {
			break // the reason begins without a colon
		}
		word := lineSpan{at + len(marker) + w[0], at + len(marker) + w[1]}
		words = append(words, word)
		one.codes = append(one.codes, ignored{code: diag.Code(f.Src[word.start:word.end]), at: c.pos(f, word.start)})
	}
	line := bytes.LastIndexAny(f.Src[:start], "\r\n") + 1
	alone := len(bytes.TrimSpace(f.Src[line:start])) == 0
	for i := range one.codes {
		one.codes[i].delete = c.deletion(f, start, words, i, alone)
	}
	for i := range keys {
		if one.scope = keys[i].scope(one.at.Line, alone); one.scope != nil {
			break
		}
	}
	return one
}

// deletion returns the edit that deletes codes[i] from the comment at start. It deletes the whole
// comment if this is the only code. If alone is set, nothing precedes the comment on its line, and
// the line is deleted as well. The result is nil if the comment contains a line break that only
// YAML recognizes.
func (c *Comments) deletion(f *yamltext.File, start int, codes []lineSpan, i int, alone bool) []diag.Edit {
	from, to := start, len(f.Src)
	if end := bytes.IndexAny(f.Src[start:], "\r\n"); end >= 0 {
		to = start + end
	}
	switch {
	case bytes.ContainsAny(f.Src[from:to], "\u0085\u2028\u2029"):
		return nil // line breaks in YAML: the comment ends there
	case i > 0:
		from, to = codes[i-1].end, codes[i].end
	case len(codes) > 1:
		from, to = codes[0].start, codes[1].start
	default:
		from = len(bytes.TrimRight(f.Src[:from], " \t"))
		if alone {
			to += len(f.Src[to:]) - len(bytes.TrimPrefix(bytes.TrimPrefix(f.Src[to:], []byte("\r")), []byte("\n")))
		}
	}
	at := c.pos(f, from)
	return []diag.Edit{{Line: at.Line, Col: at.Col, Old: string(f.Src[from:to])}}
}

func (c *Comments) pos(f *yamltext.File, offset int) diag.Pos {
	line, col := f.Position(offset)
	return diag.Pos{File: c.file, Line: line, Col: col}
}

// declaring is a key with declarations in the text.
type declaring struct {
	value *yaml.Node
	key   int   // line
	above int   // the first line of the comments directly above the key
	from  []int // the first line of each item and the comments above it
	to    []int
}

func newDeclaring(f *yamltext.File, d *yamltext.Document, key, value *yaml.Node) declaring {
	k := declaring{value: value, key: key.Line, above: key.Line}
	for k.above > 1 && bytes.HasPrefix(bytes.TrimLeft(lineOf(f, k.above-1), " \t"), []byte("#")) {
		k.above--
	}
	last := key.Line
	for _, item := range value.Content {
		k.from = append(k.from, last+1)
		last = item.Line
		if _, end, err := f.Span(d, item); err == nil {
			last, _ = f.Position(end)
		}
		k.to = append(k.to, last)
	}
	return k
}

// lineOf returns a line of the file.
func lineOf(f *yamltext.File, line int) []byte {
	start, end := f.Offset(line, 1), f.Offset(line+1, 1)
	if end < 0 {
		end = len(f.Src)
	}
	if start < 0 || start > end {
		return nil
	}
	return f.Src[start:end]
}

// scope returns the scope of a comment on a line, or nil if the comment does not belong to this
// key. alone is set if the line contains only the comment.
func (k *declaring) scope(line int, alone bool) *commentScope {
	end := k.key
	if len(k.to) > 0 {
		end = k.to[len(k.to)-1]
	}
	if line == k.key || alone && k.above <= line && line < k.key {
		return &commentScope{list: k.value, from: k.key, to: end}
	}
	for i := range k.from {
		if k.from[i] <= line && line <= k.to[i] {
			return &commentScope{list: k.value, from: k.from[i], to: k.to[i]}
		}
	}
	return nil
}

// Ignore returns the diagnostics of compiling a file that no comment in the file disables. It does
// not change l.
func Ignore(f *crdfile.File, opts crdfile.Options, l diag.List) diag.List {
	if len(l) == 0 || !bytes.Contains(f.Bytes(), []byte(marker)) {
		return l
	}
	return commentsOfFile(f, resolved(f.CRDs(opts))).Apply(l)
}

// commentsOfFile reads the comments of a file of CRDs. declared are the unions of the CRDs. If
// compiling removed a declaration, its comments apply to the schema that had it.
func commentsOfFile(f *crdfile.File, declared []*compile.Declared) *Comments {
	name, src := f.Name(), f.Bytes()
	if !bytes.Contains(src, []byte(marker)) {
		return &Comments{file: name}
	}
	base, diags := crdpatch.Decompile(f, crdfile.Options{})
	if diags.HasErrors() || bytes.Equal(base, src) {
		return ReadComments(name, src)
	}
	c := ReadComments(name, base)
	sources := resolved(crdfile.Open(name, base).WithLimits(limit.None()).CRDs(crdfile.Options{}))
	c.l = slices.DeleteFunc(c.l, func(one *comment) bool { return !one.move(name, sources, declared) })
	return c
}

// move turns a comment in the decompiled file into a comment of the compiled file. Its new position
// is the position of the object with the declaration, because the comment itself has none.
func (c *comment) move(file string, sources, declared []*compile.Declared) bool {
	if c.scope == nil {
		return false
	}
	for i, d := range sources {
		if d == nil || i >= len(declared) || declared[i] == nil {
			continue
		}
		for _, o := range d.Objects {
			if o.Value.Line != c.scope.list.Line || o.Value.Column != c.scope.list.Column {
				continue
			}
			at := slices.IndexFunc(declared[i].Objects, func(p compile.Object) bool { return p.Is(o.Place) })
			if at < 0 {
				return false
			}
			p := declared[i].Objects[at]
			c.scope = &commentScope{p.Value, p.Node.Line, lastLine(p.Node), p.Place.Structural()}
			c.at = diag.Pos{File: file, Line: p.Node.Line, Col: p.Node.Column}
			for i := range c.codes {
				c.codes[i].at, c.codes[i].delete = c.at, nil
			}
			return true
		}
	}
	return false
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}
