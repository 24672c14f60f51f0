package unioncases

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/union"
)

// Declarations returns all unions of the shape, in flow style. Larger unions alternate between
// independent options.
func (s Shape) Declarations() []string {
	var l []string
	turn := 0
	names := strings.Join(s.Names(), ", ")
	if s.Grouped {
		for _, optional := range []string{"", "optionalMembers: [" + s.Names()[s.Members-1] + "]", "optionalMembers: [" + strings.Join(s.Names()[s.Members-2:], ", ") + "]"} {
			l = append(l, s.groupDeclarations(names, optional)...)
		}
		return l
	}
	add := func(parts ...string) {
		if s.EmptyIsUnset {
			parts = append(parts, "emptyIsUnset: ["+names+"]")
		}
		for _, ratchet := range []string{"", "ratchet: true"} {
			if turn++; ratchet != "" && s.Members > 2 && turn%(4*s.Members-9) > 0 {
				continue
			}
			all := slices.DeleteFunc(append(slices.Clone(parts), ratchet), func(p string) bool { return p == "" })
			l = append(l, "{"+strings.Join(all, ", ")+"}")
		}
	}
	if !s.Discriminated {
		members := "members: [" + names + "]"
		add(members, "cardinality: AtLeastOne")
		for _, cardinality := range []string{"", "cardinality: ExactlyOne"} {
			for _, change := range s.changes() {
				add(members, cardinality, change)
			}
		}
		for _, relations := range s.relations() {
			add(relations)
		}
		return l
	}
	var fields []string
	for i, values := range s.Fields() {
		fields = append(fields, s.Names()[i]+": ["+strings.Join(values, ", ")+"]")
	}
	discriminator := "discriminator: " + s.Discriminator() + ", fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	cardinalities := []string{"", "cardinality: ExactlyOne", "deduceInvalidDiscriminator: true"}
	switch {
	case s.Unset != "":
		discriminator += ", unset: " + s.spelt(s.Unset)
		cardinalities = cardinalities[:1]
	case s.Type != union.StringValue:
		cardinalities = cardinalities[:2]
	}
	optional := []string{"", "optionalMembers: [" + s.Names()[0] + "]", "optionalMembers: [" + names + "]"}
	if s.Shared {
		cardinalities = cardinalities[:min(2, len(cardinalities))] // a member does not determine the value
		a, b := s.spelt("A"), s.spelt("B")
		optional = append(optional, "optionalMembers: {"+s.Names()[1]+": "+a+"}", "optionalMembers: {"+s.Names()[0]+": ["+a+"], "+s.Names()[1]+": ["+b+"]}")
	}
	for _, cardinality := range cardinalities {
		for _, optionals := range optional {
			for _, unmapped := range []string{"", "unmappedValues: Forbid"} {
				if unmapped != "" && s.Unset != "" && !slices.ContainsFunc(s.Fields(), func(l []string) bool { return slices.Contains(l, s.spelt(s.Unset)) }) {
					continue // an unset discriminator would have a value that is forbidden
				}
				for i, change := range s.changes() {
					if turn++; s.Members <= 2 || (turn+i/5)%4 == 0 || optionals+unmapped == "" {
						add(discriminator, cardinality, optionals, unmapped, change)
					}
				}
			}
		}
	}
	return l
}

// relations returns presence relations of all members.
func (s Shape) relations() []string {
	l := map[int][]string{
		2: {"dependentRequired: {a: b}", "dependentRequired: {a: b, b: a}", "dependentForbidden: {a: b}"},
		3: {"dependentRequired: {a: [b, c]}", "dependentRequired: {a: b, c: b}", "dependentRequired: {a: b}, dependentForbidden: {a: c}", "dependentForbidden: {a: [b, c], b: a}"},
		4: {"dependentRequired: {a: [b, c], d: c}", "dependentRequired: {a: b, b: a}, dependentForbidden: {a: [c, d], d: c}"},
	}[s.Members]
	for i := range l {
		l[i] = regexp.MustCompile(`\b[abcd]\b`).ReplaceAllStringFunc(l[i], func(letter string) string {
			return s.Names()[strings.Index("abcd", letter)]
		})
	}
	return l
}

