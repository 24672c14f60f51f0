package product

import (
	"cmp"
	"regexp"
	"strconv"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// resultSubject is the subject of the diagnostics with a file name.
type resultSubject struct {
	resource *yaml.ResourceIdentifier // nil if the text determines the resource
	path     string                   // the field, unless the diagnostic has a path
	file     string                   // the source file
	index    string                   // the index of the document in the file
	text     []byte                   // the text of the file
	objects  []fileObject             // the objects in the text, read on first use
}

// resourceOf returns a reference to an object, or nil if it lacks an apiVersion, kind or name.
func resourceOf(n *yaml.RNode) *yaml.ResourceIdentifier {
	id := identify(n)
	if id.APIVersion == "" || id.Kind == "" || id.Name == "" {
		return nil
	}
	return &id
}

// results converts diagnostics to the results of the list.
func (r *run) results(l diag.List) (results framework.Results) {
	for _, d := range l {
		results = append(results, r.result(d))
	}
	return results
}

func (r *run) result(d diag.Diagnostic) *framework.Result {
	s := r.subjects[d.Pos.File]
	res := &framework.Result{Message: diag.Escape(d.Message), Severity: framework.Severity(d.Severity.String()), Tags: map[string]string{"code": string(d.Code)}}
	if d.Hint != "" {
		res.Message += "\nhint: " + diag.Escape(d.Hint)
	}
	if d.Pos.Line > 0 {
		res.Tags["line"] = strconv.Itoa(d.Pos.Line)
	}
	if d.Pos.Line > 0 && d.Pos.Col > 0 {
		res.Tags["column"] = strconv.Itoa(d.Pos.Col)
	}
	if s.file != "" {
		res.File = &framework.File{Path: s.file}
		res.File.Index, _ = strconv.Atoi(s.index)
	}
	res.ResourceRef = s.resource
	if s.text != nil && d.Pos.Line > 0 {
		res.ResourceRef, res.File.Index = r.objectAt(d.Pos)
	}
	// A result with a field requires a resource.
	if path := cmp.Or(s.path, d.Schema, d.Path); path != "" && res.ResourceRef != nil {
		res.Field = &framework.Field{Path: propertyInPath.ReplaceAllString(path, "properties.$1")}
	}
	return res
}

// propertyInPath matches a property in the API server's form of a schema path.
var propertyInPath = regexp.MustCompile(`\bproperties\[([A-Za-z0-9_-]+)\]`)

// fileObject is an object in a file.
type fileObject struct {
	line int
	ref  *yaml.ResourceIdentifier
}

// objectAt returns the object at a line of a file, and the index of its document.
func (r *run) objectAt(at diag.Pos) (*yaml.ResourceIdentifier, int) {
	s := r.subjects[at.File]
	if s.objects == nil {
		s.objects = objectsOf(s.text)
		r.concern(at.File, s)
	}
	i := 0
	for i+1 < len(s.objects) && s.objects[i+1].line <= at.Line {
		i++
	}
	if i == len(s.objects) {
		return nil, 0
	}
	return s.objects[i].ref, i
}

func objectsOf(text []byte) []fileObject {
	l := []fileObject{}
	file, wrong := yamltext.ParseManifest("", text, yamltext.Unlimited())
	if wrong != nil {
		return l
	}
	for _, d := range file.Docs {
		if d.Root != nil {
			l = append(l, fileObject{d.Root.Line, resourceOf(yaml.NewRNode(d.Root))})
		}
	}
	return l
}
