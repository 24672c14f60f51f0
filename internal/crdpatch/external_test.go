package crdpatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// undeclared returns a source file without its declarations, and these declarations.
func undeclared(t *testing.T, in []byte) ([]byte, union.Externals) {
	t.Helper()
	names := map[string]bool{}
	j := begin(open("in", in), Options{})
	if j.text() == nil {
		t.Fatal(j.diags)
	}
	var e union.Externals
	var edits []yamltext.Edit
	for _, m := range j.crds {
		declared, diags := m.Resolved()
		if declared == nil && diags.HasErrors() {
			t.Fatal(diags)
		}
		name := m.Target().Name
		if names[name] {
			return in, union.Externals{} // two CRDs with one name are ambiguous
		}
		names[name] = true
		e.Scopes = append(e.Scopes, union.Scope{Target: union.Target{Name: name}})
		if declared == nil {
			continue
		}
		for _, o := range declared.Objects {
			e.Declarations = append(e.Declarations, union.External{Target: union.Target{Name: name}, Version: o.Name, Path: o.Path, Value: o.Value, File: "elsewhere"})
			cut, err := m.m.editor().Cut(o.Node, declarationOf(o.Node), declarationOf(o.Node))
			if err != nil {
				t.Fatal(err)
			}
			edits = append(edits, yamltext.Edit{Start: cut.Start, End: cut.End})
		}
	}
	slices.SortFunc(edits, func(a, b yamltext.Edit) int { return a.Start - b.Start })
	out, err := yamltext.Apply(j.text().Src, edits)
	if err != nil {
		t.Fatal(err)
	}
	return unended(out, in), e
}

// External declarations mean the same as declarations in the CRD, and the same promises hold:
// every file compiles to the same CRDs, compiling again without the declarations keeps them,
// decompiling gives the file without them, and writing them into it restores its data.
func TestDeclaredOutside(t *testing.T) {
	for i, g := range share(t, 2) {
		for j, v := range variants {
			switch {
			case !g.again && j == 0, g.again && j == 1+i%(len(variants)-1):
			default:
				continue // try each file unchanged, and each variant with some file
			}
			t.Run(g.name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				in := mustDecompile(t, v.of(slices.Clone(g.in)))
				bare, elsewhere := undeclared(t, in)
				if len(elsewhere.Declarations) == 0 {
					return
				}
				opts := g.opts
				opts.External = elsewhere
				out := mustCompile(t, bare, opts)
				got, want := values(t, out), values(t, mustCompile(t, in, g.opts))
				for i := range got {
					unannotated(got[i])
					unannotated(want[i])
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("declared elsewhere it compiles to something else (-want +got):\n%s", d)
				}
				if !g.opts.NoAnnotation {
					same(t, "decompile(compile(in))", mustDecompile(t, out), bare)
					same(t, "compile(compile(in))", mustCompile(t, out, opts), out)
					same(t, "compile(compile(in)) without the declarations", mustCompile(t, out, g.opts), out)
				}
				written, diags := Declare(Open("in", bare), declarationsOf(elsewhere))
				if diags.HasErrors() {
					t.Fatal(textOfDiags(diags))
				}
				if d := cmp.Diff(values(t, in), values(t, written)); d != "" {
					t.Errorf("Declare writes something else (-want +got):\n%s", d)
				}
			})
		}
	}
}

// unannotated removes our annotation from the CRDs in v.
func unannotated(v any) {
	m, _ := v.(map[string]any)
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			unannotated(item)
		}
	}
	metadata, _ := m["metadata"].(map[string]any)
	if annotations, _ := metadata["annotations"].(map[string]any); annotations != nil {
		if delete(annotations, Annotation); len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	} else {
		delete(metadata, "annotations")
	}
}

var gateway = testcrd.New("Gateway", `
spec:
  type: object
  properties:
    routes:
      type: array
      items:
        type: object
        properties:
          a: {type: string}
          b: {type: string}
`)

// fields parses a path given as fields joined by dots.
func fields(text string) schemapath.Path {
	p, err := schemapath.FromFields(strings.Split(text, "."))
	if err != nil {
		panic(err)
	}
	return p
}

