package handwritten

import (
	"regexp"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
)

// Statement is a restriction of an object that a sentence of a message or description states.
type Statement struct {
	Sentence string
	Form     Form
	Fields   []string // names of fields, as the sentence writes them
	// Of a conditional statement: the single field is set, or set exactly, where the discriminator has
	// the value.
	Discriminator, Value string
}

// Form is the restriction of a statement.
type Form int

const (
	AtMostOne Form = iota + 1
	ExactlyOne
	// Either is ExactlyOne, or at least one: only the rule tells.
	Either
	WhenValue    // set exactly where the discriminator has the value
	RequiredWhen // set where the discriminator has the value
	Unset        // never set, under a condition that only the rule tells
)

const (
	beUsed = `(?:set|specified|provided|defined|configured|present|used|given)`
	beSet  = `(?: (?:may|must|can|should|has to|is|are))?(?: be)?(?: (?:set|specified|provided|defined|configured|present|used|allowed|permitted|required|given))?(?: at (?:a|the same) time)?`
	notBe  = ` (?:must not|may not|should not|can ?not|can't) `
	ofWhen = `^(\S+)(?: configuration| field)? (?:is|must be) (?:set|required|specified|provided) (?:when|if) (\S+) is (?:set to )?(\S+?)`
)

// The forms of sentences. Other sentences are not read: their meaning would have to be guessed.
var forms = []struct {
	Form
	pattern func() *regexp.Regexp
}{
	{AtMostOne, english.Pattern(`(?i)^(?:at most|only) one of (?:the fields )?(.+?)` + beSet + `$`)},
	{ExactlyOne, english.Pattern(`(?i)^exactly one of (?:the fields )?(.+?)` + beSet + `$`)},
	{ExactlyOne, english.Pattern(`(?i)^(?:the fields )?(.+?)(?: fields)?` + notBe + `(?:both be|be both) (?:empty|unset|omitted) and (?:they )?are mutually exclusive$`)},
	{AtMostOne, english.Pattern(`(?i)^(?:the fields )?(.+?) (?:fields )?are mutually exclusive$`)},
	{AtMostOne, english.Pattern(`(?i)^(.+? is mutually exclusive with .+?)$`)},
	{AtMostOne, english.Pattern(`(?i)^(?:the fields )?(.+?)(?: fields)?` + notBe + `(?:both be|be both) ` + beUsed + `$`)},
	{Either, english.Pattern(`(?i)^either (.+?) must be ` + beUsed + `$`)},
	{WhenValue, english.Pattern(`(?i)` + ofWhen + `,? and (?:is )?forbidden otherwise$`)},
	{RequiredWhen, english.Pattern(`(?i)` + ofWhen + `$`)},
	{Unset, english.Pattern(`(?i)^(\S+)(?: field)?` + notBe + `be ` + beUsed + `$`)},
}

var separator = english.Pattern(`(?i),? (?:and|or|and/or|is mutually exclusive with) |, ?`)

// Statements returns the statements in a text, and whether it states nothing else.
func Statements(text string) (l []Statement, all bool) {
	all = true
	for sentence := range strings.SplitSeq(english.OneLine(text), ". ") {
		for clause := range strings.SplitSeq(strings.TrimSuffix(sentence, "."), "; ") {
			s, ok := statementOf(clause)
			if all = all && ok; ok {
				l = append(l, s)
			}
		}
	}
	return l, all
}

func statementOf(clause string) (Statement, bool) {
	for _, f := range forms {
		m := f.pattern().FindStringSubmatch(clause)
		if m == nil {
			continue
		}
		s := Statement{Sentence: clause, Form: f.Form}
		for _, word := range separator().Split(m[1], -1) {
			s.Fields = append(s.Fields, unquoted(word))
		}
		if len(m) > 2 {
			s.Discriminator, s.Value = unquoted(m[2]), unquoted(m[3])
		}
		return s, true
	}
	return Statement{}, false
}

// unquoted returns the name that a word of a sentence quotes.
func unquoted(word string) string {
	return strings.TrimPrefix(strings.Trim(strings.TrimSpace(word), "`'\"."), "self.")
}
