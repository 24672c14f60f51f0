package markers

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"k8s.io/gengo/v2/codetags"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// mark is a parsed union marker.
type mark struct {
	definition
	name  string // with the "+", for messages
	field *field // nil for a marker of a type
	pos   diag.Pos
	// problem is why the marker cannot be read; the other fields are meaningless then. The unions of
	// the struct do not depend on a marker with a warning.
	problem *diag.Diagnostic
	// The only correction of the problem, if it is certain: the text to replace, and its replacement.
	wrong, right string

	of       string     // the union, modality or discriminator that the marker names; "" for the only one
	value    *string    // the discriminator value, if the marker sets it
	optional bool       // ",optional"
	mode     string     // the mode of ifMode: required, optional or forbidden
	key      string     // the key of a unioncel marker
	node     *yaml.Node // the value of the key
	item     *yaml.Node // the keys of the list item, for a marker inside +k8s:item

	// Of a member: its markers of modes, the values that select it, and those of its modes for which it
	// is optional.
	modes        []mark
	values, some []*yaml.Node
}

// misuse returns an error in a marker. The message begins with the marker.
func (m mark) misuse(hint, format string, args ...any) *diag.Diagnostic {
	d := diag.New(codes.BadMarker, m.pos, "%s", m.name+fmt.Sprintf(format, args...)).Hinted(hint)
	return &d
}

// role is what a marker says about its field or type.
type role int

const (
	none          role = iota
	discriminator      // the field is the discriminator
	member             // the field is a member
	inMode             // the field is a member in one mode
	relation           // while the field is set, another one must or must not be set
	whole              // all fields of the struct are members
	listing            // the properties that the marker lists are members
	own                // a key of unioncel's
)

// definition is the meaning of a marker.
type definition struct {
	role            role
	ofArg, valueArg string            // the arguments with the name of the union and a value
	members         string            // how the members of a discriminator are marked, for hints
	cardinality     union.Cardinality // that the marker implies
	zeroUnset       bool              // a member is unset if validation-gen treats its zero value as unset
}

// table has markers by name, without the "+".
type table map[string]definition

// dialect is a set of markers, and a function that returns the unions that they declare in a struct.
type dialect struct {
	markers table
	unions  func(*structure) []*declaration
}

// dialects returns all dialects but unioncel's own markers, which add keys to unions of the others.
func dialects() []dialect {
	return []dialect{
		{tags, (*structure).tagged},
		{modes, (*structure).modal},
		{kep, (*structure).ofKEP},
		{relations, (*structure).related},
		{kubebuilder, (*structure).listed},
	}
}

// definitions returns the markers of all dialects.
func definitions() table {
	all := table{}
	for _, d := range dialects() {
		maps.Copy(all, d.markers)
	}
	return all
}

// has reports whether a table has the marker.
func (t table) has(m mark) bool { return m.name != "" && t[m.name[1:]].role != none }

// mention finds markers of Kubernetes in text that does not parse.
var mention = english.Pattern(`\bk8s:\w+`)

// nameAndRest matches the name of a marker and the text after it.
var nameAndRest = english.Pattern(`(?s)^([\w:]*)(.*)$`)

// parseMark parses a marker without its "+". It reports whether the marker is about unions,
// misspelt markers included.
func parseMark(text string) (mark, bool) {
	if apart := strings.TrimLeftFunc(text, unicode.IsSpace); apart != text {
		return spaced(text[:len(text)-len(apart)], apart)
	}
	found := nameAndRest().FindStringSubmatch(text)
	name, defined := found[1], definitions()[found[1]]
	switch {
	case strings.HasPrefix(name, "unioncel"):
		return parseOwn(text), true
	case strings.HasPrefix(name, "k8s:"):
		return parseTag(text)
	case defined.role == none:
		return misspelt(name)
	}
	m := mark{definition: defined, name: "+" + name}
	if defined.role != listing { // controller-tools reads the rest
		m.problem = m.arguments(found[2])
	}
	return m, true
}

var memberArguments = english.Pattern(`^(?:=\s*([^\s,=]+))?\s*(,\s*optional)?$`)

