package compile

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// withinLimits reports declarations over the limits before they are processed. If there are
// any, it drops all declarations.
func (c *compiler) withinLimits() {
	limits, unions, ok := c.manifest.Limits.OrDefault(), 0, true
	over := func(l location, w union.External, item *yaml.Node, name, format string, args ...any) {
		ok = false
		at := diag.Pos{File: w.File, Line: item.Line, Col: item.Column}
		if w.At != nil {
			at = *w.At
		}
		c.report(diag.New(codes.OverLimit, at, format, args...).In(l.Place).Hinted(yamltext.LimitHint(name)))
	}
	versions := yamltext.Lookup(yamltext.Value(c.manifest.Node, "spec"), "versions").Value
	if versions != nil && len(yamltext.Resolve(versions).Content) > limits.Versions {
		ok = false
		c.report(diag.New(codes.OverLimit, c.pos(versions), "the CRD has more versions than the limit of %d", limits.Versions).
			Hinted(yamltext.LimitHint("versions")))
	}
	pairs := 0
	for _, l := range c.located.objects {
		named := 0 // members
		for _, w := range l.written {
			for _, item := range yamltext.Resolve(w.Value).Content {
				if unions++; unions == limits.Unions+1 {
					over(l, w, item, "unions", "the CRD has more unions than the limit of %d", limits.Unions)
				}
				named += entries(item, "fields-to-discriminateBy")/2 + entries(item, "members")
				for _, k := range []struct {
					key, limit, what string
					most             int
				}{
					{"fields-to-discriminateBy", "members", "values", limits.Members},
					{"members", "members", "items", limits.Members},
					{"optionalMembers", "members", "items", limits.Members},
					{"emptyIsUnset", "members", "items", limits.Members},
					{"allowedChanges", "changes", "changes", limits.Changes},
				} {
					v := yamltext.Value(item, k.key)
					// The rules of a table without a discriminator list the forbidden changes: rows times members.
					cells := entries(item, "members") * entries(item, k.key) / 2
					if v != nil && leaves(v, k.most) > k.most || k.key == "allowedChanges" && cells > k.most {
						over(l, w, item, k.limit, "%s has more %s than the limit of %d", k.key, k.what, k.most)
					}
				}
			}
		}
		was := pairs
		if pairs += named * named; was <= limits.Pairs && pairs > limits.Pairs {
			over(l, l.written[0], yamltext.Resolve(l.written[0].Value), "pairs", "the unions of the CRD have too many members: more than %d pairs are to be compared", limits.Pairs)
		}
	}
	if !ok {
		c.located.objects = nil
	}
}

// entries counts the nodes in the value of a key.
func entries(item *yaml.Node, key string) int {
	if v := yamltext.Value(item, key); v != nil {
		return len(v.Content)
	}
	return 0
}

// leaves counts the leaf values of n, with aliases expanded. It stops when the count exceeds most.
func leaves(n *yaml.Node, most int) int {
	if n = yamltext.Resolve(n); len(n.Content) == 0 {
		return 1
	}
	total := 0
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		if total += leaves(child, most-total); total > most {
			break
		}
	}
	return total
}

// manyValues reports a discriminator whose enum has more values than the limit.
func (c *compiler) manyValues(o *unionObject) bool {
	most := c.manifest.Limits.OrDefault().Members
	for _, d := range o.Declarations {
		if _, p := union.Property(o.schema, d.Discriminator()); p != nil && len(p.Enum) > most {
			c.report(diag.New(codes.OverLimit, d.Pos, "the enum of %q has more values than the limit of %d", d.Discriminator(), most).In(o.Place).
				Hinted(yamltext.LimitHint("members")))
			return true
		}
	}
	return false
}
