package infer

// formula is a condition that asks of an object only which properties are set,
// which of them are empty, and what strings are. What a CEL rule and a oneOf say
// can be compared once both are formulas.
type formula struct {
	kind kind
	args []*formula
	// slot is the property that present, filled and equals are about.
	slot int
	// text is what equals compares with.
	text string
	// A sum is base plus the weight of each of args that holds, held to limit.
	weights     []int
	base, limit int
	order       order
}

type kind uint8

const (
	always  kind = iota + 1
	never        // the opposite
	present      // has(self.x)
	filled       // size(self.x) > 0
	equals       // self.x == 'text'
	not
	all
	some
	choice // a ? b : c
	same   // a == b
	sum
)

// order is a comparison of numbers.
type order uint8

const (
	equal order = iota + 1
	unequal
	less
	lessOrEqual
	greater
	greaterOrEqual
)

func (o order) holds(a, b int) bool {
	switch o {
	case equal:
		return a == b
	case unequal:
		return a != b
	case less:
		return a < b
	case lessOrEqual:
		return a <= b
	case greater:
		return a > b
	case greaterOrEqual:
		return a >= b
	}
	return false
}

// mirrored is the comparison with its sides swapped.
func (o order) mirrored() order {
	return map[order]order{equal: equal, unequal: unequal, less: greater, lessOrEqual: greaterOrEqual, greater: less, greaterOrEqual: lessOrEqual}[o]
}

// value is what a property has: nothing, or a text that stands for a value of
// any type and is "" when that is empty.
type value struct {
	set  bool
	text string
}

// other is a text that no rule mentions.
const other = "\x00"

var (
	absent = value{}
	empty  = value{set: true}
	full   = value{set: true, text: other}
)

// truth is the result of a condition. Reading what is absent makes it bad.
type truth uint8

const (
	no truth = iota
	yes
	bad
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// evaluate gives the truth of f as CEL does: && and || shrug off an error when
// the other side decides.
func (f *formula) evaluate(object []value) truth {
	switch f.kind {
	case always:
		return yes
	case present:
		return truthOf(object[f.slot].set)
	case filled, equals:
		v := object[f.slot]
		switch {
		case !v.set:
			return bad
		case f.kind == filled:
			return truthOf(v.text != "")
		}
		return truthOf(v.text == f.text)
	case not:
		return f.args[0].evaluate(object).negated()
	case all, some:
		decisive := truthOf(f.kind == some)
		result := decisive.negated()
		for _, a := range f.args {
			switch t := a.evaluate(object); t {
			case decisive:
				return t
			case bad:
				result = bad
			}
		}
		return result
	case choice:
		switch f.args[0].evaluate(object) {
		case yes:
			return f.args[1].evaluate(object)
		case no:
			return f.args[2].evaluate(object)
		}
		return bad
	case same:
		a, b := f.args[0].evaluate(object), f.args[1].evaluate(object)
		if a == bad || b == bad {
			return bad
		}
		return truthOf(a == b)
	case sum:
		n := f.base
		for i, a := range f.args {
			switch a.evaluate(object) {
			case bad:
				return bad
			case yes:
				n += f.weights[i]
			}
		}
		return truthOf(f.order.holds(n, f.limit))
	}
	return no
}

func (t truth) negated() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return bad
}

// visit calls do for f and everything in it.
func (f *formula) visit(do func(*formula)) {
	do(f)
	for _, a := range f.args {
		a.visit(do)
	}
}

func truthFormula(b bool) *formula {
	if b {
		return &formula{kind: always}
	}
	return &formula{kind: never}
}

func negation(f *formula) *formula { return &formula{kind: not, args: []*formula{f}} }

func isPresent(slot int) *formula { return &formula{kind: present, slot: slot} }

// count compares with limit how many of the formulas hold.
func count(l []*formula, o order, limit int) *formula {
	f := &formula{kind: sum, args: l, order: o, limit: limit}
	for range l {
		f.weights = append(f.weights, 1)
	}
	return f
}
