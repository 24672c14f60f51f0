package markers

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// nested returns a hint if the discriminator and the members of a union are in two structs, one of
// which is the type of a field of the other: only markers on the outer struct can declare the
// union. If discriminator is not nil, it is a field of s, and the other struct has the members; if
// it is nil, s has the members. The other struct is one with a marker in kinds and none in without.
func (s *structure) nested(discriminator *field, kinds, without []markerKind) string {
	found := func(other *structure) *field {
		if l := other.marked(kinds...); len(l) > 0 && len(other.marked(without...)) == 0 {
			return l[0].field
		}
		return nil
	}
	for f, inner := range s.held() {
		if other := found(inner); other != nil && discriminator == nil {
			return s.declaring(schemapath.New(f.json, other.json))
		} else if other != nil {
			return s.declaring(schemapath.New(discriminator.json))
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.l.known), compareIdents) {
		outer := s.l.known[id]
		other := found(outer)
		if other == nil {
			continue
		}
		for f, inner := range outer.held() {
			switch {
			case inner != s:
			case discriminator == nil:
				return outer.declaring(schemapath.New(other.json))
			default:
				return outer.declaring(schemapath.New(f.json, discriminator.json))
			}
		}
	}
	return ""
}

// held yields the fields of s that are not inlined and whose types have been read.
func (s *structure) held() iter.Seq2[*field, *structure] {
	return func(yield func(*field, *structure) bool) {
		for _, f := range s.fields {
			id, ok := s.typeOf(f)
			if inner := s.l.known[id]; ok && inner != nil && !f.inline && f.json != "" && !yield(f, inner) {
				return
			}
		}
	}
}

// declaring returns the hint to declare a union on s, with its discriminator at a path.
func (s *structure) declaring(discriminator schemapath.Path) string {
	path := discriminator.String()
	if strings.HasPrefix(path, "[") { // a marker would read it as a list
		path = strconv.Quote(path)
	}
	return fmt.Sprintf("declare the union on %s with +%s:discriminator=%s and +%[2]s:fields-to-discriminateBy={member: Value}, or in a UnionSet", s.id.Name, ownPrefix, path)
}

// pathTo returns the path of a property below a field of s, or nil if a name is of no such property. A
// field that the schema does not describe may have any property.
func (s *structure) pathTo(name string) schemapath.Path {
	path, property := union.Property(s.schema(), name)
	if len(path) < 2 {
		return nil
	}
	if field := path[:1].Schema(s.schema()); field == nil || property == nil && len(field.Properties) > 0 {
		return nil
	}
	return path
}
