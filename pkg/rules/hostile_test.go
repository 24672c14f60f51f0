package rules_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
)

// hostileNames are property names that CEL has to escape, and names close to them.
var hostileNames = []string{
	"my-field", "a.b", "a/b", "__x", "_", "__", "a__b", "x__", "___", "__dot__", "a-b.c/d__e",
	"namespace", "in", "var", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "return", "void", "while", "true", "false", "null",
	"self", "oldSelf", "has", "size", "type", "value", "hasValue", "int", "string", "map", "dyn", "filter", "m",
	"__in__", "__true__", "apiVersion", "kind", "metadata", "Ünïcode", "1a", "a b", "a'b", `a"b`, "", "a$b", "-", ".", "/", "-a", ".a", "a]b", "a[b",
}

// hostileValues are discriminator values that need escaping in CEL or messages.
var hostileValues = []string{
	"it's", `say "hi"`, `back\slash`, `\`, `\\`, `\n`, `\'`, `'`, `"`, `'''`, `"""`, "new\nline", "carriage\rreturn", "tab\there",
	"bell\a", "vertical\v", "form\f", "escape\x1b[31m", "delete\x7f", "\u0001", "next\u0085line", "line\u2028separator", "no\u00a0break",
	"zero\u200bwidth", "bom\ufeff", "right\u202eto left", "ümläut", "日本語", "emoji 😀", "family 👨‍👩‍👧", "private \U000F0000", "replacement \ufffd",
	" ", " padded ", "{{x}}", "${x}", "%s", "%!d", "`", "a'b\"c\\d\ne", "?", "//", "#", "true", "null", "1", "in", "\\u0041", "\\x41", "\\101",
	strings.Repeat("long ", 200),
}

// marshal returns v as JSON, for a YAML reader.
func marshal(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	// YAML requires escapes for some characters that JSON allows verbatim.
	return regexp.MustCompile(`[\x7f-\x{ffff}]`).ReplaceAllStringFunc(string(text), func(c string) string {
		return fmt.Sprintf(`\u%04x`, []rune(c)[0])
	})
}

// allRules returns the rules of a union for each kind of change, with and without ratchet, in the
// fine and the compact encoding. It leaves out the removal guard.
func allRules(t testing.TB, declaration map[string]any, schema *apiextensionsv1.JSONSchemaProps) []rules.Rule {
	t.Helper()
	var l []rules.Rule
	add := func(more ...rules.Rule) {
		for _, r := range more {
			if !slices.ContainsFunc(l, func(o rules.Rule) bool { return reflect.DeepEqual(o, r) }) {
				l = append(l, r)
			}
		}
	}
	for _, change := range []string{"Clear", "Forbid"} {
		for _, ratchet := range []bool{false, true} {
			declaration["discriminatorChange"], declaration["ratchet"] = change, ratchet
			u := unionOf(t, marshal(t, declaration), schema)
			add(rules.Static(u, rules.Fine)...)
			add(rules.Static(u, rules.Compact)...)
			add(rules.Transition(u, rules.Comparison{})...)
		}
	}
	return l
}

// TestHostileNames gives each name one role in turn, and all roles with [unioncases.Exhaustive].
func TestHostileNames(t *testing.T) {
	tried := 0
	for i, name := range hostileNames {
		schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"plain": {Type: "string"}, name: {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{name: {Type: "string"}}},
		}}
		typed := schema.DeepCopy()
		typed.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		if !expressible(name) {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full, other := map[string]any{name: "x"}, map[string]any{"plain": "x"}
			for role, tt := range []struct {
				role        string
				declaration map[string]any
				schema      *apiextensionsv1.JSONSchemaProps
				bad         []map[string]any // old, new
			}{
				{"member", map[string]any{"members": []string{"plain", name}, "emptyIsUnset": []string{"plain", name}, "name": "u"}, schema,
					[]map[string]any{{name: full}, {name: full, "plain": "x"}}},
				{"discriminator", map[string]any{"discriminator": name, "fields-to-discriminateBy": map[string]any{"plain": "P"}}, typed,
					[]map[string]any{{name: "P", "plain": "x"}, other}},
				{"discriminated member", map[string]any{"discriminator": "plain", "fields-to-discriminateBy": map[string]any{name: name}}, schema,
					[]map[string]any{{name: full, "plain": name}, {name: full, "plain": "other"}}},
			} {
				if (i+role)%3 > 0 && !unioncases.Exhaustive {
					continue
				}
				l := allRules(t, tt.declaration, tt.schema)
				compiled(t, structural(t, tt.schema), l)
				fails := newServer(t, structural(t, tt.schema), l).fails(t, tt.bad[0], tt.bad[1])
				if len(fails) == 0 {
					t.Errorf("%s: nothing fails", tt.role)
				}
				for _, f := range fails {
					want := l[f.rule].FieldPath
					if want != "" && want != "."+f.field && want != "['"+f.field+"']" {
						t.Errorf("%s: %s at %s", tt.role, want, f.field)
					}
				}
			}
			if i%3 > 0 && !unioncases.Exhaustive {
				return
			}
			u := unionOf(t, marshal(t, map[string]any{"members": []string{name}, "discriminatorChange": "Forbid"}), schema)
			r, _ := rules.RemovalGuard(u, []string{name, name})
			parent := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				name: {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{name: *schema}},
			}}
			compiled(t, structural(t, parent), []rules.Rule{r})
			old := map[string]any{name: map[string]any{name: map[string]any{name: full}}}
			if l := newServer(t, structural(t, parent), []rules.Rule{r}).fails(t, old, map[string]any{}); len(l) != 1 {
				t.Errorf("guard: %v", l)
			}
		})
	}
	if tried < 50 {
		t.Errorf("only %d names tried", tried)
	}
}

