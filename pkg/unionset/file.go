package unionset

import (
	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
)

// open parses a file into documents that every reader of YAML takes for the same.
// What is wrong with it is reported, and the result then nil.
func (p *parser) open(src []byte) []*yamltext.Document {
	if !source.IsConfig(src) {
		p.report(diag.BadUnionSet, diag.Pos{}, "write it, and kind: "+Kind+"; CRDs are arguments", "this is no %s: it has no apiVersion: %s", Kind, APIVersion)
		return nil
	}
	file, wrong := source.Parse(p.file, src, limit.Limits{})
	if wrong != nil {
		p.diags = append(p.diags, *wrong)
		return nil
	}
	var l []*yamltext.Document
	for _, d := range file.Docs {
		if d.Root == nil {
			continue
		}
		l = append(l, d)
		duplicates := source.Duplicates(p.file, d.Root)
		p.diags = append(p.diags, duplicates...)
		if len(duplicates) > 0 {
			continue
		}
		if _, _, wrong := source.Value(p.file, file, d); wrong != nil {
			p.diags = append(p.diags, *wrong)
		}
	}
	if len(l) == 0 {
		p.report(diag.EmptyInput, diag.Pos{}, "", "the file is empty")
	}
	if p.diags.HasErrors() {
		return nil
	}
	return l
}
