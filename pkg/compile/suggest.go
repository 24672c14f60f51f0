package compile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// overBudget reports failures, with their causes and with changes that would make them fit.
func (c *compiler) overBudget(failures []failure) {
	type suggestion struct {
		at    diag.Pos
		hint  string
		found bool
	}
	suggestions := map[int]suggestion{} // by version
	for _, f := range failures {
		at := f.object.Declarations[f.union].Pos
		s, known := suggestions[f.version]
		if !known {
			s.at = at
			s.hint, s.found = c.suggest(f.version, failures)
			suggestions[f.version] = s
		}
		hint := s.hint
		if s.found && s.at != at {
			hint = fmt.Sprintf("the suggestion for the union at %s also makes this one fit", s.at)
		}
		d := diag.New(codes.RuleOverBudget, at, "").In(f.object.Place).Hinted(hint)
		way := "written in the cheapest way"
		if c.opts.Encoding == Fine {
			way = "written in the encoding fine"
		}
		switch {
		case f.ofVersion():
			d.Code = codes.VersionOverBudget
			d.Message = fmt.Sprintf("the rules of version %s cost %s together, of which this union costs %s",
				c.crd.Spec.Versions[f.version].Name, number(f.sum), number(f.mostExpensive))
			if f.before > 0 {
				d.Message += fmt.Sprintf(" and the rules that existed before %s", number(f.before))
			}
			d.Message += fmt.Sprintf("; the API server's limit is %s", number(server.VersionLimit))
		case f.worst.Rule() <= server.RuleLimit:
			d.Message = fmt.Sprintf("the rules for %s do not fit: %s, a messageExpression costs %s, and the API server's limit is %s",
				f.what, way, number(f.worst.MessageExpression), number(server.MessageLimit))
		default:
			d.Message = fmt.Sprintf("the rules for %s do not fit: %s, one costs %s (%s, evaluated up to %s times), and the API server's limit is %s",
				f.what, way, number(f.worst.Rule()), number(f.worst.Once), number(f.worst.Executions), number(server.RuleLimit))
		}
		if why := c.causes(f.object, f.object.Unions[f.union]); len(why) > 0 {
			d.Message += ": " + strings.Join(why, "; ")
		}
		c.report(d)
	}
}

// many is a list or map that encloses a union object.
type many struct {
	path  schemapath.Path
	key   string // the key of its bound
	bound *int64
	least *int64
}

// containers returns the lists and maps that enclose a union object, and the object if it is a list.
func (c *compiler) containers(o *unionObject) []many {
	var l []many
	for i, step := range o.Path {
		owner := o.Up(i).Schema(c.crd)
		switch step {
		case schemapath.Items:
			l = append(l, many{o.Path[:i], "maxItems", owner.MaxItems, owner.MinItems})
		case schemapath.Values:
			l = append(l, many{o.Path[:i], "maxProperties", owner.MaxProperties, owner.MinProperties})
		}
	}
	if o.schema.Type == "array" { // rules look at its items
		l = append(l, many{o.Path, "maxItems", o.schema.MaxItems, o.schema.MinItems})
	}
	return l
}

// causes explains why rules on o are expensive.
func (c *compiler) causes(o *unionObject, u *union.Union) []string {
	var unbounded, bounded, l []string
	for _, m := range c.containers(o) {
		if m.bound == nil {
			unbounded = append(unbounded, m.path.String())
		} else {
			bounded = append(bounded, fmt.Sprintf("%s (%s: %d)", m.path.String(), m.key, *m.bound))
		}
	}
	switch {
	case len(unbounded) > 0:
		l = append(l, "nothing bounds "+strings.Join(unbounded, " and "))
		if o.schema.Type == "object" && len(o.schema.Required) == 0 {
			l = append(l, "no property of the union object is required, so a request may hold a million of them")
		}
	case len(bounded) > 0:
		l = append(l, "the bounds multiply: "+strings.Join(bounded, ", "))
	}
	if (u.Guarded() || u.Ratchet) && unboundedDiscriminator(o, u) {
		l = append(l, u.Discriminator+", which is compared with its old value, has neither enum nor maxLength")
	}
	return l
}

func unboundedDiscriminator(o *unionObject, u *union.Union) bool {
	_, p := union.Property(o.schema, u.Discriminator)
	return p != nil && u.Type == union.StringValue && len(p.Enum) == 0 && p.MaxLength == nil
}

