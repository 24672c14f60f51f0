package markers

import "testing"

// Texts about keys in YAML are rewritten to name markers.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		`optionalMembers names "optionalMembers", which is no member`:          `+unioncel:union:optionalMembers names "optionalMembers", which is no member`,
		"write it like emptyIsUnset: [a, b]":                                   "write it like +unioncel:union:emptyIsUnset=a;b",
		"write it like allowedChanges: {HTTP: [TCP]}":                          "write it like +unioncel:union:allowedChanges={HTTP: [TCP]}",
		"ratchet: want true or false, not a list":                              "+unioncel:union:ratchet: want true or false, not a list",
		"cardinality must be one of A, B":                                      "+unioncel:union:cardinality must be one of A, B",
		"delete cardinality, or make it optional":                              "delete +unioncel:union:cardinality, or make it optional",
		"cardinality AtLeastOne has no transitions":                            "+unioncel:union:cardinality=AtLeastOne has no transitions",
		"write ratchet: true in the declaration, which":                        "write +unioncel:union:ratchet=true, which",
		"discriminatorChange: Allow silences this note":                        "+unioncel:union:discriminatorChange=Allow silences this note",
		"map it in fields-to-discriminateBy if":                                "map it with +unioncel:union:values if",
		"delete +unioncel:union:optional: it":                                  "delete +unioncel:union:optional: it",
		"write discriminator: type, or in Go +unionDiscriminator on the field": "write +unionDiscriminator on the field",
		"give it x-kubernetes-list-type: map with x-kubernetes-list-map-keys":  "give it +listType=map with +listMapKey",
		"discriminator type has no members":                                    "discriminator type has no members",
	} {
		if got := inGo(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
