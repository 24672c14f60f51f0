package crdpatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Content that an attacker wants to remove: a hand-written rule, and another document.
const (
	byHandRule  = "!has(self.a) || !self.a.startsWith('/etc')"
	clusterRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
`
)

// hostile returns a compiled CRD with a hand-written rule alongside ours, and an annotation that
// forge has changed. A ClusterRole precedes the CRD, and another follows.
func hostile(t testing.TB, forge func(r map[string]any, schema map[string]any)) string {
	t.Helper()
	in := clusterRole + "---\n" + header + strings.Replace(body, "            - members: [a, b]\n", `            - members: [a, b]
              discriminatorChange: Allow
            x-kubernetes-validations:
            - rule: "`+byHandRule+`"
`, 1) + "---\n" + clusterRole
	out := string(mustCompile(t, []byte(in), Options{}))
	return forgedAnnotation(t, out, forge)
}

// forgedAnnotation changes the first annotation of a file in block style.
func forgedAnnotation(t testing.TB, out string, forge func(r map[string]any, schema map[string]any)) string {
	t.Helper()
	head, rest, ok := strings.Cut(out, Annotation+": ")
	line, tail, _ := strings.Cut(rest, "\n")
	var text string
	if err := yaml.Unmarshal([]byte(line), &text); err != nil || !ok {
		t.Fatal(err, out)
	}
	r := map[string]any{}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	forge(r, r["schemas"].([]any)[0].(map[string]any))
	forged, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return head + Annotation + ": '" + strings.ReplaceAll(string(forged), "'", "''") + "'\n" + tail
}

// No annotation can make a command do more than revert a compilation.
func TestForgedAnnotation(t *testing.T) {
	byHandSum := sumOf(map[string]any{"rule": byHandRule})
	claimRule := func(s map[string]any) { s["rules"] = append(s["rules"].([]any), byHandSum) }
	const declared = "            x-kubernetes-unions:\n            - members: [a, b]\n              discriminatorChange: Allow\n"
	for _, tt := range []struct {
		name    string
		forge   func(r, s map[string]any)
		code    diag.Code // "" if there is no error
		message string
	}{
		{"a rule by hand is claimed", func(_, s map[string]any) { claimRule(s) }, codes.UnconfirmedRule,
			`claims the rule "!has(self.a) || !self.a.startsWith('/etc')", but its unions do not write it`},
		{"and ours is not", func(_, s map[string]any) { s["rules"] = []any{byHandSum} }, codes.UnconfirmedRule, "startsWith"},
		{"a schema without a union claims rules", func(_, s map[string]any) { delete(s, "source"); claimRule(s) }, codes.UnconfirmedRule, "startsWith"},
		{"a key of the schema is added", func(_, s map[string]any) {
			s["source"] = declared + "            x-kubernetes-preserve-unknown-fields: true\n"
		}, codes.BadAnnotation, "schemas[0].source: "},
		{"with the value beside", func(_, s map[string]any) {
			s["source"] = declared + "            nullable: true\n"
			s["unions"] = json.RawMessage(`[{"members":["a","b"],"discriminatorChange":"Allow"}]`)
		}, "", ""},
		{"a property is added", func(_, s map[string]any) {
			s["source"] = declared + "            additionalProperties: {type: string}\n"
			s["at"] = 10
		}, codes.BadAnnotation, "schemas[0].source: "},
		{"a document is added", func(_, s map[string]any) { s["source"] = declared + "---\n" + clusterRole }, codes.BadAnnotation, "schemas[0].source: "},
		{"with the value beside", func(_, s map[string]any) {
			s["source"] = declared + "---\n" + clusterRole + "---\n"
			s["unions"] = json.RawMessage(`[{"members":["a","b"],"discriminatorChange":"Allow"}]`)
		}, "", ""},
		{"another document is changed", func(_, s map[string]any) { s["at"] = -300; s["source"] = "  verbs: ['*']\n" }, codes.BadAnnotation, "something other than a declaration"},
		{"with a declaration", func(_, s map[string]any) { s["at"] = -720 }, "", ""},
		{"behind", func(_, s map[string]any) { s["at"] = 400 }, "", ""},
		{"far behind", func(_, s map[string]any) { s["at"] = 1 << 62 }, "", ""},
		{"far before", func(_, s map[string]any) { s["at"] = -1 << 62 }, "", ""},
		{"beyond numbers", func(_, s map[string]any) { s["at"] = json.RawMessage("1e300") }, codes.BadAnnotation, "schemas.at: int expected"},
		{"null", func(r, _ map[string]any) { r["schemas"] = nil }, "", ""},
		{"nulls", func(r, _ map[string]any) { r["schemas"] = []any{nil} }, codes.BadAnnotation, "schemas[0].version is missing"},
		{"twice", func(r, s map[string]any) { r["schemas"] = []any{s, s} }, codes.BadAnnotation, "schemas[1] occurs twice"},
		{"no declaration", func(_, s map[string]any) { s["source"] = "x-kubernetes-unions:\n" }, codes.BadAnnotation, "schemas[0]: invalid declaration"},
		{"an empty declaration", func(_, s map[string]any) { s["source"] = "x-kubernetes-unions: [{}]\n" }, codes.BadAnnotation, "schemas[0]: invalid declaration"},
		{"an empty external declaration", func(_, s map[string]any) { delete(s, "source"); s["external"] = true; s["unions"] = []any{} }, codes.BadAnnotation, "invalid declaration"},
		{"an external declaration of nothing", func(_, s map[string]any) { delete(s, "source"); s["external"] = true }, codes.BadAnnotation, "unions is missing"},
		{"a circle", func(_, s map[string]any) { s["source"] = "x-kubernetes-unions: &a [*a]\n" }, codes.BadAnnotation, "alias"},
		{"no schema", func(_, s map[string]any) { s["path"] = []any{"properties", "spec", "default"} }, codes.BadAnnotation, "leads to no schema"},
		{"half a path", func(_, s map[string]any) { s["path"] = []any{"properties"} }, codes.BadAnnotation, "leads to no schema"},
		{"another schema", func(_, s map[string]any) { s["path"] = []any{"properties", "spec", "properties", "a"} }, codes.RuleChanged, ""},
		{"no checksum", func(_, s map[string]any) { s["rules"] = []any{""} }, codes.BadAnnotation, `"" is not a checksum`},
		{"annotations", func(r, _ map[string]any) { r["annotations"] = ":\n  finalizers: [x]" }, codes.BadAnnotation, "annotations: this is not a null value"},
		{"more annotations", func(r, _ map[string]any) { r["annotations"] = ": null\n  finalizers: [x]" }, codes.BadAnnotation, "annotations: this is not a null value"},
		{"a document with annotations", func(r, _ map[string]any) { r["annotations"] = ": null\n---\nkind: ClusterRole\n" }, codes.BadAnnotation, "annotations: this is not a null value"},
		{"null that is none", func(r, _ map[string]any) { r["annotations"] = ": !!null x\n" }, codes.BadAnnotation, "annotations: this is not a null value"},
		{"a key twice", func(_, s map[string]any) {
			s["unions"] = json.RawMessage(`[{"members":["b","c"],"members":["a","b"],"discriminatorChange":"Allow"}]`)
		}, codes.BadAnnotation, `schemas[0].unions: key "members" occurs twice`},
		{"a key twice in the text", func(_, s map[string]any) {
			s["source"] = "x-kubernetes-unions: [{members: [b, c], members: [a, b], discriminatorChange: Allow}]\n"
		}, codes.BadAnnotation, `schemas[0].source: key "members" occurs twice`},
		{"encoding", func(r, _ map[string]any) { r["encoding"] = "none" }, codes.BadAnnotation, "encoding: "},
		{"version", func(r, _ map[string]any) { r["kubeVersion"] = "none" }, codes.BadAnnotation, "kubeVersion: "},
		{"JSON", func(r, _ map[string]any) { r["json"] = true }, "", ""},
		{"what format 1 put into schemas", func(_, s map[string]any) {
			s["replaced"] = map[string]any{"values": []any{map[string]any{"key": "nullable", "value": true}}, "cuts": []any{map[string]any{"at": 0, "source": "---\n"}}}
		}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(hostile(t, tt.forge))
			for verb, run := range verbs(Options{}) {
				out, diags := run(in)
				if (tt.code == "") == diags.HasErrors() || tt.code != "" && (diags[0].Code != tt.code || !strings.Contains(diags[0].Message, tt.message)) {
					t.Errorf("%s: %s\nwant %s: %s", verb, textOfDiags(diags), tt.code, tt.message)
				}
				holdsTo(t, verb, in, out)
			}
			for verb, run := range verbs(Options{Forget: true}) {
				out, diags := run(in)
				holdsTo(t, verb+" --forget", in, out)
				if tt.code != codes.UnconfirmedRule {
					continue
				}
				if diags.HasErrors() || !bytes.Contains(out, []byte(byHandRule)) {
					t.Errorf("%s --forget: %s\n%s", verb, textOfDiags(diags), out)
				}
				if bytes.Contains(out, []byte(byHandSum)) {
					t.Errorf("%s --forget: still claimed", verb)
				}
			}
		})
	}
}

func verbs(opts Options) map[string]func([]byte) ([]byte, diag.List) {
	return map[string]func([]byte) ([]byte, diag.List){
		"compile":   func(in []byte) ([]byte, diag.List) { return Compile(open("in", in), opts) },
		"decompile": func(in []byte) ([]byte, diag.List) { return Decompile(open("in", in), opts) },
	}
}

// holdsTo checks, independently of the package, that texts differ only in declarations, rules,
// allOf and annotations of CRDs, and keep all rules that the unions do not write. No annotation may
// change more.
func holdsTo(t *testing.T, verb string, in, out []byte) {
	t.Helper()
	if out == nil {
		return
	}
	a, b := values(t, in), values(t, out)
	if len(a) != len(b) {
		t.Fatalf("%s: %d documents became %d\n%s", verb, len(a), len(b), out)
	}
	was, _ := yamltext.Parse(in)
	is, _ := yamltext.Parse(out)
	for i := range a {
		d, e := was.Docs[i], is.Docs[i]
		if text := in[d.Start:d.End]; !bytes.Contains(text, []byte("CustomResourceDefinition")) && !bytes.Equal(text, out[e.Start:e.End]) {
			t.Errorf("%s: document %d changed:\n%s", verb, i, out[e.Start:e.End])
		}
		kept := byHandOf(b[i])
		for _, rule := range byHandOf(a[i]) {
			if n := slices.Index(kept, rule); n < 0 {
				t.Errorf("%s: the rule %q is gone", verb, rule)
			} else {
				kept = slices.Delete(kept, n, n+1)
			}
		}
		strip(a[i])
		strip(b[i])
		if d := cmp.Diff(a[i], b[i]); d != "" {
			t.Errorf("%s: document %d means something else (-in +out):\n%s", verb, i+1, d)
		}
	}
}

// byHandOf returns the rules in v that no union writes: they contain a comparison with /etc.
func byHandOf(v any) []string {
	var l []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			l = append(l, byHandOf(item)...)
		}
	case map[string]any:
		for _, r := range itemsOf(v[validations]) {
			if strings.Contains(ruleOf(r), "/etc") {
				l = append(l, jsonOf(r))
			}
		}
		for key, item := range v {
			if key != validations {
				l = append(l, byHandOf(item)...)
			}
		}
	}
	slices.Sort(l)
	return l
}

// A path through a key that kubectl reads differently leads to no schema, and neither does a path
// in a manifest that is not a CRD.
func TestForgedPlace(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"unquoted key": func(s string) string {
			return strings.Replace(strings.Replace(s, `"path":["properties","spec"]`, `"path":["properties","On"]`, 1), "          spec:\n", "          On:\n", 1)
		},
		"unquoted key without rules": func(s string) string {
			s = forgedAnnotation(t, s, func(_, s map[string]any) { s["path"] = []any{"properties", "On"}; delete(s, "rules") })
			return strings.Replace(s, "          spec:\n", "          On:\n", 1)
		},
		"no versions": func(s string) string { return strings.Replace(s, "  versions:\n", "  version:\n", 1) },
		"null":        func(s string) string { return s[:strings.Index(s, "\nspec:")] + "\nspec:\n" },
	} {
		t.Run(name, func(t *testing.T) {
			in := header + strings.Replace(body, "- members: [a, b]", "- members: [a, b]\n              discriminatorChange: Allow", 1)
			forged := []byte(edit(string(mustCompile(t, []byte(in), Options{}))))
			for verb, run := range verbs(Options{}) {
				out, diags := run(forged)
				if diags.HasErrors() != (out == nil) || len(diags) == 0 {
					t.Errorf("%s: %v", verb, diags)
				}
				holdsTo(t, verb, forged, out)
			}
		})
	}
}

// A claimed rule is ours only if the recorded union writes it byte for byte: the same meaning in other
// words, or another message, is of somebody else.
func TestWrittenDifferently(t *testing.T) {
	in := header + strings.Replace(body, "- members: [a, b]", "- members: [a, b]\n              discriminatorChange: Allow", 1)
	compiled := string(mustCompile(t, []byte(in), Options{}))
	const ours = `- message: "at most one of a, b may be set"
              rule: "!(has(self.a) && has(self.b))"
`
	if !strings.Contains(compiled, ours) {
		t.Fatal(compiled)
	}
	const rule, says = "!(has(self.a) && has(self.b))", "at most one of a, b may be set"
	for _, written := range []map[string]any{
		{"rule": "!has(self.a) || !has(self.b)", "message": says},
		{"rule": "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1", "message": says},
		{"rule": "true", "message": says},
		{"rule": rule, "message": "choose a or b"},
		{"rule": rule},
		{"rule": rule, "message": says, "messageExpression": "'a or b'"},
		{"rule": rule, "message": says, "reason": "FieldValueRequired"},
		{"rule": rule, "message": says, "fieldPath": ".a"},
		{"rule": rule, "message": says, "optionalOldSelf": true},
	} {
		other := strings.Replace(compiled, ours, "- "+jsonOf(written)+"\n", 1)
		other = forgedAnnotation(t, other, func(_, s map[string]any) { s["rules"] = []any{sumOf(written)} })
		for verb, run := range verbs(Options{}) {
			if _, diags := run([]byte(other)); len(diags) != 1 || diags[0].Code != codes.UnconfirmedRule {
				t.Errorf("%s: %v: %v", verb, written, diags)
			}
		}
		for verb, run := range verbs(Options{Forget: true}) {
			if out, diags := run([]byte(other)); diags.HasErrors() || !bytes.Contains(out, []byte(jsonOf(written))) {
				t.Errorf("%s --forget: %v: %v", verb, written, diags)
			}
		}
	}
}

// A record that claims a rule by hand removes nothing, whatever its union implies, and whatever is
// declared.
func TestRuleOfAnother(t *testing.T) {
	const (
		rule = "!has(self.path) || self.path != '/etc'"
		// message is the message that compiling writes for the union that implies the rule.
		message = "path must be '/x'"
		other   = "            x-kubernetes-unions:\n            - members: [a, b]\n"
	)
	implying := `[{"discriminator":"path","fields-to-discriminateBy":{"a":"/x"},"optionalMembers":["a"],"unmappedValues":"Forbid"}]`
	set := union.Externals{Declarations: []union.External{{Target: union.Target{Name: "things.example.com"}, Path: schemapath.New("spec"), Value: yamltext.ListNode(yamltext.MappingNode(yamltext.StringNode("members"), yamltext.ListNode(yamltext.StringNode("a"), yamltext.StringNode("b"))))}}}
	for _, tt := range []struct {
		name, record, declared string
		elsewhere              union.Externals
	}{
		{"source", `"source":"x-kubernetes-unions: %s\n"`, "", union.Externals{}},
		{"source, another declared", `"source":"x-kubernetes-unions: %s\n"`, other, union.Externals{}},
		{"external", `"external":true,"unions":%s`, "", union.Externals{}},
		{"external, another declared", `"external":true,"unions":%s`, other, union.Externals{}},
		{"external, another given", `"external":true,"unions":%s`, "", set},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unions := implying
			if strings.Contains(tt.record, "source") {
				unions = strings.ReplaceAll(unions, `"`, `\"`)
			}
			record := fmt.Sprintf(`{"format":2,"annotations":"","schemas":[{"version":"v1","path":["properties","spec"],`+tt.record+`,"rules":["%s"]}]}`, unions, sumOf(map[string]any{"rule": rule, "message": message, "fieldPath": ".path"}))
			in := head + "  annotations:\n    " + Annotation + ": '" + strings.ReplaceAll(record, "'", "''") + "'\nspec:\n" +
				strings.Replace(body, "            x-kubernetes-unions:\n            - members: [a, b]\n", tt.declared+"            x-kubernetes-validations:\n            - {fieldPath: .path, message: \""+message+"\", rule: \""+rule+"\"}\n", 1) + "              path: {type: string, maxLength: 9}\n"
			for verb, run := range verbs(Options{External: tt.elsewhere}) {
				if out, diags := run([]byte(in)); out != nil || !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.UnconfirmedRule }) {
					t.Errorf("%s: %s\n%s", verb, textOfDiags(diags), out)
				}
			}
		})
	}
}

