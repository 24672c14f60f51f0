package union

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// ofKey is the key of an extension that says which union it is of.
const ofKey = "union"

// Extension is keys for a union that is declared elsewhere: they take the place of those
// that it has.
type Extension struct {
	// Pos is where the item starts.
	Pos diag.Pos

	of      word // the union's name, its discriminator or a member; unset for the only one
	parser  *parser
	entries []yamltext.Entry
}

// ParseExtensions reads a list of extensions: items with keys of declarations, and the
// name of a union. The list of diagnostics holds every problem of every item; items with
// problems are left out of the result. Of path and at see [Parse].
func ParseExtensions(file, path string, value *yaml.Node, at *diag.Pos) ([]*Extension, diag.List) {
	p := &parser{file: file, path: path, at: at}
	value = yamltext.Resolve(value)
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		p.errorf(value, diag.MalformedDeclaration, "write it like [{union: backend, ratchet: true}]",
			"want a list of extensions, not %s", yamltext.Describe(value))
		return nil, p.diags
	}
	var l []*Extension
	for _, item := range value.Content {
		before := len(p.diags)
		e := &Extension{Pos: p.pos(item), parser: &parser{file: file, path: path, at: at}}
		for _, entry := range p.entries(item) {
			if name := p.word(entry.Key); name.text == ofKey {
				e.of = p.word(entry.Value)
			} else {
				e.entries = append(e.entries, entry)
				p.read(&Declaration{}, entry, append(Keys(), ofKey))
			}
		}
		if len(e.entries) == 0 && len(p.diags) == before {
			p.errorf(item, diag.MalformedDeclaration, "write it like {union: backend, ratchet: true}", "the extension has no key of a declaration")
		}
		if len(p.diags) == before {
			l = append(l, e)
		}
	}
	return l, p.diags
}

// Extend gives the declarations of one union object the keys of extensions. Those that
// are of none of them are reported.
func Extend(declarations []*Declaration, extensions []*Extension) diag.List {
	var l diag.List
	for _, e := range extensions {
		var found []*Declaration
		var names []string
		for _, d := range declarations {
			if !e.of.set || d.is(e.of.text) {
				found = append(found, d)
			}
			names = append(names, d.call())
		}
		report := func(hint, format string, args ...any) {
			pos := e.Pos
			if e.of.set {
				pos = e.of.pos
			}
			l = append(l, diag.Diagnostic{Code: diag.NoSuchUnion, Pos: pos, Path: e.parser.path, Message: fmt.Sprintf(format, args...), Hint: hint})
		}
		switch {
		case len(found) == 1:
			l = append(l, e.apply(found[0])...)
		case len(found) > 1:
			report("say which: union: "+strings.Join(names, ", or union: "), "this extension could be of %d unions", len(found))
		default:
			report(nearest(e.of.text, names), "no union here is called %q, and none has it as its discriminator or a member", e.of.text)
		}
	}
	return l
}

// call is what tells d from other unions of its object.
func (d *Declaration) call() string {
	if d.name.text != "" {
		return d.name.text
	}
	if l := d.Properties(); len(l) > 0 {
		return l[0]
	}
	return ""
}

// is reports whether a name is that of the union, its discriminator's or a member's.
func (d *Declaration) is(name string) bool {
	return name == d.name.text || slices.Contains(d.Properties(), name)
}

// apply puts the keys in the place of those that the declaration has.
func (e *Extension) apply(d *Declaration) diag.List {
	for _, entry := range e.entries {
		switch entry.Key.Value {
		case "members", "fields-to-discriminateBy":
			d.fields, d.fieldsPos, d.members = nil, diag.Pos{}, false
		case "allowedChanges", "discriminatorChange": // one takes the other's place, too
			d.allowed, d.table, d.change = nil, false, 0
		}
	}
	e.parser.diags = nil
	for _, entry := range e.entries {
		e.parser.read(d, entry, Keys())
	}
	return e.parser.diags
}
