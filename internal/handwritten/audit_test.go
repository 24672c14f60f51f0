package handwritten_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/diag"
)

type version = testcrd.Version

func found(t *testing.T, src string) []handwritten.Finding {
	t.Helper()
	crds, _ := crdpatch.Open("crd.yaml", []byte(src)).CRDs(crdpatch.Options{})
	if len(crds) != 1 {
		t.Fatalf("%d CRDs", len(crds))
	}
	r, err := handwritten.Audit(context.Background(), crds[0])
	if err != nil || r.Diags.HasErrors() {
		t.Fatal(err, r)
	}
	for _, f := range r.Findings {
		confirm(t, crds[0], f)
	}
	return r.Findings
}

// confirm repeats the claim of a finding: the API server's answer to its example.
func confirm(t *testing.T, c *crdpatch.CRD, f handwritten.Finding) {
	t.Helper()
	if f.Code == codes.CostlyRule || f.Code == codes.NotCompiling || f.Without > 0 {
		return
	}
	crd, _ := c.Source()
	if plan, _ := c.Plan(); plan != nil {
		crd = plan.Result.CRD
	}
	k := server.NewKind(crd)
	answer, err := k.Create(context.Background(), f.Example.New)
	if f.Between != nil {
		if answer, err = k.Update(context.Background(), f.Example.New, f.Example.Old); err != nil || answer.Refused == nil {
			t.Errorf("the API server accepts the change in one update: %v", err)
		}
		answer, err = k.Update(context.Background(), f.Between, f.Example.Old)
		if err == nil && answer.Refused == nil {
			answer, err = k.Update(context.Background(), f.Example.New, f.Between)
		}
	} else if f.Example.Old != nil {
		answer, err = k.Update(context.Background(), f.Example.New, f.Example.Old)
	}
	if err != nil || (answer.Refused != nil) != (f.Response != "") {
		t.Errorf("%s: the API server says %v, %v; the finding %q", f.Code, answer.Refused, err, f.Response)
	}
	if f.Hint == "" || f.Rule == "" || f.Pos.Line == 0 {
		t.Errorf("incomplete: %+v", f)
	}
	for _, fix := range f.Fixes {
		if !strings.Contains(f.Hint, fix.Rule) {
			t.Errorf("the hint lacks the rule %s: %s", fix.Rule, f.Hint)
		}
	}
	if n := strings.Count(f.Hint, ", which "); n > 1 && n != len(f.Fixes) {
		t.Errorf("%d rules in %s", len(f.Fixes), f.Hint)
	}
}

// rules returns the schema of spec with rules, each as "RULE | MESSAGE".
func rules(properties string, l ...string) string {
	var b strings.Builder
	b.WriteString("type: object\n" + properties + "\nx-kubernetes-validations:\n")
	for _, r := range l {
		rule, message, _ := strings.Cut(r, " | ")
		entry := map[string]string{"rule": rule}
		if message != "" {
			entry["message"] = message
		}
		text, _ := json.Marshal(entry)
		b.WriteString("- " + string(text) + "\n")
	}
	return b.String()
}