// An annotation is no longer than the bytes of its declarations, 40 for each rule and 120 for
// each schema.
func TestAnnotationSize(t *testing.T) {
	for _, g := range share(t, 4) {
		bare := g.opts
		bare.NoAnnotation = true
		f, err := yamltext.Parse(g.out)
		if err != nil || len(mustCompile(t, g.in, bare)) == len(g.out) {
			continue
		}
		for _, d := range f.Docs {
			_, v, err := yamltext.ReadAsKubectl(f.Src[d.Start:d.End])
			if err != nil {
				t.Fatal(err)
			}
			crd, _ := v.(map[string]any)
			metadata, _ := crd["metadata"].(map[string]any)
			annotations, _ := metadata["annotations"].(map[string]any)
			text, _ := annotations[Annotation].(string)
			if text == "" {
				continue
			}
			r, err := parseRecord(text)
			if err != nil {
				t.Fatal(err)
			}
			most := 0
			if r.Encoding == compile.Fine {
				most = len(`"encoding":"fine",`) // on request
			}
			for _, s := range r.Schemas {
				own := len(s.Source)
				switch {
				case len(s.Unions) == 0: // a guard records its path
					own = len(`"path":,`) + len(jsonOf(s.Path)) - 120
				case hasAliasIn(s.Source): // the value is recorded as well
					own += len(s.Unions)
				case r.JSON: // its quotes and tabs are written with backslashes
					own = len(jsonOf(s.Source))
				case s.External:
					own = len(s.Unions)
				}
				most += own + 40*len(s.Rules) + 120
			}
			if len(text) > most {
				t.Errorf("%s: %d bytes, more than %d: %s", g.name, len(text), most, text)
			}
		}
	}
}

