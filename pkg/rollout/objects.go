package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/stored"
)

// Objects is what the stored objects are under To.
type Objects struct {
	Total int
	// Invalid are those that To would refuse if they were created, and Blocked those of
	// them that cannot be updated as before: somewhere else, or not at all.
	Invalid, Blocked int
	// Rewrites is how many cannot even be written as they are, so that a migration of the
	// storage version fails.
	Rewrites int
	// Losing is how many have fields that To does not have: they are lost at the next write.
	Losing int
	// Examples are some of the invalid and of the losing, in a line each.
	Examples, Lost []string
	// Managed are entries of metadata.managedFields, by the version they name; nil when no
	// object has such a field, as kubectl leaves it out by default.
	Managed map[string][]Managed

	schemas map[string]*structuralschema.Structural // of To, by version; none where unknown fields stay
}

// Managed is an entry of an object's metadata.managedFields.
type Managed struct {
	Namespace, Name, Manager string
	Index                    int
}

// mostExamples is how many objects of a sort are kept to be shown.
const mostExamples = 10

// Judge returns what the stored objects are judged with, one after the other: by the CRD after
// the change, as the oldest server judges and, when the storage version becomes another, as
// a migration writes them. Then each verdict is added to the objects. The error says that no
// server would serve the CRD.
func (f *Facts) Judge() (*stored.Judge, *Objects, error) {
	var opts stored.Options
	if v := f.oldest(); v != nil {
		opts.KubeVersion = minor(v)
	}
	if to := storage(f.To); to != storage(f.From) && served(f.To, to) {
		opts.Version = to
	}
	judge, err := stored.New(f.To, opts)
	if err != nil {
		return nil, nil, err
	}
	o := &Objects{schemas: map[string]*structuralschema.Structural{}}
	for _, v := range f.To.Spec.Versions {
		if f.To.Spec.PreserveUnknownFields || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		props := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
			return nil, nil, err
		}
		if o.schemas[v.Name], err = structuralschema.NewStructural(props); err != nil {
			return nil, nil, err
		}
	}
	return judge, o, nil
}

// Add adds an object, as kubectl get prints it, and what becomes of it.
func (o *Objects) Add(v stored.Verdict, object map[string]any) {
	o.Total++
	u := unstructured.Unstructured{Object: object}
	name := strings.TrimPrefix(u.GetNamespace()+"/"+u.GetName(), "/")
	state := v.State()
	if state != stored.Legal {
		o.Invalid++
		o.Examples = some(o.Examples, name+" "+why(v))
	}
	if state == stored.Hindered || state == stored.Frozen {
		o.Blocked++
	}
	if state == stored.Frozen {
		o.Rewrites++
	}
	if s := o.schemas[v.Version]; s != nil {
		lost := pruning.PruneWithOptions(runtime.DeepCopyJSON(object), s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		if len(lost) > 0 {
			o.Losing++
			o.Lost = some(o.Lost, name+": "+strings.Join(lost, ", "))
		}
	}
	entries, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", "managedFields") // nil if there are none
	l, _ := entries.([]any)
	for i, entry := range l {
		fields, _ := entry.(map[string]any)
		version, _ := fields["apiVersion"].(string)
		manager, _ := fields["manager"].(string)
		if o.Managed == nil {
			o.Managed = map[string][]Managed{}
		}
		if gv, err := schema.ParseGroupVersion(version); err == nil { // no server writes others
			o.Managed[gv.Version] = append(o.Managed[gv.Version], Managed{u.GetNamespace(), u.GetName(), manager, i})
		}
	}
}

// some appends to the first of many lines.
func some(l []string, line string) []string {
	if len(l) == mostExamples {
		return append(l, "and more")
	}
	if len(l) > mostExamples {
		return l
	}
	return append(l, line)
}

// why says why an object is invalid.
func why(v stored.Verdict) string {
	problems := v.Problems
	if len(problems) == 0 {
		problems = v.Refused[stored.Rewrite]
	}
	if len(problems) == 0 {
		return fmt.Sprintf("(%s)", v.State())
	}
	said := strings.TrimPrefix(problems[0].Field+": "+problems[0].Message, ": ")
	if n := len(problems) - 1; n > 0 {
		said += fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("(%s): %s", v.State(), said)
}
