package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// noEnum finds discriminators that need an enum to reject misspelled values.
func noEnum(s *lintedUnion) diag.List {
	if s.Discriminator == "" || s.ForbidUnmapped || s.Type != union.StringValue {
		return nil
	}
	property := s.Path(s.Discriminator).Schema(s.schema)
	if len(property.Enum) > 0 {
		return nil
	}
	typo := acceptedTypo(property, s.Values)
	if typo == "" {
		return nil // for example, a pattern restricts the values
	}
	return s.find(codes.NoEnum, s.discriminatorAt(), []string{s.Discriminator},
		fmt.Sprintf("write enum: [%s] at %q, with the values that select no member added, if there are any; or, where the schema must stay as it is, unmappedValues: Forbid in the declaration",
			strings.Join(flow(s.Values), ", "), s.Discriminator),
		"discriminator %q has no enum: a misspelt value such as %q is accepted, and selects no member", s.Discriminator, typo)
}

// acceptedTypo returns a misspelling of a value that a schema accepts, or "".
func acceptedTypo(s *apiextensionsv1.JSONSchemaProps, values []string) string {
	accepts, err := sample.Judge(context.Background(), s)
	if err != nil {
		return "" // compiling reports the invalid schema
	}
	for _, v := range values {
		r := []rune(v)
		typos := []string{strings.ToLower(v), v + "x"}
		if len(r) > 1 {
			typos = append([]string{string(r[:len(r)-2]) + string(r[len(r)-1]) + string(r[len(r)-2])}, typos...)
		}
		for _, typo := range typos {
			if !slices.Contains(values, typo) && accepts(typo) {
				return typo
			}
		}
	}
	return ""
}

// valueWithoutMember finds values of an enum that select no member.
func valueWithoutMember(s *lintedUnion) diag.List {
	if property := s.Path(s.Discriminator).Schema(s.schema); property == nil || len(property.Enum) == 0 {
		return nil
	}
	var l []string
	for _, v := range s.Values {
		if len(s.MembersOf(v)) == 0 {
			l = append(l, v)
		}
	}
	if len(l) == 0 {
		return nil
	}
	hint := "map it in fields-to-discriminateBy if it should have a member; a value that means \"nothing further\" needs none"
	says := "selects no member"
	if len(l) > 1 {
		says = "select no member"
	}
	if s.ForbidUnmapped {
		hint = "take it out of the enum, map it, or drop unmappedValues: Forbid"
		says = "can never be used: unmappedValues is Forbid"
	}
	return s.find(codes.ValueWithoutMember, s.discriminatorAt(), []string{s.Discriminator}, hint,
		"%s in the enum of discriminator %q %s", quotedList(l), s.Discriminator, says)
}

// sharedValue finds values that select several members, which may be a mistake.
func sharedValue(s *lintedUnion) diag.List {
	var l diag.List
	for _, v := range s.MemberValues() {
		if s.Discriminator == "" {
			break // a group
		}
		members := s.MembersOf(v)
		if len(members) < 2 {
			continue
		}
		names := s.NamesOf(members)
		l = append(l, s.find(codes.SharedValue, s.memberAt(names[1]), nil,
			"nothing needs to be done if they belong together; otherwise give each member a value of its own",
			"value %q selects %s together", v, quotedList(names))...)
	}
	return l
}

// emptyMember finds list and map members, which count as set even if they are empty.
func emptyMember(s *lintedUnion) diag.List {
	var l diag.List
	for _, m := range s.Members {
		p := s.Path(m.Name).Schema(s.schema)
		what, empty, bound, least := "", "[]", "minItems", p.MinItems
		switch {
		case p.Type == "array":
			what = "a list"
		case isMap(p):
			what, empty, bound, least = "a map", "{}", "minProperties", p.MinProperties
		}
		if what == "" || m.Empty != union.PresentWhenEmpty || least != nil && *least > 0 {
			continue
		}
		hint := fmt.Sprintf("write emptyIsUnset: [%s] in the declaration, so that %s counts as unset; or %s: 1 at %q, which rejects it", m.Name, empty, bound, m.Name)
		if key := countsSet(s.schema, s.Path(m.Name)); key != "" {
			hint = fmt.Sprintf("write %s: 1 at %q, which rejects it; emptyIsUnset would contradict %s, to which it is set", bound, m.Name, key)
		}
		l = append(l, s.find(codes.ListMember, s.memberAt(m.Name), []string{m.Name}, hint,
			"member %q is %s, which counts as set even when it is empty (%s)", m.Name, what, empty)...)
	}
	return l
}

