package compiled

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// DescriptionKey is the keyword of descriptions.
const DescriptionKey = "description"

// Described records the edit of the description of a discriminator or, for unions without one, of
// the union object. The sentences are not recorded, since the unions compile to them again.
type Described struct {
	// Unions are the indices of the unions whose sentences were added, in ascending order;
	// empty for a single union.
	Unions []int `json:"unions,omitempty"`
	// Joint is the text between the existing text and the sentences.
	Joint string `json:"joint,omitempty"`
	// Was is nil if there was a text. Otherwise it is "" if the key was absent, or the text of
	// its null value, starting with the colon.
	Was *string `json:"was,omitempty"`
	// Plain is true if the edit put the text in quotes.
	Plain bool `json:"plain,omitempty"`
}

// check returns the discriminator of the recorded unions, "" if they have none, and an error
// unless this package may have written the record.
func (d Described) check(all []*union.Declaration) (discriminator string, err error) {
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

// selectUnions returns the unions of the record.
func (d Described) selectUnions(all []*union.Union) []*union.Union {
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

// DescribedPath returns the path from a union object to the schema whose description has the
// union's sentence.
func DescribedPath(u *union.Union) schemapath.Path {
	if u.Discriminator == "" {
		return nil
	}
	return u.Path(u.Discriminator)
}

// Saying is an edit of a description: a sentence that is added or removed.
type Saying struct {
	Place    schemapath.Place
	Node     *yaml.Node
	Was, Is  Description
	Sentence string

	// Claim, unless nil, is the schema that records the sentence. Record, Suffix and Entry then
	// describe its removal: Suffix is removed from the entry of Node with index Entry.
	Claim  *Claim
	Record Described
	Suffix yamledit.Suffix
	Entry  int
}

// Description is the description of a schema, as data.
type Description struct {
	There bool
	Value any
}

// DescriptionOf returns the description of a schema.
func DescriptionOf(schema map[string]any) Description {
	v, ok := schema[DescriptionKey]
	return Description{ok, v}
}

// Text returns the description, or "" if it is not a string.
func (d Description) Text() string {
	s, _ := d.Value.(string)
	return s
}

// Check returns an error unless Was and Is differ only in the sentence.
func (s Saying) Check() error {
	long, short := s.Is.Text(), s.Was.Text()
	if len(long) < len(short) {
		long, short = short, long
	}
	if long != short+yamledit.SuffixOf(short, s.Sentence).String() {
		return errors.New("it lost or gained something other than a sentence about unions")
	}
	return nil
}

// undescribe removes claimed sentences from the descriptions of a schema if its unions write them.
// It reports sentences that are gone or edited.
func (r *reverter) undescribe(c *Claim, w *regenerated) {
	for _, d := range c.Described {
		unions := d.selectUnions(w.unions[c.Place.Structural()])
		if len(unions) == 0 {
			r.unsaid(c.Place, c.Node)
			continue
		}
		s := Saying{Place: c.Place, Claim: c, Record: d}
		steps := DescribedPath(unions[0])
		s.Place.Path = c.Place.Path.Append(steps...)
		schema := crdtext.SchemaIn(r.Value, s.Place)
		if schema == nil {
			continue // the property is gone, with its description
		}
		s.Was = DescriptionOf(schema)
		s.Node = crdtext.WrittenOut(c.Node, steps.Fields()...)
		s.Entry = crdtext.IndexOf(s.Node, DescriptionKey)
		suffix, text, ok := d.find(s.Was.Text(), unions)
		if !ok || s.Entry < 0 || r.said[s.Place.Structural()] || r.Aliased(s.Node) || r.Aliased(s.Node.Content[2*s.Entry+1]) {
			if !c.fresh {
				n := s.Node
				if s.Entry >= 0 {
					n = n.Content[2*s.Entry]
				} else if n == nil {
					n = c.Node
				}
				r.unsaid(s.Place, n)
			}
			continue
		}
		s.Suffix, s.Sentence = suffix, suffix.Sentence
		switch {
		case d.Was == nil:
			schema[DescriptionKey] = text
		case *d.Was != "":
			schema[DescriptionKey] = nil
		default:
			delete(schema, DescriptionKey)
		}
		s.Is = DescriptionOf(schema)
		r.said[s.Place.Structural()] = true
		r.Sayings = append(r.Sayings, s)
	}
}

// find returns the recorded sentence at the end of a text as a suffix, and the text before it.
func (d Described) find(text string, unions []*union.Union) (yamledit.Suffix, string, bool) {
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

// sentencesOf returns the possible sentences of unions in one description. If there are several
// unions, they have no discriminator, and one sentence each.
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

// unsaid reports a sentence that is gone or edited.
func (r *reverter) unsaid(place schemapath.Place, n *yaml.Node) {
	r.report(diag.Diagnostic{Code: codes.RuleChanged, Severity: diag.Warning, Pos: r.Pos(n), Path: place.String(), Schema: place.Structural(),
		Message: "the sentence that compiling added to this description is gone, or was edited; the description stays as it is",
		Hint:    "delete the rest of it, if any"})
}
