package product_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// kindOf returns the kind Thing of example.com/v1, whose spec has a schema in flow style.
func kindOf(t testing.TB, spec string) *union.KindSet {
	t.Helper()
	crd := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec})
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	set := &union.KindSet{}
	if err := set.Add(declared[0].Kinds("crd.yaml")...); err != nil {
		t.Fatal(err)
	}
	return set
}

// backend is a union object; nested is one in its member a.
const (
	members = "type: {type: string}, a: {type: object, properties: {x: {type: string}}}, b: {type: object, x-kubernetes-preserve-unknown-fields: true}, c: {type: string}, name: {type: string}"
	backend = "{type: object, properties: {" + members + "}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}]}"
	plain   = "{type: object, properties: {" + members + "}, x-kubernetes-unions: [{members: [a, b, c]}]}"
	// two has two unions.
	two = "{type: object, properties: {" + members + ", t: {type: string}, d: {type: object, x-kubernetes-preserve-unknown-fields: true}, e: {type: object}}, " +
		"x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}, {discriminator: t, fields-to-discriminateBy: {d: D, e: E}}]}"
	// inner has a member that is the discriminator of another union, needing one that another
	// property requires.
	inner   = "{type: object, properties: {" + members + ", d: {type: string}, e: {type: string}}, x-kubernetes-unions: [{discriminator: c, fields-to-discriminateBy: {d: D, e: E}}, {discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}]}"
	needing = "{type: object, properties: {" + members + "}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}, {dependentRequired: {c: a}}]}"
	// fallback has a member that is the discriminator of another union, which stays when it is cleared.
	fallback = "{type: object, properties: {type: {type: string}, protocol: {type: string}, http: {type: string}, grpc: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {protocol: Remote}, optionalMembers: [protocol]}, {discriminator: protocol, fields-to-discriminateBy: {http: HTTP, grpc: GRPC}, unset: HTTP}]}"
	// within has a default in a member.
	within = "{type: object, properties: {type: {type: string}, a: {type: object, properties: {x: {type: string, default: v}}}, b: {type: object}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, emptyIsUnset: [a]}]}"
	// below has some of the members in a nested object.
	below = "{type: object, properties: {sub: {type: object, nullable: true, properties: {" + members + "}}, " + members + "}, x-kubernetes-unions: [{discriminator: sub.type, fields-to-discriminateBy: {a: A, sub.b: B, sub.c: C}}]}"
)

func in(items, before string) string {
	return fmt.Sprintf("{type: object, properties: {u: {%s%s}}}", before, items)
}

