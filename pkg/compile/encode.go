package compile

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// encode chooses the ways to write that unions start from: the best. additions
// writes the rules.
func (c *compiler) encode() {
	for _, o := range c.objects {
		for i, u := range o.Unions {
			s := style{encoding: c.encodings(u)[0], openAPI: c.openAPI(o, i)}
			o.styles = append(o.styles, s)
			if c.opts.Encoding == Fine && !u.Ratchet && s.encoding != rules.Fine {
				c.report(diag.Diagnostic{Code: diag.CoarserEncoding, Severity: diag.Info, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Schema: o.Place.Structural(),
					Message: fmt.Sprintf("the rules are written %s: %s", described(s.encoding, u), tooManyForFine),
					Hint:    "they mean the same; unioncel explain shows the costs"})
			}
		}
		c.unguardable(o)
	}
}

// additions writes all rules, and schemas in their place, in the encodings chosen
// so far, without those already present.
func (c *compiler) additions() []Addition {
	var l []Addition
	at := map[string]int{} // by place
	addition := func(o *unionObject, p schemapath.Place) *Addition {
		i, ok := at[p.Structural()]
		if !ok {
			i = len(l)
			at[p.Structural()] = i
			l = append(l, Addition{Place: p, node: o.frames[len(p.Path)]})
		}
		return &l[i]
	}
	add := func(o *unionObject, p schemapath.Place, written []rules.Rule) {
		a := addition(o, p)
		for _, r := range written {
			r = r.Trim(c.kube.features)
			if !slices.ContainsFunc(a.Rules, func(o rules.Rule) bool { return o.Rule == r.Rule }) {
				a.Rules = append(a.Rules, r)
			}
		}
	}
	for _, o := range c.objects {
		for i, u := range o.Unions {
			add(o, o.Place, o.rules(i))
			if s := o.styles[i].openAPI; s != nil {
				a := addition(o, o.Place)
				a.AllOf = append(a.AllOf, *s)
			}
			for _, g := range c.guards(o, u) {
				add(o, g.Place, g.Rules)
			}
		}
	}
	for i := range l {
		present := l[i].Place.Schema(c.crd)
		l[i].Rules = slices.DeleteFunc(l[i].Rules, func(r rules.Rule) bool { return hasRule(present.XValidations, r) })
		l[i].AllOf = slices.DeleteFunc(l[i].AllOf, func(s apiextensionsv1.JSONSchemaProps) bool { return hasSchema(present.AllOf, s) })
	}
	return slices.DeleteFunc(l, func(a Addition) bool { return len(a.Rules)+len(a.AllOf) == 0 })
}

// hasRule reports whether a rule of r's text is among those present. Validations
// are a list-map keyed by rule: twice the same breaks server-side apply.
func hasRule(present []apiextensionsv1.ValidationRule, r rules.Rule) bool {
	return slices.ContainsFunc(present, func(p apiextensionsv1.ValidationRule) bool { return p.Rule == r.Rule })
}

// rules are those of one union on its object.
func (o *unionObject) rules(i int) []rules.Rule {
	return append(o.static(i, o.styles[i]), o.changes(i, o.styles[i])...)
}

// static are the rules on the state of one union.
func (o *unionObject) static(i int, s style) []rules.Rule {
	switch u := o.Unions[i]; {
	case s.openAPI != nil:
		return nil
	case u.Ratchet:
		return rules.Ratcheting(u, s.encoding, s.ratchet)
	}
	return rules.Static(o.Unions[i], s.encoding)
}

// changes are the rules on the changes of one union.
func (o *unionObject) changes(i int, s style) []rules.Rule {
	if o.uncorrelated != "" || s.noClear {
		return nil
	}
	return rules.Transition(o.Unions[i], s.change)
}

// guards are the removal guards of one union: on each schema from which a link
// on the way to the union object can be removed.
func (c *compiler) guards(o *unionObject, u *union.Union) []Addition {
	var l []Addition
	if !u.Guarded() {
		return nil
	}
	for _, link := range c.links(o) {
		if r, ok := rules.RemovalGuard(u, link.names); ok {
			l = append(l, Addition{Place: link.parent, Rules: []rules.Rule{r}})
		}
	}
	return l
}

// link is a property on the way from an ancestor to the union object that is
// not always present: not (required or defaulted), or nullable.
type link struct {
	parent schemapath.Place
	names  []string // the property, and those after it down to the object
}

// links returns the links of o that can be removed, the nearest last. The
// entries of lists and maps end the way: they can always be removed.
func (c *compiler) links(o *unionObject) []link {
	var l []link
	for i, step := range slices.Backward(o.Path) {
		name, ok := step.Property()
		if !ok {
			break // items or values
		}
		parent := o.Up(i)
		owner := parent.Schema(c.crd)
		property := owner.Properties[name]
		if (slices.Contains(owner.Required, name) || property.Default != nil) && !property.Nullable {
			continue
		}
		l = append(l, link{parent, o.Path[i:].Properties()})
	}
	slices.Reverse(l)
	return l
}

// unguardable reports guards that CEL has no way to write.
func (c *compiler) unguardable(o *unionObject) {
	for i, u := range o.Unions {
		if !u.Guarded() {
			continue
		}
		for _, link := range c.links(o) {
			if _, needed := rules.RemovalGuard(u, link.names); !needed {
				continue
			}
			for _, name := range link.names {
				if _, ok := apiservercel.Escape(name); !ok {
					c.report(diag.Diagnostic{Code: diag.InexpressibleName, Pos: o.Declarations[i].Demands()[0].Pos, Path: o.Place.String(), Schema: o.Place.Structural(),
						Message: fmt.Sprintf("%s needs a rule against removing %s, and CEL cannot express the name %q", o.Declarations[i].Demands()[0].Key, link.parent, name),
						Hint:    "make every property on the way to the union required, or rename it"})
				}
			}
		}
	}
}
