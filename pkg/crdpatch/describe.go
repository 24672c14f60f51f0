package crdpatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

const descriptionKey = "description"

// describedRecord is what compiling did to one description: that of a union's discriminator,
// or that of the union object for unions without one. The sentences are not recorded: they
// are those that the unions write.
type describedRecord struct {
	// Unions are the numbers of the unions whose sentences were added, in ascending
	// order; empty for the only one there is.
	Unions []int `json:"unions,omitempty"`
	// Joint is what comes between them and the text before.
	Joint string `json:"joint,omitempty"`
	// Was is what there was instead of a text: "" for no key, else the text of its null
	// value, from the colon on.
	Was *string `json:"was,omitempty"`
	// Plain says that the text had no quotes, and got them.
	Plain bool `json:"plain,omitempty"`
}

// check returns an error unless the record is one that this package may have written for
// some unions, and the discriminator of these, if they have one.
func (d describedRecord) check(all []*union.Declaration) (discriminator string, err error) {
	numbers := d.Unions
	if len(numbers) == 0 && len(all) == 1 {
		numbers = []int{0}
	}
	for i, n := range numbers {
		if n < 0 || n >= len(all) || i > 0 && n <= numbers[i-1] || all[n].Discriminator() != all[numbers[0]].Discriminator() {
			return "", errors.New(".unions: these have no description in common")
		}
	}
	switch {
	case len(numbers) == 0:
		return "", errors.New(".unions is missing")
	case !slices.Contains([]string{"", " ", ". ", "\n", ".\n", "\n\n"}, d.Joint):
		return "", errors.New(".joint: this is none")
	case d.Was != nil && *d.Was != "" && !isNullText(*d.Was):
		return "", errors.New(".was: this is not a null value")
	case d.Was != nil && (d.Joint != "" || d.Plain):
		return "", errors.New(" contradicts itself")
	}
	return all[numbers[0]].Discriminator(), nil
}

// of are those of all unions that the record is about.
func (d describedRecord) of(all []*union.Union) []*union.Union {
	if len(d.Unions) == 0 {
		return all
	}
	var l []*union.Union
	for _, i := range d.Unions {
		if i < len(all) {
			l = append(l, all[i])
		}
	}
	return l
}

// describedPath leads from a union object to the schema whose description says what
// a union demands.
func describedPath(u *union.Union) schemapath.Path {
	if u.Discriminator == "" {
		return nil
	}
	return u.Path(u.Discriminator)
}

// described are the numbers of the unions that have their sentences in one description.
func described(unions []*union.Union) [][]int {
	var l [][]int
	at := map[string]int{} // by discriminator
	for i, u := range unions {
		if _, ok := at[u.Discriminator]; !ok {
			at[u.Discriminator] = len(l)
			l = append(l, nil)
		}
		l[at[u.Discriminator]] = append(l[at[u.Discriminator]], i)
	}
	return l
}

// covered reports whether a schema allows the discriminator no value that selects no
// member of a union.
func covered(u *union.Union, discriminator map[string]any) bool {
	values := itemsOf(discriminator["enum"])
	return u.ForbidUnmapped || len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool {
		s, _ := v.(string)
		return s != "" && len(u.MembersOf(s)) == 0
	})
}

// says reports whether a text has a sentence, wherever its lines are broken.
func says(text, sentence string) bool {
	spaced := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.Contains(spaced(text), spaced(sentence))
}

