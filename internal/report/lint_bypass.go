package report

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// versionBypass finds other served versions through which clients can bypass the rules. It covers
// versions without properties of the union; compiling reports versions with these properties.
func versionBypass(s *lintedUnion) diag.List {
	spec := s.crd.CRD.Spec
	if c := spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		return nil // a webhook may keep fields that the other version lacks
	}
	if !spec.Versions[s.object.Version].Served {
		return nil
	}
	var l diag.List
	for i, v := range spec.Versions {
		if i == s.object.Version || !v.Served || (schemapath.Place{Version: i}).Schema(s.crd.CRD) == nil {
			continue
		}
		lacking, unknown := s.lacking(i)
		switch {
		case unknown:
			l = append(l, s.find(codes.VersionBypass, s.pos(), nil,
				fmt.Sprintf("give version %s the schema and the union, too, or stop serving it", v.Name),
				"version %s is served too, and keeps unknown fields where this union is: anything can be written through it", v.Name)...)
		case s.Guarded() && lacking != "":
			l = append(l, s.find(codes.VersionBypass, s.changesAt(), nil,
				fmt.Sprintf("give version %s the properties and the union, too, or stop serving it", v.Name),
				"version %s is served too and has no %s: an update through it removes the member, and the next one through %s sets another one, which bypasses the union", v.Name, lacking, s.object.Name)...)
		}
	}
	return l
}

// lacking returns the fields that rules need to notice a change of the union and that another
// version lacks, or "". unknown is set if the version keeps them as unknown fields.
func (s *lintedUnion) lacking(version int) (what string, unknown bool) {
	path := s.object.Path
	at := func(n int) *apiextensionsv1.JSONSchemaProps {
		return schemapath.Place{Version: version, Path: path[:n]}.Schema(s.crd.CRD)
	}
	for n := range path {
		if at(n+1) == nil {
			return path[:n+1].String(), formula.KeepsUnknown(at(n))
		}
	}
	if s.OfItems() {
		return "", false
	}
	other := at(len(path))
	read := s.Names()
	if s.Discriminator != "" && !s.Deduce {
		read = read[:1]
	}
	var absent []string
	for _, name := range read {
		steps := s.Path(name)
		n := 0
		for n < len(steps) && steps[:n+1].Schema(other) != nil {
			n++
		}
		if n < len(steps) {
			absent = append(absent, path.Append(steps...).String())
			unknown = unknown || formula.KeepsUnknown(steps[:n].Schema(other))
		}
	}
	shares := slices.ContainsFunc(s.Names(), func(name string) bool { return s.Path(name).Schema(other) != nil })
	if shares && !s.declaredIn(version) {
		return "", false // compiling reports this version
	}
	return strings.Join(absent, ", "), unknown
}

// declaredIn reports whether another version declares unions at the same path.
func (s *lintedUnion) declaredIn(version int) bool {
	return slices.ContainsFunc(s.crd.Objects, func(o compile.Object) bool {
		return o.Version == version && o.Path.Equal(s.object.Path)
	})
}

// tableBypass finds rows of allowedChanges that allow a value to be unset: the next update may then
// set any other value.
func tableBypass(s *lintedUnion) diag.List {
	all := s.Values
	if s.Discriminator == "" {
		all = s.GroupNames()
	}
	var l diag.List
	for _, from := range all {
		row := s.Allowed[from]
		if !slices.Contains(row, "") {
			continue
		}
		var forbidden []string
		for _, to := range all {
			if to != from && !slices.Contains(row, to) {
				forbidden = append(forbidden, to)
			}
		}
		if len(forbidden) > 0 {
			l = append(l, s.find(codes.TableBypass, s.changesAt(), nil,
				fmt.Sprintf("delete \"\" from the row of %q, or add the changes that are possible anyway", from),
				"allowedChanges can be bypassed: it lets %q be unset, and a second update may set it to anything, such as %s", from, quotedList(forbidden))...)
		}
	}
	return l
}
