package infer

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

const (
	// maxSlots is the maximum number of properties that a condition may read.
	maxSlots = 64
	// maxStates is the maximum number of states that are all tried.
	maxStates = 1 << 10
	// maxWork bounds the work on the formula of one condition. maxTotal bounds the work on all
	// formulas of a CRD.
	maxWork  = 20_000_000
	maxTotal = 200_000_000
	// maxValues is the maximum number of values of a discriminator.
	maxValues = 512
)

// table enumerates the objects that a condition distinguishes.
type table struct {
	*condition
	object []value
	// discriminator and without are properties that each does not vary; -1 is none.
	discriminator, without int
}

func (c *condition) table(o *candidateObject, discriminator int) *table {
	return &table{condition: c, object: make([]value, len(o.names)), discriminator: discriminator, without: -1}
}

// members returns the properties to vary. few is set if all combinations of their values are tried.
func (t *table) members() (slots []int, few bool) {
	states := 1
	for _, slot := range t.slots {
		if slot != t.discriminator && slot != t.without {
			slots = append(slots, slot)
			states = min(states*len(t.choices(slot)), maxStates+1)
		}
	}
	return slots, states <= maxStates
}

// affords reports whether that many passes through the table are within bounds. If so, it counts
// them. Published CRDs do not come near the bounds.
func (o *candidateObject) affords(t *table, times int) bool {
	slots, few := t.members()
	states := (len(slots) + 2) * (len(slots) + 2)
	if few {
		states = 1
		for _, slot := range slots {
			states *= len(t.choices(slot))
		}
	}
	return o.spend(states * t.size * max(times, 1))
}

// spend reports whether some work on a formula is within bounds. If so, it counts the work.
func (o *candidateObject) spend(work int) bool {
	if work > maxWork || *o.work+work > maxTotal {
		return false
	}
	*o.work += work
	return true
}

// each calls do with the objects whose discriminator has value v. If the condition reads many
// properties, these are the objects with at most two properties set, or at most one property unset.
func (t *table) each(v value, do func(object []value)) {
	if t.discriminator >= 0 {
		t.object[t.discriminator] = v
	}
	slots, few := t.members()
	if few {
		t.product(slots, do)
		return
	}
	set := func(to value, slots ...int) {
		for _, slot := range slots {
			t.object[slot] = to
		}
	}
	set(absent, slots...)
	do(t.object)
	for i, a := range slots {
		for _, choice := range t.choices(a)[1:] {
			set(choice, a)
			do(t.object)
		}
		set(full, a)
		for _, b := range slots[i+1:] {
			set(full, b)
			do(t.object)
			set(absent, b)
		}
		set(absent, a)
	}
	set(full, slots...)
	do(t.object)
	for _, a := range slots {
		set(absent, a)
		do(t.object)
		set(full, a)
	}
	set(absent, slots...)
}

func (t *table) product(slots []int, do func(object []value)) {
	if len(slots) == 0 {
		do(t.object)
		return
	}
	for _, v := range t.choices(slots[0]) {
		t.object[slots[0]] = v
		t.product(slots[1:], do)
	}
	t.object[slots[0]] = absent
}

// choices returns the values to try for a member. The first one is absent.
func (t *table) choices(slot int) []value {
	if t.sized[slot] {
		return []value{absent, full, empty}
	}
	return []value{absent, full}
}

// isSet reports whether the condition treats the property as set.
func (c *condition) isSet(slot int, v value) bool {
	if c.loose[slot] {
		return v.text != ""
	}
	return v.set
}

// orNone returns values or, if there are none, the absent value.
func orNone(values []value) []value {
	if len(values) == 0 {
		return []value{absent}
	}
	return values
}

// values returns the values of a discriminator that conditions distinguish: absent; the values of
// the enum or, without an enum, "", the values in conditions, and one other value.
func (o *candidateObject) values(d int, conditions []*condition) []value {
	var l []value
	s := o.property(d)
	if o.mayLack(d) || s.Nullable {
		l = append(l, absent)
	}
	if enum := enumOf(s); len(enum) > 0 {
		for _, text := range enum {
			l = append(l, value{true, text})
		}
		return l
	}
	if canBeEmpty(s) {
		l = append(l, empty)
	}
	for _, c := range conditions {
		for _, text := range c.texts[d] {
			if v := (value{true, text}); !slices.Contains(l, v) && len(l) <= maxValues {
				l = append(l, v)
			}
		}
	}
	return append(l, value{true, other})
}

// mayLack reports whether objects may lack a property when rules see them: it is neither required
// nor defaulted.
func (o *candidateObject) mayLack(slot int) bool {
	path, s := union.Property(o.schema, o.names[slot])
	if len(path) > 1 && !union.AlwaysThere(o.schema, path[:len(path)-1]) {
		return true
	}
	return !union.Requires(o.schema, path) && !union.Defaulted(s)
}

// enumOf returns the strings in the enum of a schema, up to a maximum.
func enumOf(s apiextensionsv1.JSONSchemaProps) []string {
	l := union.EnumStrings(&s)
	return l[:min(len(l), maxValues+1)]
}
