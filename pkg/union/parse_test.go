package union_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

const keyList = "the keys are allowedChanges, cardinality, deduceInvalidDiscriminator, dependentForbidden, dependentRequired, discriminator, discriminatorChange, emptyIsUnset, fields-to-discriminateBy, handWrittenRules, members, message, messages, name, optionalMembers, ratchet, unmappedValues, unset"

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string // the value of x-kubernetes-unions
		want       []string
	}{
		{"no list", "{discriminator: type}", []string{"1:1: error: UC202: x-kubernetes-unions must be a list of unions, not a mapping; hint: begin the line with a dash: \"- discriminator\""}},
		{"empty list", "[]", []string{"1:1: error: UC202: x-kubernetes-unions must be a list of unions, not an empty list; hint: write a list with one item per union, or delete the key"}},
		{"null", "null", []string{"1:1: error: UC202: x-kubernetes-unions must be a list of unions, not null; hint: write a list with one item per union, or delete the key"}},
		{"scalar", "type", []string{`1:1: error: UC202: x-kubernetes-unions must be a list of unions, not "type"; hint: write a list with one item per union, or delete the key`}},
		{"items", "- type\n- [a]\n-\n- []\n", []string{
			`1:3: error: UC202: want a mapping, not "type"; hint: write it like {members: [a, b]}`,
			"2:3: error: UC202: want a mapping, not a list; hint: write it like {members: [a, b]}",
			"3:2: error: UC202: want a mapping, not null; hint: write it like {members: [a, b]}",
			"4:3: error: UC202: want a mapping, not an empty list; hint: write it like {members: [a, b]}",
		}},

		{"unknown keys", "- descriminator: type\n  Ratchet: true\n  fieldsToDiscriminateBy: {a: A}\n  foo: bar\n  '': x\n  membres: [a]\n", []string{
			`1:3: error: UC201: unknown key "descriminator" in a union declaration; hint: write "discriminator"`,
			`2:3: error: UC201: unknown key "Ratchet" in a union declaration; hint: write "ratchet"`,
			`3:3: error: UC201: unknown key "fieldsToDiscriminateBy" in a union declaration; hint: write "fields-to-discriminateBy"`,
			`4:3: error: UC201: unknown key "foo" in a union declaration; hint: ` + keyList,
			`5:3: error: UC201: unknown key "" in a union declaration; hint: ` + keyList,
			`6:3: error: UC201: unknown key "membres" in a union declaration; hint: write "members"`,
		}},
		{"columns count characters", "- {name: äöü😀, x: 1}\n", []string{`1:16: error: UC201: unknown key "x" in a union declaration; hint: ` + keyList}},
		{"hidden texts", "- {members: [!!binary YQ==, b], !!binary bmFtZQ==: x}\n", []string{
			`1:14: error: UC105: kubectl reads !!binary "YQ==" as "a"; write that; hint: quote it: "a"`,
			`1:33: error: UC105: kubectl reads !!binary "bmFtZQ==" as "name"; write that; hint: quote it: "name"`,
		}},
		{"keys that are no strings", "- [a]: b\n  On: x\n  1: x\n  ~: x\n  ? {a: b}\n  : c\n", []string{
			"1:3: error: UC202: want a string as key, not a list; hint: write the key out",
			`2:3: error: UC105: kubectl reads On as the boolean true; hint: quote it: "On"`,
			`3:3: error: UC105: kubectl reads 1 as the number 1; hint: quote it: "1"`,
			`4:3: error: UC105: kubectl reads ~ as null; hint: quote it: "~"`,
			"5:5: error: UC202: want a string as key, not a mapping; hint: write the key out",
		}},

		{"discriminator", "- discriminator: [type]\n- discriminator:\n- discriminator: On\n- discriminator: {a: b}\n", []string{
			"1:18: error: UC202: discriminator: want a string, not a list; hint: write it like discriminator: type",
			"2:17: error: UC202: discriminator: want a string, not null; hint: write it like discriminator: type",
			`3:18: error: UC105: kubectl reads On as the boolean true; hint: quote it: "On"`,
			"4:18: error: UC202: discriminator: want a string, not a mapping; hint: write it like discriminator: type",
		}},
		{"fields-to-discriminateBy", "- fields-to-discriminateBy: [a]\n- fields-to-discriminateBy:\n    y: Y\n    a: {b: c}\n    b: [1, yes, 'yes', [x], ]\n    c:\n    d: 1.5\n    e: 2001-01-01\n    f: 0o7\n    g: null\n", []string{
			"1:29: error: UC202: fields-to-discriminateBy: want a mapping, not a list; hint: write it like fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS]}",
			`3:5: error: UC105: kubectl reads y as the boolean true; hint: quote it: "y"`,
			`3:8: error: UC105: kubectl reads Y as the boolean true; hint: quote it: "Y"`,
			"4:8: error: UC202: fields-to-discriminateBy: want a string or a list of strings, not a mapping; hint: write it like fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS]}",
			`5:12: error: UC105: kubectl reads yes as the boolean true; hint: quote it: "yes"`,
			"5:24: error: UC202: fields-to-discriminateBy: want a string, not a list; hint: write it like fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS]}",
			"6:7: error: UC202: fields-to-discriminateBy: want a string, not null; hint: write it like fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS]}",
			`7:8: error: UC105: kubectl reads 1.5 as the number 1.5; hint: quote it: "1.5"`,
			`8:8: error: UC105: yaml.v3 reads 2001-01-01 as a timestamp, kubectl as a string; hint: quote it: "2001-01-01"`,
			`10:8: error: UC105: kubectl reads null as null; hint: quote it: "null"`,
		}},
		{"relations", "- dependentRequired: {a: true}\n- dependentForbidden: {a: [1, b]}", []string{
			`1:26: error: UC105: kubectl reads true as the boolean true; hint: quote it: "true"`,
			`2:28: error: UC105: kubectl reads 1 as the number 1; hint: quote it: "1"`,
		}},
		{"members", "- members: a\n- members: {a: b}\n- members: [no, {}]\n- members:\n", []string{
			`1:12: error: UC202: members: want a list, not "a"; hint: write it like members: [a, b]`,
			"2:12: error: UC202: members: want a list, not a mapping; hint: write it like members: [a, b]",
			`3:13: error: UC105: kubectl reads no as the boolean false; hint: quote it: "no"`,
			"4:11: error: UC202: members: want a list, not null; hint: write it like members: [a, b]",
		}},
		{"both lists", "- members: [a]\n  fields-to-discriminateBy: {b: B}\n", []string{
			"1:3: error: UC220: members and fields-to-discriminateBy both list the members; hint: keep fields-to-discriminateBy with a discriminator, members without one",
		}},
		{"booleans", "- deduceInvalidDiscriminator: yes\n- deduceInvalidDiscriminator: 'true'\n- ratchet: [true]\n- ratchet: True\n- ratchet: |-\n    true\n- ratchet: !!str true\n- ratchet: 1\n- ratchet:\n- ratchet: {a: b}\n", []string{
			`1:31: error: UC202: deduceInvalidDiscriminator: want true or false, not "yes"; hint: write it like deduceInvalidDiscriminator: true`,
			`2:31: error: UC202: deduceInvalidDiscriminator: want true or false, not "true"; hint: write it like deduceInvalidDiscriminator: true`,
			"3:12: error: UC202: ratchet: want true or false, not a list; hint: write it like ratchet: true",
			"4:12: error: UC202: ratchet: want true or false, not True; hint: write it like ratchet: true",
			`5:12: error: UC202: ratchet: want true or false, not "true"; hint: write it like ratchet: true`,
			`7:12: error: UC202: ratchet: want true or false, not "true"; hint: write it like ratchet: true`,
			"8:12: error: UC202: ratchet: want true or false, not 1; hint: write it like ratchet: true",
			"9:11: error: UC202: ratchet: want true or false, not null; hint: write it like ratchet: true",
			"10:12: error: UC202: ratchet: want true or false, not a mapping; hint: write it like ratchet: true",
		}},
		{"name", "- name: {}\n- name: off\n- name:\n", []string{
			"1:9: error: UC202: name: want a string, not a mapping; hint: write it like name: backend",
			`2:9: error: UC105: kubectl reads off as the boolean false; hint: quote it: "off"`,
			"3:8: error: UC202: name: want a string, not null; hint: write it like name: backend",
		}},
		{"message", "- message: ''\n- message: |\n    a\n    b\n- message: [a]\n- message: {}\n- message: {required: a, forbiddn: b}\n- message: {changed: ' '}\n- message: no\n- message:\n", []string{
			"1:12: error: UC202: the text is empty; hint: write a text, or delete the key",
			"2:12: error: UC202: the text has a line break, which the API server rejects; hint: write it on one line, or fold it with >-",
			"5:12: error: UC202: message: want a string, not a list; hint: write it like message: exactly one source must be set",
			"6:12: error: UC202: the map has no text; hint: write {required: TEXT, forbidden: TEXT}, or a text for both",
			`7:26: error: UC201: unknown key "forbiddn" in a map of texts; hint: write "forbidden"`,
			"8:22: error: UC202: the text is empty; hint: write a text, or delete the key",
			`9:12: error: UC105: kubectl reads no as the boolean false; hint: quote it: "no"`,
			"10:11: error: UC202: message: want a string, not null; hint: write it like message: exactly one source must be set",
		}},
		{"long message", "- message: " + strings.Repeat("ä", 2561) + "\n", []string{"1:12: error: UC202: the text has 5122 bytes; the API server prints at most 5120; hint: shorten it"}},
		{"messages", "- messages: a\n- messages: {a: {changed: b}, c: '', d: {}}\n- messages: {}\n", []string{
			"1:13: error: UC202: messages: want a mapping, not \"a\"; hint: write it like messages: {http: http goes with type HTTP}",
			`2:18: error: UC201: unknown key "changed" in a map of texts; hint: the keys are required, forbidden`,
			"2:34: error: UC202: the text is empty; hint: write a text, or delete the key",
			"2:41: error: UC202: the map has no text; hint: write {required: TEXT, forbidden: TEXT}, or a text for both",
		}},
		{"cardinality", "- cardinality: exactlyOne\n- cardinality: ''\n- cardinality: [ExactlyOne]\n- cardinality: 1\n", []string{
			`1:16: error: UC202: cardinality must be one of AtLeastOne, AtMostOne, ExactlyOne; hint: write "ExactlyOne"`,
			"2:16: error: UC202: cardinality must be one of AtLeastOne, AtMostOne, ExactlyOne",
			"3:16: error: UC202: cardinality: want a string, not a list; hint: write it like cardinality: ExactlyOne",
			`4:16: error: UC105: kubectl reads 1 as the number 1; hint: quote it: "1"`,
		}},
		{"lists of members", "- optionalMembers: a\n  emptyIsUnset: [1, a]\n- optionalMembers: [[]]\n  emptyIsUnset: a\n", []string{
			`1:20: error: UC202: optionalMembers: want a list of strings, not "a"; hint: write it like optionalMembers: [tcp]`,
			`2:18: error: UC105: kubectl reads 1 as the number 1; hint: quote it: "1"`,
			"3:21: error: UC202: optionalMembers: want a string, not an empty list; hint: write it like optionalMembers: [tcp]",
			`4:17: error: UC202: emptyIsUnset: want a list of strings, not "a"; hint: write it like emptyIsUnset: [http]`,
		}},
		{"unmappedValues", "- unmappedValues: forbid\n- unmappedValues: false\n- unmappedValues: []\n", []string{
			`1:19: error: UC202: unmappedValues must be one of Allow, Forbid; hint: write "Forbid"`,
			`2:19: error: UC105: kubectl reads false as the boolean false; hint: quote it: "false"`,
			"3:19: error: UC202: unmappedValues: want a string, not an empty list; hint: write it like unmappedValues: Forbid",
		}},
		{"discriminatorChange", "- discriminatorChange: allowedChanges\n- discriminatorChange: {}\n", []string{
			"1:24: error: UC202: discriminatorChange must be one of Allow, Clear, Forbid",
			"2:24: error: UC202: discriminatorChange: want a string, not a mapping; hint: write it like discriminatorChange: Clear",
		}},
		{"allowedChanges", "- allowedChanges: [A]\n- allowedChanges: {A: {B: C}, n: [No]}\n- allowedChanges:\n    A:\n", []string{
			"1:19: error: UC202: allowedChanges: want a mapping, not a list; hint: write it like allowedChanges: {HTTP: [TCP]}",
			"2:23: error: UC202: allowedChanges: want a string or a list of strings, not a mapping; hint: write it like allowedChanges: {HTTP: [TCP]}",
			`2:31: error: UC105: kubectl reads n as the boolean false; hint: quote it: "n"`,
			`2:35: error: UC105: kubectl reads No as the boolean false; hint: quote it: "No"`,
			"4:7: error: UC202: allowedChanges: want a string, not null; hint: write it like allowedChanges: {HTTP: [TCP]}",
		}},
		{"shared content", "- &a\n  members: &m [a, On]\n- <<: *a\n  name: x\n- members: *m\n- *a\n", []string{
			`2:19: error: UC105: kubectl reads On as the boolean true; hint: quote it: "On"`,
		}},
		{"key by alias", "- &n name: x\n- *n : y\n", []string{"2:3: error: UC202: want a string as key, not an alias; hint: write the key out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tt.text), &doc); err != nil {
				t.Fatal(err)
			}
			declarations, diags := union.Parse("", "spec", doc.Content[0], nil)
			if diff := cmp.Diff(tt.want, lines(t, diags)); diff != "" {
				t.Error(diff)
			}
			if len(tt.want) > 0 && len(declarations) == len(doc.Content[0].Content) && len(declarations) > 0 {
				t.Error("no declaration was left out")
			}
			for _, d := range diags {
				if strings.Contains(d.Message, "\n") || strings.HasSuffix(d.Message, ".") {
					t.Errorf("message %q", d.Message)
				}
			}
		})
	}
}

