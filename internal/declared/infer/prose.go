package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/pkg/union"
)

// statement is a sentence stating that at most one of some properties may be set. If demanded
// is set, one must be set; if several is set, more than one may be set.
type statement struct {
	slots    []int
	demanded bool
	several  bool
	sentence string
	about    string // the property with the description; "" for the object
}

func (s statement) String() string {
	if s.about == "" {
		return fmt.Sprintf("the description says %q", s.sentence)
	}
	return fmt.Sprintf("the description of %q says %q", s.about, s.sentence)
}

// prose finds the unions that descriptions state. The description of a property must name this
// property, or the properties that it excludes.
func (o *candidateObject) prose(taken map[string]bool) []Found {
	n := &names{candidateObject: o, taken: taken}
	said := n.statements(o.schema.Description, "")
	for _, name := range sortedKeys(o.schema.Properties) {
		said = append(said, n.statements(o.schema.Properties[name].Description, name)...)
	}
	g := graph{}
	var l []Found
	of := func(slots []int, c union.Cardinality) *union.Union {
		u := &union.Union{Cardinality: c, Change: union.Allow}
		for _, slot := range slots {
			u.Members = append(u.Members, union.Member{Name: o.names[slot]})
		}
		return u
	}
	for _, s := range said {
		if s.several {
			continue
		}
		for i, a := range s.slots {
			for _, b := range s.slots[i+1:] {
				g.connect(a, b)
			}
		}
	}
	for _, slots := range g.cliques() {
		u, why := of(slots, union.AtMostOne), ""
		for _, s := range said {
			if s.several || slices.ContainsFunc(s.slots, func(slot int) bool { return !slices.Contains(slots, slot) }) {
				continue
			}
			if why == "" {
				why = s.String()
			}
			if s.demanded && len(s.slots) == len(slots) {
				u.Cardinality, why = union.ExactlyOne, s.String()
				break
			}
		}
		if why != "" {
			l = append(l, suggested(Prose, u, why))
		}
	}
	for _, s := range said {
		if s.several {
			l = append(l, suggested(Prose, of(s.slots, union.AtLeastOne), s.String()))
		}
	}
	return l
}

// names finds the names of properties in texts.
type names struct {
	*candidateObject
	taken map[string]bool
	// properties are the possible members, by name in lower case. They are collected when a
	// description first needs them.
	properties map[string]string
}

func (n *names) collect() {
	if n.properties != nil {
		return
	}
	n.properties = map[string]string{}
	for _, name := range sortedKeys(n.schema.Properties) {
		if !n.taken[name] && n.eligible(name) {
			n.properties[strings.ToLower(name)] = name
		}
	}
}

var (
	// list precedes a list of properties. exclusive precedes a list of properties that the
	// described property excludes. behind follows a list.
	list      = pattern.Lazy(`(?i)\b(?:(exactly|only|at most|at least) one of|one of the following|one of)\b`)
	exclusive = pattern.Lazy(`(?i)\b(?:mutually exclusive with|(?:at the same time|together) (?:as|with)|in conjunction with)\b`)
	behind    = pattern.Lazy(`(?i)\b(?:are|is) mutually exclusive(?:\.|;|,|$| and\b| fields\b)`)
	must      = pattern.Lazy(`(?i)\b(?:must|is required|are required|has to|needs? to|should be)\b`)
	cannot    = pattern.Lazy(`(?i)\b(?:cannot|can't|can not|must not|may not|should not|mutually)\b`)
	// none means that all properties of a list may be unset, and all that they may be set together.
	// along means that another property must be set with them.
	none  = pattern.Lazy(`(?i)\b(?:(?:or|and|nor) (?:none|nothing|no)\b|neither\b)`)
	all   = pattern.Lazy(`(?i)\b(?:or (?:both|all|more)|and/or)\b`)
	along = pattern.Lazy(`(?i)\b(?:(?:together|along) with|alongside|in conjunction with|in combination with)\b`)
)

// telling has words of which every matching phrase contains one. Most descriptions contain none.
var telling = []string{"one of", "One of", "One Of", "ONE OF", "xclusive", "EXCLUSIVE", "same time", "ogether", "in conjunction"}

// statements parses the description of the property about, or of the object if about is "".
func (n *names) statements(description, about string) []statement {
	if !mentions(description, telling) {
		return nil
	}
	n.collect()
	if about != "" {
		if _, ok := n.properties[strings.ToLower(about)]; !ok {
			return nil
		}
	}
	var l []statement
	add := func(s string, demanded, several bool, found []string) {
		st := statement{demanded: demanded, several: several, sentence: s, about: about}
		for _, name := range found {
			slot, _ := n.slot(name)
			if !slices.Contains(st.slots, slot) {
				st.slots = append(st.slots, slot)
			}
		}
		if len(st.slots) > 1 {
			l = append(l, st)
		}
	}
	for _, s := range english.Sentences(description) {
		if at := list().FindStringSubmatchIndex(s); at != nil {
			found := n.listed(s[at[1]:])
			how := ""
			if at[2] >= 0 {
				how = strings.ToLower(s[at[2]:at[3]])
			}
			demanded, several := how == "exactly" || how != "at most" && must().MatchString(s), how == "at least" || all().MatchString(s)
			spared := none().MatchString(s)
			switch {
			case several && (!must().MatchString(s) || spared), along().MatchString(s) && !cannot().MatchString(s):
				continue
			case (how != "" || demanded) && (about == "" || slices.Contains(found, about)):
				add(s, demanded && !spared, several, found)
			}
		}
		if at := exclusive().FindStringIndex(s); at != nil && about != "" && cannot().MatchString(s) {
			add(s, false, false, append([]string{about}, n.listed(s[at[1]:])...))
		}
		if at := behind().FindStringIndex(s); at != nil {
			if found := n.listedBackwards(s[:at[0]]); about == "" || slices.Contains(found, about) {
				add(s, false, false, found)
			}
		}
	}
	return l
}

// filling are the words that may separate the names in a list.
var filling = []string{"and", "or", "and/or", "the", "a", "an", "either", "of", "deprecated", "field", "fields", "property", "properties", "these", "following", "both", "-", "/"}

// lead is the maximum number of words before the first name that listed skips. Words in filling do
// not count.
const lead = 6

// listed returns the properties of the list at the start of text.
func (n *names) listed(text string) []string {
	var l []string
	skipped := 0
	for _, word := range strings.FieldsFunc(text, separates) {
		name, ok := n.name(word)
		switch {
		case ok:
			l = append(l, name)
		case slices.Contains(filling, strings.ToLower(strings.Trim(word, ":.;()[]"))):
		case len(l) > 0:
			return l
		default:
			if skipped++; skipped > lead {
				return nil
			}
		}
		if strings.HasSuffix(word, ".") && ok {
			return l
		}
	}
	return l
}

// listedBackwards returns the properties of the list at the end of text.
func (n *names) listedBackwards(text string) []string {
	words := strings.FieldsFunc(text, separates)
	var l []string
	for _, word := range slices.Backward(words) {
		name, ok := n.name(word)
		switch {
		case ok:
			l = append(l, name)
		case slices.Contains(filling, strings.ToLower(word)):
		default:
			slices.Reverse(l)
			return l
		}
	}
	slices.Reverse(l)
	return l
}

func separates(r rune) bool { return r == ' ' || r == ',' || r == '|' }

// name returns the property that a word names, in any case, with or without quotes.
func (n *names) name(word string) (string, bool) {
	trimmed := strings.Trim(word, "`'\"*.:;()[]{}")
	name, ok := n.properties[strings.ToLower(trimmed)]
	return name, ok
}
