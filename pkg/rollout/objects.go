package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/stored"
)

// JudgedBy says how stored objects are judged for [Objects.Add]: by the CRD after the change,
// as the oldest server does it and, when the storage version becomes another, as a migration
// writes them.
func (f *Facts) JudgedBy() stored.Options {
	var opts stored.Options
	if v := f.oldest(); v != nil {
		opts.KubeVersion = minor(v)
	}
	if to := storage(f.To); to != storage(f.From) && served(f.To, to) {
		opts.Version = to
	}
	return opts
}

// mostExamples is how many invalid objects are kept to be shown.
const mostExamples = 10

// Add adds an object, as kubectl get prints it, and what becomes of it under the CRD after
// the change.
func (o *Objects) Add(v stored.Verdict, object map[string]any) {
	o.Total++
	state := v.State()
	if state != stored.Legal {
		o.Invalid++
		if len(o.Examples) < mostExamples {
			o.Examples = append(o.Examples, example(v))
		}
	}
	if state == stored.Hindered || state == stored.Frozen {
		o.Blocked++
	}
	if state == stored.Frozen {
		o.Rewrites++
	}
	u := unstructured.Unstructured{Object: object}
	for i, entry := range u.GetManagedFields() {
		if o.Managed == nil {
			o.Managed = map[string][]Managed{}
		}
		gv, err := schema.ParseGroupVersion(entry.APIVersion)
		if err != nil {
			continue // no server writes it
		}
		o.Managed[gv.Version] = append(o.Managed[gv.Version], Managed{u.GetNamespace(), u.GetName(), entry.Manager, i})
	}
}

// example is an invalid object in a line.
func example(v stored.Verdict) string {
	name := strings.TrimPrefix(v.Namespace+"/"+v.Name, "/")
	problems := v.Problems
	if len(problems) == 0 {
		problems = v.Refused[stored.Rewrite]
	}
	if len(problems) == 0 {
		return fmt.Sprintf("%s (%s)", name, v.State())
	}
	said := strings.TrimPrefix(problems[0].Field+": "+problems[0].Message, ": ")
	if n := len(problems) - 1; n > 0 {
		said += fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("%s (%s): %s", name, v.State(), said)
}
