package change

import (
	"cmp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Keyword is the kind of a constraint: a keyword of the schema, or a Keyword below.
type Keyword string

// The constraints that are not OpenAPI keywords.
const (
	// StaticRule is a CEL rule that does not read oldSelf.
	StaticRule Keyword = "rule"
	// TransitionRule is a CEL rule that reads oldSelf, which may be optional.
	TransitionRule Keyword = "transition rule"
	// EvaluationError is a rule that fails to evaluate: for example, it reads an absent field.
	EvaluationError Keyword = "evaluation error"
	// Budget is the cost budget for all rules.
	Budget Keyword = "CEL budget"
	// ListType is x-kubernetes-list-type: items of a set or map must differ.
	ListType Keyword = "x-kubernetes-list-type"
	// EmbeddedResource is the server's validation of embedded resources.
	EmbeddedResource Keyword = "x-kubernetes-embedded-resource"
	// ObjectMeta is the server's validation of the metadata of every object.
	ObjectMeta Keyword = "metadata"
	// Scale is the validation of fields that the scale subresource reads.
	Scale Keyword = "scale"
	// Typed is the conversion of server-side apply, which requires the types of the schema.
	Typed Keyword = "server-side apply"
	// Malformed is an object that the server cannot decode.
	Malformed Keyword = "malformed"
	// Other is an unknown constraint.
	Other Keyword = "schema"
)

// Constraint is a constraint that an object violates.
type Constraint struct {
	Keyword Keyword `json:"keyword"`
	// Path leads to the schema with the constraint.
	Path schemapath.Path `json:"path"`
	// Rule is the text of a CEL rule.
	Rule string `json:"rule,omitempty"`
}

// IsRule reports whether the constraint is a CEL rule, including a rule that fails to evaluate.
func (c Constraint) IsRule() bool {
	return c.Keyword == StaticRule || c.Keyword == TransitionRule || c.Keyword == EvaluationError
}

func (c Constraint) readsOld() bool {
	return formula.ReadsOld(apiextensionsv1.ValidationRule{Rule: c.Rule})
}

// String returns the constraint and its path.
func (c Constraint) String() string {
	return string(c.Keyword) + " of " + cmp.Or(c.Path.String(), "the root")
}

// place is the path of a value in an object.
type place = yamltext.ObjectPath

// celRule is a CEL rule of a version.
type celRule struct {
	apiextensionsv1.ValidationRule
	version  string
	path     schemapath.Path
	index    int // in its schema
	readsOld bool
}

func rulesOf(crd *apiextensionsv1.CustomResourceDefinition, version string) []*celRule {
	var l []*celRule
	schemapath.Walk(SchemaOf(crd, version), func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		for i, r := range s.XValidations {
			l = append(l, &celRule{r, version, slices.Clone(p), i, formula.ReadsOld(r)})
		}
		return true
	})
	return l
}

// says reports whether an error may be a failure of the rule, or of its evaluation.
func (r *celRule) says(e *field.Error) (failed, evaluation bool) {
	name := strings.TrimSpace(cmp.Or(r.Message, r.Rule))
	if e.Type == field.ErrorTypeInvalid && (strings.HasSuffix(e.Detail, " evaluating rule: "+name) || strings.HasSuffix(e.Detail, " for rule: "+name)) {
		return false, true
	}
	want := field.ErrorTypeInvalid
	if r.Reason != nil {
		switch *r.Reason {
		case apiextensionsv1.FieldValueForbidden:
			want = field.ErrorTypeForbidden
		case apiextensionsv1.FieldValueRequired:
			want = field.ErrorTypeRequired
		case apiextensionsv1.FieldValueDuplicate:
			return e.Type == field.ErrorTypeDuplicate, false // the error has no message
		}
	}
	message := strings.TrimSpace(r.Message)
	if message == "" {
		message = "failed rule: " + name
	}
	return e.Type == want && (e.Detail == message || r.MessageExpression != ""), false
}

