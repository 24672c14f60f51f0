package infer

// Form is a way to write a union by hand.
type Form string

// The forms. A union whose constraints are in several forms has the most frequent one.
const (
	// Count is controller-gen's sum of (has(self.a) ? 1 : 0).
	Count Form = "controller-gen count"
	// Filter is controller-gen's form before 0.22, and exists_one:
	// [has(self.a), has(self.b)].filter(x, x == true).size().
	Filter Form = "controller-gen filter"
	// Pairs are the rules of the Gateway API: one that forbids a member, one that requires it. They
	// include other rules of ! && || that name a discriminator.
	Pairs Form = "Gateway API pairs"
	// Conditional is OpenShift's form: type == 'A' ? has(self.a) : !has(self.a), or true if the
	// member is optional.
	Conditional Form = "OpenShift conditional"
	// Presence has rules that combine has() without a discriminator.
	Presence Form = "presence"
	// OneOf is oneOf over required, with or without the values of a discriminator.
	OneOf Form = "oneOf"
	// AnyOf is anyOf over required.
	AnyOf Form = "anyOf"
	// Not is not over required, alone or several in allOf.
	Not Form = "not"
	// PropertyCount is maxProperties: 1, with or without minProperties.
	PropertyCount Form = "property count"
	// EnumMatch is an enum with the names of object properties next to it. It is a suggestion.
	EnumMatch Form = "enum matches members"
	// Prose is a description that states the union. It is a suggestion.
	Prose Form = "prose"
)
