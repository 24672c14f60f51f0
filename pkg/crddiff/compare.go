package crddiff

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Compare compares what two CRDs accept: the versions that both have, and those that one of
// them has. One of them may be nil, for a CRD that is added or removed. What is open at the
// deadline of ctx (verify.WithDeadline) is [Unknown]. An error means that the API server could
// not use one of the CRDs, or that ctx was cancelled.
func Compare(ctx context.Context, old, new *CRD) (Report, error) {
	switch {
	case old == nil:
		return Report{new.Name, []Change{{Sort: Version, Subject: "CRD", Kind: Added, What: "CRD added", Class: Looser, Pos: new.Pos}}}, nil
	case new == nil:
		return Report{old.Name, []Change{{Sort: Version, Subject: "CRD", Kind: Removed, What: "CRD removed: its objects are deleted", Class: Tighter, Pos: old.Pos}}}, nil
	}
	r := Report{Name: new.Name}
	beside(&r, old, new)
	for i, v := range old.Spec.Versions {
		j := version(new, v.Name)
		if j < 0 {
			c := Change{Version: v.Name, Sort: Version, Subject: "version " + v.Name, Kind: Removed, What: "version " + v.Name + " removed", Class: Tighter, Pos: new.pos("", nil, "")}
			if !v.Served {
				c.Class, c.Undecided = Unknown, "whether objects are stored in it"
			}
			r.Changes = append(r.Changes, c)
			continue
		}
		share, done := verify.Share(ctx, len(old.Spec.Versions)-i)
		found, err := compare(share, old, new, i, j)
		done()
		if err != nil {
			return r, err
		}
		r.Changes = append(r.Changes, found...)
	}
	for _, v := range new.Spec.Versions {
		if version(old, v.Name) < 0 {
			r.Changes = append(r.Changes, Change{NewVersion: v.Name, Sort: Version, Subject: "version " + v.Name, Kind: Added, What: "version " + v.Name + " added", Class: Looser, Pos: new.pos(v.Name, nil, "")})
		}
	}
	return r, nil
}

// Versions compares what the served versions of a CRD accept: each two of them, in the order
// of the CRD. Deadline and errors are those of [Compare].
func Versions(ctx context.Context, crd *CRD) (Report, error) {
	r := Report{Name: crd.Name}
	var pairs [][2]int
	for i, v := range crd.Spec.Versions {
		for j, u := range crd.Spec.Versions {
			if j > i && v.Served && u.Served {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	for n, pair := range pairs {
		share, done := verify.Share(ctx, len(pairs)-n)
		found, err := compare(share, crd, crd, pair[0], pair[1])
		done()
		if err != nil {
			return r, err
		}
		r.Changes = append(r.Changes, found...)
	}
	return r, nil
}

func version(c *CRD, name string) int {
	return slices.IndexFunc(c.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
}

// compare compares two versions.
func compare(ctx context.Context, old, new *CRD, i, j int) ([]Change, error) {
	a, b := old.Spec.Versions[i], new.Spec.Versions[j]
	if a.Schema == nil || b.Schema == nil || a.Schema.OpenAPIV3Schema == nil || b.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", a.Name)
	}
	if reflect.DeepEqual(a.Schema, b.Schema) {
		return nil, nil // what unions say beside their rules makes no difference
	}
	p, err := newPair(ctx, old.CustomResourceDefinition, new.CustomResourceDefinition, i, j)
	if err != nil {
		return nil, err
	}
	w := &walker{ctx: ctx, pair: p, folded: map[string]bool{}}
	w.unions(of(old, a.Name), of(new, b.Name))
	w.walk(nil, p.root(oldSide), p.root(newSide))
	if err := p.decide(w.found); err != nil {
		return nil, err
	}
	var l []Change
	for _, d := range w.found {
		c := d.Change
		c.Version, c.NewVersion = a.Name, b.Name
		c.Pos = new.pos(b.Name, c.Path, c.Keyword)
		l = append(l, c)
	}
	slices.SortStableFunc(l, func(a, b Change) int { return schemapath.Compare(a.Path, b.Path) })
	return l, nil
}

// of are the unions of a version.
func of(c *CRD, version string) []DeclaredUnion {
	var l []DeclaredUnion
	for _, u := range c.Unions {
		if u.Version == version {
			l = append(l, u)
		}
	}
	return l
}

// beside compares what the CRDs say beside their schemas.
func beside(r *Report, old, new *CRD) {
	add := func(version, subject string, kind Kind, class Class, undecided, format string, args ...any) {
		r.Changes = append(r.Changes, Change{Version: version, NewVersion: version, Sort: Version, Subject: subject, Kind: kind, What: fmt.Sprintf(format, args...),
			Class: class, Undecided: undecided, Pos: new.pos(version, nil, "")})
	}
	a, b := old.Spec, new.Spec
	for _, k := range []struct{ name, old, new string }{
		{"spec.scope", string(a.Scope), string(b.Scope)},
		{"spec.group", a.Group, b.Group},
		{"spec.names.kind", a.Names.Kind, b.Names.Kind},
		{"spec.names.plural", a.Names.Plural, b.Names.Plural},
		{"spec.preserveUnknownFields", fmt.Sprint(a.PreserveUnknownFields), fmt.Sprint(b.PreserveUnknownFields)},
	} {
		if k.old != k.new {
			add("", k.name, Changed, Unknown, "whether anything is refused: objects are not judged for this", "%s %s -> %s", k.name, k.old, k.new)
		}
	}
	for _, v := range b.Versions {
		i := version(old, v.Name)
		if i < 0 {
			continue
		}
		was := a.Versions[i]
		if was.Served != v.Served {
			class := Looser
			if was.Served {
				class = Tighter
			}
			add(v.Name, "served", Changed, class, "", "served %t -> %t", was.Served, v.Served)
		}
		if was.Storage != v.Storage && v.Storage {
			add(v.Name, "storage", Changed, Unknown, "whether what is stored in another version can be rewritten in this one", "%s is the storage version", v.Name)
		}
		for name, is := range map[string][2]any{"status": {status(was), status(v)}, "scale": {scale(was), scale(v)}} {
			if !reflect.DeepEqual(is[0], is[1]) {
				add(v.Name, "subresource "+name, Changed, Unknown, "which writes are judged otherwise", "subresource %s changed", name)
			}
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return strings.Compare(a.Subject, b.Subject) })
}

func status(v apiextensionsv1.CustomResourceDefinitionVersion) any {
	return v.Subresources != nil && v.Subresources.Status != nil
}

func scale(v apiextensionsv1.CustomResourceDefinitionVersion) any {
	if v.Subresources == nil || v.Subresources.Scale == nil {
		return nil
	}
	return *v.Subresources.Scale
}
