package unioncases

// Stored are schemas that exclude objects which an older schema may have accepted; ratcheting keeps
// such objects valid. All have the members a and b, selected by A and B.
var Stored = []struct{ Name, Schema string }{
	{"required enum", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B]}, " + storedMembers + "}}"},
	{"with empty value", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B, '']}, " + storedMembers + "}}"},
	{"with memberless value", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B, None]}, " + storedMembers + "}}"},
	{"nullable", "{type: object, required: [type], properties: {type: {type: string, nullable: true, enum: [A, B]}, " + storedMembers + "}}"},
	{"minLength", "{type: object, required: [type], properties: {type: {type: string, minLength: 1}, " + storedMembers + "}}"},
	{"required", "{type: object, required: [type], properties: {type: {type: string}, " + storedMembers + "}}"},
	{"optional enum", "{type: object, properties: {type: {type: string, enum: [A, B]}, " + storedMembers + "}}"},
}

const storedMembers = "a: {type: object}, b: {type: string}"

// StoredDeclarations returns the unions for the schemas of Stored.
func StoredDeclarations() []string {
	var l []string
	for _, keys := range []string{"", "unmappedValues: Forbid", "cardinality: ExactlyOne, unmappedValues: Forbid", "optionalMembers: [b], cardinality: ExactlyOne"} {
		l = append(l, "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, "+keys+"}")
	}
	return l
}

// StoredObjects returns union objects that may be stored, including objects that the schemas
// reject.
func StoredObjects() []map[string]any {
	var l []map[string]any
	for _, typ := range []any{Absent{}, nil, "", "A", "B", "None", "C"} {
		for _, a := range []any{Absent{}, map[string]any{}} {
			for _, b := range []any{Absent{}, "x"} {
				l = append(l, Put(Put(Put(nil, "type", typ), "a", a), "b", b))
			}
		}
	}
	return l
}
