//go:build compat

package compat

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/compile"
)

// tables are the files of test/e2e: a CRD, and writes of its objects.
const tables = "../e2e/testdata"

// table is the second document of a file, as test/e2e describes it.
type table struct {
	Encoding compile.Encoding `json:"encoding,omitempty"`
	Steps    []tableStep      `json:"steps"`
}

type tableStep struct {
	Name    string         `json:"name"`
	Create  map[string]any `json:"create,omitempty"`
	Update  map[string]any `json:"update,omitempty"`
	Status  map[string]any `json:"status,omitempty"`
	Apply   map[string]any `json:"apply,omitempty"`
	From    map[string]any `json:"from,omitempty"`
	Applied map[string]any `json:"applied,omitempty"`
	Stored  map[string]any `json:"stored,omitempty"`
	Version string         `json:"version,omitempty"`
	Errors  []string       `json:"errors,omitempty"`
}

// old returns the object that is updated, or nil if there is none.
func (s tableStep) old() map[string]any {
	for _, o := range []map[string]any{s.From, s.Applied, s.Stored} {
		if o != nil {
			return o
		}
	}
	return nil
}

// new returns the object that is written. Server-side apply of the tables' objects is simple: it
// keeps the fields that another manager created, and drops the fields that the same manager
// applied.
func (s tableStep) new() map[string]any {
	switch {
	case s.Create != nil:
		return s.Create
	case s.Update != nil:
		return s.Update
	case s.Status != nil:
		return s.Status
	case s.Applied != nil:
		return s.Apply
	}
	return merged(s.old(), s.Apply)
}

func merged(old, new map[string]any) map[string]any {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range new {
		before, ok := all[key].(map[string]any)
		if after, is := value.(map[string]any); ok && is {
			value = merged(before, after)
		}
		all[key] = value
	}
	return all
}

// askTables asks about the steps of all tables.
func askTables(v *version, send func(*question)) {
	files, err := filepath.Glob(tables + "/*.yaml")
	if err != nil || len(files) == 0 {
		v.disagree("no tables: %v", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			v.disagree("%v", err)
			continue
		}
		crd, steps, _ := bytes.Cut(source, []byte("\n---\n"))
		var t table
		if err := sigsyaml.UnmarshalStrict(steps, &t); err != nil {
			v.disagree("%s: %v", file, err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		compiled := v.compiled(name, crd, t.Encoding)
		if compiled == nil {
			continue
		}
		byVersion := map[string][]tableStep{}
		for _, s := range t.Steps {
			byVersion[s.Version] = append(byVersion[s.Version], s)
		}
		for _, served := range slices.Sorted(maps.Keys(byVersion)) {
			send(v.tableQuestion(name, compiled, served, byVersion[served]))
		}
	}
}

func (v *version) tableQuestion(name string, crd []byte, served string, steps []tableStep) *question {
	q := &question{request: request{Name: "table " + name, CRD: crd, Version: served}, evaluations: len(steps)}
	if served == "" {
		var c apiextensionsv1.CustomResourceDefinition
		if err := sigsyaml.Unmarshal(crd, &c); err != nil {
			v.disagree("%s: %v", name, err)
		}
		q.Version = c.Spec.Versions[0].Name
	}
	add := func(o map[string]any) int {
		q.Objects = append(q.Objects, o)
		return len(q.Objects) - 1
	}
	// Each step is two asks: the second one creates the object.
	for _, s := range steps {
		a := ask{Old: -1, New: add(s.new()), Status: s.Status != nil}
		created := a.New
		if s.old() != nil {
			a.Old = add(s.old())
		}
		if a.Status {
			created = add(withStatus(s.old(), s.Status))
		}
		q.Asks = append(q.Asks, a, ask{Old: -1, New: created})
	}
	q.full = func(got [][]refusal) {
		for i, s := range steps {
			v.compareStep(name+": "+s.Name, s, got[2*i], got[2*i+1])
		}
	}
	return q
}

func withStatus(old, new map[string]any) map[string]any {
	o := maps.Clone(old)
	o["status"] = new["status"]
	return o
}

// compareStep compares the errors of a step. Until 1.32 there is no ratcheting in updates through
// /status, so the errors of creating the object may be added there. Any error may be added if the
// schema prevents the evaluation of rules on create.
func (v *version) compareStep(name string, s tableStep, got, created []refusal) {
	var texts, want, also []string
	for _, r := range got {
		texts = append(texts, v.comparable(r.Text))
	}
	for _, text := range s.Errors {
		want = append(want, v.comparable(text))
	}
	blocked := false
	for _, r := range created {
		also = append(also, v.comparable(r.Text))
		blocked = blocked || strings.Contains(r.Message, "some validation rules were not checked")
	}
	if s.Status != nil && v.minor <= 32 {
		texts = slices.DeleteFunc(texts, func(text string) bool {
			return !slices.Contains(want, text) && (blocked || slices.Contains(also, text))
		})
	}
	slices.Sort(texts)
	slices.Sort(want)
	if !slices.Equal(texts, want) {
		v.disagree("table %s:\n\texpected %q\n\tgot      %q", name, want, texts)
	}
}

// comparable returns the part of an error that is the same in all versions: the text of a rule's
// error, and the path and type of any other error. Until 1.34 the errors of rules contain the type
// of the value.
func (v *version) comparable(text string) string {
	text = valueType.ReplaceAllString(text, "$1")
	if m := ofSchema.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

var (
	valueType = regexp.MustCompile(`^(.*?: Invalid value: )"(?:object|array|string|integer|boolean)": `)
	ofSchema  = regexp.MustCompile(`^(.*?: (?:Unsupported value|Invalid value)): .*(?:supported values: |must validate|some validation rules were not checked|in body )`)
)
