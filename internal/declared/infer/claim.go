package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/pattern"
)

// claim is a sentence in the description of a property that names the values of a discriminator with
// which the property is set: "Required when type is A, and forbidden otherwise."
type claim struct {
	property      string
	discriminator string
	values        []string
	// required means that the values require the property; exclusive, that all others forbid it.
	required, exclusive bool
	sentence            string
}

func (c claim) String() string {
	return fmt.Sprintf("the description of %q says %q", c.property, c.sentence)
}

// The patterns of claims. A quote is a quotation mark of prose or Markdown; subject is the described
// property, by its name or not.
const (
	quoting = "[`'\"]?"
	subject = `(?:this|it|(?:this|the)\s+(?:field|property|value)|(?:the\s+)?` + quoting + `([\w-]+)` + quoting + `(?:\s+(?:field|property))?)`
	beSet   = `be\s+(?:set|specified|provided|present|configured)`
	equals  = `(?:is\s+set\s+to|is\s+equal\s+to|equals|is|==?)`
	named   = `(?:the\s+)?` + quoting + `([\w-]+)` + quoting + `(?:\s+(?:field|property))?`
	negated = `(?:forbidden|not\s+allowed|(?:must\s+not|may\s+not|cannot|can\s+not)\s+` + beSet + `|must\s+be\s+(?:unset|omitted|absent))`
)

var (
	claims = pattern.Lazy(`(?i)(^|[.;]\s+|\n\s*)(?:` + subject + `\s+(?:(?:is|are)\s+)?)?` +
		`(required|must\s+` + beSet + `|(?:only\s+)?(?:present|valid|allowed|permitted)|(?:can|may|must)\s+only\s+` + beSet + `|` + negated + `)\s+` +
		`(if\s+and\s+only\s+if|only\s+if|only\s+when|if|when|unless)\s+` + named + `\s*` + equals + `\s+(?:either\s+)?`)
	// negation follows the values of a claim, in its sentence or the next.
	negation = pattern.Lazy(`(?i)^(?:\s*,|\s*;|\.\s)?\s*(?:and\s+|but\s+)?(?:` + subject + `\s+)?(?:is\s+)?` + negated + `\s+` +
		`(otherwise|(?:for|with)\s+(?:any|all)\s+other\s+\w+|(?:if|when)\s+` + named + `\s*` + equals + `\s+(any\s+other\s+value|anything\s+else)?)`)
	claimed = pattern.Lazy("^(?:`([^`\\s]+)`|'([^'\\s]+)'|\"([^\"\\s]+)\"|([\\w./-]*\\w))")
	comma   = pattern.Lazy(`^(?:\s*,\s*or\s+|\s*,\s*|\s+or\s+)`)
	ended   = pattern.Lazy(`^\s*(?:\.\s|\.?\s*$|\n\s*(?:$|[A-Z]))`)
	// relaxing says that the property may be set with other values.
	relaxing = pattern.Lazy(`(?i)\b(?:optional|ignored|otherwise|other|effect)\b`)
)

