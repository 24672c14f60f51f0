package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

const (
	unionObject  = "type: object, properties: {type: {type: string}, a: {type: object, properties: {x: {type: string}}}, b: {type: object}}"
	openObject   = "type: object, x-kubernetes-preserve-unknown-fields: true, properties: {type: {type: string}, a: {type: object, properties: {x: {type: string}}}, b: {type: object}}"
	plainObject  = "type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}"
	declared     = "x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]"
	ratcheting   = "x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, ratchet: true}]"
	listMap      = "maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, x: {type: string}}}"
	unionOfItems = "x-kubernetes-unions: [{members: [{k: a}, {k: b}]}]"
	isUnion      = "type: A, a: {x: v}, b: {}"
	withinUnion  = "type: A, a: {x: w}, b: {}"
)

// tightenings are added constraints, by name, that stored objects violate.
var tightenings = []struct {
	name string
	// u is the schema of spec.u; add is added to it, and toSpec, toRoot and toStatus to the spec,
	// the root and the status.
	u, add, toSpec, toRoot, toStatus string
	// is is the stored spec.u, and status the stored status. The others are the value after a
	// change: elsewhere is spec.u with a change alongside the invalid part ("" for another field of
	// the spec), items has an item added to a list, within has the invalid part changed but not
	// repaired, and report is the status with another part changed ("" for no such change).
	is, status, elsewhere, items, within, report string
	// newU is the new schema of spec.u, if it differs. toList is added to the schema of a list in the
	// status, and item and reason to the schemas of its items and their reason. list is in the schema of
	// the list from the start.
	newU, list, toList, item, reason string
}{
	{name: "a union", u: unionObject, add: declared, is: "{" + isUnion + "}", within: "{" + withinUnion + "}"},
	{name: "a union with `ratchet: true`", u: unionObject, add: ratcheting, is: "{" + isUnion + "}", within: "{" + withinUnion + "}"},
	{name: "a union on an object with unknown fields", u: openObject, add: declared, is: "{z: z, " + isUnion + "}", within: "{z: z, " + withinUnion + "}"},
	{name: "a union with `ratchet: true` on an object with unknown fields", u: openObject, add: ratcheting, is: "{z: z, " + isUnion + "}", within: "{z: z, " + withinUnion + "}"},
	{name: "a union in a list", u: "type: array, items: {" + unionObject + "%s}", add: declared, is: "[{" + isUnion + "}]", items: "[{" + isUnion + "}, {}]", within: "[{" + withinUnion + "}]"},
	{name: "a union in a list-map", u: "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {required: [k], " + strings.Replace(unionObject, "{type: {", "{k: {type: string}, type: {", 1) + "%s}", add: declared,
		is: "[{k: k, " + isUnion + "}, {k: l}]", elsewhere: "[{k: k, " + isUnion + "}, {k: l, type: C}]", items: "[{k: k, " + isUnion + "}, {k: l}, {k: m}]", within: "[{k: k, " + withinUnion + "}, {k: l}]"},
	{name: "a union in a map", u: "type: object, additionalProperties: {" + unionObject + "%s}", add: declared, is: "{k: {" + isUnion + "}}", within: "{k: {" + withinUnion + "}}"},
	{name: "a union of items", u: "type: array, " + listMap, add: unionOfItems, is: "[{k: a}, {k: b}]", items: "[{k: a}, {k: b}, {k: c}]", within: "[{k: a}, {k: b, x: w}]"},
	{name: "a union of items with `ratchet: true`", u: "type: array, " + listMap, add: strings.Replace(unionOfItems, "}]}]", "}], ratchet: true}]", 1), is: "[{k: a}, {k: b}]", items: "[{k: a}, {k: b}, {k: c}]"},
	{name: "a union of items, in a list-map", u: "type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, l: {type: array, " + listMap + "%s}}}", add: unionOfItems, is: "[{k: k, l: [{k: a}, {k: b}]}]", elsewhere: "[{k: k, l: [{k: a}, {k: b}]}, {k: l}]", items: "[{k: k, l: [{k: a}, {k: b}, {k: c}]}]", within: "[{k: k, l: [{k: a}, {k: b, x: w}]}]"},
	{name: "a union of items in the status", u: plainObject, toList: "x-kubernetes-unions: [{members: [{type: A}, {type: B}]}]", list: "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type]", is: "{}", status: "{conditions: [{type: A}, {type: B}]}", report: "{conditions: [{type: A}, {type: B}, {type: C}]}"},
	{name: "a rule on a list", u: "type: array, items: {type: string}%s", add: "x-kubernetes-validations: [{rule: \"!('a' in self && 'b' in self)\", message: one of a and b}]", is: "[a, b]", items: "[a, b, c]", within: "[b, a]"},
	{name: "`maxItems` of a list in the status", u: plainObject, toList: "maxItems: 1", is: "{}", status: "{conditions: [{type: A}, {type: B}]}", report: "{conditions: [{type: A}, {type: B}, {type: C}]}"},
	{name: "a rule", u: plainObject, add: "x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b)', message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "a rule that reads `oldSelf`", u: plainObject, add: "x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b) || self.a != oldSelf.a && false', message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "a rule that reads an optional `oldSelf`", u: plainObject, add: "x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b) || oldSelf.hasValue() && false', optionalOldSelf: true, message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "a rule that cannot be evaluated", u: plainObject, add: "x-kubernetes-validations: [{rule: \"self.a != 'x'\"}]", is: "{b: v}", within: "{b: w}"},
	{name: "a rule on the spec", u: plainObject, toSpec: "x-kubernetes-validations: [{rule: '!has(self.u.a) || !has(self.u.b)', message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "a rule at the root", u: plainObject, toRoot: "x-kubernetes-validations: [{rule: '!has(self.spec.u.a) || !has(self.spec.u.b)', message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "a rule on the status", u: plainObject, toStatus: "x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b)', message: one of a and b}]", is: "{}", status: "{a: v, b: v}", report: "{a: v, b: v, c: v}"},
	{name: "`required` in an item of the status", u: plainObject, item: "required: [reason]", is: "{}", status: "{conditions: [{type: A, message: v}]}", report: "{conditions: [{type: A, message: w}]}"},
	{name: "`required` in an item of a list-map in the status", u: plainObject, item: "required: [reason]", list: "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type]", is: "{}", status: "{conditions: [{type: A, message: v}]}", report: "{conditions: [{type: A, message: w}]}"},
	{name: "`enum` in an item of the status", u: plainObject, reason: "enum: [v]", is: "{}", status: "{conditions: [{type: A, reason: u}]}", report: "{conditions: [{type: A, reason: u, message: w}]}"},
	{name: "`enum` in an item of a list-map in the status", u: plainObject, reason: "enum: [v]", list: "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type]", is: "{}", status: "{conditions: [{type: A, reason: u}]}", report: "{conditions: [{type: A, reason: u, message: w}]}"},
	{name: "`oneOf`", u: plainObject, add: "oneOf: [{required: [a]}, {required: [b]}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "`anyOf`", u: plainObject, add: "anyOf: [{required: [a]}, {required: [b]}]", is: "{c: v}", within: "{c: w}"},
	{name: "`not`", u: plainObject, add: "not: {required: [a, b]}", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "`required`", u: plainObject, add: "required: [a]", is: "{b: v}", within: "{b: w}"},
	{name: "`required` at the root", u: plainObject, toRoot: "required: [data]", is: "{a: v}", within: "{a: w}"},
	{name: "`enum`, `maxLength`, `pattern`, …", u: "type: object, properties: {a: {type: string%s}, b: {type: string}}", add: "enum: [x]", is: "{a: v}"},
	{name: "`enum` in the items of a list", u: "type: array, items: {type: string%s}", add: "enum: [x]", is: "[v]", items: "[v, x]"},
	{name: "`enum` in the items of a set", u: "type: array, x-kubernetes-list-type: set, items: {type: string%s}", add: "enum: [x]", is: "[v]", items: "[v, x]"},
	{name: "another `type`", u: plainObject, newU: strings.Replace(plainObject, "{a: {type: string}", "{a: {type: integer}", 1), is: "{a: v}"},
	{name: "`maxProperties`, `minItems`, …", u: plainObject, add: "maxProperties: 1", is: "{a: v, b: v}", within: "{a: w, b: v}"},
	{name: "`x-kubernetes-list-type: set`", u: "type: array, items: {type: string}%s", add: "x-kubernetes-list-type: set", is: "[v, v]", items: "[v, v, x]"},
	{name: "an embedded resource", u: "type: object, x-kubernetes-preserve-unknown-fields: true", add: "x-kubernetes-embedded-resource: true", is: "{apiVersion: v1, kind: A, metadata: {labels: {'a b': c}}, x: v}", within: "{apiVersion: v1, kind: A, metadata: {labels: {'a b': c}}, x: w}"},
	{name: "a rule on the spec, and a default in it", u: "type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string%s}}", add: "default: x", toSpec: "x-kubernetes-validations: [{rule: '!has(self.u.a) || !has(self.u.b)', message: one of a and b}]", is: "{a: v, b: v}", within: "{a: w, b: v}"},
}

// TestTightenings sends each write that internal/change predicts, for an object that was
// stored before its CRD was tightened. The predictions match the server in every cell. The answers
// of the server are the table of rejected writes in docs/change.md. Without [unioncases.Exhaustive]
// the test covers one row in three.
func TestTightenings(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	constraints := map[string][]string{} // by the writes that the server rejects
	rows := unioncases.Some(tightenings, 3, 0)
	for i, test := range rows {
		t.Run(test.name, func(t *testing.T) {
			kind := fmt.Sprintf("Tight%d", i)
			crd := func(tight bool) []byte {
				with := func(s string, always ...bool) string {
					if s == "" || !tight && len(always) == 0 {
						return ""
					}
					return ", " + s
				}
				u := test.u
				if tight && test.newU != "" {
					u = test.newU
				}
				if !strings.Contains(u, "%s") {
					u += "%s"
				}
				list := fmt.Sprintf("type: array%s%s, items: {type: object, properties: {type: {type: string}, message: {type: string}, reason: {type: string%s}}%s}", with(test.list, true), with(test.toList), with(test.reason), with(test.item))
				if test.list != "" {
					list = strings.Replace(list, "items: {type: object,", "items: {type: object, required: [type],", 1)
					list = strings.Replace(list, ", required: [reason]}", "}", 1)
					if tight && test.item != "" {
						list = strings.Replace(list, "required: [type]", "required: [type, reason]", 1)
					}
				}
				return compiled(t, testcrd.Head(kind)+fmt.Sprintf(`  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, properties: {data: {type: string}, status: {%s%s}, spec: {type: object, properties: {sibling: {type: string}, u: {%s}}%s}}%s}
`, strings.Replace(plainObject, "{a:", "{conditions: {"+list+"}, a:", 1), with(test.toStatus), fmt.Sprintf(u, with(test.add)), with(test.toSpec), with(test.toRoot)))
			}
			if err := server.Install(t.Context(), crd(false)); err != nil {
				t.Fatal(err)
			}
			object := func(metadata, sibling, u, status string) []byte {
				return fmt.Appendf(nil, "{apiVersion: example.com/v1, kind: %s, metadata: {name: it%s}, spec: {sibling: %s, u: %s}, status: %s}", kind, metadata, sibling, u, cmp.Or(status, "{}"))
			}
			const finalizer = ", finalizers: [example.com/f]"
			is := object(finalizer, "w", test.is, test.status)
			if _, err := server.Create(t.Context(), is); err != nil {
				t.Fatal(err)
			}
			live, err := server.UpdateStatus(t.Context(), is)
			if err != nil {
				t.Fatal(err)
			}
			tight := crd(true)
			if err := server.Replace(t.Context(), tight); err != nil {
				t.Fatal(err)
			}
			v, err := judgeOf(t, tight, change.JudgeOptions{}).Object(t.Context(), live.Object)
			if err != nil {
				t.Fatal(err)
			}
			if v.State == change.Legal || len(v.Versions) != 1 {
				t.Fatalf("it is legal: %+v", v)
			}
			var rejected []string
			adviceHolds(t, tight, v, strings.Contains(test.add, "ratchet: true"))
			in := v.Versions[0]
			for _, w := range change.Writes() {
				update, o := server.Update, is
				switch w {
				case change.Status:
					update = server.UpdateStatus
				case change.Metadata:
					o = object(finalizer+", labels: {a: b}", "w", test.is, test.status)
				case change.Apply:
					update = func(ctx context.Context, o []byte) (*unstructured.Unstructured, error) {
						return nil, server.Apply(ctx, o)
					}
					o = fmt.Appendf(nil, "{apiVersion: example.com/v1, kind: %s, metadata: {name: it, labels: {a: b}}}", kind)
				case change.Elsewhere:
					if o = object(finalizer, "z", test.is, test.status); test.elsewhere != "" {
						o = object(finalizer, "w", test.elsewhere, test.status)
					}
				case change.Items:
					o = object(finalizer, "w", test.items, test.status)
				case change.StatusElsewhere:
					update, o = server.UpdateStatus, object(finalizer, "w", test.is, test.report)
				case change.Within:
					o = object(finalizer, "w", test.within, test.status)
				}
				if w == change.Items && test.items == "" || w == change.StatusElsewhere && test.report == "" || w == change.Within && test.within == "" {
					if slices.Contains(in.Asked, w) && w != change.Within {
						t.Errorf("%s is asked", w)
					}
					continue
				}
				_, err := update(t.Context(), o)
				if predicted := len(in.Refused[w]) == 0; predicted != (err == nil) || !slices.Contains(in.Asked, w) {
					t.Errorf("%s: predicted %t (asked %v, refused %v), and the server says %v", w, predicted, in.Asked, in.Refused[w], err)
				}
				if err != nil {
					rejected = append(rejected, string(w))
				}
			}
			writes := cmp.Or(strings.Join(rejected, ", "), "none")
			constraints[writes] = append(constraints[writes], test.name)
			if _, err := server.Update(t.Context(), object("", "w", test.is, test.status)); (err == nil) != (len(in.Refused[change.Metadata]) == 0) {
				t.Errorf("removing a finalizer is another write than adding a label: %v", err)
			}
		})
	}
	page, err := os.ReadFile("../../docs/change.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, writes := range slices.SortedFunc(maps.Keys(constraints), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&table, "| %s | %s |\n", writes, strings.Join(constraints[writes], "; "))
	}
	if len(rows) == len(tightenings) && !strings.Contains(string(page), "\n"+table.String()+"\n") {
		t.Errorf("docs/change.md does not have this table:\n%s", table.String())
	}
}

// adviceHolds checks that writes of an object behave as advised for the constraints that it
// violates.
func adviceHolds(t *testing.T, text []byte, v change.Prediction, ratchet bool) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	of := change.ByHand
	if ratchet {
		of = change.RatchetingUnion
	}
	spares, status, apply, exposed := true, true, true, ""
	for _, p := range v.Problems() {
		a, err := change.Advise(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, p.Constraint, of, "")
		if err != nil {
			t.Fatal(err)
		}
		spares, status, apply = spares && a.Spares, status && a.SparesStatus, apply && a.SparesApply
		exposed += a.Exposed
	}
	is := func(w change.Write) bool { return len(v.Versions[0].Refused[w]) == 0 }
	if strings.Contains(exposed, "does not name") {
		return
	}
	if spares != is(change.Rewrite) || status != is(change.Status) || apply != is(change.Apply) {
		t.Errorf("advised that it is ratcheted %t, its status %t, by server-side apply %t: refused are %v", spares, status, apply, v.RefusedWrites())
	}
}

// TestMigration changes and tightens the storage version at once. The verdict of
// internal/change on each stored object matches its migration: an update with the unchanged
// object in the new storage version.
func TestMigration(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	const lax = "{type: object, properties: {mode: {type: string}, gone: {type: string}, u: {" + unionObject + "}}}"
	const strict = "{type: object, required: [owner], properties: {owner: {type: string}, mode: {type: string, enum: [A, B]}, since: {type: string%s}, u: {" + unionObject + ", " + declared + "}}}"
	before := testcrd.Versions("Move", testcrd.Version{Name: "v1", Spec: lax})
	migrated := map[string]string{
		"fine":              "{mode: A, u: {type: A, a: {}}}",
		"pruned":            "{mode: A, gone: x}",
		"an enum":           "{mode: C}",
		"a union":           "{u: {type: A, b: {}}}",
		"a member too many": "{mode: B, u: {type: A, a: {}, b: {}}}",
		"a union and more":  "{mode: C, u: {type: A, b: {}}}",
	}
	repairs := 0
	for _, test := range []struct {
		name, spec string
		blocked    []string
	}{
		{"all but required", strings.Replace(fmt.Sprintf(strict, ""), "required: [owner], ", "", 1), nil},
		// The default changes the spec, but none of its invalid parts.
		{"with a default", strings.Replace(fmt.Sprintf(strict, ", default: ever"), "required: [owner], ", "", 1), nil},
		{"required", fmt.Sprintf(strict, ""), nil},
		// Here the default changes the object that lacks the field.
		{"required, with a default", fmt.Sprintf(strict, ", default: ever"), []string{"a member too many", "a union", "a union and more", "an enum", "fine", "pruned"}},
		{"a rule beside a default", "{type: object, properties: {mode: {type: string}, since: {type: string, default: ever}}, x-kubernetes-validations: [{rule: \"!has(self.mode) || self.mode != 'C'\"}]}", []string{"a union and more", "an enum"}},
		{"a rule that cannot be evaluated", "{type: object, properties: {mode: {type: string}}, x-kubernetes-validations: [{rule: \"self.mode != ''\"}]}", []string{"a union"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := server.Install(t.Context(), []byte(before)); err != nil {
				t.Fatal(err)
			}
			for name, spec := range migrated {
				if _, err := server.Create(t.Context(), fmt.Appendf(nil, "{apiVersion: example.com/v1, kind: Move, metadata: {name: %s}, spec: %s}", strings.ReplaceAll(name, " ", "-"), spec)); err != nil {
					t.Fatal(err)
				}
			}
			client := clientOf(t, server)
			resources := func(version string) dynamic.ResourceInterface {
				return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "moves"}).Namespace("default")
			}
			printed, err := resources("v1").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			source := testcrd.Versions("Move", testcrd.Version{Name: "v1", Spec: lax}, testcrd.Version{Name: "v2", Spec: test.spec})
			after := compiled(t, source)
			if err := server.Replace(t.Context(), after); err != nil {
				t.Fatal(err)
			}
			judge := judgeOf(t, after, change.JudgeOptions{Before: parsed(t, []byte(before)), Kinds: unionsOf(t, source)})
			var blocked []string
			for _, o := range printed.Items {
				v, err := judge.Object(t.Context(), o.Object)
				if err != nil {
					t.Fatal(err)
				}
				live, err := resources("v2").Get(t.Context(), o.GetName(), metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				_, err = resources("v2").Update(t.Context(), live, metav1.UpdateOptions{})
				if refused := v.State == change.Blocked; refused != (err != nil) {
					t.Errorf("%s: predicted %s %v, and the server says %v", o.GetName(), v.State, v.RefusedWrites(), err)
				}
				if err != nil {
					blocked = append(blocked, strings.ReplaceAll(o.GetName(), "-", " "))
				}
				if v.Repair == nil {
					continue
				}
				repairs++
				repaired, err := resources("v2").Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(v.Repair.Patch), metav1.PatchOptions{})
				if err != nil {
					t.Errorf("%s: the repair is refused: %v", o.GetName(), err)
					continue
				}
				again, err := judge.Object(t.Context(), repaired.Object)
				if err != nil || len(again.Problems()) != len(v.Repair.Left) || len(again.Problems()) >= len(v.Problems()) {
					t.Errorf("%s: the repair leaves %v, %v, and not %v", o.GetName(), again.Problems(), err, v.Repair.Left)
				}
			}
			if slices.Sort(blocked); !slices.Equal(blocked, test.blocked) {
				t.Errorf("the server refuses to migrate %v, want %v", blocked, test.blocked)
			}
			if err := server.Remove(t.Context(), "moves.example.com"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if repairs == 0 {
		t.Error("nothing is repaired")
	}
}

// unionsOf returns the kinds with unions in a CRD.
func unionsOf(t *testing.T, text string) *union.KindSet {
	t.Helper()
	declared, l := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if l.HasErrors() {
		t.Fatal(l)
	}
	set := &union.KindSet{}
	for _, d := range declared {
		if err := set.Add(d.Kinds("crd.yaml")...); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// compiled returns a CRD with its unions compiled.
func compiled(t *testing.T, text string) []byte {
	t.Helper()
	out, l := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{})
	if l.HasErrors() {
		t.Fatal(l)
	}
	return out
}

// judgeOf returns the judge for a compiled CRD.
func judgeOf(t *testing.T, text []byte, opts change.JudgeOptions) *change.Judge {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	j, err := change.NewJudge(crd, opts)
	if err != nil {
		t.Fatal(err)
	}
	return j
}