// groupDeclarations returns the unions with a group.
func (s Shape) groupDeclarations(names, optional string) []string {
	members := "members: [" + strings.Join(append(slices.Clone(s.Names()[:s.Members-2]), "["+strings.Join(s.Names()[s.Members-2:], ", ")+"]"), ", ") + "]"
	var l []string
	add := func(parts ...string) {
		if s.EmptyIsUnset {
			parts = append(parts, "emptyIsUnset: ["+names+"]")
		}
		l = append(l, "{"+strings.Join(slices.DeleteFunc(append([]string{members, optional}, parts...), func(p string) bool { return p == "" }), ", ")+"}")
	}
	add("cardinality: AtLeastOne")
	add("cardinality: AtLeastOne", "ratchet: true")
	for _, change := range []string{"", "discriminatorChange: Forbid", "discriminatorChange: Clear", "allowedChanges: {" + s.group() + ": [\"\"]}", "allowedChanges: {a: " + s.group() + "}"} {
		if s.Members == 2 && strings.Contains(change, "{a:") {
			continue
		}
		add(change)
		add(change, "cardinality: ExactlyOne")
		if s.Members < 4 {
			add(change, "ratchet: true")
		}
	}
	return l
}

// changes returns the keys for transitions that a union may have.
func (s Shape) changes() []string {
	l := []string{"", "discriminatorChange: Allow", "discriminatorChange: Forbid"}
	if !s.Discriminated {
		l = append(l, "discriminatorChange: Clear") // with a discriminator it is the default
	}
	if s.Members < 3 {
		l = append(l, "allowedChanges: {}")
	}
	tables := []string{`{b: [a, c]}`, `{a: ["", b], b: a}`, `{a: "", b: "", c: [a, b], d: [a, b, c, d]}`}
	if s.Discriminated {
		tables = []string{`{B: [A, C]}`, `{A: ["", B], B: A}`, `{A: "", B: "", C: [A, B], D: [A, B, C, D, ""]}`}
		if s.Enum {
			tables = append(tables, `{None: [A, ""], A: None}`)
		}
		if s.TwoValues {
			tables = append(tables, `{A: A2, A2: [""]}`)
		}
	}
	for _, table := range tables {
		// The table of a small union contains only existing names.
		for _, name := range []string{"a", "b", "c", "d"}[s.Members:] {
			if s.Discriminated {
				if s.Enum {
					break // the enum contains all values
				}
				name = strings.ToUpper(name)
			}
			table = removed(table, name)
		}
		if s.Unset != "" {
			table = removed(table, "")
		}
		if s.Type != union.StringValue {
			table = constant.ReplaceAllStringFunc(table, s.spelt)
		}
		// Without a discriminator, the letters stand for members.
		table = letter.ReplaceAllStringFunc(table, func(l string) string { return s.Names()[l[0]-'a'] })
		l = append(l, "allowedChanges: "+table)
	}
	return l
}

// constant matches the values in a table.
var constant = regexp.MustCompile(`\b(A2|[A-D]|None)\b`)

var letter = regexp.MustCompile(`\b[abcd]\b`)

// removed removes a name from a transition table.
func removed(table, name string) string {
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(table), &parsed); err != nil {
		panic(err) // the table is one of the literals above
	}
	delete(parsed, name)
	for from, to := range parsed {
		if to == name {
			parsed[from] = []any{}
		}
		if row, ok := to.([]any); ok {
			parsed[from] = slices.DeleteFunc(row, func(v any) bool { return v == name })
		}
	}
	text, err := json.Marshal(parsed)
	if err != nil {
		panic(err)
	}
	return string(text)
}
