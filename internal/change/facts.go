package change

import (
	"fmt"
	"slices"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Facts are the known facts about the change of a CRD and about the cluster. A nil fact is unknown.
type Facts struct {
	// From and To are the CRD before and after the change, compiled.
	From, To *apiextensionsv1.CustomResourceDefinition
	// Live is the CRD in the cluster, with its status.
	Live *apiextensionsv1.CustomResourceDefinition
	// Changes are the differences between From and To.
	Changes *Comparison
	// Kinds are the kinds of To that have unions; nil if no kind has one.
	Kinds *union.KindSet
	// Servers are all API servers of the cluster.
	Servers []Server
	// Objects are the stored objects, as the oldest of the servers validates them.
	Objects *Objects
	// Migrations are the migrations of the resource; an empty list is not nil.
	Migrations []storagemigrationv1.StorageVersionMigration
	// Names are the files in commands.
	Names Names

	// warned are the unions whose new violations a policy can warn of, with the changes of them in warnings.
	warned   []union.Kind
	warnings []string
	client   client // in steps about a client
}

// Names are the files as words of shell commands. Plans have placeholders for empty names.
type Names struct {
	From, To, Objects string
	// CompileFrom and CompileTo are set if the files declare unions that have to be compiled.
	CompileFrom, CompileTo bool
	// Flags and OldFlags are the flags for compiling the CRD after the change, and the one before it, each
	// with a space before it.
	Flags, OldFlags string
}

// Server is an API server.
type Server struct {
	Name    string // for messages; may be empty
	Version *version.Version
}

func (s Server) String() string {
	v := "v" + minor(s.Version)
	if s.Name == "" {
		return v
	}
	return s.Name + " (" + v + ")"
}

func minor(v *version.Version) string { return fmt.Sprintf("%d.%d", v.Major(), v.Minor()) }

// Resource returns the resource of the CRD.
func (f *Facts) Resource() schema.GroupResource {
	return schema.GroupResource{Group: f.To.Spec.Group, Resource: f.To.Spec.Names.Plural}
}

// applied reports whether the cluster has the CRD after the change. This is always the case if From
// and To are the same.
func (f *Facts) applied() bool {
	return f.Live != nil && sameSpec(f.Live, f.To) || sameSpec(f.From, f.To)
}

// same reports whether the CRD does not change.
func (f *Facts) same() bool { return sameSpec(f.From, f.To) }

// sameSpec reports whether the API server treats two CRDs alike.
func sameSpec(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	return equality.Semantic.DeepEqual(server.Defaulted(a).Spec, server.Defaulted(b).Spec)
}

// storage returns the storage version of a CRD.
func storage(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// Contradictions returns diagnostics for the contradictions between the CRDs before and after a
// change, or within one.
func Contradictions(from, to *Input) diag.List {
	l := slices.Concat(unacceptable(from), unacceptable(to))
	if from.Name != to.Name {
		l = append(l, contradictory(to.Pos, "give the same CRD before and after the change", "this is %s, and the CRD before the change %s", to.Name, from.Name))
	}
	return l
}

// unacceptable reports the names in a CRD that commands contain although no API server accepts them
// (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation), and a CRD without exactly one
// storage version.
func unacceptable(crd *Input) (l diag.List) {
	check := func(name string, is func(string) []string) {
		if faults := is(name); faults != nil {
			l = append(l, contradictory(crd.Pos, "no API server accepts it", "%q: %s", name, faults[0]))
		}
	}
	check(crd.Spec.Group, validation.IsDNS1123Subdomain)
	check(crd.Spec.Names.Plural, validation.IsDNS1035Label)
	stored := 0
	for _, v := range crd.Spec.Versions {
		check(v.Name, validation.IsDNS1035Label)
		if v.Storage {
			stored++
		}
	}
	check(crd.Name, func(is string) []string {
		if name := crd.Spec.Names.Plural + "." + crd.Spec.Group; is != name {
			return []string{"it must be spec.names.plural, a dot and spec.group: " + name}
		}
		return nil
	})
	if stored != 1 {
		l = append(l, contradictory(crd.Pos, "set storage: true in one of them", "%d versions are storage versions, and it has to be one", stored))
	}
	return l
}

// contradictLive returns the contradictions between the CRD in the cluster, which an object was read
// into, and the CRDs before and after the change.
func (f *Facts) contradictLive(live *apiextensionsv1.CustomResourceDefinition, o *yamltext.Object) (l diag.List) {
	add := func(field, hint, format string, args ...any) {
		l = append(l, contradictory(o.Pos(o.Find(field)), hint, format, args...))
	}
	if !sameSpec(live, f.To) && !sameSpec(live, f.From) {
		add("spec", "use the output of kubectl get crd as OLD", "the CRD in the cluster is neither the one before nor the one after the change")
		return l
	}
	stored := live.Status.StoredVersions
	for i, v := range stored {
		if !has(live, v) {
			add(fmt.Sprintf("status.storedVersions[%d]", i), "get the CRD anew: the API server lets no such version be stored", "objects are stored in %s, which is not in spec.versions", v)
		}
	}
	if v := storage(live); !slices.Contains(stored, v) {
		add("status.storedVersions", "get the CRD anew, with its status", "status.storedVersions has not %s, which is the storage version", v)
	}
	return l
}