const (
	strs      = "properties: {a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}, c: {type: string, maxLength: 9}}"
	numbered  = "properties: {a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}, c: {type: integer}}"
	defaulted = "properties: {m: {type: string, enum: [None, X], default: None}, b: {type: string, maxLength: 9}, c: {type: integer}}"
	typed     = "required: [type]\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object, properties: {count: {type: integer, minimum: 1}}}, b: {type: string, maxLength: 9}}"
	listed    = "properties: {l: {type: array, maxItems: 9, items: {type: object, properties: {a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}}}}}"
	keyed     = "properties: {l: {type: array, maxItems: 9, items: {type: object, required: [k, v], properties: {k: {type: string, maxLength: 9}, v: {type: string, maxLength: 9}, w: {type: string, maxLength: 9}}}}}"
	sized     = "properties: {a: {type: array, maxItems: 9, items: {type: string, maxLength: 9}}, b: {type: array, maxItems: 9, items: {type: string, maxLength: 9}}}"
	nested    = "properties: {scaler: {type: object, properties: {target: {type: string, maxLength: 9}, speed: {type: string, maxLength: 9}}}}"
	switched  = "properties: {all: {type: boolean}, l: {type: array, maxItems: 9, items: {type: string, maxLength: 9}}}"
)

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		want       []string // code and hint
	}{
		{"fails", rules(typed, "self.b == 'x' || self.type == 'A'"), []string{`UC921 write has(self.b) && self.b == 'x' || self.type == 'A', which rejects this object without an error`}},
		{"fails where a check of a conversion fails", rules(strs, "isIP(self.a) && ip(self.a).family() == 4"), []string{"UC921 write has(self.a) && isIP(self.a) && ip(self.a).family() == 4, which rejects this object without an error"}},
		{"fails in a nested read", rules(typed, "self.type == 'B' || self.a.count > 3 | n must exceed 3"), []string{`UC921 write self.type == 'B' || !has(self.a) || !has(self.a.count) || self.a.count > 3, which accepts this object, or self.type == 'B' || has(self.a) && has(self.a.count) && self.a.count > 3, which rejects this object with the message of the rule`}},
		{"fails, and is meant to accept", rules(typed, "!(self.b == 'x')"), []string{`UC921 write !(has(self.b) && self.b == 'x'), which accepts this object`}},
		{"fails, with a union", rules("x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]\n"+typed, "!has(self.a) || self.a.count > 3"), []string{`UC921 write !has(self.a) || !has(self.a.count) || self.a.count > 3, which accepts this object, or !has(self.a) || has(self.a.count) && self.a.count > 3, which rejects this object without an error`}},
		{"fails where a union rejects", rules("x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]\n"+typed, "!has(self.a) || self.b == 'x' || self.type == 'A'"), nil},
		{"accepts what the message rules out, and a union rejects", rules("x-kubernetes-unions: [{members: [a, b]}]\n"+strs, "!has(self.a) || !has(self.b) || has(self.c) | at most one of a and b may be set"), nil},
		{"fails where another rule rejects", rules(strs, "self.a == 'x'", "has(self.a) | a is required"), nil},
		{"fails, and the message accepts", rules(sized, "size(self.a) == 0 || size(self.b) == 0 | at most one of a and b may be set"), []string{`UC921 write !has(self.a) || size(self.a) == 0 || !has(self.b) || size(self.b) == 0, which accepts this object`}},
		{"fails, and the message rejects", rules(sized, "size(self.a) == 0 != (size(self.b) == 0) | exactly one of a and b must be set"), []string{`UC921 write (!has(self.a) || size(self.a) == 0) != (!has(self.b) || size(self.b) == 0), which rejects this object with the message of the rule`}},
		{"fails, and a part of the message accepts", rules(sized, "size(self.a) == 0 || size(self.b) == 0 | a and b must be lists. At most one of a and b may be set."), []string{`UC921 write !has(self.a) || size(self.a) == 0 || !has(self.b) || size(self.b) == 0, which accepts this object`}},
		{"fails, and must not be set", rules(nested, "!has(self.scaler) || size(self.scaler.target) == 0 | target must not be set; the controller picks it"), []string{`UC921 write !has(self.scaler) || !has(self.scaler.target) || size(self.scaler.target) == 0, which accepts this object`}},
		{"fails, and the message decides", rules(nested, "!has(self.scaler) || self.scaler.target.startsWith('-') | scaler.target must not be set"), []string{`UC921 write !has(self.scaler) || !has(self.scaler.target) || self.scaler.target.startsWith('-'), which accepts this object`}},
		{"fails, and is required with a value", rules(strs, "self.a != 'x' || size(self.b) > 0 | b is required when a is x"), []string{`UC921 write !has(self.a) || self.a != 'x' || has(self.b) && size(self.b) > 0, which accepts this object`}},
		{"fails, and the message requires", rules(strs, "!has(self.a) || self.a != 'x' || self.b.startsWith('y') | b is required when a is x"), []string{`UC921 write !has(self.a) || self.a != 'x' || has(self.b) && self.b.startsWith('y'), which rejects this object with the message of the rule`}},
		{"fails, and nothing decides", rules(strs, "!has(self.a) || self.a < self.b"), []string{`UC921 write !has(self.a) || !has(self.b) || self.a < self.b, which accepts this object, or !has(self.a) || has(self.b) && self.a < self.b, which rejects this object without an error`}},
		{"fails, and another object tells two rules apart", rules(strs, "self.a == 'x' && (self.b < 'y' || self.b > 'z')"), []string{`UC921 write has(self.a) && self.a == 'x' && (!has(self.b) || self.b < 'y' || self.b > 'z'), which accepts {"spec":{"a":"x"}}, or has(self.a) && self.a == 'x' && (has(self.b) && self.b < 'y' || has(self.b) && self.b > 'z'), which rejects {"spec":{"a":"x"}} without an error`}},
		{"fails on an entry", rules("properties: {m: {type: object, maxProperties: 9, additionalProperties: {type: string, maxLength: 9}}}", "!has(self.m) || self.m['app.x/y'] == 'x'"), []string{"UC921 write !has(self.m) || 'app.x/y' in self.m && self.m['app.x/y'] == 'x', which rejects this object without an error"}},
		{"guarded", rules(strs, "!has(self.a) || self.a == 'x'"), nil},
		{"fails on an index", rules(switched, "!has(self.l) || self.l[0] == 'x'"), []string{"UC921 reject such values before the rule uses them: in the schema (pattern, format, minItems), or with a condition in front"}},
		{"fails if a list has a value", rules(switched, "has(self.l) && 'P' in self.l ? self.all : true"), []string{"UC921 write has(self.l) && 'P' in self.l ? has(self.all) && self.all : true, which rejects this object without an error"}},
		{"fails if an item has two values", rules("properties: {a: {type: string}, l: {type: array, maxItems: 9, items: {type: object, required: [k, v], properties: {k: {type: string, maxLength: 9}, v: {type: string, maxLength: 9}}}}}", "has(self.l) && self.l.exists(x, x.k == 'Ready' && x.v == 'True') ? self.a != '' : true"),
			[]string{"UC921 write has(self.l) && self.l.exists(x, x.k == 'Ready' && x.v == 'True') ? has(self.a) && self.a != '' : true, which rejects this object without an error"}},
		{"fails on a scalar", "type: object\nproperties: {url: {type: string, maxLength: 99, x-kubernetes-validations: [{rule: \"url(self).getScheme() == 'https'\"}]}}", []string{"UC921 reject such values before the rule uses them: in the schema (pattern, format, minItems), or with a condition in front"}},
		{"another rule judges the scalar", "type: object\nproperties: {url: {type: string, maxLength: 99, x-kubernetes-validations: [{rule: \"url(self).getScheme() == 'https'\"}, {rule: isURL(self)}]}}", nil},

		{"at most one", rules(strs, "!has(self.a) || !has(self.b) | at most one of a, b, and c may be set"), []string{"UC922 write [has(self.a), has(self.b), has(self.c)].filter(x, x).size() <= 1, which rejects this object, or correct the text"}},
		{"exactly one", rules(strs, "!(has(self.a) && has(self.b)) | exactly one of a or b must be set"), []string{"UC922 write [has(self.a), has(self.b)].exists_one(x, x), which rejects this object, or correct the text"}},
		{"mutually exclusive", rules(strs, "!has(self.a) || !has(self.b) || has(self.c) | `a` and `b` are mutually exclusive"), []string{"UC922 write [has(self.a), has(self.b)].filter(x, x).size() <= 1, which rejects this object, or correct the text"}},
		{"required otherwise forbidden", rules(typed, "self.type != 'A' || has(self.a) | a is required when type is A, and forbidden otherwise"), []string{`UC922 write has(self.a) == (has(self.type) && self.type == 'A'), which rejects this object, or correct the text`}},
		{"required when", rules(strs, "!has(self.a) || self.a != 'x' || has(self.b) || has(self.c) | b is required when a is x"), []string{"UC922 write !(has(self.a) && self.a == 'x') || has(self.b), which rejects this object, or correct the text"}},
		{"not both empty, and exclusive", rules(strs, "has(self.a) || has(self.b) | a and b cannot be both empty and are mutually exclusive"), []string{"UC922 write [has(self.a), has(self.b)].exists_one(x, x), which rejects this object, or correct the text"}},
		{"must not be set in a case", rules(strs, "!has(self.b) || !has(self.a) | a must not be set"), nil},
		{"either", rules(strs, "has(self.a) != has(self.b) || has(self.c) | either a or b must be set"), []string{"UC922 write [has(self.a), has(self.b), has(self.c)].exists_one(x, x), which rejects this object, or correct the text"}},
		{"either, and not both", rules(strs, "!(has(self.a) && has(self.b)) | either a or b must be set"), []string{"UC922 write [has(self.a), has(self.b)].exists_one(x, x), which rejects this object, or correct the text"}},
		{"either or both", rules(strs, "has(self.a) || has(self.b) | either a or b must be set"), nil},
		{"description", "description: Exactly one of a or b must be set.\n" + rules(strs, "has(self.a) || has(self.b)"), []string{"UC922 write [has(self.a), has(self.b)].exists_one(x, x), which rejects this object, or correct the text"}},
		{"description of other fields", "description: Exactly one of a or c must be set.\n" + rules(strs, "!has(self.a) || !has(self.b)"), nil},
		{"description of something unrelated", "description: At most one of a or b may be set.\n" + rules(strs, "!has(self.a) || has(self.b)"), nil},
		{"as strict as the message", rules(strs, "[has(self.a), has(self.b)].exists_one(x, x) | exactly one of a and b must be set"), nil},
		{"two rules for a message", rules(strs, "!has(self.a) || !has(self.b) | exactly one of a and b must be set", "has(self.a) || has(self.b)"), nil},
		{"the message names another field", rules(strs, "!has(self.a) || !has(self.b) | at most one of a and c may be set"), []string{"UC922 write (!has(self.a) || !has(self.b)) && [has(self.a), has(self.c)].filter(x, x).size() <= 1, which rejects this object, or correct the text"}},
		{"required, and the message names another field", rules(strs, "!has(self.a) || self.a != 'x' || has(self.c) | b is required when a is x"), []string{"UC922 write (!has(self.a) || self.a != 'x' || has(self.c)) && (!(has(self.a) && self.a == 'x') || has(self.b)), which rejects this object, or correct the text"}},
		{"a condition in the message", rules(strs, "!has(self.c) || has(self.a) != has(self.b) | exactly one of a or b must be set when c is set"), nil},
		{"unknown names", rules(strs, "!has(self.a) || !has(self.b) | exactly one of a or z must be set"), nil},
		{"false and empty are unset", rules(switched, "(has(self.all) && self.all) != (has(self.l) && size(self.l) > 0) | exactly one of all or l must be set"), nil},

		{"rest of the rule", rules(numbered, "has(self.c) && self.c > 0 && (!has(self.a) || !has(self.b) || self.c > 5) | c must be positive. a and b are mutually exclusive."), []string{"UC922 write (has(self.c) && self.c > 0 && (!has(self.a) || !has(self.b) || self.c > 5)) && [has(self.a), has(self.b)].filter(x, x).size() <= 1, which rejects this object, or correct the text"}},
		{"a rule of several lines", rules(numbered, "has(self.c) &&\nself.c > 0 && (!has(self.a) || !has(self.b) || self.c > 5) | a and b are mutually exclusive"), []string{"UC922 add the rule [has(self.a), has(self.b)].filter(x, x).size() <= 1 to spec, which rejects this object, or correct the text"}},
		{"either, in a case", rules(typed, "self.type == 'A' ? has(self.a) != has(self.b) : has(self.a) || has(self.b) | either a or b must be set"), nil},
		{"no field on its own", rules(strs, "has(self.a) && (has(self.c) || !has(self.b)) | a and b are mutually exclusive"), []string{"UC922 reject the object, or correct the text"}},
		{"a default is not set", rules(defaulted, "!(self.m != 'None' && has(self.b)) | at most one of m and b may be set"), nil},
		{"looser with a default", rules(defaulted, "!(self.m != 'None' && has(self.b) && !has(self.c)) | at most one of m and b may be set"), []string{"UC922 write [self.m != 'None', has(self.b)].filter(x, x).size() <= 1, which rejects this object, or correct the text"}},
		{"a default of true", rules("properties: {e: {type: boolean, default: true}, b: {type: string, maxLength: 9}}", "self.e != has(self.b) | exactly one of e or b must be set"), nil},
		{"a default integer", rules("properties: {m: {type: integer, default: 1}, b: {type: string, maxLength: 9}}", "self.m == 1 || !has(self.b) | only one of m or b can be specified"), nil},
		{"a special literal", rules(strs, "!has(self.a) || !has(self.b) || self.b == 'z' | exactly one of a and b must be set"), []string{"UC922 reject the object, or correct the text"}},
		{"a description in a case", "description: At most one of a or b may be set.\n" + rules(typed, "self.type == 'A' ? !has(self.a) || !has(self.b) : true"), nil},
		{"a literal is not set", rules("properties: {m: {type: string, enum: [None, X]}, b: {type: string, maxLength: 9}}", "!(has(self.m) && self.m != 'None' && has(self.b)) | m and b are mutually exclusive"), nil},
		{"positive numbers", rules("properties: {a: {type: integer}, b: {type: integer}}", "!(has(self.a) && self.a > 0 && has(self.b) && self.b > 0) | at most one of a and b may be set"), nil},
		{"fractions", rules("properties: {a: {type: number}, b: {type: number}}", "!(has(self.a) && self.a != 0.0 && has(self.b) && self.b != 0.0) | at most one of a and b may be set"), nil},
		{"empty objects", rules("properties: {a: {type: object, properties: {x: {type: string}}}, b: {type: object, properties: {x: {type: string}}}}", "!(has(self.a) && has(self.a.x) && has(self.b) && has(self.b.x)) | at most one of a and b may be set"), nil},

		{"each item", rules(listed, "!has(self.l) || !self.l.all(x, has(x.a) && has(x.b)) | a and b must not be combined"), []string{"UC923 write !has(self.l) || self.l.all(x, !(has(x.a) && has(x.b))), to reject each such item"}},
		{"some item", rules(listed, "!has(self.l) || !self.l.all(x, has(x.a) && has(x.b)) | at least one item must lack a or b"), nil},
		{"equalities", rules(keyed, "!has(self.l) || !self.l.all(i, i.k == 'a' && i.v == 'b') | k a with v b is invalid"), []string{`UC923 write !has(self.l) || self.l.all(i, !(i.k == 'a' && i.v == 'b')), to reject each such item`}},
		{"one condition", rules(listed, "!has(self.l) || !self.l.all(x, has(x.a)) | a is optional in an item"), nil},

		{"impossible value", rules(typed, "self.type == 'A' ? has(self.a) && has(self.a.count) && self.a.count == 0 : true"), []string{`UC924 accept an object with type "A", or remove the value from the enum`}},
		{"excluded by itself", rules(typed, "self.type != 'A'"), nil},
		{"excluded on purpose", rules("properties: {type: {type: string, enum: [A, B]}, other: {type: string, enum: [A, B]}}", "(!has(self.type) || self.type != 'A') && (!has(self.other) || self.other != 'A')"), nil},
		{"a value that requires a field", rules(typed, "self.type == 'A' ? has(self.a) : !has(self.a)"), nil},

		{"never rejects", rules(typed, "self.type in ['A', 'B'] || has(self.b)"), []string{"UC925 delete the rule, or correct it if it should reject something"}},
		{"always rejects", rules(typed, "self.type == 'C' && has(self.b)"), []string{"UC926 correct the rule, or delete it"}},
		{"a value of a scalar", "type: object\nproperties: {a: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: \"self != 'x'\"}]}}", nil},
		{"an empty map", "type: object\nproperties: {m: {type: object, maxProperties: 9, additionalProperties: {type: string, maxLength: 9}, x-kubernetes-validations: [{rule: size(self) > 0}]}}", nil},
		{"a scalar never rejected", "type: object\nproperties: {a: {type: string, enum: [A, B], x-kubernetes-validations: [{rule: \"self in ['A', 'B', 'C']\"}]}}", []string{"UC925 delete the rule, or correct it if it should reject something"}},
		{"a list for a string with a format", "type: object\nproperties: {a: {type: string, format: uuid, x-kubernetes-validations: [{rule: \"self == 'a' || self != 'a'\"}]}}", nil},
		{"a list for a string in an optional object", "type: object\nproperties: {o: {type: object, properties: {a: {type: string, format: email}}}}\nx-kubernetes-validations: [{rule: \"!has(self.o) || !has(self.o.a) || self.o.a == self.o.a\"}]", nil},
		{"an object as the key of a list", "type: object\nrequired: [l]\nproperties: {l: {type: array, minItems: 2, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: object, properties: {x: {type: string}}}}}}}\nx-kubernetes-validations: [{rule: self.l.size() < 100}]", nil},
		{"a question", rules(strs, "!has(self.a) || self.a.contains('x')"), nil},
		{"no reads", rules(strs, "false"), nil},

		{"same", rules(strs, "!has(self.a) || has(self.b)", "has(self.a) ? has(self.b) : true"), []string{"UC927 delete one of them"}},
		{"same, and a message names another field", rules(strs, "!has(self.a) || has(self.b) | b is required with a", "!has(self.a) || has(self.b)  | c is required with a"), []string{"UC927 read c in this rule, as its message says, or delete one of them"}},
		{"same, and the other message names another field", rules(strs, "!has(self.a) || has(self.b) | c is required with a", "!has(self.a) || has(self.b)  | b is required with a"), []string{"UC927 read c in the other rule, as its message says, or delete one of them"}},
		{"fails, and a guard would exclude a value", rules("required: [type]\nproperties: {type: {type: string, enum: [A, B]}, b: {type: string, maxLength: 9}}", "self.b == 'x'", "!has(self.b) || self.type == 'A'"), []string{"UC921 guard each read of a field that may be absent with has()"}},
		{"fails for two items", rules("properties: {l: {type: array, maxItems: 9, items: {type: object, properties: {k: {type: string, maxLength: 9}}}}}", "!has(self.l) || self.l.size() <= 1 || self.l.all(x, x.k != '')"), []string{"UC921 guard each read of a field that may be absent with has()"}},
		{"beside an object without a type", rules("properties: {a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}, p: {x-kubernetes-preserve-unknown-fields: true, default: {q: 1}}}", "has(self.a) && self.a.startsWith('ab') && has(self.b) && self.b.endsWith('cd')"), nil},
		{"reversed", rules(strs, "!has(self.a) || has(self.b)", "!has(self.b) || has(self.a)"), nil},

		{"costly", "type: object\nproperties: {l: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, self.exists_one(y, x == y))'}]}}",
			[]string{"UC929 maxItems: 100 on spec.l and maxLength: 100 on spec.l[*] would bring it to 4%, as the API server's estimator confirms, and tighten the API"}},

		{"costly in a bounded list", "type: object\nproperties: {l: {type: array, maxItems: 100, items: {type: object, properties: {a: {type: string}, b: {type: string, maxLength: 9}}}, x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, !has(x.a) || !has(y.a) || x.a.contains(y.a)))'}]}}",
			[]string{"UC929 maxLength: 50 on spec.l[*].a would bring it to 41%, as the API server's estimator confirms, and tighten the API"}},
		{"costly and bounded", "type: object\nproperties: {l: {type: array, maxItems: 9000, items: {type: string, maxLength: 99}, x-kubernetes-validations: [{rule: 'self.all(x, self.exists_one(y, x == y))'}]}}",
			[]string{"UC929 maxItems: 250 on spec.l would bring it to 27%, as the API server's estimator confirms, and tighten the API"}},
		{"costly whatever the bounds", "type: object\nproperties: {l: {type: array, maxItems: 9, items: {type: string, maxLength: 99, x-kubernetes-validations: [{rule: \"!isURL(self) || url(self).getEscapedPath().matches('^/v[0-9]+$')\"}]}}}",
			[]string{"UC929 nest fewer macros, or read smaller values; the API server knows no bound of optional values, such as self.?a, nor of texts that functions return"}},

		{"does not compile", rules(strs, "self.none == 'x'", "self.a == 'x'"), []string{"UC931 correct the rule, since the API server rejects the CRD",
			`UC921 write has(self.a) && self.a == 'x', which rejects this object without an error`}},
		{"names a field in the wrong way", rules("properties: {namespace: {type: string}}", "!has(self.namespace)"), []string{"UC931 write __namespace__, if there is a field namespace: CEL reserves the name"}},
		{"rejects everything, twice", rules(strs, "has(self.a) && !has(self.a)", "has(self.b) && !has(self.b)", "self.c == 'x'"), []string{
			"UC926 correct the rule, or delete it", "UC926 correct the rule, or delete it", `UC921 write has(self.c) && self.c == 'x', which rejects this object without an error`}},
		{"blocks updates", rules(strs, "self.a == oldSelf.a | a is immutable"), []string{"UC930 write !has(oldSelf.a) || has(self.a) && self.a == oldSelf.a, which accepts this object"}},
		{"fails when removed", rules(strs, "!has(oldSelf.a) || self.a == oldSelf.a | a is immutable"), []string{"UC921 write !has(oldSelf.a) || has(self.a) && self.a == oldSelf.a, which rejects this object with the message of the rule"}},
		{"guarded transition", rules(strs, "has(self.a) == has(oldSelf.a) && (!has(self.a) || self.a == oldSelf.a)"), []string{"UC932 add the rule !(has(oldSelf.spec) && has(oldSelf.spec.a)) || (has(self.spec) && has(self.spec.a)) to (root), which rejects the first of the updates"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: tt.spec})) {
				got = append(got, string(f.Code)+" "+f.Hint)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// An immutable value that may be removed can be changed in two updates.
func TestBypassed(t *testing.T) {
	const ofUnion = `type: object
properties: {box: {type: object, required: [t, r], properties: {t: {type: string, enum: [A, B]}, a: {type: string}, b: {type: string}, r: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}, x-kubernetes-unions: [{discriminator: t, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: %s}]}}`
	// A rule on a field of a required object, and a rule on the object.
	kept := func(field, rule, on string) string {
		fields := map[string]string{
			"a": "{type: string, maxLength: 9", "b": "{type: string, maxLength: 9", "t": "{type: string, enum: [A, B]",
			"o": "{type: object, required: [x], properties: {x: {type: string, maxLength: 9}}", "r": "{type: string, maxLength: 9",
		}
		fields[field] += fmt.Sprintf(", x-kubernetes-validations: [{%s}]", rule)
		var l []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			l = append(l, name+": "+fields[name]+"}")
		}
		return fmt.Sprintf("type: object\nrequired: [box]\nproperties: {box: {type: object, required: [r], properties: {%s}, x-kubernetes-validations: [{rule: %q}]}}", strings.Join(l, ", "), on)
	}
	for _, tt := range []struct {
		name, spec, required string
		want                 string // the hint
	}{
		{"optional", kept("a", "rule: self == oldSelf", "true"), "[spec]", "!has(oldSelf.a) || has(self.a) to spec.box"},
		{"required", kept("r", "rule: self == oldSelf", "true"), "[spec]", ""},
		{"required in an optional object", kept("r", "rule: self == oldSelf", "true"), "[]", "!has(oldSelf.spec) || has(self.spec) to (root)"},
		{"optional in an optional object", kept("a", "rule: self == oldSelf", "true"), "[]", "!(has(oldSelf.spec) && has(oldSelf.spec.box.a)) || (has(self.spec) && has(self.spec.box.a)) to (root)"},
		{"in three optional objects", "type: object\nproperties: {storage: {type: object, properties: {volume: {type: object, properties: {class: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}}", "[]", "!(has(oldSelf.spec) && has(oldSelf.spec.storage) && has(oldSelf.spec.storage.volume) && has(oldSelf.spec.storage.volume.class)) || (has(self.spec) && has(self.spec.storage) && has(self.spec.storage.volume) && has(self.spec.storage.volume.class)) to (root)"},
		{"a field of the object with the rule", kept("o", "rule: self.x == oldSelf.x", "true"), "[spec]", "!has(oldSelf.o) || has(self.o) to spec.box"},
		{"kept by another rule", kept("a", "rule: self == oldSelf", "!has(oldSelf.a) || has(self.a)"), "[spec]", ""},
		{"set once by another rule", kept("a", "rule: self == oldSelf", "has(oldSelf.a) || !has(self.a)"), "[spec]", ""},
		{"optional oldSelf", kept("a", "rule: '!oldSelf.hasValue() || self == oldSelf.value()', optionalOldSelf: true", "true"), "[spec]", "!has(oldSelf.a) || has(self.a) to spec.box"},
		{"created only", kept("a", "rule: oldSelf.hasValue() && self == oldSelf.value(), optionalOldSelf: true", "true"), "[spec]", ""},
		{"once set", kept("a", "rule: oldSelf == '' || self == oldSelf", "true"), "[spec]", "!(has(oldSelf.a) && oldSelf.a != '') || has(self.a) to spec.box"},
		{"once set in an optional object", kept("a", "rule: size(oldSelf) == 0 || self == oldSelf", "true"), "[]", "!(has(oldSelf.spec) && has(oldSelf.spec.box.a) && oldSelf.spec.box.a != '') || (has(self.spec) && has(self.spec.box.a)) to (root)"},
		{"a number once set", "type: object\nproperties: {count: {type: integer, x-kubernetes-validations: [{rule: oldSelf == 0 || self == oldSelf}]}}", "[spec]", "!(has(oldSelf.count) && oldSelf.count != 0) || has(self.count) to spec"},
		{"a switch once set", "type: object\nproperties: {ha: {type: boolean, x-kubernetes-validations: [{rule: '!oldSelf || self'}]}}", "[spec]", "!(has(oldSelf.ha) && oldSelf.ha) || has(self.ha) to spec"},
		{"a list once set", "type: object\nproperties: {l: {type: array, maxItems: 9, items: {type: string, maxLength: 9}, x-kubernetes-validations: [{rule: size(oldSelf) == 0 || self == oldSelf}]}}", "[spec]", "!(has(oldSelf.l) && size(oldSelf.l) > 0) || has(self.l) to spec"},
		{"may be cleared", kept("a", "rule: self == oldSelf, message: a is immutable but may be cleared", "true"), "[spec]", ""},
		{"may only grow", kept("a", "rule: self >= oldSelf", "true"), "[spec]", ""},
		{"replaced by another field", kept("a", "rule: self == oldSelf", "has(self.a) != has(self.b)"), "[spec]", "!has(oldSelf.a) || has(self.a) to spec.box"},
		{"a discriminator", kept("t", "rule: self == oldSelf", "(has(self.t) && self.t == 'A') == has(self.b)"), "[spec]", "!has(oldSelf.t) || has(self.t) to spec.box"},
		{"a rule on the object", kept("b", "rule: size(self) > 0", "has(self.a) == has(oldSelf.a) && (!has(self.a) || self.a == oldSelf.a)"), "[]", "!(has(oldSelf.spec) && has(oldSelf.spec.box.a)) || (has(self.spec) && has(self.spec.box.a)) to (root)"},
		{"a default", "type: object\ndefault: {}\nproperties: {a: {type: string, default: x, x-kubernetes-validations: [{rule: self == oldSelf}]}}", "[]", ""},
		{"nullable", "type: object\nrequired: [a]\nproperties: {a: {type: string, nullable: true, x-kubernetes-validations: [{rule: self == oldSelf}]}}", "[spec]", "!has(oldSelf.a) || has(self.a) to spec"},
		{"in an item", "type: object\nrequired: [l]\nproperties: {l: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}", "[spec]", "!has(oldSelf.a) || has(self.a) to spec.l[*]"},
		{"null in a required object", "type: object\nrequired: [o]\nproperties: {o: {type: object, nullable: true, required: [a], properties: {a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}", "[spec]", "!has(oldSelf.o) || has(self.o) to spec"},
		{"a port or its name", "type: object\nproperties: {port: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: self == oldSelf}]}}", "[spec]", "!has(oldSelf.port) || has(self.port) to spec"},
		{"a port or its name, in a rule on the object", "type: object\nproperties: {port: {x-kubernetes-int-or-string: true}}\nx-kubernetes-validations: [{rule: '!has(self.port) || !has(oldSelf.port) || self.port == oldSelf.port'}]", "[spec]", "!has(oldSelf.port) || has(self.port) to spec"},
		{"delete it first", kept("a", "rule: self == oldSelf, message: 'a is immutable, remove it first to change it'", "true"), "[spec]", ""},
		{"delete and re-create it", kept("a", "rule: self == oldSelf, message: 'a is immutable; delete and re-create it'", "true"), "[spec]", ""},
		{"delete and re-create the object", kept("a", "rule: self == oldSelf, message: 'a is immutable, delete and recreate the thing'", "true"), "[spec]", "!has(oldSelf.a) || has(self.a) to spec.box"},
		{"a member", kept("b", "rule: self == oldSelf", "(has(self.t) && self.t == 'A') == has(self.b)"), "[spec]", "!has(oldSelf.b) || has(self.b) to spec.box; while spec.box.b is set, it also keeps spec.box.t from changing"},
		{"a member of a declared union", "type: object\nrequired: [t]\nproperties: {t: {type: string, enum: [A, B]}, a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}, b: {type: string}}\nx-kubernetes-unions: [{discriminator: t, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Allow}]", "[spec]", "!has(oldSelf.a) || has(self.a) to spec; while spec.a is set, it also keeps spec.t from changing"},
		{"a member of a union with an immutable discriminator", "type: object\nrequired: [t]\nproperties: {t: {type: string, enum: [A, B], x-kubernetes-validations: [{rule: self == oldSelf}]}, a: {type: object, required: [v], properties: {v: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}}, b: {type: string}}\nx-kubernetes-unions: [{discriminator: t, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Allow}]", "[spec]", ""},
		{"closed by a union", fmt.Sprintf(ofUnion, "Forbid"), "[spec]", ""},
		{"left open by a union", fmt.Sprintf(ofUnion, "Allow"), "[spec]", "!has(oldSelf.box) || has(self.box) to spec"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := strings.Replace(testcrd.Versions("Thing", version{Name: "v1", Spec: tt.spec}), "type: object\n", "type: object\n        required: "+tt.required+"\n", 1)
			got := ""
			for _, f := range found(t, src) {
				if f.Code == codes.Bypassed {
					got += strings.Replace(strings.TrimPrefix(f.Hint, "add the rule "), ", which rejects the first of the updates", "", 1)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Messages about the list as a whole fit a rule that accepts one bad item.
func TestMessageOfList(t *testing.T) {
	const rule = "!has(self.l) || !self.l.all(x, has(x.a) && has(x.b)) | "
	for message, want := range map[string]int{
		"":                                1,
		"a excludes b":                    1,
		"a and b may not be combined":     1,
		"not every item can have a and b": 0,
		"must contain an item other than those with a and b": 0,
		"items must not be all complete":                     0,
		"an item without a or b is required":                 0,
		"every item being complete is not supported":         0,
	} {
		if l := found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: rules(listed, rule+message)})); len(l) != want {
			t.Errorf("%q: %+v", message, l)
		}
	}
	spec := strings.Replace(rules(listed, rule+"x"), `"message":"x"`, `"messageExpression":"'at least one item must lack a'"`, 1)
	if l := found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: spec})); len(l) > 0 {
		t.Errorf("%+v", l)
	}
}