// TestObject normalizes values of spec, in flow style.
func TestObject(t *testing.T) {
	list, set := "type: array, items: ", "type: object, additionalProperties: "
	lists := in(plain+"}", list+"{type: array, items: ")
	withKeys := in(strings.Replace(plain, "{", "{required: [name], ", 1), list[:len(list)-len("items: ")]+"x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: ")
	items := func(listType string) string {
		return in("{type: object, x-kubernetes-map-type: atomic, properties: {type: {type: string}, a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]}", "type: array, x-kubernetes-list-type: "+listType+", items: ")
	}
	tests := []struct{ name, spec, old, new, want, problems string }{
		{"property", "{type: object, properties: {u: " + backend + "}}", "{u: {type: A, a: {}}}", "{u: {type: B, a: {}, b: {}}}", "{u: {type: B, b: {}}}", ""},
		{"creation", backend, "", "{type: B, a: {}, b: {x: y}, name: n}", "{type: B, b: {x: y}, name: n}", ""},
		{"kept", backend, "{type: A, a: {x: y}}", "{type: A, b: {}}", "{type: A, a: {x: y}}", ""},
		{"left alone", plain, "", "{a: {}, b: {}}", "{a: {}, b: {}}", "spec: a and b are set together"},
		{"inner choice", inner, "{type: C, c: D, d: x}", "{type: A, c: D, d: x, a: {}}", "{type: A, a: {}}", ""},
		{"change of an inner choice", inner, "{type: C, c: D, d: x}", "{type: C, c: E, d: x, e: x}", "{type: C, c: E, e: x}", ""},
		{"inner choice with unset", fallback, "{type: Remote, protocol: HTTP, http: x}", "{type: Local, protocol: HTTP, http: x}", "{type: Local, http: x}", ""},
		{"inner choice with unset and an optional member", strings.Replace(fallback, "unset: HTTP", "unset: HTTP, optionalMembers: [http]", 1), "{type: Remote, protocol: GRPC, grpc: x}", "{type: Local, protocol: GRPC, http: x, grpc: x}", "{type: Local, http: x}", ""},
		{"both choices", inner, "{type: C, c: D, d: x}", "{type: A, c: D, d: x, e: x}", "{type: A, c: D, d: x, e: x}", "spec: e is set while c is 'D'\nspec: a is not set while type is 'A'; c is set while type is 'A'; type changes from 'C' to 'A', but c is not cleared"},
		{"required by a relation", needing, "{type: A, a: {}, c: x}", "{type: B, a: {}, b: {}, c: x}", "{type: B, a: {}, b: {}, c: x}", "spec: a is set while type is 'B'; type changes from 'A' to 'B', but a is not cleared"},
		{"not required any more", needing, "{type: A, a: {}, c: x}", "{type: B, a: {}, b: {}}", "{type: B, b: {}}", ""},
		{"values of a map", in(plain, set), "{u: {x: {a: {}}, y: {b: {}}}}", "{u: {x: {a: {}, b: {}}, y: {b: {}}, z: {c: v}}}", "{u: {x: {b: {}}, y: {b: {}}, z: {c: v}}}", ""},
		{"keys", withKeys, "{u: [{name: x, a: {}}, {name: y, b: {}}]}", "{u: [{name: y, b: {}, c: v}, {name: new, a: {}}, {name: x, a: {}}]}", "{u: [{name: y, c: v}, {name: new, a: {}}, {name: x, a: {}}]}", ""},
		{"index", in(plain, list), "{u: [{name: x, a: {}}, {name: y, b: {}}]}", "{u: [{name: x, a: {}, c: v}, {name: y, b: {}}]}", "{u: [{name: x, c: v}, {name: y, b: {}}]}", ""},
		{"moved", in(plain, list), "{u: [{name: x, a: {}}, {name: y, b: {}}]}", "{u: [{name: y, b: {}, c: v}, {name: x, a: {}}]}", "{u: [{name: y, b: {}, c: v}, {name: x, a: {}}]}",
			"spec.u[0]: the items of spec.u have no keys and may have moved, so that the earlier state is unknown: b and c are set"},
		{"longer", in(plain, list), "{u: [{a: {}}]}", "{u: [{a: {}, c: v}, {b: {}}]}", "{u: [{a: {}, c: v}, {b: {}}]}",
			"spec.u[0]: the items of spec.u have no keys and may have moved, so that the earlier state is unknown: a and c are set"},
		{"moved, but discriminated", in(backend, list), "{u: [{type: A, a: {}}]}", "{u: [{type: B, a: {}, b: {}}, {type: A, a: {}}]}", "{u: [{type: B, b: {}}, {type: A, a: {}}]}", ""},
		{"lists of lists", lists, "{u: [[{a: {}}]]}", "{u: [[{a: {}, b: {}}]]}", "{u: [[{b: {}}]]}", ""},
		{"absent", "{type: object, properties: {u: " + backend + "}}", "{u: {type: A, a: {}}}", "{}", "{}", ""},
		{"as it was", backend, "{type: A, a: {}, b: {}}", "{type: A, a: {}, b: {}}", "{type: A, a: {}, b: {}}", ""},
		{"as it was, without the selected member", plain, "{a: {}, b: {}}", "{a: {}, b: {}}", "{a: {}, b: {}}", ""},
		{"the same members", backend, "{type: A, a: {}, b: {}}", "{type: A, a: {x: y}, b: {}}", "{type: A, a: {x: y}, b: {}}", "spec: b is set while type is 'A'"},
		{"one is as it was", in(plain, set), "{u: {x: {a: {}, b: {}}, y: {a: {}}}}", "{u: {x: {a: {}, b: {}}, y: {a: {}, b: {}}}}", "{u: {x: {a: {}, b: {}}, y: {b: {}}}}", ""},
		{"item of a set", items("set"), "{u: [{type: A, a: x}]}", "{u: [{type: B, a: x, b: x}]}", "{u: [{type: B, a: x, b: x}]}", "spec.u[0]: a is set while type is 'B'"},
		{"item of a set, as it was", items("set"), "{u: [{type: B, a: x, b: x}]}", "{u: [{type: B, a: x, b: x}]}", "{u: [{type: B, a: x, b: x}]}", ""},
		{"item of an atomic list", items("atomic"), "{u: [{type: A, a: x}]}", "{u: [{type: B, a: x, b: x}]}", "{u: [{type: B, b: x}]}", ""},
		{"no object", "{type: object, properties: {u: " + backend + "}}", "", "{u: [1]}", "{u: [1]}", ""},
		{"null", backend, "{type: A, a: {}}", "{type: B, a: null, b: {}}", "{type: B, a: null, b: {}}", ""},
		{"in another object", below, "", "{a: {}, sub: {type: C, a: {}, b: {}, c: x, name: n}, type: D, b: {}}", "{sub: {type: C, a: {}, c: x, name: n}, type: D, b: {}}", ""},
		{"all of another object", below, "", "{a: {}, sub: {b: {}, type: A}}", "{a: {}, sub: {type: A}}", ""},
		{"kept in another object", below, "{sub: {type: B, b: {x: y}, name: n}}", "{a: {}, sub: {type: B}}", "{sub: {type: B, b: {x: y}}}", ""},
		{"kept in another object that was left out", strings.Replace(below, "sub.type", "type", 1), "{type: C, sub: {c: x, name: n}}", "{type: C, a: {}, sub: null}", "{type: C, sub: {c: x}}", ""},
		{"default of another object", strings.Replace(below, "nullable: true, properties: {type: {", "default: {}, properties: {type: {default: B, ", 1), "", "{a: {}}", "{a: {}}",
			"spec: sub.b is not set while sub.type is 'B'"},
		{"another object has moved", in(below, list), "{u: [{sub: {type: A, name: x}, a: {}}, {sub: {type: B, b: {}, name: y}}]}", "{u: [{sub: {type: A, name: y}}, {sub: {type: A, b: {}}, a: {}}]}",
			"{u: [{sub: {type: A, name: y}}, {sub: {type: A}, a: {}}]}", "spec.u[0]: the items of spec.u have no keys and may have moved, so that the earlier state is unknown: no member is set and sub.type is 'A'"},
		{"nested", `{type: object, properties: {type: {type: string}, a: ` + plain + `, b: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]}`,
			"{type: A, a: {a: {}}}", "{type: A, a: {a: {}, b: {}}, b: x}", "{type: A, a: {b: {}}}", ""},
		{"nested in what is cleared", `{type: object, properties: {type: {type: string}, a: ` + plain + `, b: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]}`,
			"{type: A, a: {a: {}}}", "{type: B, a: {a: {}, b: {}}, b: x}", "{type: B, b: x}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := kindOf(t, tt.spec)
			object := func(spec string) map[string]any {
				if spec == "" {
					return nil
				}
				var o map[string]any
				if err := yaml.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Thing, spec: "+spec+"}"), &o); err != nil {
					t.Fatal(err)
				}
				return o
			}
			old, new, want := object(tt.old), object(tt.new), object(tt.want)
			k, _ := set.Lookup(resourceOf(t, "{apiVersion: example.com/v1, kind: Thing}").GroupVersionKind)
			_, problems := product.NormalizeObject(k, old, new, product.NormalizeOptions{})
			if diff := cmp.Diff(want, new); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			var l []string
			for _, p := range problems {
				l = append(l, fmt.Sprintf("%s: %s", p.At, p))
			}
			if got := strings.Join(l, "\n"); got != tt.problems {
				t.Errorf("problems %q, want %q", got, tt.problems)
			}
			if changes, _ := product.PlanChanges(k, old, new, product.NormalizeOptions{}); len(changes) > 0 {
				t.Errorf("it is not normal: %v", changes)
			}
		})
	}
}