// external declares a union of a and b in gateway.
func external(version string, steps string, declaration string) union.External {
	value, _ := yamltext.FromJSON([]byte(declaration))
	value.Line, value.Column = 7, 5
	return union.External{Target: union.Target{Group: "example.com", Kind: "Gateway"}, Version: version, Path: fields(steps), Value: value, File: "unions.yaml"}
}

const (
	routes = "properties.spec.properties.routes.[*]"
	aOrB   = `[{"members": ["a", "b"]}]`
)

// Errors in an external declaration are reported at its position.
func TestBadDeclaredOutside(t *testing.T) {
	declaring := strings.Replace(gateway, "                    b: {type: string}\n", "                    b: {type: string}\n"+
		"                  x-kubernetes-unions:\n                  - members: [a, b]\n", 1)
	for _, c := range []struct {
		name, src string
		e         union.External
		want      string
	}{
		{"fine", gateway, external("", routes, aOrB), ""},
		{"version", gateway, external("v2", routes, aOrB), `unions.yaml:7:5: error: UC703: the CRD has no version "v2"`},
		{"path", gateway, external("v1", "properties.spec.properties.rotes", aOrB), `unions.yaml:7:5: error: UC703: version v1 of the CRD has no field "rotes" at this path`},
		{"no schema", gateway, external("v1", routes+".properties.a.properties.x", aOrB), `unions.yaml:7:5: error: UC703: this schema has no properties`},
		{"in a list", gateway, external("v1", "properties.spec.properties.routes.properties.a", aOrB), `unions.yaml:7:5: error: UC703: this schema is a list, and the path goes on without its items`},
		{"a list", gateway, external("v1", "properties.spec.properties.routes", aOrB), `unions.yaml:7:5: error: UC703: this schema is a list, and the path does not go on to items`},
		{"no list", gateway, external("v1", "properties.spec.[*]", aOrB), `unions.yaml:7:5: error: UC703: this schema is neither a list nor a map`},
		{"steps", gateway, external("v1", "properties.spec.properties.items", aOrB), `unions.yaml:7:5: error: UC703: version v1 of the CRD has no field "items" at this path`},
		{"metadata", gateway, external("v1", "properties.metadata", aOrB), `unions.yaml:7:5: error: UC216: a union cannot be inside metadata: the API server runs no rules there`},
		{"twice", declaring, external("v1", routes, aOrB), `unions.yaml:7:5: error: UC704: this schema of the CRD already has x-kubernetes-unions`},
		{"members", gateway, external("v1", routes, `[{"members": ["a", "c"]}]`), `UC203`},
		{"another CRD", gateway, union.External{Target: union.Target{Name: "other.example.com"}, Value: yamltext.ListNode()}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, diags := Compile(open("crd.yaml", []byte(c.src)), Options{External: union.Externals{Declarations: []union.External{c.e}}})
			var errs []string
			for _, d := range diags {
				if d.Severity == diag.Error {
					errs = append(errs, d.String())
					if d.Pos.File != "unions.yaml" && c.name != "members" {
						t.Errorf("position %v", d.Pos)
					}
				}
			}
			if got := strings.Join(errs, "\n"); !strings.Contains(got, c.want) || (c.want == "") != (got == "") || (out == nil) != (got != "") {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// A CRD that is applied again from its source loses its rules and keeps its annotations. That is
// no error if its unions are given again; the loss of single rules is.
func TestAppliedAnew(t *testing.T) {
	guarded := external("v1", routes, `[{"members": ["a", "b"], "handWrittenRules": "Replace"}]`)
	opts := Options{External: union.Externals{Declarations: []union.External{guarded}}}
	source := strings.Replace(gateway, "                    b: {type: string}\n", "                    b: {type: string}\n"+
		"                  x-kubernetes-validations:\n                  - {rule: '!has(self.a) || !has(self.b)', message: by hand}\n", 1)
	compiled := mustCompile(t, []byte(source), opts)
	if strings.Contains(string(compiled), "message: by hand") {
		t.Fatalf("the rule by hand is still there\n%s", compiled)
	}
	head, rest, _ := strings.Cut(string(compiled), "spec:\n")
	_, fresh, _ := strings.Cut(source, "spec:\n")
	anew := head + "spec:\n" + fresh
	same(t, "applied anew", mustCompile(t, []byte(anew), opts), compiled)

	// No rule is compiled: a hand-written rule serves for the union.
	serves := external("v1", routes, `[{"members": ["a", "b"], "discriminatorChange": "Allow", "handWrittenRules": "Replace"}]`)
	opts = Options{External: union.Externals{Declarations: []union.External{serves}}}
	source = strings.Replace(source, "  - {rule:", "  - {rule: '!(has(self.a) && has(self.b))', message: 'at most one of a, b may be set'}\n                  - {rule:", 1)
	served := mustCompile(t, []byte(source), opts)
	same(t, "served by a rule by hand", mustCompile(t, served, opts), served)
	unreplaced := strings.Replace(source, "                  - {rule: '!has(self.a) || !has(self.b)', message: by hand}\n", "", 1)
	same(t, "decompiled", mustDecompile(t, served), []byte(unreplaced))

	opts = Options{External: union.Externals{Declarations: []union.External{guarded}}}
	for name, bad := range map[string]struct {
		src  string
		opts Options
	}{
		"not declared again": {anew, Options{}},
		"a rule edited":      {head + "spec:\n" + strings.Replace(rest, "message:", "message: edited #", 1), opts},
	} {
		if _, diags := Compile(open("crd.yaml", []byte(bad.src)), bad.opts); len(diags) == 0 || diags[0].Code != codes.RuleChanged {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// Declarations given for a CRD replace the recorded ones. A recorded union that is declared nowhere
// any more is an error, or its rules become hand-written ones; a CRD for which none are given keeps
// its declarations.
func TestForgotten(t *testing.T) {
	compiled := mustCompile(t, []byte(gateway), Options{External: union.Externals{Declarations: []union.External{external("v1", routes, aOrB)}}})
	if !strings.Contains(string(compiled), "x-kubernetes-validations") {
		t.Fatalf("no rules in\n%s", compiled)
	}
	other := external("v1", routes, `[{"members": ["a", "b"], "cardinality": "ExactlyOne"}]`)
	changed := mustCompile(t, compiled, Options{External: union.Externals{Declarations: []union.External{other}}})
	same(t, "another declaration", changed, mustCompile(t, []byte(gateway), Options{External: union.Externals{Declarations: []union.External{other}}}))

	none := Options{External: union.Externals{Scopes: []union.Scope{{Target: union.Target{Name: "gateways.example.com"}, Version: "v1"}}}}
	out, diags := Compile(open("crd.yaml", compiled), none)
	if out != nil || len(diags) != 1 || diags[0].Code != codes.Forgotten || diags[0].Pos.Line != 6 {
		t.Errorf("diagnostics: %v", diags)
	}
	none.Forget = true
	out, diags = Compile(open("crd.yaml", compiled), none)
	if diags.HasErrors() || strings.Contains(string(out), Annotation) || !strings.Contains(string(out), "!(has(self.a) && has(self.b))") {
		t.Errorf("--forget: %v\n%s", diags, out)
	}
	same(t, "another CRD, and another version", mustCompile(t, compiled, Options{External: union.Externals{Scopes: []union.Scope{{Target: union.Target{Name: "others.example.com"}}, {Target: union.Target{Name: "gateways.example.com"}, Version: "v2"}}}}), compiled)

	declaring := strings.Replace(string(compiled), "                  x-kubernetes-validations:", "                  x-kubernetes-unions:\n                  - members: [a, b]\n                  x-kubernetes-validations:", 1)
	if !strings.Contains(string(mustDecompile(t, mustCompile(t, []byte(declaring), Options{}))), union.Key) {
		t.Error("a declaration in the schema does not beat a remembered one")
	}
}

// declarationsOf returns the declarations for each CRD.
func declarationsOf(e union.Externals) func(*CRD) []union.External {
	return func(c *CRD) []union.External {
		l, _ := e.Select(c.Target())
		return l
	}
}