// Rules on the name do not hide findings in the spec: examples get a name that they accept.
func TestName(t *testing.T) {
	for rule, want := range map[string]string{
		"self.metadata.name == 'cluster'":                            "cluster",
		"self.metadata.name.startsWith('ab-')":                       "ab-example",
		"self.metadata.name in ['-', 'main']":                        "main",
		"self.metadata.name.matches('^[a-c]{4}$')":                   "aaaa",
		"self.metadata.name.size() < 5":                              "a",
		"self.metadata.name != 'example' || self.spec.b == 'y'":      "example",
		"self.metadata.name == 'x' && self.metadata.name == 'other'": "example", // audited without the faulty rule
	} {
		src := testcrd.Versions("Thing", version{Name: "v1", Spec: rules(strs, "self.a == 'x'")})
		src = strings.Replace(src, "type: object\n", "type: object\n        x-kubernetes-validations: [{rule: \""+rule+"\"}]\n", 1)
		name := ""
		for _, f := range found(t, src) {
			if f.Code == codes.FailsToEvaluate && f.Path == "spec" {
				metadata, _ := f.Example.New["metadata"].(map[string]any)
				name, _ = metadata["name"].(string)
			}
		}
		if name != want {
			t.Errorf("%s: %q, want %q", rule, name, want)
		}
	}
}