// A discriminator that is a key of list items is never set.
func TestKeyThatDecides(t *testing.T) {
	set := kindOf(t, in("{type: object, required: [type], properties: {type: {type: string}, a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]}",
		"type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: "))
	o := resourceOf(t, "{apiVersion: example.com/v1, kind: Thing, spec: {u: [{type: A, a: x}, {type: B, a: x}]}}")
	k, _ := set.Lookup(o.GroupVersionKind)
	changes, problems := product.PlanChanges(k, nil, o.Value, product.NormalizeOptions{Algorithm: union.KEP2019})
	if len(changes) > 0 || len(problems) != 1 || problems[0].At.String() != "spec.u[1]" {
		t.Error(changes, problems)
	}
}

func resourceOf(t testing.TB, text string) *yamltext.Object {
	t.Helper()
	f, l := yamltext.ParseObjects("old.yaml", []byte(text), yamltext.Limits{})
	if len(l) > 0 {
		t.Fatal(l)
	}
	return f.Objects[0]
}

func TestFile(t *testing.T) {
	const head = "# a thing\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n"
	deduced := strings.Replace(backend, "c: C}", "c: C}, deduceInvalidDiscriminator: true", 1)
	tests := []struct{ name, spec, old, new, want string }{
		{"a line", backend, "", "spec:\n  # which\n  type: B\n  # the first\n  a:\n    x: y # gone\n  b: {}   # stays\n", "spec:\n  # which\n  type: B\n  # the first\n  b: {}   # stays\n"},
		{"flow", backend, "", "spec: {type: B, a: {x: y}, b: {}, name: n}\n", "spec: {type: B, b: {}, name: n}\n"},
		{"all of it", "{type: object, properties: {u: " + backend + "}}", "", "spec:\n  u:\n    a: {}\n    c: x\nstatus: {}\n", "spec:\n  u: {}\nstatus: {}\n"},
		{"kept", backend, "spec: {type: A, a: {x: [1, 2]}}", "spec:\n  type: A\n  b: {}\n  name: n\n", "spec:\n  type: A\n  name: n\n  a:\n    x:\n    - 1\n    - 2\n"},
		{"kept in one within the other", "{type: object, properties: {type: {type: string}, u: " + backend + ", d: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {u: U, d: U}}]}",
			"spec: {type: U, u: {type: A, a: {x: v}}, d: s}", "spec:\n  type: U\n  u:\n    type: A\n", "spec:\n  type: U\n  u:\n    type: A\n    a:\n      x: v\n  d: s\n"},
		{"kept in flow", backend, "spec: {type: A, a: {x: v}}", "spec: {type: A, b: {}}\n", "spec: {type: A, \"a\": {\"x\": \"v\"}}\n"},
		{"kept in place of null", backend, "spec: {type: A, a: {x: v}}", "spec:\n  type: A\n  a: null\n", "spec:\n  type: A\n  a: {\"x\": \"v\"}\n"},
		{"discriminator set", deduced, "spec: {type: A, a: {}}", "spec:\n  type: A\n  b: {}\n", "spec:\n  type: B\n  b: {}\n"},
		{"discriminator added", deduced, "spec: {a: {}}", "spec:\n  a: {}\n  b: {}\n", "spec:\n  b: {}\n  type: B\n"},
		{"in another object", below, "spec: {sub: {b: {}, type: B}}", "spec:\n  sub:\n    type: A # first\n    b: {}   # gone\n    # last\n    c: x\n  a: {}\n", "spec:\n  sub:\n    type: A # first\n  a: {}\n"},
		{"all of another object", strings.Replace(below, "sub.type", "type", 1), "", "spec:\n  type: A\n  sub:\n    b: {}\n    c: x\n  a: {}\n", "spec:\n  type: A\n  sub: {}\n  a: {}\n"},
		{"kept in another object", below, "spec: {sub: {type: B, b: {x: v}}}", "spec:\n  sub:\n    type: B\n  a: {}\n", "spec:\n  sub:\n    type: B\n    b:\n      x: v\n"},
		{"kept in another object that was left out", strings.Replace(below, "sub.type", "type", 1), "spec: {type: B, sub: {b: {x: v}}}", "spec:\n  type: B\n  a: {}\n", "spec:\n  type: B\n  sub:\n    b:\n      x: v\n"},
		{"kept in another object that is null", strings.Replace(below, "sub.type", "type", 1), "spec: {type: B, sub: {b: {x: v}}}", "spec: {type: B, sub: null}\n", "spec: {type: B, sub: {\"b\": {\"x\": \"v\"}}}\n"},
		{"another object is shared", below, "", "spec: {sub: &s {type: A, b: {}}, a: {}}\nstatus: *s\n", "5:1: error: UC802: cannot edit the text (sub.b is cleared): it is shared with other places by an alias or a merge key"},
		{"several kept and cleared in flow", backend, "spec: {type: A, a: {x: v}}", "spec: {type: A, b: {}, c: x}\n", "spec: {type: A, \"a\": {\"x\": \"v\"}}\n"},
		{"cleared around what stays in flow", backend, "spec: {type: A, a: {x: v}}", "spec: {b: {}, type: A, c: x}\n", "spec: {\"a\": {\"x\": \"v\"}, type: A}\n"},
		{"two unions in flow", two, "", "spec: {t: D, type: B, b: {}, d: {}, a: {}, e: {}, c: x}\n", "spec: {t: D, type: B, b: {}, d: {}}\n"},
		{"two unions lose all but the discriminators", two, "", "spec: {t: None, type: None, d: {}, e: {}, a: {}, b: {}, c: x}\n", "spec: {t: None, type: None}\n"},
		{"two unions keep members", two, "spec: {type: A, a: {x: v}, t: D, d: {z: w}}", "spec: {type: A, b: {}, t: D, e: {}}\n", "spec: {type: A, \"a\": {\"x\": \"v\"}, \"d\": {\"z\": \"w\"}, t: D}\n"},
		{"two unions add discriminators to an object", strings.NewReplacer("c: C}", "c: C}, deduceInvalidDiscriminator: true", "e: E}", "e: E}, deduceInvalidDiscriminator: true").Replace(two), "spec: {a: {}, d: {}}", "spec: {a: {}, b: {}, d: {}, e: {}}\n", "spec: {\"type\": \"B\", \"t\": \"E\", b: {}, e: {}}\n"},
		{"two unions of a list's item", in(two, "type: array, items: "), "spec: {u: [{a: {}, d: {}, name: n}]}", "spec:\n  u:\n  - a: {}\n    d: {}\n    name: n\n    t: E\n    type: C\n    c: v\n    e: {}\n", "spec:\n  u:\n  - name: n\n    t: E\n    type: C\n    c: v\n    e: {}\n"},
		{"kept in place of nothing", backend, "spec: {type: A, a: {x: v}}", "spec:\n  type: A\n  a:\n  name: n\n", "spec:\n  type: A\n  a: {\"x\": \"v\"}\n  name: n\n"},
		{"kept in place of nothing in flow", backend, "spec: {type: A, a: {x: v}}", "spec: {type: A, a: , name: n}\n", "spec: {type: A, a: {\"x\": \"v\"} , name: n}\n"},
		{"kept in place of a lone key", backend, "spec: {type: A, a: {x: v}}", "spec: {type: A, a, name: n}\n", "spec: {type: A, a: {\"x\": \"v\"}, name: n}\n"},
		{"item", in(plain, "type: array, items: "), "spec: {u: [{a: {}, name: n}]}", "spec:\n  u:\n  - a: {}\n    name: n\n    c: v\n", "spec:\n  u:\n  - name: n\n    c: v\n"},
		{"normal", backend, "", "spec: {type: A, a: {}}\n", "spec: {type: A, a: {}}\n"},
		{"shared", backend, "", "spec: &s {type: B, a: {}, b: {}}\nstatus: *s\n", "5:1: error: UC802: cannot edit the text (a is cleared): it is shared with other places by an alias or a merge key"},
		{"an anchor is used elsewhere", backend, "", "spec: {type: B, a: &s {}, b: {}}\nstatus: *s\n", "5:1: error: UC802: cannot edit the text (a is cleared): an anchor in a is used elsewhere: write its value there"},
		{"an anchor is used in what goes", backend, "", "spec: {type: B, a: {x: &s {}, y: *s}, b: {}}\n", "spec: {type: B, b: {}}\n"},
		{"a default in a member", within, "", "spec: {type: A, a: {}}\n", "spec: {type: A, a: {}}\n"},
		{"a default in an excluded member", within, "", "spec: {type: B, a: {}, b: {}}\n", "spec: {type: B, b: {}}\n"},
		{"a default in a member that is carried over", strings.Replace(within, "discriminator: type, fields-to-discriminateBy: {a: A, b: B}", "members: [a, b]", 1), "spec: {a: {x: v}}", "spec: {a: {}, b: {}}\n", "spec: {b: {}}\n"},
		{"a null that the server drops", strings.Replace(within, "properties: {x: {type: string, default: v}}", "additionalProperties: {type: string}", 1), "", "spec: {type: B, a: {k: null}, b: {}}\n", "spec: {type: B, a: {k: null}, b: {}}\n"},
		{"a default in a key", "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [p, q], items: {type: object, required: [p], properties: {p: {type: integer}, q: {type: string, default: TCP}, a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b]}]}}}}",
			"spec: {l: [{p: 1, q: UDP, b: x}, {p: 1, q: TCP, a: x}]}", "spec: {l: [{p: 1, a: x, b: x}]}\n", "spec: {l: [{p: 1, b: x}]}\n"},
		{"a default of a member", "{type: object, properties: {type: {type: string}, sub: {type: object, properties: {a: {type: string, default: v}}}, b: {type: string}}, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {sub.a: A, b: B}}]}",
			"", "spec: {type: B, sub: {a: x}, b: x}\n", "5:1: error: UC802: sub.a is set while type is 'B'"},
		{"a value that is not in the enum", strings.Replace(backend, "type: {type: string", "type: {type: string, enum: [A, B, C, None]", 1), "", "spec: {type: D, a: {}}\n", "5:1: error: UC802: type is 'D', which selects no member"},
		{"left alone", plain, "", "spec:\n  a: {}\n  b: {}\n", "5:1: error: UC802: a and b are set together"},
		{"another version", plain, "spec: {}", "", "2:1: error: UC802: Thing t is of version v1, and the old object of v2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old := &yamltext.OldObjects{}
			if tt.old != "" {
				text := head + tt.old
				if tt.new == "" {
					text = strings.Replace(text, "com/v1", "com/v2", 1)
				}
				old.Add([]*yamltext.Object{resourceOf(t, text)})
			}
			for _, crlf := range []bool{false, true} {
				src, want := head+tt.new, head+tt.want
				if crlf {
					src, want = strings.ReplaceAll(src, "\n", "\r\n"), strings.ReplaceAll(want, "\n", "\r\n")
				}
				r := product.NormalizeFile(kindOf(t, tt.spec), "in.yaml", []byte(src), old, product.NormalizeOptions{}, yamltext.Limits{})
				if r.Diagnostics.HasErrors() {
					if got := fmt.Sprint(r.Diagnostics); got != "[in.yaml:"+tt.want+"]" && got != "in.yaml:"+tt.want || string(r.Text) != src {
						t.Errorf("%s\n%s", got, r.Text)
					}
					continue
				}
				if diff := cmp.Diff(want, string(r.Text)); diff != "" {
					t.Errorf("-want +got\n%s\n%v", diff, r.Diagnostics)
				}
			}
		})
	}
}

