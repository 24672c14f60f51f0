package infer

// Form is how a union is written by hand.
type Form string

// The forms. The constraints of one union may be in several; it has the one that
// most of them have.
const (
	// Count is what controller-gen writes: a sum of (has(self.a) ? 1 : 0).
	Count Form = "controller-gen count"
	// Filter is what it wrote before 0.22: [has(self.a), has(self.b)].filter(x, x == true).size().
	// exists_one is one of these too.
	Filter Form = "controller-gen filter"
	// Pairs are the rules of the Gateway API: one that forbids a member, one that
	// requires it. Other rules of ! && || that name a discriminator are these too.
	Pairs Form = "Gateway API pairs"
	// Conditional is OpenShift's: type == 'A' ? has(self.a) : !has(self.a), or true
	// when the member is optional.
	Conditional Form = "OpenShift conditional"
	// Presence is rules that combine has() and no discriminator.
	Presence Form = "presence"
	// OneOf is oneOf over required, with or without the values of a discriminator.
	OneOf Form = "oneOf"
	// AnyOf is anyOf over required.
	AnyOf Form = "anyOf"
	// Not is not over required, alone or several in allOf.
	Not Form = "not"
	// PropertyCount is maxProperties: 1, with or without minProperties.
	PropertyCount Form = "property count"
	// EnumMatch is an enum with the names of object properties beside it. It is a
	// suggestion.
	EnumMatch Form = "enum matches members"
	// Prose is a description that says it. It is a suggestion.
	Prose Form = "prose"
)