// arguments parses the arguments of a marker that is not validation-gen's, and returns the problem.
func (m *mark) arguments(text string) *diag.Diagnostic {
	rest := strings.TrimSpace(text)
	found := memberArguments().FindStringSubmatch(rest)
	switch {
	case m.name != "+unionMember" && rest != "":
		return m.misuse("write "+m.name, " takes no arguments, and no text may follow it")
	case found == nil:
		return m.misuse("write +unionMember, +unionMember=<discriminator>, +unionMember,optional or +unionMember=<discriminator>,optional",
			"%s cannot be read", text)
	}
	m.of, m.optional = found[1], found[2] != ""
	return nil
}

// spaced parses the text after "+ ", which no tool reads as a marker. It returns a problem if the
// author meant a marker.
func spaced(space, text string) (mark, bool) {
	m, ok := parseMark(text)
	if !ok || m.role == none || m.role == whole && m.problem != nil { // prose: + union of a and b
		return mark{}, false
	}
	out := mark{name: m.name}
	out.problem = mark{}.misuse("delete the space", "the space after the + makes this a comment, not the marker %s", m.name)
	if m.problem == nil {
		out.wrong, out.right = "+"+space, "+"
	}
	return out, true
}

// misspelt returns a marker with a problem when name looks like a union marker: a typo must not
// leave a field unguarded.
func misspelt(name string) (mark, bool) {
	known := slices.Sorted(maps.Keys(definitions()))
	lower, best := strings.ToLower(name), english.Closest(name, known)
	ours := strings.HasPrefix(lower, "union") || strings.HasPrefix(lower, "k8s:union") || strings.HasPrefix(lower, "k8s:dependent")
	near := best != "" && english.Distance(lower, strings.ToLower(best)) <= min(2, len(best)/5)
	if !ours && !near {
		return mark{}, false
	}
	m := mark{name: "+" + name}
	m.problem = m.misuse("write +"+cmp.Or(best, "unionMember"), " is not a marker")
	if near && english.Certain(name, known) == best {
		m.wrong, m.right = m.name, "+"+best
	}
	return m, true
}

// parseTag parses a marker of validation-gen, which may be inside other markers.
func parseTag(text string) (mark, bool) {
	tag, err := codetags.Parse(text)
	if err != nil {
		for _, name := range mention().FindAllString(text, -1) {
			if defined := definitions()[name]; defined.role != none {
				m := mark{definition: defined, name: "+" + name}
				m.problem = m.misuse(`write it like +k8s:unionMember(union: "x", memberName: "V") or +k8s:item(type: "A")=+k8s:unionMember`, " cannot be read: %v", err)
				return m, true
			}
		}
		return mark{}, false
	}
	m, around := mark{}, ""
	for t := &tag; t != nil; t = t.ValueTag {
		m.name, m.definition = "+"+t.Name, definitions()[t.Name]
		switch {
		case t.Name == "k8s:item":
			if m.problem = m.keysOf(t); m.problem != nil {
				return m, true
			}
		case isStability(t):
		case m.role == none:
			if m, ok := misspelt(t.Name); ok {
				return m, true
			}
			around = cmp.Or(around, t.Name)
		case around != "":
			m.problem = m.misuse("the unions of a CRD do not depend on options, and are on fields only: write the marker by itself, or delete it",
				" inside +%s cannot be expressed", around)
			return m, true
		case m.item != nil && m.role != member:
			m.problem = m.misuse("items of a list are members by +k8s:unionMember or +k8s:zeroOrOneOfMember", " inside +k8s:item cannot be expressed")
			return m, true
		default:
			m.problem = m.tag(t)
			return m, true
		}
	}
	return mark{}, false
}

// isStability reports whether a tag is a stability level of validation-gen, which makes no difference
// to a CRD.
func isStability(t *codetags.Tag) bool { return t.Name == "k8s:alpha" || t.Name == "k8s:beta" }

