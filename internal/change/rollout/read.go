package rollout

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// isAlone reports whether an object is a whole document instead of an item of a list. The user has
// then chosen this object.
func isAlone(o *resource.Object) bool { return o.Node == o.Document.Root }

// only returns diagnostics unless all objects of a file are of one kind. get is the hint for other
// kinds: the command that prints the expected objects.
func only(f *resource.File, get string, is func(*resource.Object) bool) diag.List {
	var l diag.List
	for _, o := range f.Objects {
		if !is(o) {
			l = append(l, unusable(o.Pos(resource.Path{"kind"}), get, "%s of %s is not expected here", o.Kind, o.GroupVersion()))
		}
	}
	if len(f.Objects) == 0 {
		for _, d := range f.Docs {
			if d.Root == nil || d.Root.Kind != yaml.MappingNode || yamltext.Value(d.Root, "items") == nil {
				l = append(l, unusable(diag.Pos{File: f.Name}, get, "no object is here"))
				break
			}
		}
	}
	return l
}

func unusable(pos diag.Pos, hint, format string, args ...any) diag.Diagnostic {
	return diag.New(codes.UnusableFact, pos, format, args...).Hinted(hint)
}

func contradictory(pos diag.Pos, hint, format string, args ...any) diag.Diagnostic {
	return diag.New(codes.ContradictoryFacts, pos, format, args...).Hinted(hint)
}

func decode(o *resource.Object, into any) diag.List {
	data, err := json.Marshal(o.Value)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return diag.List{unusable(o.Pos(nil), "", "the API server cannot read this %s: %v", o.Kind, err)}
	}
	return nil
}

