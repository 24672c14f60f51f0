package docs_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/cli"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// A kindOfUnion is a kind of union that the table of commands in semantics.md may name.
type kindOfUnion struct {
	name string
	// spec is the schema of spec, where UNIONS is the value of x-kubernetes-unions. In unions, a
	// declaration has the braces of its map.
	spec, unions string
	// before is a legal spec. after switches to another member, and keeps the old one.
	before, after string
}

// kindsOfUnions lists the kinds of unions in the order of semantics.md: first the kinds, then the
// places.
var kindsOfUnions = func() []kindOfUnion {
	const (
		unions   = ", x-kubernetes-unions: UNIONS"
		a, b     = "a: {type: string, maxLength: 9}", "b: {type: string, maxLength: 9}"
		plain    = "type: object, properties: {" + a + ", " + b + "}" + unions
		typed    = "type: object, properties: {type: {type: string, enum: [A, B, AB]}, " + a + ", " + b + ", name: {type: string, maxLength: 9}}" + unions
		declared = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]"
		before   = "{type: A, a: x}"
		after    = "{type: B, a: x, b: x}"
	)
	list := func(keywords, item string) string {
		return "{type: object, properties: {l: {type: array, maxItems: 9, " + keywords + "items: {" + item + "}}}}"
	}
	return []kindOfUnion{
		{"without a discriminator", "{" + plain + "}", "[{members: [a, b]}]", "{a: x}", "{a: x, b: x}"},
		{"`AtLeastOne`", "{" + plain + "}", "[{members: [a, b], cardinality: AtLeastOne}]", "{a: x}", "{}"},
		{"with a discriminator", "{" + typed + "}", declared, before, after},
		{"`optionalMembers`", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [b]}]", before, after},
		{"several members for a value", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: [A, AB], b: [B, AB]}}]", "{type: AB, a: x, b: x}", "{type: B, a: x, b: x}"},
		{"`unmappedValues: Forbid`", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unmappedValues: Forbid}]", before, after},
		{"`deduceInvalidDiscriminator`", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true}]", "{a: x}", "{a: x, b: x}"},
		{"`emptyIsUnset`", "{" + plain + "}", "[{members: [a, b], emptyIsUnset: [a, b]}]", "{a: x, b: ''}", "{a: x, b: x}"},
		{"`discriminatorChange: Forbid`, `allowedChanges`", "{type: object, properties: {u: {" + typed + "}}}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, allowedChanges: {A: B}}]", "{u: " + before + "}", "{u: " + after + "}"},
		{"`ratchet`", "{" + plain + "}", "[{members: [a, b], ratchet: true}]", "{a: x}", "{a: x, b: x}"},
		{"a boolean or an integer as discriminator", "{type: object, properties: {type: {type: integer, enum: [1, 2]}, " + a + ", " + b + "}" + unions + "}", "[{discriminator: type, fields-to-discriminateBy: {a: 1, b: 2}}]", "{type: 1, a: x}", "{type: 2, a: x, b: x}"},
		{"`unset`", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unset: A}]", "{a: x}", after},
		{"groups of properties", "{type: object, properties: {" + a + ", " + b + ", c: {type: string}}" + unions + "}", "[{members: [a, [b, c]]}]", "{a: x}", "{a: x, b: x, c: x}"},
		{"presence relations", "{" + plain + "}", "[{dependentRequired: {a: b}}]", "{a: x, b: x}", "{a: x}"},
		{"with common properties", "{type: object, properties: {type: {type: string, enum: [A, B]}, a: {type: string, enum: [B]}, b: {type: string}}" + unions + "}",
			"[{discriminator: type, fields-to-discriminateBy: {a: A}}, {discriminator: a, fields-to-discriminateBy: {b: B}}]", "{type: A, a: B, b: x}", "{type: B, a: B, b: x}"},
		{"members or discriminator in another object", "{type: object, properties: {p: {type: object, properties: {type: {type: string, enum: [A, B]}}}, " + a + ", " + b + "}" + unions + "}", "[{discriminator: p.type, fields-to-discriminateBy: {a: A, b: B}}]", "{p: {type: A}, a: x}", "{p: {type: B}, a: x, b: x}"},
		{"members absent from the schema", "{" + typed + "}", "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}]", before, after},
		{"items of a list", "{type: object, properties: {l: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, required: [type], properties: {type: {type: string, maxLength: 9}}}" + unions + "}}}",
			"[{members: [{type: A}, {type: B}]}]", "{l: [{type: A}]}", "{l: [{type: A}, {type: B}]}"},
		{"in the values of a map", "{type: object, properties: {m: {type: object, maxProperties: 9, additionalProperties: {" + typed + "}}}}", declared, "{m: {k: " + before + "}}", "{m: {k: " + after + "}}"},
		{"in the items of a list with keys", list("x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], ", "required: [name], "+typed), declared, "{l: [{name: x, type: A, a: x}]}", "{l: [{name: x, type: B, a: x, b: x}]}"},
		{"in the items of a list without keys", list("", typed), declared, "{l: [" + before + "]}", "{l: [" + after + "]}"},
		{"in the items of a set", list("x-kubernetes-list-type: set, ", "x-kubernetes-map-type: atomic, "+typed), declared, "{l: [" + before + "]}", "{l: [" + after + "]}"},
	}
}()