// countsSet returns the key of a schema on the path, or of the first schema, for which the property
// at the path is set whenever it is present, even if it is empty. It is "" if there is no such key.
func countsSet(s *apiextensionsv1.JSONSchemaProps, path schemapath.Path) string {
	holder, last := path[:len(path)-1], path[len(path)-1:].Properties()[0]
	counts := func(s apiextensionsv1.JSONSchemaProps) bool {
		in := holder.Schema(&s)
		return in != nil && slices.Contains(in.Required, last) || countsSet(&s, path) != ""
	}
	for _, of := range []struct {
		key string
		l   []apiextensionsv1.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		if slices.ContainsFunc(of.l, counts) {
			return of.key
		}
	}
	below := path[0].Schema(s)
	switch {
	case s.Not != nil && counts(*s.Not):
		return "not"
	case len(path) > 1 && below != nil:
		return countsSet(below, path[1:])
	case len(path) > 1:
	case s.MinProperties != nil && *s.MinProperties > 0:
		return "minProperties"
	case s.MaxProperties != nil:
		return "maxProperties"
	}
	return ""
}

func isMap(p *apiextensionsv1.JSONSchemaProps) bool {
	return p.Type == "object" && len(p.Properties) == 0 && p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil
}

var preview = regexp.MustCompile(`^v[1-9][0-9]*(alpha|beta)[1-9][0-9]*$`)

// undiscriminated finds unions without a discriminator in APIs without a stable version.
func undiscriminated(s *lintedUnion) diag.List {
	if s.Discriminator != "" || !s.Exclusive() || unusedDiscriminator(s) != nil {
		return nil
	}
	for _, v := range s.crd.CRD.Spec.Versions {
		if v.Served && !preview.MatchString(v.Name) {
			return nil
		}
	}
	return s.find(codes.Undiscriminated, s.pos(), nil,
		"add a string property with an enum, such as \"type\", and name it as discriminator: then clients that do not know a new member see which one is in use",
		"the union of %s has no discriminator, which KEP-1027 recommends for new APIs; no version of this one is stable yet", quotedList(s.MemberNames()))
}

// unusedDiscriminator finds a property whose enum has a value for each member of a union without a
// discriminator.
func unusedDiscriminator(s *lintedUnion) diag.List {
	if s.Discriminator != "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.schema.Properties)) {
		property := s.schema.Properties[name]
		values := valuesFor(s.MemberNames(), &property)
		if values == nil || slices.ContainsFunc(s.object.Unions, func(u *union.Union) bool {
			return u.Discriminator == name || slices.Contains(u.MemberNames(), name)
		}) {
			continue
		}
		var mapped []string
		for i, m := range s.MemberNames() {
			mapped = append(mapped, m+": "+values[i])
		}
		return s.find(codes.UnusedDiscriminator, s.pos(), []string{name},
			fmt.Sprintf("write discriminator: %s and fields-to-discriminateBy: {%s}, or in Go +unionDiscriminator, +k8s:unionDiscriminator on the field", name, strings.Join(mapped, ", ")),
			"%q has a value for each of %s, and no rule relates it to them", name, quotedList(s.MemberNames()))
	}
	return nil
}

// valuesFor returns the enum value of a property for each member. The spellings may differ in case
// and punctuation. It returns nil if a member has no value.
func valuesFor(members []string, property *apiextensionsv1.JSONSchemaProps) []string {
	spelt := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == '.' {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	var l []string
	for _, m := range members {
		i := slices.IndexFunc(property.Enum, func(v apiextensionsv1.JSON) bool {
			var text string
			return json.Unmarshal(v.Raw, &text) == nil && spelt(text) == spelt(m)
		})
		if i < 0 {
			return nil
		}
		l = append(l, string(property.Enum[i].Raw))
	}
	return l
}

// flow writes strings as items of a list in YAML.
func flow(l []string) []string {
	return english.Each(l, func(s string) string {
		data, _ := json.Marshal(s) // strings never fail
		return string(data)
	})
}