// TestMerged normalizes objects that overlays make from a base.
func TestMerged(t *testing.T) {
	defaulted := strings.Replace(backend, "type: {type: string", "type: {type: string, default: A", 1) // nobody wrote A
	const head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n"
	for _, tt := range []struct{ spec, src, want string }{
		{backend, "spec: {type: B, a: {}, c: x}\n", "spec: {type: B}\n"}, // the missing b is left to validation
		{backend, "spec: {type: None, a: {}}\n", "spec: {type: None}\n"},
		{backend, "spec: {a: {}}\n", "spec: {a: {}}\n"}, // the server may have a default for type
		{backend, "spec: {a: {}, b: {}}\n", "in.yaml:4:1: error: UC802: a and b are set together"},
		{plain, "spec: {b: {}}\n", "spec: {b: {}}\n"},
		{plain, "spec: {b: {}, c: x}\n", "in.yaml:4:1: error: UC802: b and c are set together"},
		{plain, "spec: {b: null, c: x}\n", "spec: {b: null, c: x}\n"},
		{below, "spec: {sub: {type: C, b: {}}, a: {}}\n", "spec: {sub: {type: C}}\n"},
		{strings.Replace(below, "discriminator: sub.type, fields-to-discriminateBy: {a: A, sub.b: B, sub.c: C}", "members: [a, sub.b]", 1), "spec: {sub: {b: {}}, a: {}}\n", "in.yaml:4:1: error: UC802: a and sub.b are set together"},
		{inner, "spec: {type: A, c: D, d: x}\n", "spec: {type: A}\n"},
		{needing, "spec: {type: B, a: {}, c: x}\n", "in.yaml:4:1: error: UC802: a is set while type is 'B'; b is not set while type is 'B'"},
		{defaulted, "spec: {b: {}}\n", "spec: {b: {}}\n"},
		{defaulted, "spec: {a: {}, b: {}}\n", "in.yaml:4:1: error: UC802: a and b are set together"},
	} {
		r := product.NormalizeFile(kindOf(t, tt.spec), "in.yaml", []byte(head+tt.src), nil, product.NormalizeOptions{Merged: true}, yamltext.Limits{})
		got := strings.TrimPrefix(string(r.Text), head)
		if r.Diagnostics.HasErrors() {
			got = strings.Trim(fmt.Sprint(r.Diagnostics), "[]")
			if !strings.Contains(r.Diagnostics[0].Hint, ": null") {
				t.Errorf("%s: hint %q", tt.src, r.Diagnostics[0].Hint)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.src, got, tt.want)
		}
	}
}

