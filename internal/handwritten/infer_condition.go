package handwritten

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/verify"
)

// condition is a hand-written constraint that a union could replace. It depends only on which
// properties are set, which are empty, and the constants that they equal.
type condition struct {
	verify.Constraint
	// holds and rejects state that it is true, and that it is false. A rule may also fail to evaluate.
	holds, rejects logic.Lit
	reads          []propertyFact
	// slots are the properties that the condition reads, in order of appearance.
	slots []int
	// texts are the strings other than "" with which the condition compares properties, by slot.
	texts map[int][]string
	// sized are the slots of properties that the condition tests for emptiness.
	sized map[int]bool
	// zero is the only slot that the condition compares with a constant, 0, or -1.
	zero int
	// loose are the sized slots for which the condition treats empty values as unset.
	loose map[int]bool
}

// discriminator returns the only property that the condition compares with values, or -1 if there
// is no such property. ok is false if there are several.
func (c *condition) discriminator() (slot int, ok bool) {
	if len(c.texts) == 0 {
		return -1, true
	}
	for s := range c.texts {
		slot = s
	}
	return slot, len(c.texts) == 1
}

// maxSlots is the maximum number of properties that a condition may read.
const maxSlots = 64

// condition adds a constraint with its formula to l, unless the formula depends on other facts, on no
// property, or on too many.
func (o *candidateObject) condition(l []*condition, k verify.Constraint, holds, rejects logic.Lit) []*condition {
	c := &condition{Constraint: k, holds: holds, rejects: rejects, texts: map[int][]string{}, sized: map[int]bool{}, zero: -1, loose: map[int]bool{}}
	c.reads = o.factsOf(holds)
	if c.read(); len(c.slots) == 0 || len(c.slots) > maxSlots {
		return l
	}
	c.loosen(o)
	return append(l, c)
}

// ruleCondition is condition for a rule at a place.
func (o *candidateObject) ruleCondition(l []*condition, k verify.Constraint, r *formula.Rule, at *formula.Place) []*condition {
	k.Key = sample.RuleKey
	f, err := o.space.Rule(r, at, formula.Plain)
	if err != nil {
		return l
	}
	return o.condition(l, k, f.Holds, o.space.And(f.Holds.Not(), f.Fails.Not()))
}

// conditions returns the constraints on the object, by its rules and keywords, that depend only on which
// properties are set, and on the values of strings.
func (o *candidateObject) conditions(rules []parsedRule) []*condition {
	var l []*condition
	for _, r := range rules {
		l = o.ruleCondition(l, verify.Constraint{Index: r.index}, r.Rule, o.at(0))
	}
	for _, k := range verify.Written(o.schema) {
		counts := k.Key == "minProperties" || k.Key == "maxProperties"
		if k.Key == sample.RuleKey || counts && !o.counts() {
			continue
		}
		var only apiextensionsv1.JSONSchemaProps
		k.CopyTo(&only, o.schema)
		holds := o.space.Schema(&only, o.at(0))
		l = o.condition(l, k, holds, holds.Not())
	}
	for _, c := range l {
		discriminates := func(k *condition) bool { return len(k.texts) == 1 && len(k.texts[c.zero]) > 0 }
		if c.zero >= 0 && slices.ContainsFunc(l, discriminates) {
			// The property is the discriminator of another condition, so 0 is one of its values.
			c.texts[c.zero] = []string{"0"}
			delete(c.sized, c.zero)
			clear(c.loose)
			c.loosen(o)
		}
	}
	return l
}

// counts reports whether the object may have only one of its listed properties.
func (o *candidateObject) counts() bool {
	s := o.schema
	return s.MaxProperties != nil && *s.MaxProperties == 1 && !formula.Open(s) && !o.resource
}

// read collects the properties and strings that the condition reads.
func (c *condition) read() {
	zeros := map[int]bool{} // the slots of properties that the condition compares with false or 0
	for _, fact := range c.reads {
		slot := fact.slot
		if !slices.Contains(c.slots, slot) {
			c.slots = append(c.slots, slot)
		}
		switch text := textOf(fact.Constant); {
		case fact.Kind == formula.Equals && fact.Constant == any(true):
			c.texts[slot], zeros[slot] = []string{"true", "false"}, true
		case tellsZero(fact.Fact):
			c.texts[slot], zeros[slot] = append(c.texts[slot], text), true
		case fact.Kind == formula.Empty, fact.Kind == formula.Equals && text == "":
			c.sized[slot] = true
		case fact.Kind == formula.Equals:
			c.texts[slot] = append(c.texts[slot], text)
		}
	}
	// A property that is compared with false or 0 is a discriminator if it is the only one, and compared
	// with a boolean or with other numbers. Otherwise, it is a member that may be empty.
	alone := len(c.texts) == 1
	for slot := range zeros {
		if texts := c.texts[slot]; !alone || len(texts) == 1 && texts[0] == "0" {
			delete(c.texts, slot)
			c.sized[slot] = true
			if alone {
				c.zero = slot
			}
		}
	}
}

// loosen finds the properties for which the condition treats empty values as absent.
func (c *condition) loosen(o *candidateObject) {
	d, ok := c.discriminator()
	if !ok {
		return
	}
	for _, slot := range c.slots {
		if slot == d || !c.sized[slot] || !o.canBeEmpty(o.property(slot)) {
			continue
		}
		absent, empty := map[logic.Lit]bool{}, map[logic.Lit]bool{}
		for _, fact := range c.reads {
			if fact.slot == slot {
				absent[fact.Lit] = false
				empty[fact.Lit] = fact.Kind == formula.Present || fact.Kind == formula.Empty || fact.Constant == any("") || fact.Constant == any(int64(0))
			}
		}
		s := o.space
		c.loose[slot] = !o.possible(s.Equal(s.Restrict(c.holds, absent), s.Restrict(c.holds, empty)).Not())
	}
}

// canBeEmpty reports whether the schema of a property accepts "", [], {}, false or 0.
func (o *candidateObject) canBeEmpty(s apiextensionsv1.JSONSchemaProps) bool {
	s.Pattern = "" // formulas do not know it either
	accepts, err := sample.Judge(o.ctx, &s)
	return err == nil && slices.ContainsFunc(sample.New(&s, "", false).Empties(), accepts)
}
