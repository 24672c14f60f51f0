package docs_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// outputs are the types of the JSON that commands print, with commands for the files of a page that
// print such JSON.
var outputs = []struct {
	name, page, command string
	typ                 reflect.Type
}{
	{"explain", "check.md", "unioncel explain --format json crd.yaml", reflect.TypeFor[[]report.Explanation]()},
	{"infer", "handwritten.md", "unioncel infer --format json crd.yaml", inferred()},
	{"audit", "handwritten.md", "unioncel audit --format json crd.yaml", reflect.TypeFor[[]handwritten.Finding]()},
	{"diagnostics", "check.md", "unioncel lint --format json --fail-on info crd.yaml", reflect.TypeFor[[]reported]()},
	{"verify", "check.md", "unioncel verify --format json crd.yaml", reflect.TypeFor[[]report.Verified]()},
	{"diff", "change.md", "unioncel diff --format json crd.yaml new.yaml", reflect.TypeOf(change.ComparisonData(nil))},
	{"diff-objects", "change.md", "unioncel diff --format json --objects routes.yaml crd.yaml new.yaml", compared()},
	{"rollout", "change.md", "unioncel rollout --format json --objects routes.yaml crd.yaml new.yaml", reflect.TypeFor[change.Plan]()},
}

// reported is a diagnostic as JSON has it.
type reported struct {
	diag.Diagnostic
	Edits []struct {
		Line    int    `json:"line"`
		Col     int    `json:"col"`
		EndLine int    `json:"endLine"`
		EndCol  int    `json:"endCol"`
		Old     string `json:"old"`
		New     string `json:"new"`
	} `json:"edits"`
}

func inferred() reflect.Type {
	r, err := handwritten.InferReport(nil)
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(r.Data)
}

// compared returns the type of the output of diff --objects.
func compared() reflect.Type {
	return reflect.StructOf([]reflect.StructField{
		{Name: "CRDs", Type: reflect.TypeOf(change.ComparisonData(nil)), Tag: `json:"crds"`},
		{Name: "Objects", Type: reflect.TypeFor[[]*change.Summary](), Tag: `json:"objects"`},
	})
}

// TestOutputSchemas holds reference/*.schema.json to the types, and the output to the schemas. The
// descriptions are written by hand; -update keeps them.
func TestOutputSchemas(t *testing.T) {
	for _, o := range outputs {
		t.Run(o.name, func(t *testing.T) {
			file := "reference/" + o.name + ".schema.json"
			data, err := os.ReadFile(file)
			if err != nil && !*update {
				t.Fatal(err)
			}
			var current map[string]any
			if err := json.Unmarshal(data, &current); err != nil && !*update {
				t.Fatal(err)
			}
			schema := typeSchema(o.typ, current)
			schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
			var want bytes.Buffer
			if err := diag.WriteJSON(&want, schema); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, want.Bytes()) {
				if !*update {
					t.Errorf("%s is out of date; run go test ./docs -update", file)
				} else if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			compiler := jsonschema.NewCompiler()
			compiled, err := compiler.Compile(file)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			d := open(t, o.page)
			for _, b := range d.blocks(t, 0, len(d.lines)) {
				switch {
				case b.info != "yaml":
				case strings.Contains(d.lines[b.from-2], "new.yaml"):
					files["new.yaml"] = b.text
					files["crd.yaml"], _, _ = strings.Cut(b.text, "            x-kubernetes-unions:")
				case strings.Contains(d.lines[b.from-2], "routes.yaml"):
					files["routes.yaml"] = b.text
				case strings.HasPrefix(b.text, "# crd.yaml\n"):
					files["crd.yaml"] = b.text
				}
			}
			out, errs, _ := shellAmong(t, o.command, files)
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, errs)
			}
			if err := compiled.Validate(v); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// typeSchema returns the JSON Schema of the values of a type, with the descriptions of another
// schema.
func typeSchema(typ reflect.Type, current map[string]any) map[string]any {
	s := map[string]any{}
	below := func(key string) map[string]any {
		m, _ := current[key].(map[string]any)
		return m
	}
	switch kind := typ.Kind(); {
	case typ.Implements(reflect.TypeFor[json.Marshaler]()):
	case typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()), kind == reflect.String:
		s["type"] = "string"
	case kind == reflect.Pointer:
		s = typeSchema(typ.Elem(), current)
		s["type"] = []any{s["type"], "null"}
	case kind == reflect.Slice:
		s["type"], s["items"] = "array", typeSchema(typ.Elem(), below("items"))
	case kind == reflect.Map:
		s["type"] = []any{"object", "null"}
	case kind == reflect.Bool:
		s["type"] = "boolean"
	case kind == reflect.Float64:
		s["type"] = "number"
	case kind == reflect.Struct:
		properties, required := map[string]any{}, []any{}
		addFields(typ, below("properties"), properties, &required)
		s["type"], s["properties"], s["required"] = "object", properties, required
	case kind != reflect.Interface:
		s["type"] = "integer"
	}
	if text := current["description"]; text != nil {
		s["description"] = text
	}
	return s
}

// addFields adds the keys of a struct type, in whose objects embedded structs have theirs, too.
func addFields(typ reflect.Type, current, properties map[string]any, required *[]any) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || key == "-":
		case f.Anonymous && key == "":
			addFields(f.Type, current, properties, required)
		default:
			before, _ := current[key].(map[string]any)
			properties[key] = typeSchema(f.Type, before)
			if options == "" {
				*required = append(*required, key)
			}
		}
	}
}
