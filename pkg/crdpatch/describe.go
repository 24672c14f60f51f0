package crdpatch

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// described groups the indices of unions by the description that gets their sentences.
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

// covered reports whether each value that a schema allows for the discriminator selects a
// member.
func covered(u *union.Union, discriminator map[string]any) bool {
	values := compiled.ItemsOf(discriminator["enum"])
	return u.ForbidUnmapped || len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool {
		s, _ := v.(string)
		return s != "" && len(u.MembersOf(s)) == 0
	})
}

// says reports whether a text contains a sentence, regardless of line breaks.
func says(text, sentence string) bool {
	spaced := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.Contains(spaced(text), spaced(sentence))
}

// describe plans to add the sentences of unions, given by index, to one description.
func (w *writer) describe(c *documentChange, unions []int) error {
	of := c.object.Unions
	place := c.Place
	steps := compiled.DescribedPath(of[unions[0]])
	place.Path = c.Path.Append(steps...)
	node := crdtext.WrittenOut(c.node, steps.Fields()...)
	if w.said[place.Structural()] {
		return nil // a union of a nested object has the same discriminator
	}
	shared := func(n *yaml.Node) error {
		w.errorf(n, codes.SharedContent, "write it out at each path, or compile without --describe", "an edit of the description of %s would change other schemas that share it", place)
		return nil
	}
	if node == nil || node.Kind != yaml.MappingNode || w.Aliased(node) {
		return shared(c.node)
	}
	schema := crdtext.SchemaIn(w.value, place)
	if schema == nil {
		return fmt.Errorf("kubectl does not find %s", place)
	}
	before := compiled.DescriptionOf(schema)
	text := before.Text()
	rec := compiled.Described{}
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
	key, v, merged, ok := yamltext.Lookup(node, compiled.DescriptionKey)
	switch {
	case !ok:
		declaration := -1
		if len(steps) == 0 && c.key >= 0 {
			declaration = c.key
		}
		rec.Was = new(string)
		edit, err = w.Editor().Insert(node, declaration, compiled.DescriptionKey, sentence, w.wraps())
	case merged || v.Kind == yaml.AliasNode || w.Aliased(v):
		return shared(key)
	case v.Kind == yaml.ScalarNode && v.Tag == "!!null" && before.There && before.Value == nil:
		var value yamledit.Span
		var was string
		if value, was, err = w.nullAt(node, key, v); err == nil {
			rec.Was = &was
			edit = yamltext.Edit{Start: value.Start, End: value.End, New: w.spaceAfter(key) + yamledit.ProseScalar(sentence, yamledit.IsFlow(node))}
		}
	default:
		if _, wrong := yamltext.String(v); wrong != nil {
			w.report(diag.Diagnostic{Code: codes.AmbiguousScalar, Pos: w.Pos(v), Path: place.String(), Schema: place.Structural(), Message: wrong.Error(), Hint: "quote it: " + yamltext.Quoted(v)})
			return nil
		}
		prose := yamledit.Prose{Key: key, Value: v, Flow: yamledit.IsFlow(node), Wrap: w.wraps()}
		edit, rec.Plain, err = w.Editor().Append(prose, suffix)
	}
	if err != nil {
		if !ok {
			key = node
		}
		w.errorf(key, codes.Unproved, "write it on the line of its key, in quotes", "cannot edit the description of %s: %v", place, err)
		return nil
	}
	w.edits = append(w.edits, edit)
	c.record.Described = append(c.record.Described, rec)
	schema[compiled.DescriptionKey] = text + suffix.String()
	w.said[place.Structural()] = true
	w.touched = append(w.touched, touch{Manifest: w.Manifest, schema: &place, said: &compiled.Saying{Was: before, Is: compiled.DescriptionOf(schema), Sentence: sentence}})
	return nil
}

// describeAll plans to add the sentences of unions with a discriminator to its description or, if
// discriminators is false, the sentences of other unions to the object's description.
func (w *writer) describeAll(c *documentChange, discriminators bool) error {
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

// wraps reports whether the manifest has strings with wrapped lines.
func (w *writer) wraps() bool {
	if w.wrapping == nil {
		is := w.Editor().Wraps(w.Node)
		w.wrapping = &is
	}
	return *w.wrapping
}