// A rule that requires special values does not hide findings: examples get such values or, if none is
// found, leave out the rule.
func TestRequiredValues(t *testing.T) {
	const spec = "required: [s, t, i]\nproperties:\n  a: {type: string, maxLength: 9}\n  s: {type: string, maxLength: 60}\n  t: {type: string, maxLength: 60}\n" +
		"  i: {type: integer}\n  m: {type: object, maxProperties: 9, additionalProperties: {type: string, maxLength: 9}}\n  l: {type: array, maxItems: 9, items: {type: string, maxLength: 60}}\n" +
		"  o: {type: object, properties: {p: {type: object, properties: {q: {type: string, maxLength: 60}, r: {type: integer}}}}}\n" +
		"  k: {type: array, maxItems: 9, items: {type: object, required: [name], properties: {name: {type: string, maxLength: 60}}}}"
	for rule, want := range map[string]string{
		"isCIDR(self.s)": `{"i":1,"s":"192.0.2.0/24","t":"a"}`,
		"isIP(self.s) && ip(self.s).family() == 6":                                             `{"i":1,"s":"2001:db8::1","t":"a"}`,
		"self.s.matches('^[a-z]{3}-[0-9]{4}$') && self.t.endsWith('.svc') && size(self.t) > 8": `{"i":1,"s":"aaa-1111","t":"aaaaa.svc"}`,
		"isURL(self.s) && url(self.s).getHost() == 'x.example.com'":                            `{"i":1,"s":"https://x.example.com","t":"a"}`,
		"quantity(self.s).isGreaterThan(quantity('5Gi'))":                                      `{"i":1,"s":"15Gi","t":"a"}`,
		"self.s == self.t + '.svc'":                                                            `{"i":1,"s":".svc","t":""}`,
		"self.i == 70000 || self.i * 7 == 864199":                                              `{"i":70000,"s":"a","t":"a"}`,
		"has(self.m) && 'team' in self.m":                                                      `{"i":1,"m":{"team":"a"},"s":"a","t":"a"}`,
		"has(self.m) && size(self.m) == 3 && self.m.all(k, self.m[k] == 'b')":                  `{"i":1,"m":{"key0":"b","key1":"b","key2":"b"},"s":"a","t":"a"}`,
		"has(self.l) && self.l.size() > 2 && self.l.all(x, x.startsWith('q-'))":                `{"i":1,"l":["q-","q-","q-"],"s":"a","t":"a"}`,
		"has(self.k) && self.k.exists(x, x.name.matches('^k-[0-9]$'))":                         `{"i":1,"k":[{"name":"k-1"}],"s":"a","t":"a"}`,
		"has(self.o) && has(self.o.p) && self.o.p.q.endsWith('.svc') && self.o.p.r > 70":       `{"i":1,"o":{"p":{"q":".svc","r":71}},"s":"a","t":"a"}`,
		"self.s.split('-')[1] == 'b' && self.s.split('-').size() == 4":                         "left out",
	} {
		got := ""
		for _, f := range found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: rules(spec, rule, "self.a != 'x'")})) {
			if f.Code == codes.FailsToEvaluate && f.Rule == "self.a != 'x'" {
				b, err := json.Marshal(f.Example.New["spec"])
				if got = string(b); err != nil || f.Without > 0 {
					got = "left out"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

// Rules that fit one by one may take most of the budget of their version.
func TestCostlyVersion(t *testing.T) {
	unique := "{type: array, maxItems: 100, items: {type: string, maxLength: 1000}, x-kubernetes-validations: [{rule: 'self.all(x, self.exists_one(y, x == y))'}]}"
	properties := func(n int) string {
		var b strings.Builder
		b.WriteString("type: object\nproperties:\n")
		for i := range n {
			fmt.Fprintf(&b, "  l%d: %s\n", i, unique)
		}
		return b.String()
	}
	for n, want := range map[int]int{2: 0, 16: 1} {
		l := found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: properties(n)}))
		if len(l) != want {
			t.Errorf("%d rules: %d findings", n, len(l))
		}
		for _, f := range l {
			if f.Code != codes.CostlyRule || !strings.HasPrefix(f.Message, "the rules of version v1 take ") {
				t.Errorf("%+v", f)
			}
		}
	}
}

