package handwritten

import (
	"cmp"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// object is an object, with the rules on it and on its properties as formulas.
type object struct {
	*version
	*prove.Problem
	audited []*audited
	// statements are the statements about the object, by rule; see audit_statement.go.
	statements []statement
	confirm    func(*prove.Example) (response string, ok bool)
	response   string // of the API server to the last confirmed example
}

// audited is a rule to audit.
type audited struct {
	*prove.Check
	rule rule
	// constant rules have been reported; impossible are the values of properties that the rule
	// excludes and that have been reported.
	constant   bool
	impossible []logic.Lit
	open       string // the reason why the rule may have mistakes that were not found
}

// object returns the object at a path. An error is the reason why its rules cannot be decided.
func (v *version) object(g *sample.Source, path schemapath.Path, rules []rule) (*object, error) {
	root := v.root
	bare := map[string]bool{}
	for _, r := range rules {
		if len(r.path) > len(path) {
			name, _ := r.path[len(path)].Property()
			bare[name] = true
		}
	}
	if len(bare) > 0 { // otherwise no value of these properties would break their rules
		root = root.Unruled(path, bare)
	}
	c, err := sample.NewChain(root, path)
	written, other := sample.NewChain(v.root, path)
	if err := cmp.Or(err, other); err != nil {
		return nil, err
	}
	o := &object{version: v}
	n := c.Object()
	o.Problem = prove.NewProblem(g, c, root, prove.Subject{
		Values: func(name string) []any {
			if !bare[name] {
				return nil
			}
			return g.Several(written.Object().Property(name))
		},
		Start: func(own map[string]any) map[string]any {
			if v, err := g.First(n); err == nil {
				if valid, ok := v.(map[string]any); ok {
					valid = maps.Clone(valid)
					maps.Copy(valid, own)
					return valid
				}
			}
			return own
		},
		Legal: func() []logic.Lit { return nil },
		Confirm: func(e *prove.Example) bool {
			if len(o.Path) > 0 && o.Path[0] != schemapath.Property("status") {
				delete(e.New, "status") // which has defaults only
				delete(e.Old, "status")
			}
			response, ok := o.confirm(e)
			if ok {
				o.response = response
			}
			return ok
		},
	})
	o.add(rules)
	o.state()
	o.Classify()
	own, _ := g.Required(n, nil) // properties without a valid value are left out
	if d := n.Defaults(); d != nil {
		d(own)
	}
	return o, o.Finish(own)
}

// add adds the tests of the object, and the tests of its ancestors that read it.
func (o *object) add(rules []rule) {
	take := func(check *prove.Check, is func(r rule) bool) {
		if i := slices.IndexFunc(rules, is); i >= 0 && check != nil {
			o.audited = append(o.audited, &audited{Check: check, rule: rules[i]})
		}
	}
	last := len(o.Path)
	for level, n := range o.Schemas {
		for _, t := range slices.Concat(n.Rules(), n.Constraints()) {
			if level < last && t.Keywords == nil && !o.Concerns(level, t.Paths) {
				continue
			}
			take(o.Add(level, t), func(r rule) bool {
				return level == last && len(r.path) == last && t.Key == sample.RuleKey && r.Index == t.Index
			})
		}
	}
	for _, c := range slices.Clone(o.Checks) { // and the transition rules on scalars that these read
		for _, path := range c.Paths {
			n := c.Schema.Lookup(schemapath.New(path...))
			if c.Level == last || n == nil || sample.Composite(n.Props) {
				continue
			}
			for _, t := range n.Rules() {
				if t.Changing() && !slices.ContainsFunc(o.Checks, func(c *prove.Check) bool { return c.Test == t }) {
					o.AddAt(c.Level, schemapath.New(path...), t)
				}
			}
		}
	}
	for _, r := range rules {
		if len(r.path) > last {
			take(o.AddAt(last, r.path[last:], r.Test), func(other rule) bool { return other.Test == r.Test })
		}
	}
}

// audit returns the findings about the rules of the object.
func (o *object) audit(versions []*version) []Finding {
	var l []Finding
	for _, a := range o.audited {
		l = append(l, o.impossibleValues(a)...)
	}
	for _, a := range o.audited {
		l = append(l, o.constant(a)...)
	}
	for _, a := range o.audited {
		failing := o.failing(a)
		if l = append(l, failing...); len(failing) == 0 {
			l = append(l, o.bypassed(a)...)
		}
		l = append(l, o.notEachItem(a)...)
		if !a.constant {
			l = append(l, o.otherVersions(a, versions)...)
		}
	}
	l = append(l, o.looser()...)
	return append(l, o.same()...)
}

// create returns the formula that there is no stored object.
func (o *object) create() logic.Lit { return o.Space.Old.Present().Not() }

// others returns the formulas that all other tests hold.
func (o *object) others(but ...*prove.Check) []logic.Lit {
	var l []logic.Lit
	for _, c := range o.Checks {
		if !slices.Contains(but, c) {
			l = append(l, c.Holds)
		}
	}
	return l
}

// omit leaves out rules until the returned function is called.
func (o *object) omit(l []*audited) (restore func()) {
	version, checks := o.version, o.Checks
	var rules []rule
	for _, a := range l {
		rules = append(rules, a.rule)
	}
	if alone := version.leaveOut(rules); alone != nil {
		o.version = alone
		o.Checks = slices.DeleteFunc(slices.Clone(checks), func(c *prove.Check) bool {
			return slices.ContainsFunc(l, func(a *audited) bool { return a.Check == c })
		})
	}
	return func() { o.version, o.Checks = version, checks }
}

// find returns the smallest example found that satisfies formulas and that confirm accepts, or nil. It
// also returns the API server's error, as confirm returns it.
func (o *object) find(confirm func(*prove.Example) (response string, ok bool), l ...logic.Lit) (*prove.Example, string) {
	o.confirm, o.response = confirm, ""
	e, err := o.Smallest(nil, append(l, o.Tell())...)
	if err != nil {
		return nil, ""
	}
	return e, o.response
}

// rejected returns an example that the rule alone rejects: without it, the API server accepts the
// object. It also returns the API server's error.
func (o *object) rejected(a *audited, said sample.Answer, l ...logic.Lit) (*prove.Example, string) {
	return o.find(func(e *prove.Example) (string, bool) { return o.rejects(a, said, e.New) },
		append(append(l, o.others(a.Check)...), o.create(), a.Place.Present())...)
}

// rejects reports whether the API server rejects an object because of the rule alone.
func (o *object) rejects(a *audited, said sample.Answer, object map[string]any) (response string, ok bool) {
	ctx := o.Source.Context()
	if got, _ := o.Ask(a.Check, object, nil); got != said {
		return "", false
	}
	response, ok = answer(ctx, o.judge, object, nil)
	if !ok || response == "" {
		return "", false
	}
	return response, accepts(ctx, o.lacking(a.rule), nil, object)
}

// accepted returns an example that the API server accepts.
func (o *object) accepted(l ...logic.Lit) *prove.Example {
	e, _ := o.find(func(e *prove.Example) (string, bool) {
		return "", accepts(o.Source.Context(), o.judge, nil, e.New)
	}, append(append(l, o.others()...), o.create())...)
	return e
}

// replaced returns the rule with another text, or nil if it does not compile. It has the formulas of
// the rule's check.
func (o *object) replaced(a *audited, text string) *prove.Check {
	validation := *a.Validation
	validation.Rule, validation.MessageExpression = text, ""
	return o.read(*a.Check, validation)
}

// read returns a rule in the place of a check, or nil if it does not compile.
func (o *object) read(c prove.Check, validation apiextensionsv1.ValidationRule) *prove.Check {
	only := *c.Schema.Props
	only.XValidations = apiextensionsv1.ValidationRules{validation}
	c.Test = sample.New(&only, c.Schema.Path, c.Schema.Root).Rules()[0]
	if c.Test.Broken != nil || o.Read(&c) != nil {
		return nil
	}
	return &c
}

// rejectedByBoth returns a confirmation that the API server rejects an object because of two rules.
func (o *object) rejectedByBoth(a, b *audited) func(*prove.Example) (string, bool) {
	return func(e *prove.Example) (string, bool) {
		var about []string
		for _, c := range []*audited{a, b} {
			said, detail := o.Ask(c.Check, e.New, nil)
			switch said {
			case sample.Holds:
				return "", false
			case sample.Fails:
				detail = o.Message(c.Check, e.New, nil)
			}
			about = append(about, detail)
		}
		response, ok := answer(o.Source.Context(), o.judge, e.New, nil, about...)
		return response, ok && response != ""
	}
}
