package crdpatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// recording returns a CRD with an annotation: with declared as the unions of spec, and rules with
// their checksums recorded for the union that record describes.
func recording(t *testing.T, declared, record string, rules ...map[string]any) []byte {
	t.Helper()
	var sums []string
	for _, r := range rules {
		sums = append(sums, sumOf(r))
	}
	r := map[string]any{}
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		t.Fatal(err)
	}
	maps.Copy(r, map[string]any{"version": "v1", "path": []string{"properties", "spec"}, "rules": sums})
	spec := "spec:\n  type: object\n  properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}\n  x-kubernetes-validations: " + jsonOf(rules) + "\n"
	if declared != "" {
		spec += "  x-kubernetes-unions: " + declared + "\n"
	}
	annotation := jsonOf(map[string]any{"format": 2, "schemas": []any{r}})
	return []byte(strings.Replace(testcrd.New("Route", spec), "\nspec:\n", "\n  annotations:\n    "+Annotation+": '"+strings.ReplaceAll(annotation, "'", "''")+"'\nspec:\n", 1))
}

// TestForgedRecord asserts that a record of a union that is declared nowhere lets compile remove no
// rule: neither one by hand, nor one with exactly the text that compiling would write. Only decompile
// removes the latter, and names it.
func TestForgedRecord(t *testing.T) {
	const ab, cd = `[{"members":["a","b"]}]`, "[{members: [c, d]}]"
	ours := map[string]any{"rule": "!(has(self.a) && has(self.b))", "message": "at most one of a, b may be set"}
	byHand := map[string]any{"rule": "!has(self.a) || !has(self.b)", "message": "SECURITY: not both", "reason": "FieldValueForbidden"}
	for _, tt := range []struct {
		name, record string
		rule         map[string]any
		code         diag.Code
	}{
		{"external, by hand", `{"external":true,"unions":` + ab + `}`, byHand, codes.UnconfirmedRule},
		{"source, by hand", `{"source":"x-kubernetes-unions: [{members: [a, b]}]\n"}`, byHand, codes.UnconfirmedRule},
		{"external, as compiled", `{"external":true,"unions":` + ab + `}`, ours, codes.Forgotten},
		{"source, as compiled", `{"source":"x-kubernetes-unions: [{members: [a, b]}]\n"}`, ours, codes.Forgotten},
	} {
		in := recording(t, cd, tt.record, tt.rule)
		for verb, run := range verbs(Options{}) {
			if verb == "decompile" && tt.code == codes.Forgotten {
				if _, diags := run(in); len(diags) != 1 || diags[0].Code != codes.RuleRemoved {
					t.Errorf("%s, decompile: %v", tt.name, diags)
				}
				continue
			}
			if out, diags := run(in); out != nil || !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == tt.code && d.Severity == diag.Error }) {
				t.Errorf("%s, %s: %v", tt.name, verb, diags)
			}
		}
		for verb, run := range verbs(Options{Forget: true}) {
			if out, diags := run(in); diags.HasErrors() || !bytes.Contains(out, []byte(jsonOf(tt.rule))) {
				t.Errorf("%s, %s --forget: %v\n%s", tt.name, verb, diags, out)
			}
		}
	}
}

