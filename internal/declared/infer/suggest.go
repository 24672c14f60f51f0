package infer

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// suggestion is a union that nothing enforces, but that the CRD seems to intend.
type suggestion struct {
	form  Form
	union *union.Union
	why   string
}

// suggestions guesses unions of the properties that belong to none yet. It marks their properties
// as taken.
func (o *candidateObject) suggestions(taken map[string]bool) []suggestion {
	var l []suggestion
	add := func(s suggestion) {
		for _, name := range properties(s.union) {
			if taken[name] {
				return
			}
		}
		if s.union = o.resolve(s.union); s.union == nil {
			return
		}
		for _, name := range properties(s.union) {
			taken[name] = true
		}
		l = append(l, s)
	}
	for _, name := range sortedKeys(o.schema.Properties) {
		if s, ok := o.enumMatch(name, taken); ok {
			add(s)
		}
	}
	for _, s := range o.prose(taken) {
		add(s)
	}
	return l
}

// enumMatch suggests a string as the discriminator if two or more of its values are names of object
// properties alongside it.
func (o *candidateObject) enumMatch(discriminator string, taken map[string]bool) (suggestion, bool) {
	p := o.schema.Properties[discriminator]
	if len(p.Enum) == 0 || !isString(p) || taken[discriminator] {
		return suggestion{}, false
	}
	names := map[string]string{}
	for _, name := range sortedKeys(o.schema.Properties) {
		if p := o.schema.Properties[name]; p.Type == "object" && !taken[name] && name != discriminator {
			names[plainName(name)] = name
		}
	}
	values := enumOf(p)
	of := map[string]string{} // the member for each value
	take := func(match func(value, name string) bool) {
		for _, v := range values {
			for _, plain := range sortedKeys(names) {
				if name := names[plain]; of[v] == "" && match(plainName(v), plain) && o.eligible(name) {
					of[v] = name
					delete(names, plain)
				}
			}
		}
	}
	take(func(value, name string) bool { return value == name })
	if len(of) < 2 {
		return suggestion{}, false
	}
	why := fmt.Sprintf("of the values of %q %d are the names of objects next to it", discriminator, len(of))
	// After two exact matches, prefixes match, too: LoadBalancerService matches loadBalancer.
	take(func(value, name string) bool { return len(name) > 3 && strings.HasPrefix(value, name) })
	u := &union.Union{Discriminator: discriminator, Change: union.Allow}
	for _, v := range values {
		if of[v] != "" {
			u.Members = append(u.Members, union.Member{Name: of[v], Values: []string{v}})
		}
	}
	return suggestion{EnumMatch, u, why}, true
}

// plainName returns a name in lower case, without punctuation.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(name))
}

func isString(s apiextensionsv1.JSONSchemaProps) bool { return s.Type == "string" && !s.XIntOrString }
