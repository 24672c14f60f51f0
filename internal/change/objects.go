package change

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects counts the stored objects by their validity under To.
type Objects struct {
	// Total is the number of objects, and Printed the number of objects given in each version.
	Total   int
	Printed map[string]int
	// Invalid objects would be rejected as new objects under To. For Blocked objects, the server
	// rejects a write that it accepts under From.
	Invalid, Blocked int
	// Rewrites counts objects that cannot even be written unchanged. They fail a migration of the
	// storage version.
	Rewrites int
	// Losing counts objects that the change makes lose fields at the next write through some
	// version. Dropped is set if one of them loses fields through every version.
	Losing  int
	Dropped bool
	// Repairable counts the invalid objects for which a patch is known.
	Repairable int
	// Examples are some invalid objects, and Lost some objects that lose fields, one per line.
	Examples, Lost []string
	// Managed has the entries of metadata.managedFields by their version. It is nil if no object
	// has this field, which kubectl omits by default.
	Managed map[string][]Managed

	counted map[string]map[*int]bool // by object name: the counters that include the object
}

// Managed is an entry of an object's metadata.managedFields.
type Managed struct {
	Namespace, Name, Manager string
	Index                    int
	// Subresource is the subresource of the write. Status is set if the status was written.
	Subresource string
	Status      bool
}

// mostExamples bounds the number of objects of a sort that are kept as examples.
const mostExamples = 10

// Judge returns a judge of stored objects under the CRD after the change, for the oldest server. It
// returns an error if no server would serve the CRD.
func (f *Facts) Judge() (*Judge, error) {
	opts := JudgeOptions{Kinds: f.Kinds}
	if v := f.oldest(); v != nil {
		opts.KubeVersion = minor(v)
	}
	if !f.applied() {
		opts.Before = f.From
	}
	return NewJudge(f.To, opts)
}

// Add adds an object in the form of kubectl get, with its verdict. An object may be added in
// several versions.
func (o *Objects) Add(v Prediction, object map[string]any) {
	if o.Printed == nil {
		o.Printed, o.counted = map[string]int{}, map[string]map[*int]bool{}
	}
	o.Printed[v.Version]++
	o.Total = max(o.Total, o.Printed[v.Version])
	name := v.name()
	if o.counted[name] == nil {
		o.counted[name] = map[*int]bool{}
		o.manage(v, object)
	}
	count := func(is bool, n *int) bool {
		is = is && !o.counted[name][n]
		if is {
			o.counted[name][n] = true
			*n++
		}
		return is
	}
	if count(v.State != Legal, &o.Invalid) {
		o.Examples = appendShort(o.Examples, name+" "+why(v))
	}
	count(v.Repair != nil, &o.Repairable)
	count(v.State > Ratcheted && v.Worse, &o.Blocked)
	count(v.State == Blocked, &o.Rewrites)
	lost, everywhere := v.Losses()
	if count(lost != "", &o.Losing) {
		o.Lost = appendShort(o.Lost, name+": "+lost)
		o.Dropped = o.Dropped || everywhere
	}
}

// manage adds the managedFields of an object.
func (o *Objects) manage(v Prediction, object map[string]any) {
	entries, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", "managedFields") // nil if there are none
	l, _ := entries.([]any)
	for i, entry := range l {
		fields, _ := entry.(map[string]any)
		version, _ := fields["apiVersion"].(string)
		manager, _ := fields["manager"].(string)
		subresource, _ := fields["subresource"].(string)
		_, status, _ := unstructured.NestedFieldNoCopy(fields, "fieldsV1", "f:status")
		if o.Managed == nil {
			o.Managed = map[string][]Managed{}
		}
		if gv, err := schema.ParseGroupVersion(version); err == nil { // servers only write valid versions
			o.Managed[gv.Version] = append(o.Managed[gv.Version], Managed{v.Namespace, v.Name, manager, i, subresource, status})
		}
	}
}

// appendShort appends a line, or "and more" to a list that is long enough.
func appendShort(l []string, line string) []string {
	if len(l) == mostExamples {
		return append(l, "and more")
	}
	if len(l) > mostExamples {
		return l
	}
	return append(l, line)
}

// why returns the reason why an object is invalid.
func why(v Prediction) string {
	problems := v.Problems()
	for _, in := range v.Versions {
		for _, w := range v.RefusedWrites() {
			problems = append(problems, in.Refused[w]...)
		}
	}
	said := problems[0].String()
	if n := len(v.Problems()) - 1; n > 0 {
		said += fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("(%s): %s", v.InWords(), said)
}
