package crdpatch

import (
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// gone reports a missing recorded schema. If another schema has its rules, the schema was renamed.
// This is an error, since the declaration would be lost.
func (r *base) gone(s claim) {
	d := diag.New(codes.RuleChanged, r.pos(r.annotations.Value), "this schema is gone; its union is forgotten").At(placeOf(s.Path)).As(diag.Warning).
		Hinted("nothing needs to be done if that was intended")
	if at := r.copiesOf(s); len(at) > 0 {
		d.Severity = diag.Error
		d.Message = "this schema is gone, and its compiled rules are at " + at[0]
		d.Hint = "undo the renaming, run unioncel decompile, rename, and compile again"
	}
	r.report(d)
}

// copies warns of rules that were copied along with a schema.
func (r *base) copies() {
	for _, s := range r.schemas {
		if s.node == nil {
			continue
		}
		for _, at := range r.copiesOf(s) {
			r.report(diag.New(codes.RuleChanged, r.pos(r.annotations.Value),
				"the rules here are copies of those compiled for %s; they are treated as hand-written ones", placeOf(s.Path)).At(at).As(diag.Warning).
				Hinted("to copy the union with its schema, run unioncel decompile before copying"))
		}
	}
}

// copiesOf returns the paths of unrecorded schemas that have all rules of a recorded schema.
func (r *base) copiesOf(s claim) []string {
	if r.unrecorded == nil {
		r.unrecorded = r.otherRules()
	}
	var l []string
	for _, o := range r.unrecorded {
		if len(s.Rules) > 0 && !slices.ContainsFunc(s.Rules, func(sum string) bool { return !o.sums[sum] }) {
			l = append(l, o.place)
		}
	}
	return l
}

// ruled is a schema with compiled or hand-written rules.
type ruled struct {
	place string
	sums  map[string]bool // of its rules
}

// otherRules returns the schemas that have rules and are not in the record.
func (r *base) otherRules() []ruled {
	l := []ruled{}
	var visit func(version string, path schemapath.Path, schema map[string]any)
	visit = func(version string, path schemapath.Path, schema map[string]any) {
		present := itemsOf(schema[validations])
		if len(present) > 0 && !slices.ContainsFunc(r.record.Schemas, func(o schemaRecord) bool { return o.Version == version && o.Path.Equal(path) }) {
			sums := map[string]bool{}
			for _, rule := range present {
				sums[sumOf(rule)] = true
			}
			l = append(l, ruled{placeOf(path), sums})
		}
		for _, step := range schemapath.ChildrenOf(schema) {
			visit(version, path.Append(step), schemapath.Path{step}.Value(schema))
		}
	}
	spec, _ := r.source()["spec"].(map[string]any)
	for i, v := range itemsOf(spec["versions"]) {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if schema := schemaIn(r.source(), schemapath.Place{Version: i}); schema != nil {
			visit(name, nil, schema)
		}
	}
	return l
}
