package handwritten

// Form is a form of hand-written unions.
type Form string

// The forms. If a union has constraints in several forms, the most frequent form counts.
const (
	// Count is controller-gen's sum of (has(self.a) ? 1 : 0).
	Count Form = "controller-gen count"
	// Filter is controller-gen's form before 0.22, and exists_one:
	// [has(self.a), has(self.b)].filter(x, x == true).size().
	Filter Form = "controller-gen filter"
	// Pairs are the rules of the Gateway API: one forbids a member, and one requires it. Other
	// rules of ! && || that name a discriminator have this form, too.
	Pairs Form = "Gateway API pairs"
	// Conditional is OpenShift's form: type == 'A' ? has(self.a) : !has(self.a), or true if the
	// member is optional.
	Conditional Form = "OpenShift conditional"
	// Presence are other rules that combine has(), without a discriminator.
	Presence Form = "presence"
	// Items are rules about the items of a list, which keys tell apart.
	Items Form = "list items"
	// OneOf is oneOf over required, with or without the values of a discriminator.
	OneOf Form = "oneOf"
	// AnyOf is anyOf over required.
	AnyOf Form = "anyOf"
	// Not is not over required: a single one, or several in allOf.
	Not Form = "not"
	// PropertyCount is maxProperties: 1, with or without minProperties.
	PropertyCount Form = "property count"
)