// tightening is a schema change that makes rules cheaper.
type tightening struct {
	path  schemapath.Path
	text  string // as written in the schema
	was   string // the present bound, in parentheses
	apply func(*apiextensionsv1.JSONSchemaProps)
}

func (t tightening) String() string { return t.text + " on " + t.path.String() + t.was }

// bounds are the candidate bounds of lists and maps, each tried on all of them together.
var bounds = []int64{10000, 5000, 2500, 1000, 500, 250, 100, 64, 50, 32, 25, 16, 10, 8, 5, 4, 3, 2, 1}

// search looks for schema changes that make one version fit.
type search struct {
	*compiler
	version  int
	required []tightening // discriminators
	shorter  []tightening // bounds on the length of discriminators
	lists    []many
	ofItems  bool // rules look at the items of some list
	// known caches costs by the changes other than bounds of lists. Bounds only affect how
	// often rules are evaluated, unless the rules look at the items.
	known map[string]map[string][]server.Cost
	found []string
}

// suggest returns a hint with changes that make a version fit. Each suggestion has been
// tried: the unions were resolved in the changed schema, and the API server's estimator
// accepted their rules.
func (c *compiler) suggest(version int, failures []failure) (hint string, found bool) {
	if c.opts.Encoding == Fine && c.fitsAuto(version) {
		return fmt.Sprintf("drop the encoding fine (%s): the rules fit when they are written in a coarser way", cmp.Or(c.opts.Origins.Encoding, "an option")), true
	}
	s := &search{compiler: c, version: version, known: map[string]map[string][]server.Cost{"[]": c.known}}
	for _, o := range c.objects {
		for i, u := range o.Unions {
			fails := slices.ContainsFunc(failures, func(f failure) bool {
				return f.version == version && (f.ofVersion() || f.object == o && f.union == i)
			})
			if o.Version != version || !fails {
				continue
			}
			s.ofItems = s.ofItems || u.OfItems()
			s.required = append(s.required, requireDiscriminator(o, u)...)
			s.shorter = append(s.shorter, boundDiscriminator(o, u)...)
			for _, m := range c.containers(o) {
				if !slices.ContainsFunc(s.lists, func(l many) bool { return l.path.Equal(m.path) }) {
					s.lists = append(s.lists, m)
				}
			}
		}
	}
	s.run()
	switch len(s.found) {
	case 0:
		return "no bound was found that helps: declare fewer members, or another kind of change", false
	case 1:
		return "this makes it fit, as the API server's estimator confirms, and tightens the API: " + s.found[0], true
	}
	for i := range s.found {
		s.found[i] = fmt.Sprintf("(%d) %s", i+1, s.found[i])
	}
	return "each of these makes it fit, as the API server's estimator confirms, and tightens the API: " + strings.Join(s.found, "; "), true
}

func (s *search) run() {
	both := slices.Concat(s.required, s.shorter)
	for _, l := range [][]tightening{s.required, s.shorter, both} {
		if (len(l) < len(both) || len(s.found) == 0) && s.accepts(l, nil) {
			s.keep(l, nil)
		}
	}
	unbounded := slices.DeleteFunc(slices.Clone(s.lists), func(m many) bool { return m.bound != nil })
	for _, with := range [][]tightening{nil, s.required, s.shorter, both} {
		for _, lists := range [][]many{unbounded, s.lists} {
			if l := s.bound(with, lists); l != nil {
				s.keep(with, l)
				return
			}
		}
	}
}

// bound returns the loosest common bound of lists and maps that is accepted together with other
// changes, or nil. It applies to lists and maps without a bound or with a greater bound.
func (s *search) bound(with []tightening, lists []many) []tightening {
	least := int64(1)
	for _, m := range lists {
		if m.least != nil {
			least = max(least, *m.least)
		}
	}
	possible := slices.DeleteFunc(slices.Clone(bounds), func(n int64) bool { return n < least })
	n := sort.Search(len(possible), func(i int) bool { return s.accepts(with, bound(lists, possible[i])) })
	if n == len(possible) {
		return nil
	}
	return bound(lists, possible[n])
}

