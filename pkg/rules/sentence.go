package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/unioncel/unioncel/pkg/union"
)

// Sentence describes a union to readers of the schema, in the description of the discriminator or,
// without one, of the union object. covered means that every discriminator value that the schema
// allows selects a member. The sentence is a single line. It is empty for a union without
// requirements.
func Sentence(u *union.Union, covered bool) string {
	text := ""
	switch one := len(u.Members) == 1; {
	case u.Relates():
		var l []string
		for _, r := range u.Relations() {
			l = append(l, relationMessage(u, r))
		}
		text = relationsMessage(l)
	case len(u.Members) == 0 || one && u.Discriminator == "" && u.Cardinality == union.AtMostOne:
		return ""
	case u.Discriminator != "":
		text = selection(u, covered)
	case one:
		text = u.Members[0].Name + " must be set"
	default:
		text = cardinalityOf(u, conjoined(u.GroupNames(), "and"))
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return plain(text) + "."
}

// selection returns the sentence for a union with a discriminator. It starts with the members,
// because readers of the discriminator want to know how to choose one.
func selection(u *union.Union, covered bool) string {
	optional, always := false, false
	for _, m := range u.Members {
		optional = optional || len(m.Optional) > 0
		always = always || len(m.Required()) > 0
	}
	members := conjoined(described(u), "and")
	text := ""
	switch m := u.Members[0]; {
	case len(u.Members) == 1 && always:
		return onlyAndRequiredWhen(u, m)
	case len(u.Members) == 1:
		return onlyWhenSelected(u, m)
	case u.SharesValues():
		text = fmt.Sprintf("Of %s, only those that %s selects may be set", members, u.Discriminator)
	case u.Cardinality == union.ExactlyOne && covered && !optional:
		return fmt.Sprintf("Exactly one of %s must be set, the one that %s selects", members, u.Discriminator)
	default:
		text = fmt.Sprintf("At most one of %s may be set, the one that %s selects", members, u.Discriminator)
	}
	if u.Deduce {
		text += fmt.Sprintf("; while %s is unset, any one may be", u.Discriminator)
	}
	return text
}

// described lists the members for a message. If a member's name differs from its values, the values
// follow in parentheses, unless the union has too many.
func described(u *union.Union) []string {
	var l []string
	few := len(u.MemberValues()) <= maxNamed
	for _, m := range u.Members {
		name := m.Name
		property, _ := u.Path(m.Name)[len(u.Path(m.Name))-1].Property()
		if few && (len(m.Values) > 1 || letters(m.Values[0]) != letters(property)) {
			name += " (" + alternatives(u, m.Values) + ")"
		}
		l = append(l, name)
	}
	return l
}

// letters reduces a name to its letters and digits, in lower case, so that HostPath matches
// hostPath.
func letters(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
}

// Sentences returns every sentence that Sentence may have written for the declaration of u. The
// required and enum keywords of the schema, which affect the sentence, may have changed since. When
// the wording of Sentence changes, add the old one here: descriptions still contain it.
func Sentences(u *union.Union) []string {
	var l []string
	variant := *u
	for _, c := range []union.Cardinality{u.Cardinality, union.AtMostOne, union.ExactlyOne} {
		if variant.Cardinality = c; u.Discriminator == "" && c != u.Cardinality {
			continue
		}
		for _, covered := range []bool{true, false} {
			if s := Sentence(&variant, covered); s != "" && !slices.Contains(l, s) {
				l = append(l, s)
			}
		}
	}
	return l
}