// A rule that another served version lacks can be bypassed.
func TestOtherVersion(t *testing.T) {
	with, without := rules(strs, "has(self.a) == has(self.b) | a and b belong together"), "type: object\n"+strs
	for _, tt := range []struct {
		name  string
		other version
		want  int
	}{
		{"without the rule", version{Name: "v1beta1", Spec: without}, 1},
		{"not served", version{Name: "v1beta1", Spec: without, Unserved: true}, 0},
		{"other properties", version{Name: "v1beta1", Spec: "type: object\nproperties: {a: {type: string}}"}, 0},
		{"defaults", version{Name: "v1beta1", Spec: "type: object\n" + strings.NewReplacer("a: {", "a: {default: x, ", "b: {", "b: {default: y, ").Replace(strs)}, 0},
		{"same rule in other words", version{Name: "v1beta1", Spec: rules(strs, "has(self.a)?has(self.b):!has(self.b)")}, 0},
		{"same message", version{Name: "v1beta1", Spec: rules(strs, "!has(self.a) || has(self.b) | a and b belong together")}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			for _, f := range found(t, testcrd.Versions("Thing", tt.other, version{Name: "v1", Spec: with})) {
				if f.Code == codes.OtherVersion {
					n++
					if len(f.Related) != 1 || f.Version != "v1" {
						t.Errorf("%+v", f)
					}
				}
			}
			if n != tt.want {
				t.Errorf("%d findings, want %d", n, tt.want)
			}
		})
	}
}