// mentions reports whether a text contains one of the words.
func mentions(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// claims returns the claims in the descriptions of properties, in order of their names. Properties
// in taken have none.
func (o *candidateObject) claims(taken map[string]bool) []claim {
	var l []claim
	var texts []string // the names of strings, in lower case
	for name, p := range o.schema.Properties {
		if isString(p) {
			texts = append(texts, strings.ToLower(name))
		}
	}
	for _, name := range sortedKeys(o.schema.Properties) {
		description := o.schema.Properties[name].Description
		if taken[name] || !mentions(strings.ToLower(description), texts) {
			continue
		}
		var own []claim
		for _, at := range claims().FindAllStringSubmatchIndex(description, -1) {
			if c, ok := o.claim(name, description, at); ok && !taken[c.discriminator] {
				own = append(own, c)
			}
		}
		// Several claims are conditions on several properties, or exceptions.
		if len(own) == 1 && o.eligible(name) {
			l = append(l, own[0])
		}
	}
	return l
}

// claim reads a match of claims in the description of a property.
func (o *candidateObject) claim(property, description string, at []int) (c claim, ok bool) {
	group := func(n int) string {
		if at[2*n] < 0 {
			return ""
		}
		return english.OneLine(strings.ToLower(description[at[2*n]:at[2*n+1]]))
	}
	start := at[3]
	if strings.Contains(description[at[2]:at[3]], "\n") && !strings.ContainsAny(description[at[2]:at[3]], ".;") && description[start:start+1] != strings.ToUpper(description[start:start+1]) {
		return c, false // the sentence began on an earlier line
	}
	body := group(3)
	switch name := group(2); {
	case name == "only" && slices.Contains([]string{"present", "valid", "allowed", "permitted"}, body):
		body = "only " + body // not the name of a property
	case name != "" && name != strings.ToLower(property):
		return c, false
	}
	c.property = property
	for _, name := range sortedKeys(o.schema.Properties) {
		if name != property && strings.EqualFold(name, group(5)) && isString(o.schema.Properties[name]) {
			c.discriminator = name
		}
	}
	if c.discriminator == "" {
		return c, false
	}
	only := strings.HasPrefix(group(4), "only")
	switch {
	case group(4) == "unless":
		c.exclusive = strings.Contains(body, "not ") || body == "forbidden" || body == "cannot"
		ok = c.exclusive
	case body == "required", strings.HasPrefix(body, "must be "):
		c.required, c.exclusive = true, strings.HasSuffix(group(4), "only if") && !only
		ok = !only && !strings.HasSuffix(body, "unset") && !strings.HasSuffix(body, "omitted") && !strings.HasSuffix(body, "absent")
	case strings.HasPrefix(body, "only "), strings.Contains(body, " only "):
		c.exclusive, ok = true, !only
	case !strings.Contains(body, "not") && body != "forbidden":
		c.exclusive, ok = true, only
	}
	if !ok {
		return c, false
	}
	values, rest, ok := o.claimedValues(c.discriminator, description[at[1]:])
	if !ok {
		return c, false
	}
	c.values = values
	return o.close(c, description[start:], rest)
}

// close reads the rest of the description after the values of a claim. text begins with the claim.
func (o *candidateObject) close(c claim, text, rest string) (claim, bool) {
	end := len(text) - len(rest)
	if at := negation().FindStringSubmatchIndex(rest); at != nil && c.required {
		name := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return rest[at[2*n]:at[2*n+1]]
		}
		after := rest[at[1]:]
		ok := (name(1) == "" || strings.EqualFold(name(1), c.property)) && (name(3) == "" || strings.EqualFold(name(3), c.discriminator))
		if name(3) != "" && name(4) == "" {
			// The values that forbid the property must be all others.
			var others []string
			var listed bool
			others, after, listed = o.claimedValues(c.discriminator, after)
			enum := enumOf(o.schema.Properties[c.discriminator])
			ok = ok && listed && len(enum) > 0 && !slices.ContainsFunc(enum, func(v string) bool {
				return slices.Contains(others, v) == slices.Contains(c.values, v)
			})
		}
		if ok && ended().MatchString(after) {
			c.exclusive = true
			end = len(text) - len(after)
			rest = after
		}
	}
	if !ended().MatchString(rest) {
		return c, false
	}
	if !c.exclusive && relaxing().MatchString(rest) {
		return c, false
	}
	c.sentence = english.OneLine(text[:end])
	if strings.HasPrefix(rest, ".") {
		c.sentence += "."
	}
	// Without an enum, only quotation marks and an explicit exclusion tell values from other words.
	if len(o.schema.Properties[c.discriminator].Enum) == 0 && !c.exclusive {
		return c, false
	}
	return c, true
}

// claimedValues reads the list of values at the start of text: values of the enum, or anything in
// quotation marks if there is none.
func (o *candidateObject) claimedValues(discriminator, text string) (values []string, rest string, ok bool) {
	enum := enumOf(o.schema.Properties[discriminator])
	for {
		at := claimed().FindStringSubmatchIndex(text)
		if at == nil {
			return nil, "", false
		}
		value, quoted := "", at[8] < 0
		for n := 1; n < len(at)/2; n++ {
			if at[2*n] >= 0 {
				value = text[at[2*n]:at[2*n+1]]
			}
		}
		if len(enum) > 0 && !slices.Contains(enum, value) || len(enum) == 0 && !quoted || value == "" {
			return nil, "", false
		}
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
		text = text[at[1]:]
		more := comma().FindString(text)
		if more == "" || negation().MatchString(text) {
			return values, text, true
		}
		text = text[len(more):]
	}
}