// TestHints has unions of groups, which normalizing does not complete.
func TestHints(t *testing.T) {
	groups := "{type: object, properties: {" + members + "}, x-kubernetes-unions: [{members: [[a, b], c], cardinality: ExactlyOne}]}"
	for _, tt := range []struct{ spec, src, message, hint string }{
		{groups, "{}", "none of a, b, c is set", "set the members of one group"},
		{groups, "{a: {}}", "b is not set while a is set", "set b, or clear the rest of its group"},
		{groups, "{a: {}, b: {}, c: x}", "a, b and c are set together", "set the members of only one group"},
		{plain, "{a: {}, b: {}}", "a and b are set together", "set only one member"},
		{strings.Replace(needing, "discriminator: type, fields-to-discriminateBy: {a: A, b: B}", "members: [b, name]", 1), "{c: x}", "a is not set while c is", "set a"},
	} {
		r := product.NormalizeFile(kindOf(t, tt.spec), "in.yaml", []byte("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: "+tt.src+"\n"), nil, product.NormalizeOptions{}, yamltext.Limits{})
		if len(r.Diagnostics) != 1 || r.Diagnostics[0].Message != tt.message || r.Diagnostics[0].Hint != tt.hint {
			t.Errorf("%s: %v, want %s, and the hint %s", tt.src, r.Diagnostics, tt.message, tt.hint)
			for _, d := range r.Diagnostics {
				t.Logf("hint %s", d.Hint)
			}
		}
	}
}