// expressible reports whether Resolve accepts the name of a member.
func expressible(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./", r)
	}) && (name[0] < '0' || name[0] > '9')
}

func TestHostileValues(t *testing.T) {
	schema := schemaOf(t, "{type: object, properties: {type: {type: string}, a: {type: object}, b: {type: object}}}")
	for i, value := range hostileValues {
		t.Run(fmt.Sprintf("%.20q", value), func(t *testing.T) {
			t.Parallel()
			other := hostileValues[(i+1)%len(hostileValues)]
			declaration := map[string]any{
				"name": value, "discriminator": "type", "fields-to-discriminateBy": map[string]any{"a": []string{value, value + "2"}, "b": other},
				"unmappedValues": "Forbid", "cardinality": "ExactlyOne",
			}
			l := allRules(t, declaration, schema)
			delete(declaration, "discriminatorChange")
			declaration["allowedChanges"] = map[string]any{value: []string{value + "2", ""}}
			table := rules.Transition(unionOf(t, marshal(t, declaration), schema), rules.Comparison{})[0]
			l = append(l, table)
			st := structural(t, schema)
			compiled(t, st, l)
			for _, r := range l {
				if strings.ContainsAny(r.Message, "\n\r\u0085\u2028\u2029") {
					t.Errorf("message %q", r.Message)
				}
			}
			s := newServer(t, st, l)
			set, changed := map[string]any{"type": value, "a": map[string]any{}}, map[string]any{"type": value + "2", "a": map[string]any{}}
			if got := s.fails(t, nil, set); len(got) > 0 {
				t.Errorf("rejected: %v", got)
			}
			var forbids []string
			for _, r := range l {
				if strings.Contains(r.Rule, "oldSelf") && r.Reason == rules.ReasonForbidden && r.Rule != table.Rule {
					forbids = append(forbids, r.Rule)
				}
			}
			// Transition messages quote the value. A value of several lines falls back to the fixed
			// message.
			if strings.ContainsAny(value, "\n\r") {
				return
			}
			if got := s.fails(t, set, changed); len(got) != len(forbids) {
				t.Errorf("%d rules reject the change: %v", len(got), got)
			}
			if got := s.fails(t, nil, map[string]any{"type": value + "!", "a": map[string]any{}}); len(got) < 2 {
				t.Errorf("accepted: %v", got)
			}
			if got := s.fails(t, nil, map[string]any{"type": value}); len(got) < 2 {
				t.Errorf("accepted: %v", got)
			}
		})
	}
}

// TestLargeUnions tests the limits of the server's parser: depth and length.
// TestLargeUnions compiles the rules of 20 members, and of 80 with [unioncases.Exhaustive].
func TestLargeUnions(t *testing.T) {
	for _, n := range []int{20, 80} {
		if n > 20 && !unioncases.Exhaustive {
			continue
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": {Type: "string"}}}
			fields, members := map[string]any{}, []string{}
			for i := range n {
				name := fmt.Sprintf("member%d", i)
				schema.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
				fields[name] = fmt.Sprintf("Member%d", i)
				members = append(members, name)
			}
			st := structural(t, schema)
			old, new := map[string]any{"member0": "", "type": "Member0"}, map[string]any{"member0": "", "member1": "", "type": "Member1"}
			for _, declaration := range []map[string]any{
				{"discriminator": "type", "fields-to-discriminateBy": fields, "unmappedValues": "Forbid"},
				{"discriminator": "type", "fields-to-discriminateBy": fields, "deduceInvalidDiscriminator": true, "emptyIsUnset": []string{"member7"}},
				{"members": members, "cardinality": "ExactlyOne"},
				{"members": members},
			} {
				l := allRules(t, declaration, schema)
				if got := newEvaluator(t, st, l, "type").outcome(t, old, new); !slices.ContainsFunc(got, func(field string) bool { return field != "" }) {
					t.Error("nothing fails")
				}
			}
		})
	}
}

func TestFieldPathsAreThoseOfTheServer(t *testing.T) {
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a.b": {Type: "string"}, "c": {Type: "string"}}}
	l := rules.Static(unionOf(t, "{members: [a.b, c]}", schema), rules.Fine)
	l = append(l, rules.Static(unionOf(t, "{members: [c, a.b]}", schema), rules.Fine)...)
	var got []string
	for _, r := range l {
		path, _, err := schemacel.ValidFieldPath(r.FieldPath, structural(t, schema))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.FieldPath+" "+path.String())
	}
	if want := ".c c;['a.b'] a.b"; strings.Join(got, ";") != want {
		t.Errorf("%s, want %s", strings.Join(got, ";"), want)
	}
}