// problem finds the constraint that an error violates. ask repeats the write for another kind.
func (c *inquiry) problem(e *field.Error, ask func(*server.Kind) (server.Answer, error)) (Problem, error) {
	p := Problem{Field: e.Field, Message: e.ErrorBody()}
	if p.Field == "<nil>" {
		p.Field = ""
	}
	where := p.Field
	// Errors of oneOf and similar keywords are on the object, and quote the field.
	if rest, ok := strings.CutPrefix(e.Detail, `"`); ok && where == "" {
		if name, _, ok := strings.Cut(rest, `" must `); ok {
			where, p.Field = name, name
		}
	}
	at := (&yamltext.Object{Value: c.read}).Find(where)
	root := c.root()
	path := pathOf(root, at)
	r, evaluation, err := c.ruleOf(e, path, ask)
	if err != nil {
		return p, err
	}
	if r != nil {
		p.at = at[:len(r.path)]
		p.Constraint = Constraint{Keyword: StaticRule, Path: r.path, Rule: r.Rule}
		switch {
		case evaluation:
			p.Constraint.Keyword = EvaluationError
		case r.readsOld:
			p.Constraint.Keyword = TransitionRule
		}
		return p, nil
	}
	p.at = at
	p.Constraint = Constraint{Keyword: keywordOf(e, where, path.Schema(root)), Path: path}
	if embedded := embeddedOn(root, path); embedded != nil && p.Constraint.Keyword == Other {
		p.Constraint = Constraint{Keyword: EmbeddedResource, Path: embedded}
	}
	return p, nil
}

// root returns the schema of the version.
func (c *inquiry) root() *apiextensionsv1.JSONSchemaProps { return c.rootOf(c.version) }

func (j *Judge) rootOf(version string) *apiextensionsv1.JSONSchemaProps {
	return cmp.Or(SchemaOf(j.crd, version), &apiextensionsv1.JSONSchemaProps{})
}

// ruleOf returns the rule that caused an error at a path, or nil. If several rules match the error,
// it repeats the write with each rule alone.
func (c *inquiry) ruleOf(e *field.Error, path schemapath.Path, ask func(*server.Kind) (server.Answer, error)) (r *celRule, evaluation bool, err error) {
	if e.Type == field.ErrorTypeRequired && e.Detail == "" {
		return nil, false, nil
	}
	var l []*celRule
	for _, r := range c.rules[c.version] {
		if len(r.path) > len(path) || !r.path.Equal(path[:len(r.path)]) {
			continue
		}
		if failed, unevaluated := r.says(e); failed || unevaluated {
			l, evaluation = append(l, r), unevaluated
		}
	}
	if len(l) == 1 && (evaluation || l[0].MessageExpression == "" && e.Type != field.ErrorTypeDuplicate) {
		return l[0], evaluation, nil
	}
	for _, r := range l {
		kind, err := c.only(r)
		if err != nil {
			return nil, false, err
		}
		if answer, err := ask(kind); err != nil {
			return nil, false, err
		} else if says(answer, e) {
			_, evaluation := r.says(e)
			return r, evaluation, nil
		}
	}
	return nil, false, nil
}

// only returns the kind of the CRD with a single rule, and without all other rules and constraints
// in the schemas.
func (c *inquiry) only(r *celRule) (*server.Kind, error) {
	if k, ok := c.alone.Load(r); ok {
		return k.(*server.Kind), nil
	}
	crd := c.crd.DeepCopy()
	for i, v := range crd.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var kept apiextensionsv1.ValidationRules
		if v.Name == r.version {
			kept = apiextensionsv1.ValidationRules{r.path.Schema(v.Schema.OpenAPIV3Schema).XValidations[r.index]}
		}
		withoutRules(v.Schema.OpenAPIV3Schema)
		if v.Name == r.version {
			r.path.Edit(crd.Spec.Versions[i].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = kept })
		}
	}
	k, err := server.NewKindFor(crd, c.opts.KubeVersion)
	if err == nil {
		c.alone.Store(r, k)
	}
	return k, err
}