// describe plans to add to one description the sentences of unions of an object, given by
// their numbers.
func (w *writer) describe(c *change, unions []int) error {
	of := c.object.Unions
	place := c.Place
	steps := describedPath(of[unions[0]])
	place.Path = c.Path.To(steps...)
	node := writtenOut(c.node, steps.Fields()...)
	if w.said[place.Structural()] {
		return nil // a union of an object below has the same discriminator
	}
	shared := func(n *yaml.Node) error {
		w.errorf(n, diag.SharedContent, "write it out at each of its places, or compile without --describe", "an edit of the description of %s would change other places that share it", place)
		return nil
	}
	if node == nil || node.Kind != yaml.MappingNode || w.aliased(node) {
		return shared(c.node)
	}
	schema := schemaIn(w.value, place.Version, place.Path)
	if schema == nil {
		return fmt.Errorf("kubectl does not find %s", place)
	}
	before := descriptionOf(schema)
	text := before.text()
	rec := describedRecord{}
	var sentences []string
	for _, i := range unions {
		if s := rules.Sentence(of[i], covered(of[i], schema)); s != "" && !says(text, s) {
			sentences = append(sentences, s)
			rec.Unions = append(rec.Unions, i)
		}
	}
	if len(sentences) == 0 {
		return nil
	}
	if len(of) == 1 {
		rec.Unions = nil
	}
	sentence := strings.Join(sentences, " ")
	suffix := yamledit.SuffixOf(text, sentence)
	rec.Joint = suffix.Joint

	var edit yamltext.Edit
	var err error
	key, v, merged, ok := yamltext.Lookup(node, descriptionKey)
	switch {
	case !ok:
		declaration := -1
		if len(steps) == 0 && c.object.Key >= 0 {
			declaration = c.object.Key / 2
		}
		rec.Was = new(string)
		edit, err = w.editor().Insert(node, declaration, descriptionKey, sentence, w.wraps())
	case merged || v.Kind == yaml.AliasNode || w.aliased(v):
		return shared(key)
	case v.Kind == yaml.ScalarNode && v.Tag == "!!null" && before.there && before.value == nil:
		var value yamledit.Span
		var was string
		if value, was, err = w.nullAt(node, key, v); err == nil {
			rec.Was = &was
			edit = yamltext.Edit{Start: value.Start, End: value.End, New: w.spaceAfter(key) + yamledit.ProseScalar(sentence, yamledit.IsFlow(node))}
		}
	default:
		if _, wrong := yamltext.String(v); wrong != nil {
			w.report(diag.Diagnostic{Code: diag.AmbiguousScalar, Pos: w.pos(v), Path: place.String(), Schema: place.Structural(), Message: wrong.Error(), Hint: "quote it: " + yamltext.Quoted(v)})
			return nil
		}
		prose := yamledit.Prose{Key: key, Value: v, Flow: yamledit.IsFlow(node), Wrap: w.wraps()}
		edit, rec.Plain, err = w.editor().Append(prose, suffix)
	}
	if err != nil {
		if !ok {
			key = node
		}
		w.errorf(key, diag.Unproved, "write it on the line of its key, in quotes", "cannot edit the description of %s: %v", place, err)
		return nil
	}
	w.edits = append(w.edits, edit)
	c.record.Described = append(c.record.Described, rec)
	schema[descriptionKey] = text + suffix.String()
	w.said[place.Structural()] = true
	w.touched = append(w.touched, touch{manifest: w.manifest, schema: &place, said: &saying{before, descriptionOf(schema), sentence}})
	return nil
}

// describeAll plans to add the sentences of an object to the descriptions of discriminators,
// or to its own.
func (w *writer) describeAll(c *change, discriminators bool) error {
	if c.object == nil || !w.opts.Describe {
		return nil
	}
	for _, unions := range described(c.object.Unions) {
		if (c.object.Unions[unions[0]].Discriminator != "") != discriminators {
			continue
		}
		if err := w.describe(c, unions); err != nil {
			return err
		}
	}
	return nil
}

// wraps reports whether the manifest has strings whose lines were broken.
func (w *writer) wraps() bool {
	if w.wrapping == nil {
		is := w.editor().Wraps(w.node)
		w.wrapping = &is
	}
	return *w.wrapping
}