// A normalized object satisfies its unions and does not change again. It differs only in properties
// of unions, and is the same as data and as text.
func TestRandom(t *testing.T) {
	wraps := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return "{type: object, properties: {p: " + s + ", other: {type: string}}}" },
		func(s string) string { return "{type: object, additionalProperties: " + s + "}" },
		func(s string) string { return "{type: array, items: " + s + "}" },
		func(s string) string {
			return "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: " + strings.Replace(s, "{", "{required: [name], ", 1) + "}"
		},
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(l ...any) any { return l[r.IntN(len(l))] }
	spec, nested := "", false
	var value func(wrapped []int) any
	value = func(wrapped []int) any {
		if len(wrapped) > 0 {
			inner := func() any { return value(wrapped[1:]) }
			switch wrapped[0] {
			case 1:
				return map[string]any{"p": inner(), "other": pick("x", "y")}
			case 2:
				return map[string]any{"k": inner(), pick("l", "m.n").(string): inner()}
			case 3:
				return []any{inner(), inner()}[:r.IntN(3)]
			case 4:
				l := []any{}
				for _, name := range []string{"x", "y"} {
					if o, ok := inner().(map[string]any); ok && r.IntN(4) > 0 {
						o["name"] = name
						l = append(l, o)
					}
				}
				r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
				return l
			}
			return inner()
		}
		o := map[string]any{"name": pick("n", "m")}
		for key, values := range map[string][]any{
			"type": {"A", "B", "C", "None", "", nil}, "a": {map[string]any{"x": "v"}, map[string]any{}, nil}, "b": {map[string]any{"deep": []any{int64(1)}}}, "c": {"text", ""},
			"t": {"D", "E", nil}, "d": {map[string]any{}, nil}, "e": {map[string]any{}},
		} {
			if len(key) == 1 && key > "c" && !strings.Contains(spec, "d: D") {
				continue
			}
			if r.IntN(2) > 0 {
				o[key] = pick(values...)
			}
		}
		if nested { // its properties move to sub
			sub := map[string]any{}
			for _, key := range []string{"type", "b", "c", "name"} {
				if v, ok := o[key]; ok {
					sub[key] = v
					if key != "name" {
						delete(o, key)
					}
				}
			}
			o["sub"] = pick(sub, sub, sub, nil)
			if len(sub) == 1 {
				delete(o, "sub")
			}
		}
		return o
	}
	normalized, problems := 0, 0
	rounds := unioncases.Choose(150, 150, 1000)
	for range rounds {
		spec = pick(backend, plain, two, inner, needing, strings.NewReplacer("c: C}", "c: C}, deduceInvalidDiscriminator: true", "e: E}", "e: E}, deduceInvalidDiscriminator: true").Replace(two), strings.Replace(backend, "c: C}", "c: C}, deduceInvalidDiscriminator: true", 1),
			below, strings.Replace(below, "sub.c: C}", "sub.c: C}, deduceInvalidDiscriminator: true", 1), strings.Replace(below, "discriminator: sub.type, fields-to-discriminateBy: {a: A, sub.b: B, sub.c: C}", "members: [a, sub.b, sub.c]", 1),
			strings.Replace(backend, "c: C}", "c: [C, B]}, optionalMembers: {c: B}, emptyIsUnset: [c]", 1), strings.Replace(plain, "[a, b, c]", "[a, b, c], discriminatorChange: Forbid", 1)).(string)
		nested = strings.Contains(spec, "sub:")
		var wrapped []int
		for range r.IntN(3) {
			w := r.IntN(len(wraps))
			if w == 4 && (len(wrapped) > 0 || strings.Contains(spec, "Forbid")) || w == 3 && strings.Contains(spec, "Forbid") {
				continue
			}
			wrapped, spec = append([]int{w}, wrapped...), wraps[w](spec)
		}
		set := kindOf(t, spec)
		k, _ := set.Lookup(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
		opts := product.NormalizeOptions{Algorithm: union.Algorithm(r.IntN(3))}
		for range 10 {
			thing := func() map[string]any {
				return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": value(wrapped)}
			}
			var old map[string]any
			if r.IntN(4) > 0 {
				old = thing()
			}
			src := thing()
			got := runtime.DeepCopyJSON(src)
			changes, left := product.NormalizeObject(k, old, got, opts)
			normalized, problems = normalized+len(changes), problems+len(left)
			fail := func(format string, args ...any) {
				t.Helper()
				t.Fatalf("%s\n%v\n%v\n%v\n%v: %s", spec, old, src, got, changes, fmt.Sprintf(format, args...))
			}
			if again, _ := product.PlanChanges(k, old, got, opts); len(again) > 0 {
				fail("not normal: %v", again)
			}
			for _, c := range changes {
				object, _ := c.At.Lookup(got)
				if v := c.Union.Violations(c.Union.StateOf(object.(map[string]any))); len(v) > 0 {
					fail("%s breaks %v", c.At, v)
				}
			}
			for _, c := range changes {
				object, _ := c.At.Lookup(got)
				// Undoing the change gives the old properties.
				was, _ := c.At.Lookup(src)
				now, before := object.(map[string]any), was.(map[string]any)
				for _, name := range c.Union.Names() {
					c.Union.Remove(now, name)
					if v, ok := c.Union.Lookup(before, name); ok {
						c.Union.Put(now, name, v)
					}
				}
				if _, ok := before["sub"].(map[string]any); nested && !ok { // sub was created for kept members
					delete(now, "sub")
					if v, ok := before["sub"]; ok {
						now["sub"] = v
					}
				}
			}
			if !reflect.DeepEqual(src, got) {
				fail("something else changed")
			}
			product.ApplyChanges(got, changes)
			text, err := yaml.Marshal(src)
			switch r.IntN(4) {
			case 0:
				text, err = json.Marshal(src)
			case 1:
				text, err = json.MarshalIndent(src, "", "  ")
			}
			if err != nil {
				t.Fatal(err)
			}
			before := &yamltext.OldObjects{}
			if old != nil {
				data, _ := yaml.Marshal(old)
				before.Add([]*yamltext.Object{resourceOf(t, string(data))})
			}
			res := product.NormalizeFile(set, "in.yaml", text, before, opts, yamltext.Limits{})
			if res.Diagnostics.HasErrors() {
				if !slices.ContainsFunc(left, func(p product.ChangeProblem) bool { return p.Moved == nil }) {
					fail("%s\n%v", text, res.Diagnostics)
				}
				continue
			}
			if diff := cmp.Diff(got, resourceOf(t, string(res.Text)).Value); diff != "" {
				fail("%s\n%s\n%s", text, res.Text, diff)
			}
			if len(changes) == 0 && string(text) != string(res.Text) {
				fail("the text changed")
			}
		}
	}
	if normalized < rounds*5/4 || problems < rounds*5/4 {
		t.Errorf("%d changes, %d problems", normalized, problems)
	}
}
