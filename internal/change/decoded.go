package change

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// decodes records that the schemas decode the value at a path differently. It adds probes for the lists
// around the value that reject equal items or keys, since items may differ only in the value. Duplicates
// that a change of the list type or the keys finds belong to that change.
func (w *walker) decodes(d *difference, values ...any) {
	d.reshapes(d.Path, w.inside(d.Path, values...)...)
	for i, step := range d.Path {
		if step != schemapath.Items {
			continue
		}
		var lists []any
		for _, side := range bothSides {
			list, other := d.Path[:i].Schema(w.pair.root(side)), d.Path[:i].Schema(w.pair.root(1-side))
			name, _ := d.Path[len(d.Path)-1].Property()
			isKey := len(d.Path) == i+2 && slices.Contains(list.XListMapKeys, name)
			if !isKey && !sample.IsSet(list) || !schemadiff.SameDuplicates(list, other) {
				continue
			}
			more := w.values(d.Path.Schema(w.pair.root(side)))
			lists = append(lists, sample.Containing(w.ctx, list, d.Path[i:], slices.Concat(values, more)...)...)
		}
		if both := w.clause(d.Path[:i], nil, lists...); len(lists) > 0 {
			d.probes = append(d.probes, schemadiff.Shift{Clauses: [2][]schemadiff.Clause{both, both}})
		}
	}
}
