package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// crd returns a CRD with the given schema of spec, and with a status that has a rule on one
// property.
func crd(spec string) string {
	return fmt.Sprintf(`{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "things.example.com"},
		"spec": {
			"group": "example.com", "scope": "Namespaced",
			"names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": [{
				"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
				"schema": {"openAPIV3Schema": {"type": "object", "properties": {
					"spec": %s,
					"status": {"type": "object", "properties": {
						"n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0", "message": "positive"}]}}}}}}}]}}`, spec)
}

// ask sends one request to Main and returns the answer.
func ask(t *testing.T, request string) (install []string, answers []json.RawMessage) {
	t.Helper()
	var out strings.Builder
	if err := Main(strings.NewReader(request), &out); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Install []string
		Answers []json.RawMessage
	}
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return answer.Install, answer.Answers
}

const atMostOne = `{"type": "object",
	"properties": {
		"a": {"type": "string"}, "b": {"type": "string"},
		"two": {"type": "object", "properties": {"c": {"type": "string"}, "d": {"type": "string"}}, "oneOf": [{"required": ["c"]}, {"required": ["d"]}]},
		"kind": {"type": "string", "default": "None", "enum": ["None", "Some"]},
		"list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
			"items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}},
	"x-kubernetes-validations": [
		{"rule": "!(has(self.a) && has(self.b))", "message": "at most one", "reason": "FieldValueForbidden", "fieldPath": ".b"},
		{"rule": "self.kind == 'None' || has(self.a)", "message": "a is missing"},
		{"rule": "!has(oldSelf.a) || has(self.a)", "message": "a stays"}]}`

const unchecked = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