// TestForgetOne asserts that --forget keeps only the rules of lost unions as hand-written ones: the
// rules of the others stay compiled ones.
func TestForgetOne(t *testing.T) {
	source := []byte(testcrd.New("Route", "spec: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}}"))
	given := func(unions string, forget bool) Options {
		value, err := yamltext.FromJSON([]byte(unions))
		if err != nil {
			t.Fatal(err)
		}
		of := union.Target{Name: "routes.example.com"}
		return Options{Forget: forget, External: union.Externals{Declarations: []union.External{{Target: of, Path: schemapath.New("spec"), Value: value}}}}
	}
	const ab, cd = `{"members":["a","b"],"discriminatorChange":"Forbid"}`, `{"members":["c","d"],"discriminatorChange":"Forbid"}`
	both := mustCompile(t, source, given("["+ab+","+cd+"]", false))
	one := mustCompile(t, both, given("["+ab+"]", true))
	if n, m := len(rulesIn(values(t, both))), len(rulesIn(values(t, one))); n != m {
		t.Fatalf("%d of %d rules are left", m, n)
	}
	text := string(mustCompile(t, one, given(`[{"members":["a","b"]}]`, false)))
	if strings.Contains(text, "oldSelf.a") || !strings.Contains(text, "oldSelf.c") || strings.Count(text, "at most one of") != 2 {
		t.Error(text)
	}
	without := func(rule string) []byte {
		docs := values(t, both)
		schema := schemaIn(docs[0].(map[string]any), schemapath.Place{Path: schemapath.New("spec")})
		schema[validations] = slices.DeleteFunc(itemsOf(schema[validations]), func(v any) bool { return strings.Contains(ruleOf(v), rule) })
		return encode(t, docs, encoders[0].of)
	}
	if _, diags := Compile(open("in", without("oldSelf.c")), given("["+ab+"]", true)); diags.HasErrors() {
		t.Errorf("a rule of the lost union is gone: %v", diags)
	}
	if out, diags := Compile(open("in", without("oldSelf.a")), given("["+ab+"]", true)); out != nil || diags[0].Code != codes.RuleChanged {
		t.Errorf("a rule of the other union is gone: %v", diags)
	}
}

// TestRemoved asserts that each removed rule is named, unless a union of the output writes its condition:
// in another encoding, with another message, or once it is compiled again.
func TestRemoved(t *testing.T) {
	source := strings.Replace(header+body, "- members: [a, b]", "- members: [a, b]\n              discriminatorChange: Allow", 1)
	compiled := mustCompile(t, []byte(source), Options{})
	declaring := func(unions string) []byte {
		return bytes.Replace(compiled, []byte("            x-kubernetes-validations:\n"), []byte("            x-kubernetes-unions: ["+unions+"]\n            x-kubernetes-validations:\n"), 1)
	}
	outside := forgedAnnotation(t, string(compiled), func(_, schema map[string]any) {
		delete(schema, "source")
		schema["external"], schema["unions"] = true, json.RawMessage(`[{"members":["a","b"],"discriminatorChange":"Allow"}]`)
	})
	for _, tt := range []struct {
		name  string
		run   func(*File, Options) ([]byte, diag.List)
		in    []byte
		opts  Options
		named bool
	}{
		{"decompile", Decompile, compiled, Options{}, false},
		{"decompile, declared outside", Decompile, []byte(outside), Options{}, true},
		{"compile", Compile, compiled, Options{}, false},
		{"another encoding", Compile, compiled, Options{Encoding: compile.Fine}, false},
		{"another version", Compile, compiled, Options{KubeVersion: "1.27"}, false},
		{"another message", Compile, declaring("{name: ab, members: [a, b], discriminatorChange: Allow}"), Options{}, false},
		{"another meaning", Compile, declaring("{members: [a, b], cardinality: AtLeastOne}"), Options{}, true},
	} {
		out, diags := tt.run(open("in", tt.in), tt.opts)
		if !tt.named && len(diags) == 0 && out != nil {
			continue
		}
		if len(diags) != 1 || diags[0].Code != codes.RuleRemoved || diags[0].Message != `the output lacks a rule compiled from a recorded union: "!(has(self.a) && has(self.b))"` || diags[0].Pos.Line == 0 {
			t.Errorf("%s: %v", tt.name, diags)
		}
	}
	both := strings.Replace(source, "discriminatorChange: Allow", "discriminatorChange: Allow\n              cardinality: ExactlyOne", 1)
	several := forgedAnnotation(t, string(mustCompile(t, []byte(both), Options{Encoding: compile.Fine})), func(_, schema map[string]any) {
		delete(schema, "source")
		schema["external"], schema["unions"] = true, json.RawMessage(`[{"members":["a","b"],"discriminatorChange":"Allow","cardinality":"ExactlyOne"}]`)
	})
	_, diags := Decompile(open("in", []byte(several)), Options{})
	if len(diags) != 1 || len(diags[0].Related) != 2 || diags[0].Related[1].Message != `"has(self.a) || has(self.b)"` {
		t.Errorf("several rules: %+v", diags)
	}
	broken := outside + "---\n" + strings.Replace(string(compiled), `{"format":2`, `{"format":"2"`, 1)
	if _, diags := Decompile(open("in", []byte(broken)), Options{}); len(diags) != 1 || diags[0].Code != codes.BadAnnotation {
		t.Errorf("beside an error: %v", diags)
	}
}