// unionSet returns a UnionSet with the declarations of CRDs.
func unionSet(t *testing.T, crds []string) string {
	t.Helper()
	var l []union.External
	for _, crd := range crds {
		declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, d := range declared {
			for _, o := range d.Objects {
				l = append(l, union.External{Target: union.Target{Name: d.Name}, Version: o.Name, Path: o.Path, Value: o.Value})
			}
		}
	}
	text, err := declared.FormatUnionSet(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSupport runs the commands on each kind of union, and compares the outcomes with the table of
// exceptions in semantics.md.
//
// It takes seconds: it runs with [unioncases.Exhaustive] and with -update.
func TestSupport(t *testing.T) {
	if !unioncases.Exhaustive && !*update {
		t.Skip("it runs in the exhaustive stage")
	}
	d := open(t, "semantics.md")
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	file := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var crds []string
	for i, u := range kindsOfUnions {
		kind := fmt.Sprintf("Thing%c", 'A'+i)
		crd := testcrd.New(kind, "spec: "+strings.Replace(u.spec, "UNIONS", u.unions, 1))
		crds = append(crds, crd)
		file("crds/"+kind+".yaml", crd)
		file("bare/"+kind+".yaml", testcrd.New(kind, "spec: "+strings.Replace(u.spec, ", x-kubernetes-unions: UNIONS", "", 1)))
		for name, spec := range map[string]string{"before": u.before, "after": u.after} {
			file(name+"/"+kind+".yaml", "apiVersion: example.com/v1\nkind: "+kind+"\nmetadata: {name: it}\nspec: "+spec+"\n")
		}
	}
	file("set.yaml", unionSet(t, crds))
	// All unions at once: the commands without a column.
	for _, c := range []struct {
		command string
		code    int
		want    string // in the output
	}{
		{"compile -q -o auto crds", 0, ""},
		{"verify auto", 0, ""},
		{"compile --encoding fine -q -o fine crds", 0, ""},
		{"verify fine", 0, ""},
		{"compile --encoding compact -q -o compact crds", 0, ""},
		{"verify compact", 0, ""},
		{"compile --no-annotation -q -o rules crds", 0, ""},
		{"compile --no-annotation -q --unions set.yaml -o external bare", 0, ""},
		{"explain crds", 0, ""},
		{"lint crds", 0, ""},
		{"diff crds rules", 0, ""},
		{"testdata -o tests crds", 0, ""},
		{"validate --crd crds --suite tests", 0, " 0 failed"},
		{"validate --crd crds before", 0, fmt.Sprintf("%d accepted, 0 rejected", len(kindsOfUnions))},
		{"validate --crd crds after", 1, fmt.Sprintf("0 accepted, %d rejected", len(kindsOfUnions))},
	} {
		if out, errs, code := run("", c.command); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Fatalf("%s: exit code %d, want %d and %q:\n%s%s", c.command, code, c.code, c.want, out, errs)
		}
	}
	compiler := resourceList("UnionCompiler", "", crds)
	if _, errs, code := run(compiler, "fn"); code != 0 {
		t.Errorf("UnionCompiler: %s", errs)
	}

	commands := []string{"`infer`", "`schema`", "`normalize`, `patch`", "`UnionNormalizer`", "`policy`", "`policy --validate`"}
	exceptions := map[string][]string{} // the unions of a command and an outcome
	for i, u := range kindsOfUnions {
		file := func(folder string) string { return fmt.Sprintf("%s/Thing%c.yaml", folder, 'A'+i) }
		read := func(folder string) string {
			t.Helper()
			text, err := os.ReadFile(file(folder))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if got, want := read("external"), read("rules"); got != want {
			t.Errorf("%s: a UnionSet results in other rules:\n%s\nwant:\n%s", u.name, got, want)
		}
		if out, errs, code := run("", "rollout "+file("crds")+" "+file("rules")); code != 0 {
			t.Errorf("rollout: %s: %s%s", u.name, out, errs)
		}
		for command, column := range []func() string{
			func() string { return outcome(run("", "infer "+file("rules"))) },
			func() string { return outcome(run("", "schema "+file("crds"))) },
			func() string {
				got := outcome(run("", "normalize --crd "+file("crds")+" --old "+file("before")+" "+file("after")))
				if patch := outcome(run("", "patch --crd "+file("crds")+" --live "+file("before")+" "+file("after"))); patch != got {
					t.Errorf("%s: normalize: %s, patch: %s", u.name, got, patch)
				}
				return got
			},
			func() string {
				out, errs, code := run(resourceList("UnionNormalizer", "crds: ["+file("crds")+"]", []string{read("after")}), "fn")
				if code == 0 && !strings.Contains(errs, " is cleared") {
					return "nothing to clear"
				}
				return outcome(out, errs, code)
			},
			func() string { return outcome(run("", "policy "+file("crds"))) },
			func() string { return outcome(run("", "policy --validate "+file("crds"))) },
		} {
			if result := column(); result != "yes" && result != "nothing to clear" {
				key := fmt.Sprintf("%d| %s | %s | ", command, commands[command], result)
				exceptions[key] = append(exceptions[key], u.name)
			}
		}
	}
	var want strings.Builder
	for _, key := range slices.Sorted(maps.Keys(exceptions)) {
		fmt.Fprintf(&want, "%s%s |\n", key[1:], strings.Join(exceptions[key], "; "))
	}
	t.Chdir(back)
	at := slices.IndexFunc(d.lines, func(line string) bool { return strings.HasPrefix(line, "| command |") }) + 2
	to := at
	for strings.HasPrefix(d.lines[to], "|") {
		to++
	}
	d.generated(t, at, to, want.String())
	d.save(t)
}

// run runs a command line.
func run(in, command string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = cli.Main(append([]string{"unioncel"}, strings.Fields(command)...), cli.Streams{In: strings.NewReader(in), Out: &o, Err: &e})
	return o.String(), e.String(), code
}

// outcome returns the cell of a table for the result of a command: the union is handled, needs no
// action, or is not handled.
func outcome(out, errs string, code int) string {
	for _, o := range []struct{ text, means string }{
		{"UC813", "no ([UC813](diagnostics.md#uc813-not-done-by-a-policy))"},
		{"left alone", "left alone"},
		{"a is set while type is 'B'", "an excluded member is an error ([UC802](diagnostics.md#uc802-not-normalized))"},
		{"that a policy is for", "nothing to clear"},
		{"UC802: none of", "nothing to clear"},
		{"UC802: b is not set while a is", "nothing to clear"},
		{"are set together", "two members are an error ([UC802](diagnostics.md#uc802-not-normalized))"},
		{"no unions found", "no"},
	} {
		if strings.Contains(errs, o.text) {
			return o.means
		}
	}
	switch {
	case code != 0:
		return errs
	case strings.Contains(out, ": equivalent\n") || !strings.Contains(out, "It replaces:"):
		return "yes"
	}
	return out
}

// resourceList returns the input of a KRM function.
func resourceList(kind, config string, items []string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: unioncel.dev/v1alpha1\n  kind: " + kind + "\n  metadata: {name: it}\n  " + config + "\nitems:\n")
	for _, item := range items {
		indent := "- "
		for line := range strings.Lines(item) {
			b.WriteString(indent + line)
			indent = "  "
		}
	}
	return b.String()
}