// Versions that are not served have no findings.
func TestNotServed(t *testing.T) {
	src := testcrd.Versions("Thing", version{Name: "v1beta1", Spec: rules(strs, "self.a == 'x'"), Unserved: true}, version{Name: "v1", Spec: "type: object"})
	if l := found(t, src); len(l) > 0 {
		t.Errorf("%+v", l)
	}
}

// The samples have one finding of each kind.
func TestSamples(t *testing.T) {
	src, err := os.ReadFile("testdata/audit/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []diag.Code
	l := found(t, string(src))
	for _, f := range l {
		got = append(got, f.Code)
	}
	want := []diag.Code{codes.NotEachItem, codes.ImpossibleValue, codes.LooserThanMessage, codes.FailsToEvaluate, codes.OtherVersion,
		codes.NeverRejects, codes.SameRule, codes.AlwaysRejects, codes.CostlyRule, codes.BlocksUpdates, codes.Bypassed}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	lines := strings.Split(string(src), "\n")
	for _, f := range l {
		if f.Code == codes.CostlyRule && !strings.HasSuffix(f.Message, " times the cost that the API server allows for one") {
			t.Error(f.Message)
		}
		if line := lines[f.Pos.Line-1]; !strings.Contains(line, "rule: ") {
			t.Errorf("%s is at %q", f.Code, line)
		}
	}
	if n := handwritten.AuditDiagnostics(l).Count(diag.Warning); n != len(want)-1 { // the costly rule is over the budget
		t.Errorf("%d warnings", n)
	}
}

// The error of an example is the rule's own.
func TestResponse(t *testing.T) {
	spec := rules(strs, "has(self.a) && !has(self.a) | first", "has(self.b) && !has(self.b) | second", "!has(self.a) || has(self.c) | third", "has(self.a) ? has(self.c) : true | fourth")
	want := []string{"spec: Invalid value: first", "spec: Invalid value: second", "spec: Invalid value: third; spec: Invalid value: fourth"}
	var got []string
	for _, f := range found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: spec})) {
		got = append(got, f.Response)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Findings name faulty rules that hide them from the API server.
func TestFaulty(t *testing.T) {
	// A faulty rule elsewhere makes all objects invalid.
	l := found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: "type: object\nrequired: [a, b]\nproperties:\n" +
		"  a: {type: object, properties: {p: {type: string}}, x-kubernetes-validations: [{rule: \"has(self.p) && self.p == 'v' && self.p == 'w'\"}]}\n" +
		"  b: {type: object, properties: {q: {type: string}}, x-kubernetes-validations: [{rule: \"self.q != 'v'\"}]}"}))
	if len(l) != 2 || l[0].Code != codes.AlwaysRejects || l[1].Code != codes.FailsToEvaluate {
		t.Errorf("%+v", l)
	}
	l = found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: rules(strs, "has(self.a) && self.a.startsWith('b') && self.a == 'c'", "self.c == 'x'")}))
	if len(l) != 2 || l[0].Without != 0 || l[1].Without != 1 || l[1].Related[0].Pos != l[0].Pos {
		t.Errorf("%+v", l)
	}
	spec := rules("properties: {lo: {type: integer}, hi: {type: integer}, a: {type: string, maxLength: 9}, l: {type: array, maxItems: 9, items: {type: object, properties: {a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}}}, "+
		"x-kubernetes-validations: [{rule: '!self.all(x, has(x.a) && has(x.b))'}]}}", "self.lo <= self.hi", "self.a == oldSelf.a")
	var got []diag.Code
	for _, f := range found(t, testcrd.Versions("Thing", version{Name: "v1", Spec: spec})) {
		got = append(got, f.Code)
	}
	if diff := cmp.Diff([]diag.Code{codes.NotEachItem, codes.FailsToEvaluate, codes.BlocksUpdates}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Without valid unions, nothing is found.
func TestInvalidUnion(t *testing.T) {
	crds, _ := crdpatch.Open("crd.yaml", []byte(testcrd.Versions("Thing", version{Name: "v1", Spec: rules("x-kubernetes-unions: [{members: [a, d]}]\n"+strs, "self.a == 'x'")}))).CRDs(crdpatch.Options{})
	if r, err := handwritten.Audit(t.Context(), crds[0]); err != nil || len(r.Findings)+len(r.Undecided) > 0 || !r.Diags.HasErrors() {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Compiled rules have no findings.
func TestCompiled(t *testing.T) {
	src, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(testcrd.Versions("Thing", version{Name: "v1", Spec: "type: object\n" + strs +
		"\nx-kubernetes-unions:\n- members: [a, b]\n"}))), crdpatch.Options{})
	if diags.HasErrors() || !strings.Contains(string(src), "has(self.a)") {
		t.Fatal(diags, string(src))
	}
	if l := found(t, string(src)); len(l) > 0 {
		t.Errorf("%+v", l)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	crds, _ := crdpatch.Open("crd.yaml", []byte(testcrd.Versions("Thing", version{Name: "v1", Spec: rules(strs, "self.a == 'x'")}))).CRDs(crdpatch.Options{})
	if _, err := handwritten.Audit(ctx, crds[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if r, err := handwritten.Audit(logic.WithSteps(t.Context(), 1), crds[0]); err != nil || len(r.Findings) > 0 || len(r.Undecided) != r.Rules {
		t.Errorf("got %+v, %v", r, err)
	}
}