func hasAliasIn(source string) bool {
	_, err := declarationIn(source)
	return err != nil
}

// mutant changes some values in an annotation, depending on a seed.
func mutant(content string, seed uint64) string {
	var v any
	if json.Unmarshal([]byte(content), &v) != nil {
		return content
	}
	r := rand.New(rand.NewPCG(seed, 2))
	var all []any // all values
	var walk func(v any)
	walk = func(v any) {
		all = append(all, v)
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(v)
	const declared = "            x-kubernetes-unions:\n            - members: [a, b]\n              discriminatorChange: Allow\n"
	values := append(all, nil, "", -1.0, 1e18, -1e18, 1e300, 0.5, []any{}, map[string]any{}, []any{nil}, true, false, "items", "properties", "spec", "metadata",
		"default", "x-kubernetes-validations", sumOf(map[string]any{"rule": "self != '/etc'"}), declared, declared+"            nullable: true\n",
		declared+"---\n"+clusterRole, "---\n", clusterRole, ": null", ":\n  finalizers: [a]", "fine", "compact", "1.25", "x-kubernetes-unions: [{members: [a, b]}], ",
		[]any{map[string]any{"members": []any{"a", "b"}}}, []any{map[string]any{}}, []any{"properties", "spec"}, []any{"properties", "On"}, []any{"items"})
	keys := []string{"unions", "source", "at", "external", "rules", "path", "version", "empty", "annotations", "json", "encoding", "kubeVersion", "schemas"}
	var change func(v any) any
	change = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			present := slices.Sorted(maps.Keys(v))
			switch n := r.IntN(8); {
			case n == 0:
				v[keys[r.IntN(len(keys))]] = values[r.IntN(len(values))]
			case n == 1 && len(present) > 0:
				delete(v, present[r.IntN(len(present))])
			case n > 1 && len(present) > 0:
				key := present[r.IntN(len(present))]
				if key == "format" {
					key = present[len(present)-1]
				}
				v[key] = change(v[key])
			}
			return v
		case []any:
			switch n := r.IntN(8); {
			case n == 0 || len(v) == 0:
				return slices.Insert(v, r.IntN(len(v)+1), values[r.IntN(len(values))])
			case n == 1:
				i := r.IntN(len(v))
				return slices.Delete(slices.Clone(v), i, i+1)
			default:
				i := r.IntN(len(v))
				v[i] = change(v[i])
				return v
			}
		case string:
			if r.IntN(3) == 0 && len(v) > 0 { // bytes of a text
				i := r.IntN(len(v))
				return v[:i] + []string{"", "\n", "---\n", ": ", ", ", "[", "}", "#", "x", v[:i], " "}[r.IntN(11)] + v[i+r.IntN(2):]
			}
		case float64:
			if r.IntN(2) == 0 {
				return v + float64(r.IntN(2000)-1000)
			}
		}
		return values[r.IntN(len(values))]
	}
	for range 1 + r.IntN(3) {
		data, _ := json.Marshal(change(v)) // separates values that the change shares
		if json.Unmarshal(data, &v) != nil {
			break
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return content
	}
	return string(data)
}

