package compile

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/cost"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// overBudget reports what does not fit, why, and what would help.
func (c *compiler) overBudget(original *apiextensions.CustomResourceDefinition, failures []failure) {
	hints := map[int]string{} // by version
	for _, f := range failures {
		if _, known := hints[f.version]; !known {
			hints[f.version] = c.suggest(f.version, failures)
		}
		hint := hints[f.version]
		hints[f.version] = "what is suggested for the first union of this version makes this one fit, too"
		d := diag.Diagnostic{Code: diag.RuleOverBudget, Pos: f.object.Declarations[f.union].Pos, Path: f.object.Place.String(), Hint: hint}
		switch {
		case f.ofVersion():
			d.Code = diag.VersionOverBudget
			d.Message = fmt.Sprintf("the rules of version %s cost %s together (%s of it for rules that were there before), and the API server's limit is %s; those of this union alone cost %s",
				c.crd.Spec.Versions[f.version].Name, number(f.sum), number(f.before), number(cost.VersionLimit), number(f.dearest))
		case f.worst.Rule() <= cost.RuleLimit:
			d.Message = fmt.Sprintf("the rules for %s do not fit: written in the cheapest way, a messageExpression costs %s, and the API server's limit is %s",
				f.what, number(f.worst.MessageExpression), number(cost.MessageLimit))
		default:
			d.Message = fmt.Sprintf("the rules for %s do not fit: written in the cheapest way, one costs %s (%s, evaluated up to %s times), and the API server's limit is %s",
				f.what, number(f.worst.Rule()), number(f.worst.Once), number(f.worst.Cardinality), number(cost.RuleLimit))
		}
		if why := c.causes(f.object, f.object.Unions[f.union]); len(why) > 0 {
			d.Message += "; " + strings.Join(why, ", ")
		}
		c.report(d)
	}
}

// many is a list or map above a union object.
type many struct {
	steps []string
	key   string // that bounds it
	bound *int64
	least *int64
}

// above returns the lists and maps above a union object.
func (c *compiler) above(o *object) []many {
	var l []many
	for f := range o.frames[:len(o.frames)-1] {
		at := o.frames[f].steps
		owner := schemaAt(c.crd, Place{Version: o.Version, Steps: o.Steps[:at]})
		switch o.Steps[at] {
		case "items":
			l = append(l, many{o.Steps[:at], "maxItems", owner.MaxItems, owner.MinItems})
		case "additionalProperties":
			l = append(l, many{o.Steps[:at], "maxProperties", owner.MaxProperties, owner.MinProperties})
		}
	}
	return l
}

// causes says what makes rules on o dear.
func (c *compiler) causes(o *object, u *union.Union) []string {
	var unbounded, bounded, l []string
	for _, m := range c.above(o) {
		if m.bound == nil {
			unbounded = append(unbounded, dotted(m.steps))
		} else {
			bounded = append(bounded, fmt.Sprintf("%s (%s: %d)", dotted(m.steps), m.key, *m.bound))
		}
	}
	switch {
	case len(unbounded) > 0:
		why := "since nothing bounds " + strings.Join(unbounded, " and ")
		if len(o.schema.Required) == 0 {
			why += " and no property of the union object is required, so that there may be a million of them in a request"
		}
		l = append(l, why)
	case len(bounded) > 0:
		l = append(l, "since the bounds multiply: "+strings.Join(bounded, ", "))
	}
	if (u.Guarded() || u.Ratchet) && u.Discriminator != "" && isUnboundedString(o.schema.Properties[u.Discriminator]) {
		l = append(l, u.Discriminator+" is compared with its old value and has neither enum nor maxLength")
	}
	return l
}

func isUnboundedString(s apiextensionsv1.JSONSchemaProps) bool {
	return len(s.Enum) == 0 && s.MaxLength == nil
}

// tightening is a change of a schema that makes rules cheaper.
type tightening struct {
	steps []string
	text  string // as written in the schema
	apply func(*apiextensionsv1.JSONSchemaProps)
}

func (t tightening) String() string { return t.text + " on " + dotted(t.steps) }

// bounds are the ones tried for lists and maps, together on all of them.
var bounds = []int64{10000, 5000, 2500, 1000, 500, 250, 100, 64, 50, 32, 25, 16, 10, 8, 5, 4, 3, 2, 1}

