package change

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// isAlone reports whether an object is a whole document instead of an item of a list. The user has
// then chosen this object.
func isAlone(o *yamltext.Object) bool { return o.Node == o.Document.Root }

// only returns diagnostics unless all objects of a file are of one kind. get is the hint for other
// kinds: the command that prints the expected objects.
func only(f *yamltext.ObjectFile, get string, is func(*yamltext.Object) bool) diag.List {
	var l diag.List
	for _, o := range f.Objects {
		if !is(o) {
			l = append(l, unusable(o.Pos(yamltext.ObjectPath{"kind"}), get, "%s of %s is not expected here", o.Kind, o.GroupVersion()))
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

func decode(o *yamltext.Object, into any) diag.List {
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
func (f *Facts) ReadLive(file *yamltext.ObjectFile) diag.List {
	get := "kubectl get crd " + f.To.Name + " -o yaml"
	kind := apiextensionsv1.SchemeGroupVersion.WithKind(yamltext.CRDCarrier().Kind)
	if wrong := only(file, get, func(o *yamltext.Object) bool { return o.GroupVersionKind == kind }); len(wrong) > 0 {
		return wrong
	}
	var found *yamltext.Object
	for _, o := range file.Objects {
		switch {
		case o.Name == f.To.Name && found != nil:
			d := contradictory(o.Pos(nil), "delete one of them", "%s is there twice", o)
			d.Related = []diag.Related{{Pos: found.Pos(nil), Message: "the other one"}}
			return diag.List{d}
		case o.Name == f.To.Name:
			found = o
		case isAlone(o):
			return diag.List{contradictory(o.Pos(yamltext.ObjectPath{"metadata", "name"}), get, "this is %s, and the change is of %s", o.Name, f.To.Name)}
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
		return diag.List{unusable(found.Pos(yamltext.ObjectPath{"status"}), get, "the CRD has no status.storedVersions: it is not from a cluster")}
	}
	if wrong := f.contradictLive(crd, found); len(wrong) > 0 {
		return wrong
	}
	f.Live = crd
	return nil
}

// migrationVersions are the versions of StorageVersionMigration. In the first one, the resource
// includes a version.
var migrationVersions = []string{"v1alpha1", "v1beta1", "v1"}

// ReadMigrations reads the migrations of the resource.
func (f *Facts) ReadMigrations(file *yamltext.ObjectFile) (l diag.List) {
	get := "kubectl get storageversionmigrations.storagemigration.k8s.io -o yaml"
	if wrong := only(file, get, func(o *yamltext.Object) bool {
		return o.Kind == "StorageVersionMigration" && o.Group == storagemigrationv1.GroupName && slices.Contains(migrationVersions, o.Version)
	}); len(wrong) > 0 {
		return wrong
	}
	f.Migrations = []storagemigrationv1.StorageVersionMigration{}
	for _, o := range file.Objects {
		m := storagemigrationv1.StorageVersionMigration{}
		if wrong := decode(o, &m); wrong != nil {
			return wrong
		}
		of := schema.GroupResource{Group: m.Spec.Resource.Group, Resource: m.Spec.Resource.Resource}
		switch {
		case of.Resource == "":
			return diag.List{unusable(o.Pos(yamltext.ObjectPath{"spec", "resource"}), get, "the migration does not say of which resource it is")}
		case of == f.Resource():
			f.Migrations = append(f.Migrations, m)
			if wrong := validation.IsDNS1123Subdomain(m.Name); wrong != nil {
				l = append(l, contradictory(o.Pos(o.Find("metadata.name")), "no API server accepts it", "%q is not a name: %s", m.Name, wrong[0]))
			}
			if is(m, storagemigrationv1.MigrationFailed) && is(m, storagemigrationv1.MigrationSucceeded) {
				l = append(l, contradictory(o.Pos(o.Find("status.conditions")), "delete it, and migrate again", "the migration has both succeeded and failed"))
			}
		case isAlone(o):
			return diag.List{contradictory(o.Pos(yamltext.ObjectPath{"spec", "resource"}), get, "this is a migration of %s, and the change is of %s", of, f.Resource())}
		}
	}
	return l
}

const getServers = "write a list, such as [v1.37.1, {name: a, version: v1.36.4}], or the output of kubectl get --raw /version of each API server"

// ReadServers reads the versions of API servers from a list, or from the output of kubectl get
// --raw /version or kubectl version -o yaml, with one document per server.
func ReadServers(name string, src []byte, limits yamltext.Limits) ([]Server, diag.List) {
	r := &yamltext.ConfigReader{File: name, Code: codes.UnusableFact}
	var found []yamltext.ConfigValue
	for _, n := range r.Documents(src, limits) {
		if root := r.Value(n, "v1.37.1"); root.Node.Kind == yaml.SequenceNode {
			found = append(found, root.Items()...)
		} else {
			found = append(found, root)
		}
	}
	if len(found) == 0 && len(r.Diags) == 0 {
		return nil, diag.List{unusable(diag.Pos{File: name}, getServers, "no API server is here")}
	}
	var servers []Server
	for _, v := range found {
		name, text := readServer(v)
		if text == "" {
			continue // a diagnostic says why
		}
		version, err := version.ParseGeneric(text)
		switch {
		case err != nil || version.Major() == 0:
			v.Errorf(getServers, "%q is not a version of Kubernetes", text)
		case name != "" && slices.ContainsFunc(servers, func(s Server) bool { return s.Name == name }):
			v.Errorf(getServers, "the API server %s is there twice", name)
		default:
			servers = append(servers, Server{name, version})
		}
	}
	if len(r.Diags) > 0 {
		return nil, r.Diags
	}
	return servers, nil
}

// readServer reads a version, a name and a version, or the version document of an API server. It
// returns no text after an error.
func readServer(v yamltext.ConfigValue) (name, text string) {
	field := func(name string) yamltext.ConfigValue {
		return v.Field(yamltext.ConfigKey{Name: name, Example: `"1.37"`})
	}
	if v.Node.Kind != yaml.MappingNode {
		return "", v.Text()
	}
	if field("version").Node != nil {
		fields := v.Fields(yamltext.ConfigMapping{Name: "an API server", Keys: []yamltext.ConfigKey{{Name: "name", Example: "a"}, {Name: "version", Example: `"1.37"`}}})
		return fields["name"].Text(), fields["version"].Text()
	}
	if server := field("serverVersion"); server.Node != nil {
		v = server
	} else if field("clientVersion").Node != nil {
		v.Errorf(getServers, "kubectl has reached no API server: there is no serverVersion")
		return "", ""
	}
	switch {
	case field("emulationMajor").Node != nil: // the server behaves like that version
		return "", field("emulationMajor").Text() + "." + field("emulationMinor").Text()
	case field("gitVersion").Node != nil:
		return "", field("gitVersion").Text()
	case field("major").Node != nil:
		return "", field("major").Text() + "." + field("minor").Text()
	}
	v.Errorf(getServers, "this is no version of an API server: there is no gitVersion")
	return "", ""
}
