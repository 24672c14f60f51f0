package union_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/union"
)

const written = `
type: object
properties:
  type: {type: string}
  "on": {type: string}
  "null": {type: array, items: {type: string}}
  c: {type: object, properties: {x: {type: string}}}
  d: {type: string}
  enabled: {type: boolean}
  port: {type: integer}
`

// A union has the same meaning after Node and parsing, directly or as text.
func TestNode(t *testing.T) {
	unwritten := union.Keys()
	for _, items := range []string{
		`- members: [d, "on"]`,
		`- {dependentRequired: {d: ["on", "null"], "on": d}, emptyIsUnset: ["null"], ratchet: true, messages: {d: {required: d is needed}}}`,
		`- {dependentRequired: {d: "on"}, dependentForbidden: {"on": "null"}, message: never, handWrittenRules: Replace}`,
		`- {members: [d, "on"], cardinality: ExactlyOne, discriminatorChange: Forbid, name: u}`,
		`- {members: [d, "on", "null"], emptyIsUnset: ["null", d], cardinality: AtLeastOne}`,
		`- {members: [d, "on"], allowedChanges: {d: "on"}, ratchet: true, handWrittenRules: Replace}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: D, "on": "On", "null": ["null", "1:30", "0x1"], c: "yes"}}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: D, c: [C, "~"]}, optionalMembers: [c], emptyIsUnset: [c], unmappedValues: Forbid}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: [D, E], c: [E, C]}, optionalMembers: {c: E, d: [D, E]}}`,
		`- {members: [d, "on"], message: "only one"}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: D, c: C}, cardinality: ExactlyOne, message: {required: "x: 'y'", changed: "no"}, messages: {type: "On", d: {forbidden: "# é"}}}`,
		`- {discriminator: type, fields-to-discriminateBy: {}, discriminatorChange: Forbid}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: D}, unset: None, allowedChanges: {None: D}}`,
		`- {discriminator: enabled, fields-to-discriminateBy: {d: true, c: "false"}, unset: false, optionalMembers: {c: false}}`,
		`- {discriminator: port, fields-to-discriminateBy: {d: [80, "-8080"]}, unset: 0, allowedChanges: {80: [-8080, "0"], 0: 80}}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: D, c: C}, deduceInvalidDiscriminator: true, discriminatorChange: Allow}`,
		`- {discriminator: type, fields-to-discriminateBy: {d: "D\n😀", c: " C "}, cardinality: ExactlyOne, allowedChanges: {" C ": ["D\n😀", ""]}}`,
	} {
		unions, problems := resolve(t, items, written, false)
		if len(unions) != 1 || len(problems) > 0 {
			t.Fatal(items, problems)
		}
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{unions[0].Node()}}
		for _, n := range node.Content[0].Content {
			unwritten = slices.DeleteFunc(unwritten, func(key string) bool { return key == n.Value })
		}
		text, err := yaml.Marshal(node)
		if err != nil {
			t.Fatal(err)
		}
		var again yaml.Node
		if err := yaml.Unmarshal(text, &again); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, n := range []*yaml.Node{node, again.Content[0]} {
			declarations, diags := union.Parse("", "spec", n, nil)
			read, more := union.Resolve(declarations, schemaOf(t, written), false)
			if len(diags)+len(more) > 0 {
				t.Fatalf("%v%v\n%s", diags, more, text)
			}
			if d := cmp.Diff(unions[0], read[0]); d != "" {
				t.Errorf("(-written +read):\n%s\n%s", d, text)
			}
		}
	}
	if len(unwritten) > 0 {
		t.Errorf("no union here is written with %v", unwritten)
	}
}
