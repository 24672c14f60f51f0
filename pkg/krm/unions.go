package krm

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/unionset"
)

// sideFiles reads the declarations that do not stand in CRDs: those of the files that
// the configuration names, and its own.
func (r *run) sideFiles(schemas *yaml.Node) {
	for _, f := range r.files.read(r.cfg.unions, r.unread("unions")) {
		r.about(f.name, subject{file: f.name, text: f.text})
		set, diags := unionset.Parse(f.name, f.text)
		r.report(diags...)
		r.declare(set)
	}
	if schemas != nil {
		r.declare(r.inline(schemas))
	}
}

func (r *run) declare(set *union.Elsewhere) {
	if set == nil {
		return
	}
	e := &r.cfg.opts.Elsewhere
	e.Externals = append(e.Externals, set.Externals...)
	e.Scopes = append(e.Scopes, set.Scopes...)
}

// inline reads the schemas of the configuration as those of a UnionSet. Their places
// are items of schemas: there are no lines that the user knows.
func (r *run) inline(schemas *yaml.Node) *union.Elsewhere {
	text, err := encodeProved(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		yamltext.StringNode("apiVersion"), yamltext.StringNode(unionset.APIVersion),
		yamltext.StringNode("kind"), yamltext.StringNode(unionset.Kind),
		yamltext.StringNode("schemas"), careful(schemas, uncommented),
	}})
	if err != nil {
		r.misconfigured("schemas", "", "schemas: %v", err)
		return nil
	}
	name := r.configName()
	set, diags := unionset.Parse(name, text)
	for _, d := range diags {
		d.Pos.Line, d.Pos.Col = 0, 0
		for i := range d.Related {
			d.Related[i].Pos.Line, d.Related[i].Pos.Col = 0, 0
		}
		r.report(d)
	}
	if set == nil {
		return nil
	}
	for i, x := range set.Externals {
		path := itemAt(text, x.Named.Line)
		at := diag.Pos{File: name + " " + path}
		r.about(at.File, subject{resource: resourceOf(r.list.config), path: path})
		set.Externals[i].At, set.Externals[i].Named = &at, diag.Pos{}
	}
	return set
}

// itemAt returns the path of the item of schemas that begins in a line.
func itemAt(text []byte, line int) string {
	file, wrong := source.Parse("", text)
	if wrong != nil {
		return "schemas"
	}
	for i, item := range lookup(file.Docs[0].Root, "schemas").Content {
		if item.Line == line {
			return fmt.Sprintf("schemas[%d]", i)
		}
	}
	return "schemas"
}
