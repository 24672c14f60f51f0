package change

import "slices"

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
			o.Stored = new(slices.Contains(f.Live.Status.StoredVersions, v.Name))
		}
		if !f.unmanaged() {
			o.Managed = new(len(f.managed(v.Name)))
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
