package compile

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// encode chooses the preferred style of each union; additions writes the rules.
func (c *compiler) encode() {
	for _, o := range c.objects {
		for i, u := range o.Unions {
			s := style{encoding: c.encodings(u)[0]}
			o.styles = append(o.styles, s)
			if c.opts.Encoding == Fine && !u.Ratchet && s.encoding != rules.Fine {
				c.report(diag.New(codes.CoarserEncoding, o.Declarations[i].Pos,
					"the rules are written %s: %s", described(s.encoding, u), tooManyForFine).In(o.Place).
					Hinted("they mean the same; unioncel explain shows the costs"))
			}
		}
		c.unguardable(o)
	}
}

// additions returns all rules in the styles chosen so far, except existing rules.
func (c *compiler) additions() []Addition {
	var l []Addition
	at := map[string]int{} // by place
	add := func(o *unionObject, p schemapath.Place, written []rules.Rule) {
		i, ok := at[p.Structural()]
		if !ok {
			i = len(l)
			at[p.Structural()] = i
			l = append(l, Addition{Place: p, node: o.frames[len(p.Path)]})
		}
		a := &l[i]
		for _, r := range written {
			r = r.Trim(c.kube.features)
			if !slices.ContainsFunc(a.Rules, func(o rules.Rule) bool { return o.Rule == r.Rule }) {
				a.Rules = append(a.Rules, r)
			}
		}
	}
	for _, o := range c.objects {
		for i := range o.Unions {
			add(o, o.Place, o.rules(i))
			for _, g := range c.guards(o, i) {
				add(o, g.Place, g.Rules)
			}
		}
	}
	for i := range l {
		present := l[i].Place.Schema(c.crd)
		l[i].Rules = slices.DeleteFunc(l[i].Rules, func(r rules.Rule) bool { return hasRule(present.XValidations, r) })
	}
	return slices.DeleteFunc(l, func(a Addition) bool { return len(a.Rules) == 0 })
}

// hasRule reports whether a rule with the text of r is present. x-kubernetes-validations is
// a list-map keyed by rule: duplicates break server-side apply.
func hasRule(present []apiextensionsv1.ValidationRule, r rules.Rule) bool {
	return slices.ContainsFunc(present, func(p apiextensionsv1.ValidationRule) bool { return p.Rule == r.Rule })
}

// rules returns the rules of union i on its object.
func (o *unionObject) rules(i int) []rules.Rule {
	return append(o.static(i, o.styles[i]), o.changes(i, o.styles[i])...)
}

// static returns the rules on the state of union i.
func (o *unionObject) static(i int, s style) []rules.Rule {
	if u := o.Unions[i]; u.Ratchet {
		return rules.Ratcheting(u, s.encoding, s.ratchet)
	}
	return rules.Static(o.Unions[i], s.encoding)
}

// changes returns the transition rules of union i.
func (o *unionObject) changes(i int, s style) []rules.Rule {
	if o.uncorrelated != "" || s.noClear {
		return nil
	}
	return rules.Transition(o.Unions[i], s.change)
}

// guards returns the removal guards of union i: one on each schema that has a removable property on
// the path to the union object.
func (c *compiler) guards(o *unionObject, i int) []Addition {
	var l []Addition
	u := o.Unions[i]
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

// link is a property on the path to the union object that can be absent: it is nullable, or
// neither required nor defaulted.
type link struct {
	parent schemapath.Place
	names  []string // the property, and the rest of the path to the object
}

// links returns the removable links on the path to o, outermost first. It stops at the innermost
// list or map, whose entries can always be removed.
func (c *compiler) links(o *unionObject) []link {
	var l []link
	for i, step := range slices.Backward(o.Path) {
		if _, ok := step.Property(); !ok {
			break // items or values
		}
		if parent := o.Up(i); !union.AlwaysThere(parent.Schema(c.crd), o.Path[i:i+1]) {
			l = append(l, link{parent, o.Path[i:].Properties()})
		}
	}
	slices.Reverse(l)
	return l
}

// unguardable reports removal guards that would need a name that CEL cannot express.
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
					c.report(diag.New(codes.InexpressibleName, o.Declarations[i].Demands()[0].Pos,
						"%s needs a rule against removing %s, and CEL cannot express the name %q", o.Declarations[i].Demands()[0].Key, link.parent, name).In(o.Place).
						Hinted("make every property on the way to the union required, or rename it"))
				}
			}
		}
	}
}