// TestRandomRecords compiles and decompiles CRDs with random records of rules by hand, which may have
// the text of compiled rules. A rule leaves only if a compilation of the recorded union writes it, and
// never without being named, unless a union of the output writes its condition.
func TestRandomRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	members := func() string { return pick("[a, b]", "[a, c]", "[c, d]", "[a, b, c]", "[b, d]") }
	removed, refused, enforced := 0, 0, map[string]bool{}
	for range unioncases.Choose(50, 80, 3000) {
		declaration := "{members: " + members() + pick("", ", cardinality: ExactlyOne", ", cardinality: AtLeastOne", ", discriminatorChange: Forbid") + "}"
		// The rules that compiling writes for the union come from a compilation of the union alone.
		alone := mustCompile(t, []byte(testcrd.New("Route", "spec:\n  type: object\n  properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}\n  x-kubernetes-unions: ["+declaration+"]\n")), Options{})
		written := rulesIn(values(t, alone))
		var rules []map[string]any
		for range 1 + r.IntN(3) {
			rule := map[string]any{"rule": fmt.Sprintf("!has(self.%s) || self.%s != '%d'", pick("a", "b"), pick("a", "c"), r.IntN(3))}
			if r.IntN(2) == 0 {
				rule = maps.Clone(written[r.IntN(len(written))])
				switch r.IntN(6) {
				case 0:
					rule["message"] = "by hand"
				case 1:
					rule["rule"] = "(" + rule["rule"].(string) + ")"
				case 2:
					rule["reason"] = "FieldValueDuplicate"
				}
			}
			if !slices.ContainsFunc(rules, func(o map[string]any) bool { return o["rule"] == rule["rule"] }) {
				rules = append(rules, rule)
			}
		}
		declared := pick("", "[{members: "+members()+"}]", "["+declaration+"]")
		record := jsonOf(map[string]any{"source": "x-kubernetes-unions: [" + declaration + "]\n"})
		in := recording(t, declared, record, rules...)
		for _, forget := range []bool{false, true} {
			for verb, run := range verbs(Options{Forget: forget}) {
				out, diags := run(in)
				if out == nil {
					refused++
					continue
				}
				left := rulesIn(values(t, out))
				for _, rule := range rules {
					is := func(o map[string]any) bool { return jsonOf(o) == jsonOf(rule) }
					if slices.ContainsFunc(left, is) {
						continue
					}
					removed++
					if !slices.ContainsFunc(written, is) {
						t.Errorf("%s: %v is gone, which %s does not write\n%s", verb, rule, declaration, in)
					}
					if named := rule["rule"].(string); !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
						return d.Code == codes.RuleRemoved && (strings.Contains(d.Message, named[:min(len(named), 100)]) ||
							slices.ContainsFunc(d.Related, func(r diag.Related) bool { return strings.Contains(r.Message, named[:min(len(named), 100)]) }))
					}) {
						key := fmt.Sprint(verb, forget, declared, declaration, named)
						if _, known := enforced[key]; !known {
							enforced[key] = enforces(t, mustCompile(t, out, Options{}), rule)
						}
						if enforced[key] {
							continue
						}
						t.Errorf("%s: %v is gone without a word: %v\n%s", verb, rule, diags, in)
					}
				}
			}
		}
	}
	t.Logf("%d rules removed, %d runs refused", removed, refused)
	if removed == 0 || refused == 0 {
		t.Error("the records show too little")
	}
}