// tag parses the arguments and the payload, and returns the problem.
func (m *mark) tag(t *codetags.Tag) *diag.Diagnostic {
	for i, a := range t.Args {
		switch value := a.Value; {
		case slices.ContainsFunc(t.Args[:i], func(o codetags.Arg) bool { return o.Name == a.Name }):
			return m.misuse("delete one", " has the argument %s twice", a.Name)
		case a.Name != "" && a.Name == m.ofArg:
			m.of = value
		case a.Name != "" && a.Name == m.valueArg, a.Name == "" && (m.role == inMode || m.role == relation):
			m.value = &value
		default:
			return m.misuse(m.argumentHint(), " does not take the argument %s", a)
		}
	}
	switch {
	case m.of == "default" && modes.has(*m):
		return m.misuse("delete the argument", " may not name its group default, which stands for the unnamed group")
	case m.role == inMode:
		return m.payload(t)
	case m.role == relation && m.value == nil:
		return m.misuse("write it like "+m.name+`("other")`, " names no property")
	case t.ValueType != codetags.ValueTypeNone:
		return m.misuse(m.argumentHint(), " takes no value")
	}
	return nil
}

// argumentHint describes the arguments of a marker.
func (d definition) argumentHint() string {
	switch {
	case d.ofArg == "":
		return "the argument is the JSON name of another field"
	case d.valueArg == "":
		return "the argument is " + d.ofArg
	}
	return "the arguments are " + d.ofArg + " and " + d.valueArg
}

// payload parses the marker after ifMode("A")=, and returns the problem.
func (m *mark) payload(t *codetags.Tag) *diag.Diagnostic {
	example := "write it like " + m.name + `("A")=+k8s:required`
	switch {
	case m.value == nil:
		return m.misuse(example, " names no mode")
	case t.ValueTag == nil:
		return m.misuse(example, " says nothing about the mode")
	}
	for t = t.ValueTag; isStability(t) && t.ValueTag != nil; {
		t = t.ValueTag
	}
	m.mode = strings.TrimPrefix(t.Name, "k8s:")
	if slices.Contains([]string{"k8s:required", "k8s:optional", "k8s:forbidden"}, t.Name) {
		return nil
	}
	problem := m.misuse("+k8s:required, +k8s:optional and +k8s:forbidden can; write the rest as +kubebuilder:validation:XValidation",
		" with +%s cannot be expressed by a union", t.Name)
	problem.Severity = diag.Warning
	return problem
}

// comment is a line with a marker of any tool.
type comment struct {
	*ast.Comment
	of     *loader.Package
	placed bool // it describes a type, or a field of a struct that is declared by name
}

// numberMarker is a marker with the index of a comment. controller-gen's collector attaches markers to
// types and fields, but has no positions: so the line of each marker gets its number as another marker.
// No Go file can contain the name.
const numberMarker = "\x00"

// numberComments numbers the lines with markers, except in functions. Like controller-gen, it ignores
// /* comments.
func (l *loading) numberComments(p *loader.Package) {
	p.NeedSyntax()
	for _, file := range p.Syntax {
		for _, group := range file.Comments {
			if group.Pos() < file.Name.End() || slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Pos() <= group.Pos() && group.Pos() < f.End()
			}) {
				continue
			}
			for _, c := range group.List {
				if text, ok := strings.CutPrefix(c.Text, "//"); ok && strings.HasPrefix(strings.TrimSpace(text), "+") {
					group.List = append(group.List, &ast.Comment{Slash: c.Slash, Text: fmt.Sprintf("//+%s=%d", numberMarker, len(l.comments))})
					l.comments = append(l.comments, &comment{Comment: c, of: p})
				}
			}
		}
	}
}

// commentsOf returns the comments with the markers of a type or a field.
func (l *loading) commentsOf(values markers.MarkerValues) (found []*comment) {
	for _, n := range values[numberMarker] {
		found = append(found, l.comments[n.(int)])
	}
	return found
}

// marks returns the union markers among comments, for a field or nil.
func (l *loading) marks(comments []*comment, f *field) (found []mark) {
	for _, c := range comments {
		c.placed = true
		text := c.Text[2:]
		m, ok := parseMark(strings.TrimSpace(text)[1:])
		if !ok {
			continue
		}
		m.field = f
		m.pos = l.pos(c.Pos() + token.Pos(2+strings.Index(text, "+")))
		if m.problem != nil {
			m.problem.Pos = m.pos
		}
		if strings.Count(text, m.wrong) == 1 {
			at := l.pos(c.Pos() + token.Pos(2+strings.Index(text, m.wrong)))
			m.problem.Edits = diag.Replace(at.Line, at.Col, m.wrong, m.right)
		}
		found = append(found, m)
	}
	return found
}