// Parse reports each problem once, without relying on the deduplication in Sort.
func TestParseReportsOnce(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("- {unmappedValues: 1, cardinality: {}, discriminatorChange: On, x: y, ratchet: [], allowedChanges: x}"), &doc); err != nil {
		t.Fatal(err)
	}
	if _, diags := union.Parse("", "spec", doc.Content[0], nil); len(diags) != 6 {
		t.Errorf("%d diagnostics: %v", len(diags), diags)
	}
}

// Diagnostics of nodes without positions have the given position.
func TestParseAt(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("- {discriminator: type, fields-to-discriminateBy: {a: [A]}, unmappedValues: Forbid, allowedChanges: {}, nam: y}\n- {members: [a]}"), &doc); err != nil {
		t.Fatal(err)
	}
	for _, at := range []diag.Pos{{File: "types.go", Line: 3, Col: 4}, {File: "annotation"}} {
		declarations, diags := union.Parse("other.yaml", "spec", doc.Content[0], &at)
		if len(declarations) != 1 || len(diags) != 1 || diags[0].Pos != at || diags[0].Edits != nil || declarations[0].Pos != at {
			t.Errorf("%v: %v", declarations, diags)
		}
	}
	doc.Content[0].Content[0].Content = doc.Content[0].Content[0].Content[:8]
	declarations, diags := union.Parse("", "spec", doc.Content[0], &diag.Pos{File: "annotation"})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	unions, diags := union.Resolve(declarations[:1], schemaOf(t, "{type: object, properties: {type: {type: string}, a: {type: string}}}"), false)
	if len(diags) > 0 || unions[0].Discriminator != "type" || !unions[0].ForbidUnmapped || unions[0].Change != union.AllowedChanges {
		t.Errorf("without positions: %+v %v", unions[0], diags)
	}
	if d := declarations[0].Demands(); len(d) != 1 || d[0].Key != "allowedChanges" {
		t.Errorf("demands %v", d)
	}
}

// The position of a declaration is the position of its alias, not of the anchor.
func TestParseAliases(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("- &a {members: [x]}\n- *a\n"), &doc); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("", "spec", doc.Content[0], nil)
	if len(declarations) != 2 || diags != nil || declarations[0].Pos != (diag.Pos{Line: 1, Col: 3}) || declarations[1].Pos != (diag.Pos{Line: 2, Col: 3}) {
		t.Errorf("%v, %v", declarations, diags)
	}
}