// enforces reports whether a compiled CRD rejects every object, and every update of a legal one, that a
// rule alone rejects.
func enforces(t *testing.T, compiled []byte, rule map[string]any) bool {
	t.Helper()
	var objects []map[string]any
	for set := range 16 {
		spec := map[string]any{}
		for i, name := range []string{"a", "b", "c", "d"} {
			if set&(1<<i) != 0 {
				spec[name] = "x"
			}
		}
		objects = append(objects, map[string]any{"apiVersion": "example.com/v1", "kind": "Route", "metadata": map[string]any{"name": "r"}, "spec": spec})
	}
	kind := func(manifest []byte) *server.Kind {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(manifest, &crd); err != nil {
			t.Fatal(err)
		}
		return server.NewKind(&crd)
	}
	alone, all := kind(recording(t, "", "{}", rule)), kind(compiled)
	rejects := func(k *server.Kind, object, old map[string]any) bool {
		answer, err := k.Create(t.Context(), object)
		if old != nil {
			answer, err = k.Update(t.Context(), object, old)
		}
		if err != nil {
			t.Fatal(err)
		}
		return answer.Refused != nil
	}
	for _, object := range objects {
		for _, old := range append([]map[string]any{nil}, objects...) {
			if (old == nil || !rejects(all, old, nil)) && rejects(alone, object, old) && !rejects(all, object, old) {
				return false
			}
		}
	}
	return true
}

// rulesIn returns all validation rules in data, in the order of keys.
func rulesIn(v any) (l []map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			l = append(l, rulesIn(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			item := v[key]
			if rules, ok := item.([]any); ok && key == "x-kubernetes-validations" {
				for _, r := range rules {
					l = append(l, r.(map[string]any))
				}
			} else {
				l = append(l, rulesIn(item)...)
			}
		}
	}
	return l
}

// TestSchemaEdited edits the schemas around compiled unions. Their rules stay recognized, although
// compiling now chooses another encoding, or needs no removal guard.
func TestSchemaEdited(t *testing.T) {
	const discriminated = "x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: [A, AA], b: B, c: C}"
	const list = "{type: object, properties: {items: {type: array, items: {type: object, properties: {type: {type: string}, a: {type: object}, b: {type: object}, c: {type: object}}, " + discriminated + "}]}}}}"
	const guarded = "{type: object, properties: {u: {type: object, properties: {type: {type: string, maxLength: 9}, a: {type: object}, b: {type: object}, c: {type: object}}, " + discriminated + ", discriminatorChange: Forbid}]}}}"
	for _, tt := range []struct{ name, spec, from, to string }{
		{"bounds", list, "type: array,", "type: array, maxItems: 3,"},
		{"a defaulted parent", guarded, "u: {type: object,", "u: {default: {}, type: object,"},
	} {
		source := testcrd.New("Route", "spec: "+tt.spec)
		edit := func(text []byte) []byte { return bytes.Replace(text, []byte(tt.from), []byte(tt.to), 1) }
		compiled := mustCompile(t, []byte(source), Options{})
		edited := edit(compiled)
		want := mustCompile(t, edit([]byte(source)), Options{})
		if bytes.Equal(edited, compiled) || jsonOf(rulesIn(values(t, edited))) == jsonOf(rulesIn(values(t, want))) {
			t.Errorf("%s: the edit changes nothing\n%s", tt.name, edited)
		}
		out, diags := Compile(open("in", edited), Options{})
		if diags.HasErrors() || slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RuleRemoved }) {
			t.Errorf("%s: %v", tt.name, diags)
		}
		if d := cmp.Diff(rulesIn(values(t, want)), rulesIn(values(t, out))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		same(t, tt.name+", decompiled", mustDecompile(t, edited), edit([]byte(source)))
	}
}