func (s *search) accepts(with, bounds []tightening) bool {
	key := fmt.Sprint(with)
	if s.ofItems {
		key = fmt.Sprint(with, bounds)
	}
	if s.known[key] == nil {
		s.known[key] = map[string][]server.Cost{}
	}
	return len(with)+len(bounds) > 0 && s.fitsWith(s.version, slices.Concat(with, bounds), s.known[key])
}

// mostDropped is the greatest number of changes for which keep tries to drop each one.
const mostDropped = 12

// keep adds accepted changes to the suggestions, without unnecessary changes.
func (s *search) keep(with, bounds []tightening) {
	if len(with)+len(bounds) <= mostDropped {
		for _, l := range []*[]tightening{&bounds, &with} {
			for i := len(*l) - 1; i >= 0; i-- {
				was := *l
				if *l = slices.Delete(slices.Clone(was), i, i+1); !s.accepts(with, bounds) {
					*l = was
				}
			}
		}
	}
	var texts []string
	for _, t := range slices.Concat(with, bounds) {
		texts = append(texts, t.String())
	}
	if text := strings.Join(texts, " and "); !slices.Contains(s.found, text) {
		s.found = append(s.found, text)
	}
}

// fitsAuto reports whether the unions of a version fit in the default encoding.
func (c *compiler) fitsAuto(version int) bool {
	auto := *c
	auto.opts.Encoding = Auto
	return auto.fitsWith(version, nil, nil)
}

// fitsWith reports whether the unions of a version fit after changes to its schema.
func (c *compiler) fitsWith(version int, changes []tightening, known map[string][]server.Cost) bool {
	t := &compiler{manifest: c.manifest, opts: c.opts, kube: c.kube, located: c.located, crd: c.crd.DeepCopy(), known: known}
	for _, change := range changes {
		change.path.Edit(t.crd.Spec.Versions[version].Schema.OpenAPIV3Schema, change.apply)
	}
	if t.resolve(); t.diags.HasErrors() {
		return false
	}
	t.encode()
	failures := t.fit()
	return !t.diags.HasErrors() && !slices.ContainsFunc(failures, func(f failure) bool { return f.version == version })
}

func requireDiscriminator(o *unionObject, u *union.Union) []tightening {
	if u.Discriminator == "" || u.Deduce || u.Unset != "" {
		return nil
	}
	var l []tightening
	schema, at := o.schema, o.Path
	for _, step := range u.Path(u.Discriminator) {
		name, _ := step.Property()
		written := []byte(name)
		if !plainName.MatchString(name) {
			written, _ = json.Marshal(name) // JSON is valid YAML, and strings never fail
		}
		if !slices.Contains(schema.Required, name) {
			l = append(l, tightening{path: at, text: "required: [" + string(written) + "]", apply: func(s *apiextensionsv1.JSONSchemaProps) {
				s.Required = append(slices.Clip(s.Required), name)
			}})
		}
		schema, at = step.Schema(schema), at.Append(step)
	}
	return l
}

// boundDiscriminator returns the change that bounds the length of the discriminator.
func boundDiscriminator(o *unionObject, u *union.Union) []tightening {
	// Only rules that compare the discriminator with its old value depend on its length.
	matters := u.Guarded() || u.Ratchet
	if !matters || !unboundedDiscriminator(o, u) {
		return nil
	}
	path := o.Path.Append(u.Path(u.Discriminator)...)
	longest := int64(0)
	for _, v := range u.Values {
		longest = max(longest, int64(len([]rune(v))))
	}
	return []tightening{{path: path, text: fmt.Sprintf("maxLength: %d", longest), apply: func(s *apiextensionsv1.JSONSchemaProps) { s.MaxLength = &longest }}}
}

// bound returns changes that bound all lists and maps that have no bound or a greater bound.
func bound(l []many, n int64) []tightening {
	var out []tightening
	for _, m := range l {
		if m.bound != nil && *m.bound <= n {
			continue
		}
		t := tightening{path: m.path, text: fmt.Sprintf("%s: %d", m.key, n), apply: func(s *apiextensionsv1.JSONSchemaProps) {
			if m.key == "maxItems" {
				s.MaxItems = &n
			} else {
				s.MaxProperties = &n
			}
		}}
		if m.bound != nil {
			t.was = fmt.Sprintf(" (now %d)", *m.bound)
		}
		out = append(out, t)
	}
	return out
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
