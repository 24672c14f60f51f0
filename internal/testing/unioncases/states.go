package unioncases

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// memberSchemas and the following lists are indexed by member.
var memberSchemas = []string{
	"{type: object, nullable: true, properties: {x: {type: string}, z: {type: integer, nullable: true}}}",
	"{type: string, nullable: true}",
	"{type: array, items: {type: string}}",
	"{type: object, nullable: true, additionalProperties: {type: string}}",
}

var (
	emptyMembers = [][]any{
		{map[string]any{}, map[string]any{"z": nil}},
		{""},
		{[]any{}},
		{map[string]any{}},
	}
	setMembers = []any{
		map[string]any{"z": int64(0)},
		"x",
		[]any{""},
		map[string]any{"": ""},
	}
)

// The same lists for scalar members.
var (
	scalarSchemas = []string{
		"{type: boolean, nullable: true}",
		"{type: integer, nullable: true}",
		"{type: number, nullable: true}",
	}
	emptyScalars = [][]any{{false}, {int64(0)}, {int64(0), 0.0}}
	setScalars   = []any{true, int64(-1), 0.5}
)

// schemas, empties and set return the lists for the shape.
func (s Shape) schemas() []string {
	if s.Scalar {
		return scalarSchemas
	}
	return memberSchemas
}

func (s Shape) empties() [][]any {
	if s.Scalar {
		return emptyScalars
	}
	return emptyMembers
}

func (s Shape) set() []any {
	if s.Scalar {
		return setScalars
	}
	return setMembers
}

// Enumerated returns the values of the enum other than "": those of Fields for all shapes, and a
// memberless value. null is not among them: the server rejects null in an enum, even if the
// property is nullable.
func (s Shape) Enumerated() []string {
	if !s.Enum {
		return nil
	}
	l := []string{"A", "A2", "B", "C", "D", "None"}
	for i := range l {
		l[i] = s.spelt(l[i])
	}
	return l
}

// Schema returns the schema of the union object, in YAML.
func (s Shape) Schema() string {
	text, nested := "type: object\nproperties:\n", ""
	add := func(name, schema string) {
		if inner, ok := strings.CutPrefix(name, holder+"."); ok && s.Nested {
			nested += "      " + inner + ": " + schema + "\n"
		} else {
			text += "  " + name + ": " + schema + "\n"
		}
	}
	switch {
	case s.Enum && s.Type == union.IntegerValue:
		add(s.Discriminator(), "{type: integer, nullable: true, enum: ["+strings.Join(s.Enumerated(), ", ")+"]}")
	case s.Enum:
		add(s.Discriminator(), "{type: string, nullable: true, enum: ["+strings.Join(s.Enumerated(), ", ")+", '']}")
	case s.Discriminated:
		add(s.Discriminator(), "{type: "+s.Type.String()+", nullable: true}")
	}
	// The server copies all properties for each one that it reads.
	for i, name := range s.Names() {
		add(name, s.schemas()[i])
	}
	if nested != "" {
		text += "  " + holder + ":\n    type: object\n    nullable: true\n    properties:\n" + nested
	}
	return text
}

// with is [Put] for a property of the shape.
func (s Shape) with(object map[string]any, name string, value any) map[string]any {
	inner, ok := strings.CutPrefix(name, holder+".")
	if !ok || !s.Nested || value == any(Absent{}) {
		return Put(object, name, value)
	}
	held, _ := object[holder].(map[string]any)
	return Put(object, holder, Put(held, inner, value))
}

// withHolder returns the objects and, for each object without the holder, two more: with an empty
// holder and with null.
func (s Shape) withHolder(objects []map[string]any) []map[string]any {
	l := objects
	for _, o := range objects {
		if _, ok := o[holder]; s.Nested && !ok {
			l = append(l, Put(o, holder, map[string]any{}), Put(o, holder, nil))
		}
	}
	return l
}

// Values returns the values of the discriminator: unset, the value of each member, a memberless
// value and an unknown one.
func (s Shape) Values() []string {
	if !s.Discriminated {
		return []string{""}
	}
	l := []string{"", "None"}
	if s.Members < 4 {
		l = append(l, "unheard of")
	}
	switch s.Type {
	case union.BooleanValue:
		l = []string{"", "true", "false"}
	case union.IntegerValue:
		l = []string{"", "0", "77"}
	}
	if s.Unset != "" {
		l = l[1:]
	}
	for _, values := range s.Fields() {
		for _, v := range values {
			if !slices.Contains(l, v) {
				l = append(l, v)
			}
		}
	}
	return l
}

// Fields returns the discriminator values of each member.
func (s Shape) Fields() [][]string {
	l := [][]string{{"A"}, {"B"}, {"C"}, {"D"}}[:s.Members]
	if s.TwoValues {
		l[0] = []string{"A", "A2"}
	}
	if s.Shared {
		l[1] = append(l[1], "A")
	}
	for _, values := range l {
		for i := range values {
			values[i] = s.spelt(values[i])
		}
	}
	return l
}

// State is a state with union objects in that state, written in every way.
type State struct {
	union.State
	Objects []map[string]any
}

// Absent is the value of an absent property.
type Absent struct{}

// States returns all states of unions of the shape, with discriminator values in the order of
// Values.
func (s Shape) States() []State {
	var l []State
	for _, value := range s.Values() {
		types := []any{s.Type.Value(value)}
		unset := []any{Absent{}, nil}
		if s.Type == union.StringValue {
			unset = append(unset, "")
		}
		switch {
		case !s.Discriminated:
			types = []any{Absent{}}
		case value == "":
			types = unset
		case s.Unset != "" && value == s.spelt(s.Unset):
			types = append(types, unset...)
		}
		for set := range 1 << s.Members {
			st := State{State: union.State{Value: value, Present: make([]bool, s.Members)}}
			for _, typ := range types {
				st.Objects = append(st.Objects, s.with(nil, s.Discriminator(), typ))
			}
			for i, name := range s.Names() {
				st.Present[i] = set&(1<<i) > 0
				ways := []any{Absent{}, nil}
				if st.Present[i] {
					ways = []any{s.set()[i]}
				}
				if st.Present[i] != s.EmptyIsUnset {
					ways = append(ways, s.empties()[i]...)
				}
				var next []map[string]any
				for _, o := range st.Objects {
					for _, way := range ways {
						next = append(next, s.with(o, name, way))
					}
				}
				st.Objects = next
			}
			st.Objects = s.withHolder(st.Objects)
			// Neighbours look different, and the number of objects per state is limited.
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(st.Objects), func(i, j int) {
				st.Objects[i], st.Objects[j] = st.Objects[j], st.Objects[i]
			})
			st.Objects = st.Objects[:min(len(st.Objects), 8)]
			l = append(l, st)
		}
	}
	return l
}

// Put returns a copy of fields with one more field.
func Put(fields map[string]any, name string, value any) map[string]any {
	l := map[string]any{}
	maps.Copy(l, fields)
	if value != any(Absent{}) {
		l[name] = value
	}
	return l
}
