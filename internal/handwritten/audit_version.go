package handwritten

import (
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// otherVersions finds another served version that has the schema of a rule without the rule, and
// accepts an object that the rule rejects.
func (o *object) otherVersions(a *audited, versions []*version) []Finding {
	if a.Test.Changing() {
		return nil
	}
	for _, other := range versions {
		s := a.rule.path.Schema(other.written)
		if other.index == o.index || s == nil || !sameProperties(a.Schema.Props, s) || hasRule(s, a.rule) {
			continue
		}
		e, response := o.find(func(e *prove.Example) (string, bool) {
			response, ok := o.rejects(a, sample.Fails, e.New)
			if !ok {
				return "", false
			}
			there := runtime.DeepCopyJSON(e.New)
			there["apiVersion"] = o.crd.Spec.Group + "/" + other.name
			stored, err := other.judge.Create(o.Source.Context(), there)
			if err != nil || stored.Refused != nil {
				return "", false
			}
			stored.Object["apiVersion"] = e.New["apiVersion"]
			said, _ := o.Ask(a.Check, stored.Object, nil) // the other version may set defaults
			return response, said == sample.Fails
		}, append(o.others(a.Check), o.create(), a.Place.Present(), a.Holds.Not(), a.Fails.Not())...)
		if e == nil {
			continue
		}
		f := o.finding(codes.OtherVersion, a.rule, e, response, "version %s, also served, has the same properties here without this rule: it accepts objects that the rule rejects", other.name).
			hinted("add the rule to version %s", other.name)
		at := o.source.Keyword(schemapath.Place{Version: other.index, Name: other.name, Path: a.rule.path}, "")
		f.Related = []diag.Related{{Pos: at, Message: "the schema without the rule"}}
		return []Finding{f}
	}
	return nil
}

// sameProperties reports whether two schemas have the same type and the same properties.
func sameProperties(a, b *apiextensionsv1.JSONSchemaProps) bool {
	return a.Type == b.Type && maps.EqualFunc(a.Properties, b.Properties, func(p, q apiextensionsv1.JSONSchemaProps) bool { return p.Type == q.Type })
}

// hasRule reports whether a schema has a rule with the text or the message of another.
func hasRule(s *apiextensionsv1.JSONSchemaProps, r rule) bool {
	bare := func(text string) string { return strings.Join(strings.Fields(text), "") }
	for _, v := range s.XValidations {
		if bare(v.Rule) == bare(r.Text) || v.Message != "" && v.Message == r.Validation.Message {
			return true
		}
	}
	return false
}
