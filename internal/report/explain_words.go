package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// plainText returns a text from a manifest. It escapes characters that would move the cursor, end a
// line or reorder the output.
func plainText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		escaped := strconv.QuoteRune(r)
		b.WriteString(escaped[1 : len(escaped)-1])
	}
	return b.String()
}

// quoted returns a discriminator value, or unset for "". Strings are in quotes.
func quoted(t union.ValueType, value string) string {
	if value == "" {
		return "unset"
	}
	return t.Quoted(plainText(value))
}

func (u ExplainedUnion) quoted(value string) string { return quoted(u.declared.Type, value) }

// readings describes the origin of the errors in sentences, and when users do not get the errors of
// the union.
func (u ExplainedUnion) readings() string {
	if len(u.HandWritten) == 0 {
		return "These lines come from the union's compiled rules and its schema; other rules of the CRD may add theirs." + u.shownOf()
	}
	text := "These lines come from the union's compiled rules and its schema, and, where marked, from hand-written constraints beside it; other rules of the CRD may add theirs." + u.shownOf()
	var blamed []string
	always := true
	for _, s := range u.Errors {
		by := ""
		if i := slices.Index(s.Errors, plainText(server.NotEvaluated.Error())); i >= 0 {
			by = s.ByHand[i]
		} else if s.Condition != refused {
			always = false
		}
		if by != "" && s.Condition != refused && !slices.Contains(blamed, by) {
			blamed = append(blamed, by)
		}
	}
	if len(blamed) == 0 {
		return text
	}
	names := english.List(blamed, "and")
	if always {
		text += fmt.Sprintf(" Users never read the messages of the union's rules, which the API server does not run on objects that %s rejects.", names)
	} else {
		text += fmt.Sprintf(" Where rules are not checked because of %s, users do not read the messages of the union's rules.", names)
	}
	if slices.ContainsFunc(u.HandWritten, func(b compile.HandWritten) bool { return !b.Superfluous && slices.Contains(blamed, b.Name) }) {
		return text + fmt.Sprintf(" To resolve this, remove %s, and declare the intended meaning.", names)
	}
	return text + fmt.Sprintf(" To resolve this, write handWrittenRules: Replace in the declaration, which removes %s.", names)
}

// lines returns the errors of a situation, and marks those of hand-written constraints.
func (s Situation) lines() []string {
	l := slices.Clone(s.Errors)
	for i, by := range s.ByHand {
		if by != "" {
			l[i] += "  <- hand-written " + by
		}
	}
	return l
}

// cardinality describes the effect of the cardinality on this union.
func (u ExplainedUnion) cardinality() string {
	says := map[union.Cardinality]string{
		union.AtMostOne: "at most one member may be set", union.ExactlyOne: "one member must be set", union.AtLeastOne: "one or more members must be set",
		union.AnyNumber: "any members may be set that their relations allow",
	}
	if u.declared.Grouped() {
		says = map[union.Cardinality]string{
			union.AtMostOne: "at most one member or group may be set", union.ExactlyOne: "one member or group must be set", union.AtLeastOne: "one or more members or groups must be set",
		}
	}
	if d := plainText(u.Discriminator); d != "" {
		says = map[union.Cardinality]string{union.AtMostOne: d + " may stay unset", union.ExactlyOne: d + " must be set"}
		if value := cmp.Or(u.Default, u.Unset); value != "" {
			text := d + " is " + u.quoted(value) + " when it is left out"
			says = map[union.Cardinality]string{union.AtMostOne: text, union.ExactlyOne: text}
		}
	}
	if text := says[u.declared.Cardinality]; text != "" {
		return u.Cardinality + ": " + text
	}
	return u.Cardinality
}

func (u ExplainedUnion) describe(m ExplainedMember) string {
	var l []string
	switch {
	case len(m.Values) > 0 && u.Discriminator == "":
		l = append(l, "in the group "+plainText(m.Values[0]))
	case len(m.Values) > 0:
		l = append(l, "selected by "+english.List(english.Each(m.Values, u.quoted), "or"))
	}
	switch len(m.OptionalFor) {
	case 0:
	case len(m.Values):
		l = append(l, "may stay unset")
	default:
		l = append(l, "may stay unset for "+english.List(english.Each(m.OptionalFor, u.quoted), "or"))
	}
	if len(m.Requires) > 0 {
		l = append(l, "requires "+english.List(english.Each(m.Requires, plainText), "and"))
	}
	if len(m.Forbids) > 0 {
		l = append(l, "forbids "+english.List(english.Each(m.Forbids, plainText), "and"))
	}
	if m.EmptyIsUnset {
		l = append(l, "an empty value counts as unset")
	}
	return strings.Join(l, "; ")
}

// otherValues describes the effect of discriminator values that select no member.
func (u ExplainedUnion) otherValues() string {
	if u.Discriminator == "" {
		return ""
	}
	values := english.Each(u.MemberlessValues, u.quoted)
	if u.AnyValue {
		values = append(values, "any other")
	}
	switch {
	case len(values) == 0 && u.declared.Type == union.BooleanValue:
		return "none"
	case len(values) == 0:
		return "none, by the enum of " + plainText(u.Discriminator)
	case u.UnmappedValues == "Forbid":
		return english.List(values, "and") + ": rejected"
	}
	return english.List(values, "and") + ": allowed, without a member"
}

// shownOf describes which errors were omitted.
func (u ExplainedUnion) shownOf() string {
	text := ""
	if len(u.Members) > u.examples {
		text += fmt.Sprintf(" Shown are the first %d of %d members; the errors of the others differ only in the names.", u.examples, len(u.Members))
	}
	if len(u.WithoutExample) > 0 {
		text += fmt.Sprintf(" Nothing is shown that sets %s, of which no valid value was found.", english.List(english.Each(u.WithoutExample, plainText), "or"))
	}
	return text
}