func TestVerdicts(t *testing.T) {
	const both = `{"spec": {"a": "x", "b": "y"}}`
	for _, tc := range []struct {
		name     string
		old, new string // an empty old means create
		status   bool
		want     string // "field: message; ..." of the errors
	}{
		{name: "create accepted", new: `{"spec": {"a": "x"}}`},
		{name: "create refused", new: both, want: "spec.b: at most one"},
		{name: "null dropped", new: `{"spec": {"a": "x", "b": null}}`},
		{name: "default set", new: `{"spec": {"kind": null}}`},
		{name: "default replaced", new: `{"spec": {"kind": "Some"}}`, want: "spec: a is missing"},
		{name: "unknown field pruned", new: `{"spec": {"c": 1}}`},
		{name: "create drops status", new: `{"spec": {}, "status": {"n": 0}}`},
		{name: "wrong type blocks rules", new: `{"spec": {"a": 1, "b": "y"}}`,
			want: `spec.a: spec.a in body must be of type string: "integer"; : ` + unchecked},
		{name: "oneOf", old: `{"spec": {"a": "x"}}`, new: `{"spec": {"a": "x", "two": {"c": "x", "d": "y"}}}`,
			want: `spec.two: "spec.two" must validate one and only one schema (oneOf). Found 2 valid alternatives`},
		{name: "oneOf ratcheted", old: `{"spec": {"a": "x", "two": {"c": "x", "d": "y"}}}`, new: `{"spec": {"a": "y", "two": {"c": "x", "d": "y"}}}`},
		{name: "status of the wrong type", old: `{}`, new: `{"status": {"n": "x"}}`, status: true,
			want: `status.n: n in body must be of type integer: "string"; : ` + unchecked},
		{name: "map in list", new: `{"spec": {"list": [{"k": "x"}, {"k": "x"}]}}`, want: "spec.list[1]: "},
		{name: "map in list ratcheted", old: `{"spec": {"list": [{"k": "x"}, {"k": "x"}]}}`, new: `{"spec": {"list": [{"k": "y"}, {"k": "y"}]}}`},
		{name: "update ratcheted", old: both, new: both},
		{name: "update not ratcheted", old: both, new: `{"spec": {"a": "x", "b": "z"}}`, want: "spec.b: at most one"},
		{name: "transition", old: `{"spec": {"a": "x"}}`, new: `{"spec": {}}`, want: "spec: a stays"},
		{name: "update keeps status", old: `{"spec": {}}`, new: `{"spec": {}, "status": {"n": 0}}`},
		{name: "status", old: `{"spec": {}}`, new: `{"spec": {}, "status": {"n": 0}}`, status: true, want: "status.n: positive"},
		{name: "status keeps spec", old: `{"spec": {"a": "x"}}`, new: `{"status": {"n": 1}}`, status: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked := "[-1, 0]"
			if tc.old != "" {
				asked = "[1, 0]"
				if tc.status {
					asked = `[1, 0, "status"]`
				}
				tc.new += "," + tc.old
			}
			install, answers := ask(t, fmt.Sprintf(`{"crd": %s, "objects": [%s], "asks": [%s]}`, crd(atMostOne), tc.new, asked))
			if len(install) > 0 {
				t.Fatalf("refused: %q", install)
			}
			var errs []Error
			if err := json.Unmarshal(answers[0], &errs); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, err := range errs {
				got = append(got, err.Field+": "+err.Message)
			}
			if got := strings.Join(got, "; "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestInstallRefused(t *testing.T) {
	const spec = `{"type": "object", "x-kubernetes-validations": [{"rule": "self.a"}]}`
	install, answers := ask(t, fmt.Sprintf(`{"crd": %s, "asks": []}`, crd(spec)))
	if len(install) != 1 || !strings.Contains(install[0], "undefined field 'a'") || answers != nil {
		t.Errorf("refused for %q, answers %q", install, answers)
	}
}

func TestSpread(t *testing.T) {
	const member = `{"type": "object", "properties": {"x": {"type": "string"}},
		"x-kubernetes-validations": [{"rule": "!has(self.x)%s", "message": "no"}]}`
	spec := fmt.Sprintf(`{"type": "object",
		"properties": {"u1": %s, "u10": %s, "m": {"type": "object", "additionalProperties": %s}},
		"x-kubernetes-validations": [{"rule": "!has(self.u1.x) || self.u1.x != 'spec'", "message": "elsewhere"}]}`,
		fmt.Sprintf(member, ""), fmt.Sprintf(member, " || self.x == 'ten'"), fmt.Sprintf(member, ""))
	request := fmt.Sprintf(`{"crd": %s, "brief": true,
		"objects": [{}, {"x": "a"}, {"x": "ten"}, {"x": "spec"}, {"x": 1}, null],
		"spread": [["spec", "u1"], ["spec", "u10"], ["spec", "m", "k"]],
		"asks": [[-1, 0], [-1, 1], [-1, 2], [-1, 3], [-1, 4], [1, 1], [0, 1], [1, 0]]}`, crd(spec))
	_, answers := ask(t, request)
	const want = "[] [0,1,2] [0,2] [-1,0,1,2] [-1,0,1,2] [] [0,1,2] []"
	if got := fmt.Sprintf("%s", answers); got != "["+want+"]" {
		t.Errorf("got %s, want %s", got, want)
	}

	_, answers = ask(t, fmt.Sprintf(`{"crd": %s, "brief": true, "objects": [{"spec": {"a": "x", "b": "y"}}, {}], "asks": [[-1, 0], [-1, 1]]}`, crd(atMostOne)))
	if got := fmt.Sprintf("%s", answers); got != "[[0] []]" {
		t.Errorf("the whole object: got %s", got)
	}
}

func TestMainInOrder(t *testing.T) {
	var in strings.Builder
	for i := range 20 {
		fmt.Fprintf(&in, `{"name": "%d", "crd": %s, "objects": [{}], "asks": [[-1, 0]]}`+"\n", i, crd(`{"type": "object"}`))
	}
	in.WriteString(`{"name": "bad", "asks": [[0, 0]]}`)
	var out strings.Builder
	err := Main(strings.NewReader(in.String()), &out)
	if err == nil || !strings.Contains(err.Error(), `request 21, "bad": ask 0: no such object`) {
		t.Errorf("got the error %v", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 20 {
		t.Fatalf("%d answers", len(lines))
	}
	for i, line := range lines {
		if want := fmt.Sprintf(`{"name":"%d","install":[],"answers":[[]]}`, i); line != want {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}
