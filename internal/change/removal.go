package change

import (
	"fmt"
	"slices"
	"strings"
)

// Version is a version of the CRD after the change. It states whether the version may be removed.
type Version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	// Stored is set if objects may be stored in this version; nil if unknown.
	Stored *bool `json:"stored"`
	// Managed is the number of managedFields entries with this version; nil if unknown.
	Managed *int `json:"managed"`
	// Removable is "yes", "no" or "unknown". Why is the reason.
	Removable string `json:"removable"`
	Why       string `json:"why"`
}

// versions returns whether each version may be removed.
func (f *Facts) versions() []Version {
	l := []Version{}
	for _, v := range f.To.Spec.Versions {
		o := Version{Name: v.Name, Served: v.Served, Storage: v.Storage, Removable: "no"}
		if f.Live != nil {
			stored := slices.Contains(f.Live.Status.StoredVersions, v.Name)
			o.Stored = &stored
		}
		if n, ok := f.managed(v.Name); ok {
			managed := len(n)
			o.Managed = &managed
		}
		switch {
		case v.Storage:
			o.Why = "it is the storage version"
		case o.Stored != nil && *o.Stored:
			o.Why = "objects may be stored in it"
		case v.Served && !v.Deprecated:
			o.Why = "it is served: deprecate it first"
		case v.Served:
			o.Why = "it is served: stop serving it when nobody uses it"
		case o.Managed != nil && *o.Managed > 0:
			o.Why = "managedFields of objects name it"
		case o.Stored == nil:
			o.Removable, o.Why = "unknown", "status.storedVersions is unknown"
		case o.Managed == nil:
			o.Removable, o.Why = "unknown", "the managedFields of the objects are unknown"
		default:
			o.Removable, o.Why = "yes", "nothing needs it"
		}
		l = append(l, o)
	}
	return l
}

// managed returns the managedFields entries with a version. ok is false if they are unknown.
func (f *Facts) managed(version string) (l []Managed, ok bool) {
	if f.Objects == nil || f.Objects.Managed == nil && f.Objects.Total > 0 {
		return nil, false
	}
	return f.Objects.Managed[version], true
}

// gone returns the versions that the change removes.
func (f *Facts) gone() []string {
	var l []string
	for _, v := range f.From.Spec.Versions {
		if !has(f.To, v.Name) {
			l = append(l, v.Name)
		}
	}
	return l
}

// removed returns the steps until nothing is stored in the versions that the change removes, and no
// managedFields name them.
func (f *Facts) removed() []Step {
	gone, target := f.gone(), storage(f.From)
	switch {
	case len(gone) == 0:
		return nil
	case slices.Contains(gone, target):
		return []Step{{ID: "removed", State: Stopped, Title: "Keep " + target + " in the CRD",
			Reason: fmt.Sprintf("It is the storage version. Make %s that in one change, without serving %s if need be, migrate, and remove %[2]s in the next.", storage(f.To), target)}}
	}
	steps := []Step{{ID: "removed", State: Done, Title: "Nothing is stored in " + strings.Join(gone, ", ")}}
	if f.Live == nil || slices.ContainsFunc(gone, func(v string) bool { return slices.Contains(f.Live.Status.StoredVersions, v) }) {
		steps = f.migrateTo(target)
	}
	for i := range steps {
		if steps[i].State == Next {
			steps[i].State = Waiting // the change waits for it
		}
	}
	if verdict(steps) != Go {
		return steps
	}
	return append(steps, f.managedFields()...)
}