// suggest returns, as a hint, changes of a version's schema with which
// everything fits. Each was tried: the unions were read again in the changed
// schema, and the API server's estimator accepted their rules.
func (c *compiler) suggest(version int, failures []failure) string {
	var required, shorter []tightening
	var lists []many
	for _, o := range c.objects {
		for i, u := range o.Unions {
			fails := slices.ContainsFunc(failures, func(f failure) bool {
				return f.version == version && (f.ofVersion() || f.object == o && f.union == i)
			})
			if o.Version != version || !fails {
				continue
			}
			required = append(required, requireDiscriminator(o, u)...)
			shorter = append(shorter, boundDiscriminator(o, u)...)
			for _, m := range c.above(o) {
				if !slices.ContainsFunc(lists, func(l many) bool { return slices.Equal(l.steps, m.steps) }) {
					lists = append(lists, m)
				}
			}
		}
	}
	var found []string
	known := map[string]map[string][]cost.Cost{} // by the changes that are not bounds
	accept := func(with, bounds []tightening) bool {
		key := fmt.Sprint(with)
		if known[key] == nil {
			known[key] = map[string][]cost.Cost{}
		}
		return len(with)+len(bounds) > 0 && c.fitsWith(version, slices.Concat(with, bounds), known[key])
	}
	keep := func(l ...tightening) {
		var texts []string
		for _, t := range l {
			texts = append(texts, t.String())
		}
		found = append(found, strings.Join(texts, " and "))
	}
	combinations := [][]tightening{required, shorter}
	if len(required) > 0 && len(shorter) > 0 {
		combinations = append(combinations, slices.Concat(required, shorter))
	}
	for i, l := range combinations {
		if (i < 2 || len(found) == 0) && accept(l, nil) {
			keep(l...)
		}
	}
	for _, with := range append([][]tightening{nil}, combinations...) {
		n := sort.Search(len(bounds), func(i int) bool { return accept(with, bound(lists, bounds[i])) })
		if l := bound(lists, bounds[min(n, len(bounds)-1)]); n < len(bounds) && len(l) > 0 {
			keep(slices.Concat(with, l)...)
			break
		}
	}
	switch len(found) {
	case 0:
		return "no bound was found that helps: declare fewer members, or another kind of change"
	case 1:
		return "this makes it fit, as the API server's estimator confirms, and tightens the API: " + found[0]
	}
	for i := range found {
		found[i] = fmt.Sprintf("(%d) %s", i+1, found[i])
	}
	return "each of these makes it fit, as the API server's estimator confirms, and tightens the API: " + strings.Join(found, "; ")
}

// fitsWith reports whether the unions of a version fit after changes of its
// schema.
func (c *compiler) fitsWith(version int, changes []tightening, known map[string][]cost.Cost) bool {
	t := &compiler{manifest: c.manifest, opts: c.opts, kube: c.kube, located: c.located, crd: c.crd.DeepCopy(), known: known}
	for _, change := range changes {
		edit(t.crd.Spec.Versions[version].Schema.OpenAPIV3Schema, change.steps, change.apply)
	}
	if t.resolve(); t.diags.HasErrors() {
		return false
	}
	t.encode()
	original, err := t.with(nil)
	if err != nil {
		return false
	}
	failures := t.fit(original)
	return !t.diags.HasErrors() && !slices.ContainsFunc(failures, func(f failure) bool { return f.version == version })
}

func requireDiscriminator(o *object, u *union.Union) []tightening {
	if u.Discriminator == "" || u.Deduce || slices.Contains(o.schema.Required, u.Discriminator) {
		return nil
	}
	return []tightening{{o.Steps, fmt.Sprintf("required: [%s]", u.Discriminator), func(s *apiextensionsv1.JSONSchemaProps) {
		s.Required = append(slices.Clip(s.Required), u.Discriminator)
	}}}
}

// boundDiscriminator bounds its length or, where values without a member are
// forbidden anyway, its values.
func boundDiscriminator(o *object, u *union.Union) []tightening {
	if u.Discriminator == "" || !isUnboundedString(o.schema.Properties[u.Discriminator]) {
		return nil
	}
	steps := append(slices.Clone(o.Steps), "properties", u.Discriminator)
	if u.ForbidUnmapped {
		return []tightening{{steps, "enum: [" + strings.Join(u.Values, ", ") + "]", func(s *apiextensionsv1.JSONSchemaProps) {
			for _, v := range u.Values {
				s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", v)})
			}
		}}}
	}
	longest := int64(0)
	for _, v := range u.Values {
		longest = max(longest, int64(len([]rune(v))))
	}
	return []tightening{{steps, fmt.Sprintf("maxLength: %d", longest), func(s *apiextensionsv1.JSONSchemaProps) { s.MaxLength = &longest }}}
}

// bound gives all lists and maps the same bound, where they have none or a
// greater one. It returns nothing when one of them cannot have it.
func bound(l []many, n int64) []tightening {
	var out []tightening
	for _, m := range l {
		if m.least != nil && *m.least > n {
			return nil
		}
		if m.bound != nil && *m.bound <= n {
			continue
		}
		out = append(out, tightening{m.steps, fmt.Sprintf("%s: %d", m.key, n), func(s *apiextensionsv1.JSONSchemaProps) {
			if m.key == "maxItems" {
				s.MaxItems = &n
			} else {
				s.MaxProperties = &n
			}
		}})
	}
	return out
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// dotted prints the way to a schema as a path of fields: spec.rules[*].backend.
func dotted(steps []string) string {
	var b strings.Builder
	for i := 0; i < len(steps); i++ {
		if steps[i] != "properties" {
			b.WriteString("[*]")
			continue
		}
		i++
		switch {
		case !plainName.MatchString(steps[i]):
			fmt.Fprintf(&b, "[%q]", steps[i])
		case b.Len() > 0:
			b.WriteString("." + steps[i])
		default:
			b.WriteString(steps[i])
		}
	}
	return b.String()
}