// ReadLive reads the CRD in the cluster, with its status, from the output of kubectl get. It skips
// other items of lists. Another CRD as a whole document is an error, because the user has chosen the
// wrong one.
func (f *Facts) ReadLive(file *resource.File) diag.List {
	get := "kubectl get crd " + f.To.Name + " -o yaml"
	kind := apiextensionsv1.SchemeGroupVersion.WithKind(carrier.CRD().Kind)
	if wrong := only(file, get, func(o *resource.Object) bool { return o.GroupVersionKind == kind }); len(wrong) > 0 {
		return wrong
	}
	var found *resource.Object
	for _, o := range file.Objects {
		switch {
		case o.Name == f.To.Name && found != nil:
			d := contradictory(o.Pos(nil), "delete one of them", "%s is there twice", o)
			d.Related = []diag.Related{{Pos: found.Pos(nil), Message: "the other one"}}
			return diag.List{d}
		case o.Name == f.To.Name:
			found = o
		case isAlone(o):
			return diag.List{contradictory(o.Pos(resource.Path{"metadata", "name"}), get, "this is %s, and the change is of %s", o.Name, f.To.Name)}
		}
	}
	if found == nil {
		return diag.List{contradictory(diag.Pos{File: file.Name}, get, "%s is not among these CRDs", f.To.Name)}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if wrong := decode(found, crd); wrong != nil {
		return wrong
	}
	if len(crd.Status.StoredVersions) == 0 {
		return diag.List{unusable(found.Pos(resource.Path{"status"}), get, "the CRD has no status.storedVersions: it is not from a cluster")}
	}
	f.Live, f.Origins.Live = crd, found
	return nil
}

// migrationVersions are the versions of StorageVersionMigration. In the first one, the resource
// includes a version.
var migrationVersions = []string{"v1alpha1", "v1beta1", "v1"}

// ReadMigrations reads the migrations of the resource.
func (f *Facts) ReadMigrations(file *resource.File) diag.List {
	get := "kubectl get storageversionmigrations.storagemigration.k8s.io -o yaml"
	if wrong := only(file, get, func(o *resource.Object) bool {
		return o.Kind == "StorageVersionMigration" && o.Group == storagemigrationv1.GroupName && slices.Contains(migrationVersions, o.Version)
	}); len(wrong) > 0 {
		return wrong
	}
	f.Migrations = []Migration{}
	for _, o := range file.Objects {
		m := &storagemigrationv1.StorageVersionMigration{}
		if wrong := decode(o, m); wrong != nil {
			return wrong
		}
		of := schema.GroupResource{Group: m.Spec.Resource.Group, Resource: m.Spec.Resource.Resource}
		switch {
		case of.Resource == "":
			return diag.List{unusable(o.Pos(resource.Path{"spec", "resource"}), get, "the migration does not say of which resource it is")}
		case of == f.Resource():
			f.Migrations = append(f.Migrations, Migration{m.Name, m.CreationTimestamp.Time, m.Status.Conditions})
			f.Origins.Migrations = append(f.Origins.Migrations, o)
		case isAlone(o):
			return diag.List{contradictory(o.Pos(resource.Path{"spec", "resource"}), get, "this is a migration of %s, and the change is of %s", of, f.Resource())}
		}
	}
	return nil
}

const getServers = "write a list, such as [v1.37.1, {name: a, version: v1.36.4}], or the output of kubectl get --raw /version of each API server"

// ReadServers reads the versions of API servers from a list, or from the output of kubectl get
// --raw /version or kubectl version -o yaml, with one document per server.
func ReadServers(name string, src []byte, limits limit.Limits) ([]Server, diag.List) {
	file, wrong := source.Parse(name, src, limits)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	r := serverReader{name: name, names: sets.New[string]()}
	for _, d := range file.Docs {
		if d.Root == nil {
			continue
		}
		r.wrong = append(r.wrong, source.Duplicates(name, d.Root)...)
		_, v, wrong := source.Value(name, file, d)
		if wrong != nil {
			r.wrong = append(r.wrong, *wrong)
			continue
		}
		root := yamltext.Resolve(d.Root)
		items, ok := v.([]any)
		if !ok || len(items) != len(root.Content) {
			r.server(root, v)
			continue
		}
		for i, item := range items {
			r.item(yamltext.Resolve(root.Content[i]), item)
		}
	}
	if len(r.servers) == 0 && len(r.wrong) == 0 {
		r.fail(nil, "no API server is here")
	}
	if len(r.wrong) > 0 {
		return nil, r.wrong
	}
	return r.servers, nil
}

type serverReader struct {
	name    string
	servers []Server
	names   sets.Set[string]
	wrong   diag.List
}

func (r *serverReader) fail(n *yaml.Node, format string, args ...any) {
	pos := diag.Pos{File: r.name}
	if n != nil {
		pos.Line, pos.Col = n.Line, n.Column
	}
	r.wrong = append(r.wrong, unusable(pos, getServers, format, args...))
}

// item reads an item of a list: a version, or a name and a version.
func (r *serverReader) item(n *yaml.Node, v any) {
	switch v := v.(type) {
	case string:
		r.add(n, "", v)
		return
	case map[string]any:
		if _, ok := v["version"]; !ok {
			r.server(n, v)
			return
		}
		for key := range v {
			if key != "name" && key != "version" {
				r.fail(n, "%q is not known of an API server", key)
				return
			}
		}
		name, ok := v["name"].(string)
		version, is := v["version"].(string)
		if is && (ok || v["name"] == nil) {
			r.add(n, name, version)
			return
		}
		r.fail(n, "name and version have to be strings: quote them")
		return
	}
	r.fail(n, "%s is not a string: quote it", strings.TrimSpace(n.Value))
}

// server reads the version document of an API server.
func (r *serverReader) server(n *yaml.Node, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(n, "this is no version of an API server")
		return
	}
	if _, ok := m["clientVersion"]; ok {
		if m, ok = m["serverVersion"].(map[string]any); !ok {
			r.fail(n, "kubectl has reached no API server: there is no serverVersion")
			return
		}
	}
	data, err := json.Marshal(m)
	var info apiversion.Info
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	switch {
	case err != nil:
		r.fail(n, "this is no version of an API server: %v", err)
	case info.EmulationMajor != "": // the server behaves like that version
		r.add(n, "", info.EmulationMajor+"."+info.EmulationMinor)
	case info.GitVersion != "":
		r.add(n, "", info.GitVersion)
	case info.Major != "":
		r.add(n, "", info.Major+"."+info.Minor)
	default:
		r.fail(n, "this is no version of an API server: there is no gitVersion")
	}
}

func (r *serverReader) add(n *yaml.Node, name, text string) {
	v, err := version.ParseGeneric(text)
	if err != nil || v.Major() == 0 {
		r.fail(n, "%q is not a version of Kubernetes", text)
		return
	}
	if name != "" && r.names.Has(name) {
		r.fail(n, "the API server %s is there twice", name)
		return
	}
	r.names.Insert(name)
	r.servers = append(r.servers, Server{name, v})
}