// withoutRules removes all rules from a schema.
func withoutRules(root *apiextensionsv1.JSONSchemaProps) {
	type schemas = []apiextensionsv1.JSONSchemaProps
	root.XValidations = nil
	for name, s := range root.Properties {
		withoutRules(&s)
		root.Properties[name] = s
	}
	if root.Items != nil && root.Items.Schema != nil {
		withoutRules(root.Items.Schema)
	}
	if root.AdditionalProperties != nil && root.AdditionalProperties.Schema != nil {
		withoutRules(root.AdditionalProperties.Schema)
	}
	if root.Not != nil {
		withoutRules(root.Not)
	}
	for _, l := range []schemas{root.AllOf, root.AnyOf, root.OneOf} {
		for i := range l {
			withoutRules(&l[i])
		}
	}
}

// pathOf returns the path to the schema of a value, or to the last schema on the way.
func pathOf(root *apiextensionsv1.JSONSchemaProps, at place) schemapath.Path {
	var p schemapath.Path
	for _, step := range at {
		next := schemapath.Items
		if name, ok := step.(string); ok {
			if next = schemapath.Property(name); next.Schema(root) == nil {
				next = schemapath.Values
			}
		}
		if root = next.Schema(root); root == nil {
			return p
		}
		p = p.Append(next)
	}
	return p
}

// embeddedOn returns the path of the innermost embedded resource along a path, or nil.
func embeddedOn(root *apiextensionsv1.JSONSchemaProps, p schemapath.Path) schemapath.Path {
	for ; len(p) > 0; p = p[:len(p)-1] {
		if p.Schema(root).XEmbeddedResource {
			return p
		}
	}
	return nil
}

// keywords maps the text of an error to the violated keyword.
var keywords = []struct {
	says    string
	keyword Keyword
}{
	{"must validate one and only one schema (oneOf)", "oneOf"},
	{"must validate at least one schema (anyOf)", "anyOf"},
	{"must validate all the schemas (allOf)", "allOf"},
	{"must not validate the schema (not)", "not"},
	{"should be at least ", "minLength"},
	{"should be at most ", "maxLength"},
	{"should match '", "pattern"},
	{"should be a multiple of ", "multipleOf"},
	{"should be less than ", "maximum"},
	{"should be greater than ", "minimum"},
	{"shouldn't contain duplicates", "uniqueItems"},
	{"should have at least ", "minItems"},
	{"should have at most ", "maxItems"},
	{"must be of type ", "type"},
	{"server-side apply in ", Typed},
	{"running out of cost budget", Budget},
	{"accessor error", Scale},
	{"should be a non-negative integer", Scale},
}

// keywordOf returns the keyword of a schema that an error at a path violates.
func keywordOf(e *field.Error, where string, s *apiextensionsv1.JSONSchemaProps) Keyword {
	if where == "metadata" || strings.HasPrefix(where, "metadata.") {
		return ObjectMeta
	}
	if s == nil {
		s = &apiextensionsv1.JSONSchemaProps{}
	}
	switch e.Type {
	case field.ErrorTypeNotSupported:
		return "enum"
	case field.ErrorTypeRequired:
		name := where[strings.LastIndex(where, ".")+1:]
		if slices.Contains(s.Required, name) {
			return "required"
		}
		return compositionOf(s)
	case field.ErrorTypeTypeInvalid:
		if s.Format != "" && strings.Contains(e.Detail, "must be of type "+s.Format) {
			return "format"
		}
		return "type"
	case field.ErrorTypeTooLong:
		return "maxLength"
	case field.ErrorTypeTooMany:
		if s.Type == "object" {
			return "maxProperties"
		}
		return "maxItems"
	case field.ErrorTypeDuplicate:
		return ListType
	}
	for _, k := range keywords {
		if strings.Contains(e.Detail, k.says) {
			if s.Type == "object" {
				return Keyword(strings.Replace(string(k.keyword), "Items", "Properties", 1))
			}
			return k.keyword
		}
	}
	return Other
}

// compositionOf returns the composition keyword of a schema that may cause an error.
func compositionOf(s *apiextensionsv1.JSONSchemaProps) Keyword {
	switch {
	case len(s.OneOf) > 0:
		return "oneOf"
	case len(s.AnyOf) > 0:
		return "anyOf"
	case len(s.AllOf) > 0:
		return "allOf"
	}
	return "required"
}