// FuzzForgedAnnotation checks that no annotation makes Compile or Decompile change more than they
// may (holdsTo). The files are the compiled goldens, with a hand-written rule alongside ours and a
// document on either side. It fuzzes values in the annotation or, if content is given, the text of
// the annotation.
func FuzzForgedAnnotation(f *testing.F) {
	var files, contents []string
	for i, g := range goldens(f) {
		if testing.Short() && i%6 > 0 || !fuzzing() && !turn(i, 3) {
			continue
		}
		out, err := os.ReadFile(g.file("want" + g.ext))
		if err != nil || g.ext != ".yaml" || strings.HasPrefix(g.name, "bom") || strings.Contains(g.name, "crlf") || strings.Contains(g.name, "cr_in") || len(out) > 20<<10 {
			continue
		}
		head, rest, ok := strings.Cut(string(out), "\n    "+Annotation+": '")
		content, tail, ended := strings.Cut(rest, "'\n")
		if !ok || !ended {
			continue
		}
		tail = strings.ReplaceAll(tail, "x-kubernetes-validations:\n            - ", "x-kubernetes-validations:\n            - rule: \"self != '/etc'\"\n            - ")
		text := clusterRole + "---\n" + head + "\n    " + Annotation + ": '\x00'\n" + strings.TrimSuffix(tail, "\n") + "\n---\n" + clusterRole
		content = strings.ReplaceAll(content, "''", "'")
		files, contents = append(files, text), append(contents, content)
		switch claims := strings.Replace(content, `"rules":["`, `"rules":["`+sumOf(map[string]any{"rule": "self != '/etc'"})+`","`, 1); i % 3 {
		case 0:
			f.Add(uint(len(files)-1), uint64(0), content)
		case 1:
			f.Add(uint(len(files)-1), uint64(0), claims)
		}
		f.Add(uint(len(files)-1), uint64(i), "")
	}
	if len(files) < 15 && !testing.Short() {
		f.Fatalf("only %d files", len(files))
	}
	f.Fuzz(func(t *testing.T, file uint, seed uint64, content string) {
		file %= uint(len(files))
		if content == "" {
			content = mutant(contents[file], seed)
		}
		if strings.ContainsFunc(content, func(r rune) bool { return r < ' ' || r > 0x7e }) {
			return // YAML would read a different text
		}
		in := []byte(strings.Replace(files[file], "\x00", strings.ReplaceAll(content, "'", "''"), 1))
		for _, forget := range []bool{false, true} {
			for verb, run := range verbs(Options{Forget: forget}) {
				out, diags := run(in)
				if diags.HasErrors() != (out == nil) {
					t.Errorf("%s: errors: %t, output: %t", verb, diags.HasErrors(), out != nil)
				}
				if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return strings.Contains(d.Hint, "please report") }) {
					t.Errorf("%s: %s", verb, textOfDiags(diags))
				}
				holdsTo(t, fmt.Sprintf("%s, forget %t", verb, forget), in, out)
			}
		}
		_, _ = Ask(open("in", in), Options{}, (*CRD).Declared)
		_, _ = Explain(open("in", in), Options{})
		if t.Failed() {
			t.Logf("annotation: %s\nin:\n%s", content, in)
		}
	})
}
