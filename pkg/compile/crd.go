package compile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/json"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// decode reads the manifest as the API server does, and warns of unknown fields.
func (c *compiler) decode() {
	c.carrier = carrierOf(c.manifest.Node)
	crd, unknown, err := c.carrier.Decode(c.manifest.JSON)
	if err != nil {
		// A likely reason is a name such as an unquoted yes: ambiguous reports its
		// position.
		for _, l := range c.located.objects {
			c.diags = append(c.diags, c.ambiguous(&unionObject{location: l})...)
		}
		if c.diags.HasErrors() {
			return
		}
		c.report(diag.New(codes.UndecodableCRD, c.pos(c.manifest.Node),
			"the API server cannot read this %s: %s", c.carrier.Kind, strings.TrimPrefix(err.Error(), "json: ")).
			Hinted("compare it with kubectl explain " + strings.ToLower(c.carrier.Kind) + ".spec --recursive"))
		return
	}
	c.crd = crd
	for _, e := range unknown {
		path := e.Error()
		if f, ok := e.(json.FieldError); ok { //nolint:errorlint // an element of a list, never wrapped
			path = f.FieldPath()
		}
		at := c.find(path)
		declares := slices.Contains(union.Keys(), path[strings.LastIndexByte(path, '.')+1:])
		said := slices.ContainsFunc(c.diags, func(d diag.Diagnostic) bool { return d.Pos == at || declares && d.Code == codes.Misplaced })
		if !strings.HasSuffix(path, union.Key) && !said {
			c.report(diag.New(codes.InvalidBefore, at,
				"kubectl's strict validation rejects this CRD even without its unions: %v", e).At(path))
		}
	}
	names := map[string]bool{}
	for i, v := range c.crd.Spec.Versions {
		if names[v.Name] {
			c.report(diag.New(codes.UndecodableCRD, c.pos(c.manifest.Node),
				"there are two versions named %q", v.Name).At(fmt.Sprintf("spec.versions[%d].name", i)).
				Hinted("rename one of them"))
		}
		names[v.Name] = true
	}
}

// carrierOf returns the kind of a manifest, CustomResourceDefinition if the kind is unknown.
func carrierOf(n *yaml.Node) *yamltext.Carrier {
	if k, _ := yamltext.LookupCarrier(yamltext.Text(n, "apiVersion"), yamltext.Text(n, "kind")); k != nil {
		return k
	}
	return yamltext.CRDCarrier()
}

// carry reports rules that do not reach the API server, and rules that read properties that do not.
func (c *compiler) carry() {
	said := map[string]bool{}
	report := func(at schemapath.Place, path schemapath.Path) {
		why, always := c.carrier.Lost(path)
		if why == "" || said[at.Structural()] {
			return
		}
		said[at.Structural()] = true
		d := diag.New(codes.NotCarried, c.nearest(at.Structural()), "%s, so these rules have no effect", why).In(at).
			Hinted("declare the union on an object in spec or status")
		if !always {
			d.Severity = diag.Warning
		}
		c.report(d)
	}
	for _, o := range c.objects {
		for _, u := range o.Unions {
			for _, name := range append(u.MemberNames(), u.Discriminator) {
				if name != "" {
					report(o.Place, o.Path.Append(u.Path(name)...))
				}
			}
		}
	}
	for _, a := range c.additions() {
		report(a.Place, a.Path)
	}
}

func validationRules(l []rules.Rule, f rules.Features) []apiextensionsv1.ValidationRule {
	var out []apiextensionsv1.ValidationRule
	for _, r := range l {
		out = append(out, r.Trim(f).Validation())
	}
	return out
}

// extended returns a copy of the CRD with the additions, or the CRD itself if there are none.
func (c *compiler) extended(additions []Addition) *apiextensionsv1.CustomResourceDefinition {
	crd := c.crd
	if len(additions) > 0 {
		crd = editable(crd)
	}
	for _, a := range additions {
		a.Path.Edit(crd.Spec.Versions[a.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
			s.XValidations = append(slices.Clip(s.XValidations), validationRules(a.Rules, c.kube.features)...)
		})
	}
	return crd
}

// editable returns a shallow copy of a CRD, deep enough for [schemapath.Path.Edit].
func editable(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	copied := *crd
	copied.Spec.Versions = slices.Clone(crd.Spec.Versions)
	for i, v := range copied.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			root := *v.Schema.OpenAPIV3Schema
			copied.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root}
		}
	}
	return &copied
}

// verdicts caches validation errors by CRD: compiling a compiled file again validates the
// same CRD twice.
var verdicts = lru.New(64)

// judge returns the CRD with the additions, and the errors of the API server's validation
// on creation.
func (c *compiler) judge(additions []Addition) (*apiextensions.CustomResourceDefinition, field.ErrorList, error) {
	extended := c.extended(additions)
	crd, err := server.InternalCRD(extended)
	if err != nil {
		return nil, nil, err
	}
	content, err := extended.Marshal()
	if err != nil {
		return nil, nil, err
	}
	key := sha256.Sum256(content)
	if l, ok := verdicts.Get(key); ok {
		return crd, slices.Clone(l.(field.ErrorList)), nil
	}
	dropped := 0
	if v := crd.Spec.Validation; v != nil {
		dropped += dropFieldPaths(v.OpenAPIV3Schema)
	}
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil {
			dropped += dropFieldPaths(v.Schema.OpenAPIV3Schema)
		}
	}
	l := validation.ValidateCustomResourceDefinition(context.Background(), crd)
	if len(l) > 0 && 0 < dropped && dropped <= maxFieldPaths {
		// The API server reports a default that violates a rule at the rule's fieldPath.
		if crd, err = server.InternalCRD(extended); err != nil {
			return nil, nil, err
		}
		l = validation.ValidateCustomResourceDefinition(context.Background(), crd)
	}
	verdicts.Add(key, l)
	return crd, l, nil
}

// correlation sets o.uncorrelated or o.removable.
func (c *compiler) correlation(o *unionObject) {
	if list, ok := o.Place.Unmatched(c.crd); ok {
		o.uncorrelated = list.String()
		return
	}
	for i, step := range o.Path {
		if _, ok := step.Property(); !ok {
			o.removable = o.Up(i).String()
		}
	}
}

// meanings returns sorted texts that are equal if the unions mean the same. Only members for which
// has is true count.
func meanings(unions []*union.Union, has func(string) bool) []string {
	var l []string
	for _, u := range unions {
		if u == nil {
			continue
		}
		// Names, messages, known values and the handling of hand-written rules do not
		// affect validation.
		v := *u
		v.Name, v.Values, v.Replace, v.Message, v.Messages = "", nil, false, union.Texts{}, nil
		v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m union.Member) bool { return !has(m.Name) })
		if len(v.Members) < len(u.Members) {
			v.Allowed = nil // its rows may name values of removed members
		}
		slices.SortFunc(v.Members, func(a, b union.Member) int { return strings.Compare(a.Name, b.Name) })
		for i := range v.Members {
			v.Members[i].Values = slices.Sorted(slices.Values(v.Members[i].Values))
			v.Members[i].Optional = slices.Sorted(slices.Values(v.Members[i].Optional))
		}
		l = append(l, fmt.Sprintf("%+v", v)) // %+v prints maps sorted
	}
	slices.Sort(l)
	return l
}
