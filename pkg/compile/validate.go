package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// validate runs the API server's validation on the whole resulting CRD. If it rejects an added
// rule, for example because it exceeds its budget or is too long for CEL, fit chooses other
// encodings. Only problems that compiling adds are errors; existing problems are warnings.
func (c *compiler) validate() {
	undo := func() {}
	// Below an unbounded list the preferred encoding rarely fits, and the estimator is
	// faster than a validation that fails.
	if slices.ContainsFunc(c.objects, c.unbounded) {
		if undo = c.undoable(); len(c.fit()) > 0 {
			undo()
		}
	}
	after, problems := c.judgeResult()
	if c.faulty(problems) {
		undo()
		c.overBudget(c.fit())
		if c.diags.HasErrors() {
			return
		}
		after, problems = c.judgeResult()
	}
	if len(problems) > 0 {
		_, before, err := c.judge(nil)
		if err != nil {
			c.report(diag.New(codes.UndecodableCRD, c.pos(c.manifest.Node), "%v", err))
			return
		}
		for _, e := range c.newErrors(problems, before) {
			c.report(diag.New(codes.InvalidResult, c.nearest(e.Field),
				"the API server would reject the compiled CRD: %s", said(e)).At(written(e.Field)))
		}
		c.reportBefore(before)
	}
	// The API server compiles no rules in a CRD that is not structural, and none for another
	// Kubernetes version.
	if len(problems) > 0 || c.kube.env != nil {
		c.compileAll(after)
	}
	if c.kube.env != nil {
		c.diags = append(c.diags, c.faults(codes.KubeVersion, c.kube.Version)...)
	}
}

// faults returns an error for each rule of the CRD, without the unions, that an API server does not
// support (see [server.Faults]).
func (c *compiler) faults(code diag.Code, older *version.Version) (l diag.List) {
	for _, f := range server.Faults(c.crd, older) {
		path := fmt.Sprintf("%s.x-kubernetes-validations[%d].rule", f.Structural(), f.Index)
		pos, rule := c.lookUp(path)
		if rule != nil {
			pos = c.pos(rule)
		}
		if older != nil {
			f.Hint = c.opts.Origins.Version(f.Hint)
		}
		l = append(l, diag.New(code, pos, "%s", f.Message).At(path).Hinted(f.Hint))
	}
	return l
}

// unbounded reports whether the path to an object leads through an unbounded list or map.
func (c *compiler) unbounded(o *unionObject) bool {
	for i, step := range o.Path {
		s := o.Up(i).Schema(c.crd)
		if step == schemapath.Items && s.MaxItems == nil || step == schemapath.Values && s.MaxProperties == nil {
			return true
		}
	}
	return false
}

// undoable saves the styles and diagnostics, and returns a function that restores them.
func (c *compiler) undoable() (undo func()) {
	diags := slices.Clip(c.diags)
	var styles [][]style
	for _, o := range c.objects {
		styles = append(styles, slices.Clone(o.styles))
	}
	return func() {
		c.diags = diags
		for i, o := range c.objects {
			copy(o.styles, styles[i])
		}
	}
}

// faulty reports whether an added rule or the cost of all rules may cause one of the problems.
func (c *compiler) faulty(problems field.ErrorList) bool {
	if len(problems) == 0 {
		return false
	}
	additions := c.additions()
	for _, e := range problems {
		if isOfTotal(e) {
			return true
		}
		for _, a := range additions {
			var i int
			at, ok := strings.CutPrefix(written(e.Field), a.Place.Structural()+".x-kubernetes-validations")
			if !ok {
				continue
			}
			if _, err := fmt.Sscanf(at, "[%d]", &i); err != nil || i >= len(a.Place.Schema(c.crd).XValidations) {
				return true
			}
		}
	}
	return false
}

// reportBefore warns of errors that the API server reports for the unmodified CRD.
func (c *compiler) reportBefore(before field.ErrorList) {
	for _, e := range before {
		c.report(diag.New(codes.InvalidBefore, c.find(written(e.Field)),
			"the API server rejects this CRD even without its unions: %s", said(e)).At(written(e.Field)))
	}
}

