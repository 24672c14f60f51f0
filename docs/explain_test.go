package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
)

// TestExplain runs the commands of explain.md on its CRD, and compares the output with the blocks
// that follow.
func TestExplain(t *testing.T) {
	d := open(t, "explain.md")
	dir := t.TempDir()
	commands := 0
	l := d.blocks(t, 0, len(d.lines))
	for i, b := range l {
		switch b.info {
		case "yaml":
			if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		case "sh":
			commands++
			var out, errs bytes.Buffer
			if code := sh(t, dir, b.text, &out, &errs); code != 0 || out.Len() == 0 || i+1 == len(l) {
				t.Fatalf("%s: exit code %d\n%s%s", b.text, code, &out, &errs)
			}
			d.generated(t, l[i+1].from, l[i+1].to, out.String())
		}
	}
	if commands == 0 {
		t.Error("explain.md has no commands")
	}
	d.save(t)
}

var jsonKey = regexp.MustCompile(`^([a-zA-Z.\[\]]+)(  +\S.*)?$`)

// TestExplainJSON compares the list of keys with the keys of the types, in order.
func TestExplainJSON(t *testing.T) {
	var got []string
	d := open(t, "reference/explain-json.md")
	for _, line := range strings.Split(d.blocks(t, 0, len(d.lines))[0].text, "\n") {
		if found := jsonKey.FindStringSubmatch(line); found != nil {
			got = append(got, found[1])
		}
	}
	if want := jsonKeys(reflect.TypeFor[report.Explanation](), ""); !slices.Equal(got, want) {
		t.Errorf("the keys are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// jsonKeys returns the paths of all scalar fields in a type.
func jsonKeys(typ reflect.Type, path string) []string {
	switch {
	case typ.Kind() == reflect.Pointer:
		return jsonKeys(typ.Elem(), path)
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		return jsonKeys(typ.Elem(), path+"[]")
	case typ.Kind() != reflect.Struct:
		return []string{path}
	}
	var l []string
	for i := range typ.NumField() {
		if !typ.Field(i).IsExported() || typ.Field(i).Tag.Get("json") == "-" {
			continue
		}
		if typ.Field(i).Anonymous { // its keys are keys of the outer object
			l = append(l, jsonKeys(typ.Field(i).Type, path)...)
			continue
		}
		key := typ.Field(i).Tag.Get("json")
		if path != "" {
			key = path + "." + key
		}
		l = append(l, jsonKeys(typ.Field(i).Type, key)...)
	}
	return l
}