// undescribe plans to take the sentences that a record claims out of the descriptions of a
// schema, as far as its unions write them. It returns the entries of the schema that go as a
// whole. What is gone or edited is reported.
func (r *reverter) undescribe(c *claimed, w *regenerated) (whole []int, err error) {
	for _, d := range c.Described {
		unions := d.of(w.unions[itemsKey(c.place.Version, c.place.Path, "")])
		if len(unions) == 0 {
			r.unsaid(c.place, c.node)
			continue
		}
		place, steps := c.place, describedPath(unions[0])
		place.Path = c.place.Path.To(steps...)
		schema := schemaIn(r.value, place.Version, place.Path)
		if schema == nil {
			continue // it is gone, and its description with it
		}
		before := descriptionOf(schema)
		node := writtenOut(c.node, steps.Fields()...)
		at := indexOf(node, descriptionKey)
		suffix, text, ok := d.in(before.text(), unions)
		if !ok || at < 0 || r.said[place.Structural()] || r.aliased(node) || r.aliased(node.Content[2*at+1]) {
			if !c.fresh {
				n := node
				if at >= 0 {
					n = n.Content[2*at]
				} else if n == nil {
					n = c.node
				}
				r.unsaid(place, n)
			}
			continue
		}
		key, v := node.Content[2*at], node.Content[2*at+1]
		switch {
		case d.Was == nil:
			schema[descriptionKey] = text
			err = r.unappend(v, suffix, d.Plain, text)
		case *d.Was != "":
			schema[descriptionKey] = nil
			var value yamledit.Span
			value, err = r.editor().AfterKey(key, v)
			r.edit(value.Start, value.End, r.null(node, key, strings.TrimPrefix(*d.Was, ":"), value.End))
		default:
			delete(schema, descriptionKey)
			if len(steps) == 0 {
				whole = append(whole, at)
				break
			}
			var cut yamledit.Span
			cut, err = r.editor().Cut(node, at, at)
			r.edit(cut.Start, cut.End, "")
		}
		if err != nil {
			return nil, err
		}
		r.said[place.Structural()] = true
		r.base.touched = append(r.base.touched, touch{manifest: r.manifest, schema: &place, said: &saying{before, descriptionOf(schema), suffix.Sentence}})
	}
	return whole, nil
}

// in finds what the record says was added to a text, and the text before.
func (d describedRecord) in(text string, unions []*union.Union) (yamledit.Suffix, string, bool) {
	for _, sentence := range sentencesOf(unions) {
		for _, end := range []string{"", "\n"} {
			before, ok := strings.CutSuffix(text, d.Joint+sentence+end)
			if !ok {
				continue
			}
			if s := yamledit.SuffixOf(before, sentence); s.Joint == d.Joint && s.String() == d.Joint+sentence+end && (d.Was == nil || before == "") {
				return s, before, true
			}
		}
	}
	return yamledit.Suffix{}, "", false
}

// sentencesOf are what unions may have in one description: several have no discriminator, and
// one sentence each.
func sentencesOf(unions []*union.Union) []string {
	var l []string
	for _, u := range unions {
		l = append(l, rules.Sentences(u)...)
	}
	if len(unions) > 1 {
		return []string{strings.Join(l, " ")}
	}
	return l
}

// unappend plans to take a sentence out of a string, which leaves text.
func (r *reverter) unappend(v *yaml.Node, s yamledit.Suffix, quoted bool, text string) error {
	whole, err := r.editor().Rewrite(v, text)
	if err != nil {
		return err
	}
	exact, err := r.editor().Unappend(v, s, quoted)
	if err != nil {
		exact = whole
	}
	r.revision.texts = append(r.revision.texts, textEdit{r.index, exact, whole})
	return nil
}

// textEdit takes a sentence out of a string of a document: exactly as it was put there or,
// where the string was written anew in a way of which that makes another one, as a whole.
type textEdit struct {
	index        int
	exact, whole yamltext.Edit
}

// unsaid reports a sentence that is gone or edited.
func (r *reverter) unsaid(place schemapath.Place, n *yaml.Node) {
	r.report(diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(n), Path: place.String(), Schema: place.Structural(),
		Message: "the sentence that compiling added to this description is gone, or was edited; the description stays as it is",
		Hint:    "delete what is left of it, if anything"})
}

// saying is what was done to a description.
type saying struct {
	was, is  description
	sentence string
}

// description is that of a schema in a value.
type description struct {
	there bool
	value any
}

func descriptionOf(schema map[string]any) description {
	v, ok := schema[descriptionKey]
	return description{ok, v}
}

func (d description) text() string {
	s, _ := d.value.(string)
	return s
}

// check returns an error unless the two texts differ in the sentence alone.
func (s *saying) check() error {
	long, short := s.is.text(), s.was.text()
	if len(long) < len(short) {
		long, short = short, long
	}
	if long != short+yamledit.SuffixOf(short, s.sentence).String() {
		return errors.New("it lost or gained something other than a sentence about unions")
	}
	return nil
}

// writtenOut returns what a mapping has at the end of some keys, nil when it comes from an
// alias or merge key, or is not there.
func writtenOut(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		_, v, shared, ok := yamltext.Lookup(n, key)
		if !ok || shared || v.Kind == yaml.AliasNode {
			return nil
		}
		n = v
	}
	return n
}