// judgeResult validates the CRD with the rules written so far.
func (c *compiler) judgeResult() (*apiextensions.CustomResourceDefinition, field.ErrorList) {
	crd, problems, err := c.judge(c.additions())
	if err != nil {
		return nil, field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return crd, problems
}

// maxFieldPaths is the number of invalid field paths that are left for the API server to validate:
// it converts the whole schema for each.
const maxFieldPaths = 100

// dropFieldPaths removes field paths from the rules of a schema and returns their number. It
// removes valid paths, which do not affect validation, and invalid paths beyond maxFieldPaths. It
// copies the rules, since other schemas share them.
func dropFieldPaths(s *apiextensions.JSONSchemaProps) (dropped int) {
	if s == nil {
		return 0
	}
	var paths []string
	for _, r := range s.XValidations {
		paths = append(paths, r.FieldPath)
	}
	if named := strings.Join(paths, " "); strings.TrimSpace(named) != "" {
		structural, err := structuralschema.NewStructural(onPaths(s, named))
		s.XValidations = slices.Clone(s.XValidations)
		wrong := 0
		for i, path := range paths {
			if path == "" {
				continue
			}
			valid := err == nil && !strings.ContainsAny(path, "\r\n")
			if valid {
				_, _, invalid := schemacel.ValidFieldPath(path, structural)
				valid = invalid == nil
			}
			if !valid {
				wrong++
			}
			if valid || wrong > maxFieldPaths {
				s.XValidations[i].FieldPath = ""
				dropped++
			}
		}
	}
	for name, property := range s.Properties {
		dropped += dropFieldPaths(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		dropped += dropFieldPaths(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		dropped += dropFieldPaths(s.AdditionalProperties.Schema)
	}
	for _, l := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range l {
			dropped += dropFieldPaths(&l[i])
		}
	}
	return dropped + dropFieldPaths(s.Not)
}

// onPaths returns the schema reduced to properties, at any depth, whose names occur in paths.
func onPaths(s *apiextensions.JSONSchemaProps, paths string) *apiextensions.JSONSchemaProps {
	out := &apiextensions.JSONSchemaProps{Type: s.Type, Properties: map[string]apiextensions.JSONSchemaProps{}}
	for name, property := range s.Properties {
		if strings.Contains(paths, name) {
			out.Properties[name] = *onPaths(&property, paths)
		}
	}
	return out
}

// Parts of budget errors that identify errors about the total cost.
const (
	overTotalBudget = "estimated rule cost total"
	inTotalBudget   = "contributed to estimated rule cost total"
)

// isOfTotal reports whether an error is about the total cost of the rules of a version.
func isOfTotal(e *field.Error) bool {
	return strings.Contains(e.Detail, inTotalBudget) || strings.Contains(e.Detail, overTotalBudget)
}

// identities returns texts that identify a validation error before and after compiling. They leave
// out the excess and contributors of a budget, and the dump of a schema. The API server hoists a
// schema that all versions share before validating it; the error then counts for each version.
func (c *compiler) identities(e *field.Error) []string {
	text := string(e.Type) + ": " + unnamed(e.Detail)
	switch v := e.BadValue.(type) {
	case string, bool, int, int64, float64:
		text += fmt.Sprintf(": %v", v)
	}
	path := e.Field
	if isOfTotal(e) {
		path, _, _ = strings.Cut(path, ".openAPIV3Schema")
		text = "total"
	}
	rest, hoisted := strings.CutPrefix(path, "spec.validation")
	if !hoisted {
		return []string{path + ": " + text}
	}
	var l []string
	for i := range c.crd.Spec.Versions {
		l = append(l, fmt.Sprintf("spec.versions[%d].schema%s: %s", i, rest, text))
	}
	return l
}

// newErrors returns the errors of l that are not in known.
func (c *compiler) newErrors(l, known field.ErrorList) field.ErrorList {
	seen := map[string]bool{}
	for _, e := range known {
		for _, id := range c.identities(e) {
			seen[id] = true
		}
	}
	var out field.ErrorList
	for _, e := range l {
		if slices.ContainsFunc(c.identities(e), func(id string) bool { return !seen[id] }) {
			out = append(out, e)
		}
	}
	return out
}

// written returns the path of a field in the manifest: the API server hoists a schema that all
// versions share before it validates the CRD.
func written(path string) string {
	if rest, ok := strings.CutPrefix(path, "spec.validation."); ok {
		return "spec.versions[0].schema." + rest
	}
	return path
}

// nearest returns the position of the declaration on the innermost schema that contains a field of
// the CRD, or the position of the field if there is none.
func (c *compiler) nearest(path string) diag.Pos {
	best, length := c.find(written(path)), 0
	for _, o := range c.objects {
		if place := o.Place.Structural(); strings.HasPrefix(written(path), place) && len(place) > length {
			best, length = o.Declarations[0].Pos, len(place)
		}
	}
	return best
}

// find returns the position of a field of the CRD, or of its nearest existing parent.
func (c *compiler) find(path string) diag.Pos {
	pos, _ := c.lookUp(path)
	return pos
}

// lookUp implements find. It also returns the value of the field, or nil.
func (c *compiler) lookUp(path string) (pos diag.Pos, at *yaml.Node) {
	at = c.manifest.Node
	pos = c.pos(at)
	for _, step := range steps.FindAllStringSubmatch(path, -1) {
		name, value := step[1]+step[2], (*yaml.Node)(nil)
		if i, err := strconv.Atoi(name); err == nil && at.Kind == yaml.SequenceNode && i < len(at.Content) {
			value = at.Content[i]
			pos = c.pos(value)
		} else if e := yamltext.Lookup(at, name); e.Key != nil {
			value = e.Value
			pos = c.pos(e.Key)
		}
		if at = yamltext.Resolve(value); at == nil {
			break
		}
	}
	return pos, at
}

// steps matches the elements of a path as field.Path prints it: .name or [key].
var steps = regexp.MustCompile(`(?:^|\.)([^.\[\]]+)|\[([^\]]*)\]`)

// said returns the message of an API server error. It quotes only the text of a rule.
func said(e *field.Error) string {
	if r, ok := e.BadValue.(apiextensions.ValidationRule); ok {
		short := *e
		short.BadValue = r.Rule
		e = &short
	}
	return shorten(unnamed(e.ErrorBody()))
}

// typeNames matches the random names that the API server gives to schema types when it compiles
// a rule.
var typeNames = regexp.MustCompile(`\bselfType[0-9]+\b`)

// unnamed replaces the names of types by self.
func unnamed(s string) string { return typeNames.ReplaceAllString(s, "self") }

// shorten removes the middle of a long error, such as the dump of a schema.
func shorten(s string) string {
	const limit = 400
	if len(s) <= limit {
		return s
	}
	head, tail := s[:limit/4], s[len(s)-limit/2:]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}
