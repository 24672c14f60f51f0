package verify_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// resolve resolves declarations, the items of x-kubernetes-unions, and returns their diagnostics as
// text.
func resolve(t *testing.T, items, schema string) ([]*union.Union, []string) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(union.Key+":\n"+items), &doc); err != nil {
		t.Fatal(err)
	}
	var s apiextensionsv1.JSONSchemaProps
	if err := sigsyaml.UnmarshalStrict([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("", "spec", doc.Content[0].Content[1], nil)
	unions, resolved := verify.Resolve(declarations, &s, false)
	var l []string
	for _, d := range append(diags, resolved...).Sort() {
		if d.Path != "spec" {
			t.Errorf("path of %v is %q", d, d.Path)
		}
		line := d.String()
		if d.Hint != "" {
			line += "; hint: " + d.Hint
		}
		for _, r := range d.Related {
			line += "; see " + r.Pos.String() + ": " + r.Message
		}
		l = append(l, line)
	}
	return unions, l
}

// The schema of a member may rule out its empty value, and with it the only way to satisfy two unions.
func TestContradictionWithSchema(t *testing.T) {
	const unions = "- members: [a, b]\n  emptyIsUnset: [b]\n- dependentRequired: {a: b}"
	for b, want := range map[string]int{"{type: string}": 0, "{type: string, minLength: 1}": 1, "{type: string, enum: [x]}": 1} {
		if _, got := resolve(t, unions, "{type: object, properties: {a: {type: string}, b: "+b+"}}"); len(got) != want {
			t.Errorf("%s: %q", b, got)
		}
	}
}

func TestContradictionMessages(t *testing.T) {
	const schema = `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: object, additionalProperties: {type: integer}}, flag: {type: boolean}}}`
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"unions that contradict each other", "- members: [a, b]\n- dependentRequired: {a: b}", []string{
			`3:3: error: UC220: "a" may never be set, because two unions of the object contradict each other: where a and b are set, a and b are set together; hint: change one of the unions; see 2:3: the other union`,
		}},
		{"three unions that contradict each other", "- members: [a, b]\n  cardinality: ExactlyOne\n- dependentForbidden: {c: a}\n- dependentForbidden: {c: b}\n- members: [c, d]", []string{
			`5:3: error: UC220: "c" may never be set, because 3 unions of the object contradict each other: where c is set, b is set while c is; hint: change one of the unions; see 4:3: another union; see 2:3: another union`,
		}},
		{"a value that no object may have", "- discriminator: flag\n  fields-to-discriminateBy: {a: true}\n- dependentRequired: {flag: a}", []string{
			`4:3: error: UC220: flag may never be false, because two unions of the object contradict each other: where no member is set and flag is false, a is not set while flag is; hint: change one of the unions; see 2:3: the other union`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := resolve(t, tt.text, schema); !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Unions with common properties are an error exactly if an enumeration of objects has none with
// some member or value that each of the unions allows alone.
func TestContradictions(t *testing.T) {
	const schema = `{type: object, properties: {type: {type: string}, a: {type: string}, b: {type: string, enum: [A, B]}, c: {type: string}, flag: {type: boolean}, port: {type: integer}}}`
	declarations := []string{
		"members: [a, b]", "members: [b, c], cardinality: ExactlyOne", "members: [a, b, c], cardinality: AtLeastOne", "members: [c, a], emptyIsUnset: [a]",
		"dependentRequired: {a: b}", "dependentForbidden: {a: b, c: a}", "dependentRequired: {b: a}, dependentForbidden: {b: c}", "dependentRequired: {type: a}",
		"discriminator: type, fields-to-discriminateBy: {a: A, b: [A, B]}", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, unmappedValues: Forbid",
		"discriminator: b, fields-to-discriminateBy: {c: A}", "discriminator: a, fields-to-discriminateBy: {c: A, b: [A, B]}, optionalMembers: {b: B}",
		"discriminator: a, fields-to-discriminateBy: {b: A}, cardinality: ExactlyOne", "discriminator: type, fields-to-discriminateBy: {c: [A]}, deduceInvalidDiscriminator: true",
		"discriminator: b, fields-to-discriminateBy: {a: A, c: B}, deduceInvalidDiscriminator: true",
		"discriminator: b, fields-to-discriminateBy: {a: A, c: B}, unset: A", "discriminator: type, fields-to-discriminateBy: {a: A}, unset: B", "dependentForbidden: {a: b}",
		"dependentForbidden: {a: [b, c]}", "dependentForbidden: {type: [a, c]}",
		"discriminator: flag, fields-to-discriminateBy: {a: false}", "discriminator: flag, fields-to-discriminateBy: {a: true, c: false}, unset: false",
		"dependentForbidden: {flag: a}, emptyIsUnset: [flag]", "dependentForbidden: {flag: [a, c]}", "dependentRequired: {a: flag}", "dependentRequired: {b: flag}, emptyIsUnset: [flag]",
		"discriminator: port, fields-to-discriminateBy: {a: 0, b: 1}", "discriminator: port, fields-to-discriminateBy: {c: 1}, unset: 1",
		"dependentRequired: {b: flag}, dependentForbidden: {b: [a, c]}", "members: [port, a], emptyIsUnset: [port]", "members: [port, a, flag]",
	}
	values := map[string][]any{
		"type": {nil, "", "A", "B", "X"}, "a": {nil, "", "A", "B", "X"}, "b": {nil, "A", "B"}, "c": {nil, "x"}, "flag": {nil, false, true}, "port": {nil, int64(0), int64(1), int64(2)},
	}
	objects := []map[string]any{{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var l []map[string]any
		for _, o := range objects {
			for _, v := range values[name] {
				with := maps.Clone(o)
				with[name] = v
				l = append(l, with)
			}
		}
		objects = l
	}
	// declared has the objects that a union allows, and those with each of its members and values.
	type declared struct {
		text  string
		union *union.Union
		legal []bool
		has   map[string][]bool
	}
	var all []declared
	for _, text := range declarations {
		l, diags := resolve(t, "- {"+text+"}", schema)
		if len(diags) > 0 {
			t.Fatal(text, diags)
		}
		d := declared{text, l[0], make([]bool, len(objects)), map[string][]bool{}}
		for _, name := range slices.Concat(l[0].MemberNames(), l[0].Values) {
			d.has[name] = make([]bool, len(objects))
		}
		states := map[string]bool{}
		for i, o := range objects {
			s := d.union.StateOf(o)
			key := fmt.Sprint(s)
			if _, ok := states[key]; !ok {
				states[key] = len(d.union.Violations(s)) == 0
			}
			d.legal[i] = states[key]
			for j, is := range s.Present {
				d.has[d.union.Members[j].Name][i] = is
			}
			if has := d.has[s.Value]; has != nil {
				has[i] = true
			}
		}
		all = append(all, d)
	}
	reported, fine := 0, 0
	check := func(unions ...declared) {
		text, discriminators := "", map[string]bool{}
		for _, d := range unions {
			if text += "- {" + d.text + "}\n"; d.union.Discriminator != "" && discriminators[d.union.Discriminator] {
				return
			}
			discriminators[d.union.Discriminator] = true
		}
		want := false
		for _, d := range unions {
			for _, has := range d.has {
				alone, together := false, false
				for i := range objects {
					if has[i] && d.legal[i] {
						alone = true
						together = together || !slices.ContainsFunc(unions, func(d declared) bool { return !d.legal[i] })
					}
				}
				want = want || alone && !together
			}
		}
		_, diags := resolve(t, text, schema)
		if got := len(diags) > 0; got != want {
			t.Errorf("%sgot %v, want an error: %t", text, diags, want)
		} else if got {
			reported++
			if strings.Contains(diags[0], "3 unions") {
				t.Log(text, diags)
			}
		} else {
			fine++
		}
	}
	for i, first := range all {
		for _, second := range all[i+1:] {
			if first.union.Shares(second.union) {
				check(first, second)
			}
		}
	}
	for i, first := range all {
		for j, second := range all[:i] {
			for k, third := range all[:j] {
				if (i+j+k)%4 == 0 {
					check(first, second, third)
				}
			}
		}
	}
	if reported < 5 || fine < 5 {
		t.Errorf("%d groups contradict each other, %d do not", reported, fine)
	}
}
