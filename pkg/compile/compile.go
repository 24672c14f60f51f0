package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Encoding selects how static rules are written.
type Encoding string

const (
	// Auto, the zero value, prefers the rules that a careful author would write by hand
	// (rules.Paired). If they exceed the API server's budgets, it takes the first encoding
	// that fits: fine, in groups, compact.
	Auto Encoding = ""
	// Fine is one rule per member and direction: the best messages, at twice the bytes or
	// more. Exceeding a budget is an error.
	Fine Encoding = "fine"
	// Compact is one rule per union, or as few as fit.
	Compact Encoding = "compact"
)

// ParseEncoding parses "auto", "fine" or "compact".
func ParseEncoding(s string) (Encoding, error) {
	switch e := Encoding(s); e {
	case "auto":
		return Auto, nil
	case Fine, Compact:
		return e, nil
	}
	return "", fmt.Errorf("no such encoding %q: use auto, fine or compact", s)
}

// Options are the options of a compilation; the zero value is the default.
type Options struct {
	// KubeVersion is the oldest Kubernetes version that the CRD must work with, such as "1.30";
	// empty means Linked().
	KubeVersion string
	// Encoding of the static rules.
	Encoding Encoding
	// Origins name the origins of the other options in messages.
	Origins Origins
}

// Origins name where options are given: "--encoding", ".unioncel.yaml:3". Defaults have none.
type Origins struct{ KubeVersion, Encoding string }

// Version extends a hint about the Kubernetes version by its origin.
func (o Origins) Version(hint string) string {
	if o.KubeVersion == "" {
		return hint
	}
	return hint + "; the version is set by " + o.KubeVersion
}

// Same reports whether two compilations have the same result but for the origins in messages.
func (o Options) Same(other Options) bool {
	o.Origins = other.Origins
	return o == other
}

// Manifest is a CustomResourceDefinition as text and as data, or a resource that contains
// the schemas of one, such as a CompositeResourceDefinition.
type Manifest struct {
	// File names the source in diagnostics.
	File string
	// Node is the manifest's mapping; it is read-only.
	Node *yaml.Node
	// JSON is the same manifest as kubectl reads it (sigs.k8s.io/yaml).
	JSON []byte
	// External are declarations for this CRD from outside the manifest. Their targets are
	// not checked.
	External []union.External
	// Undeclared ignores declarations in the manifest.
	Undeclared bool
	// Limits bound the number and size of declarations.
	Limits yamltext.Limits
}

// Object is a union object, with the YAML that declares its unions.
type Object struct {
	union.Object
	// Node is the schema's mapping.
	Node *yaml.Node
	// Value is the value of x-kubernetes-unions.
	Value *yaml.Node
	// Extensions is the list of extensions of the unions (union.ParseExtensions), or nil.
	Extensions *yaml.Node
}

// Addition holds the rules that compiling adds to one schema.
type Addition struct {
	schemapath.Place
	Rules []rules.Rule

	node *yaml.Node // the schema's mapping
}

// Result is the result of compiling a CRD. The caller owns it, but shares its nodes with
// the manifest.
type Result struct {
	// Objects are the schemas that declare unions, in document order.
	Objects []Object
	// Additions are the rules to add, in document order, without existing rules.
	Additions []Addition
	// CRD is the manifest with the additions, as the API server reads it; nil without
	// declarations. It is read-only.
	CRD *apiextensionsv1.CustomResourceDefinition
}

// Compilation compiles one CRD lazily: each stage runs once, when its result is first
// needed. It is not safe for concurrent use.
type Compilation struct {
	compiler *compiler
	compiled bool
	ok       bool // compiled without errors
	result   *Result
	plan     *Plan
	// said are the diagnostics of the stages, notes the diagnostics about the result.
	said, notes diag.List
	replaced    []Removal
	replacing   diag.List // about replaced
}

// New returns the compilation of a CRD. It does not read the manifest yet.
func New(m Manifest, opts Options) *Compilation {
	return &Compilation{compiler: &compiler{manifest: m, opts: opts}}
}

// compile chooses the rules, once. It returns false on errors.
func (c *Compilation) compile() bool {
	if !c.compiled {
		c.compiled, c.ok = true, c.compiler.run()
		c.said = slices.Clip(c.compiler.diags)
	}
	return c.ok
}

// Result returns the rules. The list holds errors, warnings and notes in no particular order; with
// errors the result is nil. A CRD without declarations is not validated: its result is empty.
func (c *Compilation) Result() (*Result, diag.List) {
	if !c.compile() {
		return nil, c.said
	}
	if c.result == nil {
		c.result = &Result{}
		if c.compiler.crd != nil {
			c.compiler.diags = nil
			c.result, c.notes = c.compiler.result(), c.compiler.diags
		}
	}
	return c.result, slices.Concat(c.said, c.notes)
}

// understand runs the stages that read the declarations, once. It leaves crd nil if there are no
// declarations, or if the CRD cannot be decoded.
func (c *compiler) understand() {
	if c.understood {
		return
	}
	c.understood = true
	c.version()
	c.locate()
	if len(c.located.objects) > 0 || c.diags.HasErrors() {
		// Decoding and resolving go on after errors, to report all problems at once.
		if c.decode(); c.crd != nil {
			c.resolve()
		}
	}
	c.declared = slices.Clip(c.diags)
}

// run runs the stages that choose the rules. It returns false on errors, and leaves crd nil if
// there are no declarations.
func (c *compiler) run() bool {
	if c.understand(); len(c.located.objects) == 0 && !c.declared.HasErrors() {
		return true
	}
	c.diags = c.declared
	yamltext.Compilations.Add(1)
	for _, stage := range []func(){c.encode, c.carry, c.validate, c.checkConstraints} {
		if c.diags.HasErrors() {
			return false
		}
		stage()
	}
	return !c.diags.HasErrors()
}

type compiler struct {
	manifest Manifest
	opts     Options
	kube     kubeVersion
	located  *locator
	carrier  *yamltext.Carrier // the kind of the manifest
	crd      *apiextensionsv1.CustomResourceDefinition
	objects  []*unionObject
	diags    diag.List
	// declared are the diagnostics of the stages that read the declarations. These have run
	// if understood is true.
	declared   diag.List
	understood bool
	// known, unless nil, caches costs across schemas that differ only in the bounds of lists
	// and maps. times caches how often rules execute with the present bounds, by place.
	known map[string][]server.Cost
	times map[string]uint64
}

// unionObject is a union object and its state between stages.
type unionObject struct {
	location
	schema      *apiextensionsv1.JSONSchemaProps
	styles      []style         // by union
	handWritten [][]HandWritten // by union
	// uncorrelated is the path of an enclosing list whose old and new items the API server
	// cannot correlate; empty if there is none.
	uncorrelated string
	// removable is the path of the innermost enclosing list-map or map: its entries can always
	// be removed. It is empty if there is none.
	removable string
}

// reportDeclarations reports diagnostics of the declarations of an object.
func (c *compiler) reportDeclarations(o *unionObject, l diag.List) {
	for _, d := range l {
		d.Schema = o.Place.Structural()
		c.report(d)
	}
}

func (c *compiler) report(d diag.Diagnostic) { c.diags = append(c.diags, d) }

func (c *compiler) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: c.manifest.File, Line: n.Line, Col: n.Column}
}

func (c *compiler) version() {
	v, err := parseKubeVersion(c.opts.KubeVersion)
	if err != nil {
		c.report(diag.New(codes.KubeVersion, diag.Pos{File: c.manifest.File}, "%v", err))
	}
	c.kube = v
}

func (c *compiler) locate() {
	c.located = locate(c.manifest)
	c.located.external(c.manifest)
	c.diags = append(c.diags, c.located.diags...)
	c.withinLimits()
}

// resolve checks the declarations against their schemas.
func (c *compiler) resolve() {
	for _, l := range c.located.objects {
		o := &unionObject{location: l, schema: l.Place.Schema(c.crd)}
		o.Value = l.value()
		if o.schema == nil {
			// The YAML nodes and the decoded CRD differ along this path.
			c.report(diag.New(codes.AmbiguousScalar, c.pos(l.Node),
				"kubectl does not find this schema where it is written: a key on the way to it is not a string to kubectl").In(l.Place).
				Hinted("quote the property names"))
			continue
		}
		sound := true
		for _, w := range l.written {
			declarations, diags := union.Parse(w.File, o.Place.String(), w.Value, w.At)
			c.reportDeclarations(o, diags)
			o.Declarations = append(o.Declarations, declarations...)
			sound = sound && !diags.HasErrors()
		}
		if sound { // else an extension may refer to an invalid declaration
			c.extend(o, l.extends)
		}
		if c.manyValues(o) {
			continue
		}
		ambiguous := c.ambiguous(o)
		c.diags = append(c.diags, ambiguous...)
		if len(o.Declarations) == 0 || len(ambiguous) > 0 {
			continue
		}
		if c.repeatsAncestor(o) {
			continue
		}
		c.correlation(o)
		var resolved diag.List
		o.Unions, resolved = verify.Resolve(o.Declarations, o.schema, len(o.Path) == 0 || o.schema.XEmbeddedResource)
		c.reportDeclarations(o, resolved)
		c.demands(o)
		c.objects = append(c.objects, o)
	}
	if !c.diags.HasErrors() {
		c.versionsDiffer()
	}
}

// repeatsAncestor reports declarations whose properties all belong to an enclosing object, and none
// to the declaring object.
func (c *compiler) repeatsAncestor(o *unionObject) (found bool) {
	for _, d := range o.Declarations {
		names := d.Properties()
		if len(names) == 0 || slices.ContainsFunc(names, has(o.schema)) {
			continue
		}
		for i := range slices.Backward(o.Path) {
			around := o.Up(i)
			s := around.Schema(c.crd)
			if s == nil || slices.ContainsFunc(names, func(name string) bool { return !has(s)(name) }) {
				continue
			}
			for k, name := range names {
				names[k] = strconv.Quote(name)
			}
			c.report(diag.New(codes.UnknownMember, d.Pos,
				"%s are properties of %s, not of this object", strings.Join(names, ", "), cmp.Or(around.Path.String(), "the root")).In(o.Place).
				Hinted("move the declaration there"))
			found = true
			break
		}
	}
	return found
}

// extend applies extensions to the unions of an object.
func (c *compiler) extend(o *unionObject, l []union.External) {
	for _, e := range l {
		extensions, diags := union.ParseExtensions(e.File, o.Place.String(), e.Value, e.At)
		c.reportDeclarations(o, append(diags, union.Extend(o.Declarations, extensions)...))
		if o.Extensions == nil {
			o.Extensions = yamltext.ListNode()
		}
		o.Extensions.Content = append(o.Extensions.Content, yamltext.Resolve(e.Value).Content...)
	}
}

// ambiguous reports scalars that later checks read and that have different types in YAML 1.1 and
// 1.2.
func (c *compiler) ambiguous(o *unionObject) diag.List {
	var l diag.List
	check := func(n *yaml.Node) {
		n = yamltext.Resolve(n)
		if n == nil || n.Kind != yaml.ScalarNode {
			return
		}
		if _, err := yamltext.String(n); err != nil {
			l = append(l, diag.Diagnostic{Code: codes.AmbiguousScalar, Pos: c.pos(n), Path: o.Place.String(), Schema: o.Place.Structural(),
				Message: err.Error(), Hint: "quote it: " + yamltext.Quoted(n), Edits: diag.Replace(n.Line, n.Column, yamltext.Written(n), yamltext.Quoted(n))})
		}
	}
	sequence := func(m *yaml.Node, key string) {
		if v := yamltext.Value(m, key); v != nil {
			for _, item := range v.Content {
				// The enum of a nullable property contains null.
				if item = yamltext.Resolve(item); item.Tag != "!!null" {
					check(item)
				}
			}
		}
	}
	sequence(o.Node, "required")
	for _, d := range o.Declarations {
		for _, name := range d.Properties() {
			path, property := union.Property(o.schema, name)
			steps := path.Properties()
			if path == nil {
				steps = []string{name} // this key may be the ambiguous scalar
			}
			at := o.Node
			for _, step := range steps {
				e := yamltext.Lookup(yamltext.Value(at, "properties"), step)
				check(e.Key)
				at = e.Value
			}
			if name == d.Discriminator() && (property == nil || property.Type == "string") {
				sequence(at, "enum")
			}
		}
	}
	return l
}

// demands reports keys that require transition rules and cannot be enforced on this object, and
// Clear rules that are left out.
func (c *compiler) demands(o *unionObject) {
	for i, u := range o.Unions {
		d := o.Declarations[i]
		for _, demand := range d.Demands() {
			switch {
			case o.uncorrelated != "":
				c.report(diag.New(codes.NotCorrelatable, demand.Pos,
					"%s needs the old object, and the items of the list %s cannot be correlated with their old versions", demand.Key, o.uncorrelated).In(o.Place).
					Hinted("give that list x-kubernetes-list-type: map with x-kubernetes-list-map-keys, or turn it into a map; or drop " + demand.Key))
			case demand.Key == "ratchet" && !c.kube.features.OptionalOldSelf:
				c.report(diag.New(codes.KubeVersion, demand.Pos,
					"ratchet needs optionalOldSelf, which Kubernetes %s does not support", c.kube).In(o.Place).
					Hinted(c.opts.Origins.Version("drop ratchet, or compile for 1.30 or later")))
			case demand.Key != "ratchet" && o.removable != "":
				c.report(diag.New(codes.RemovableItem, demand.Pos,
					"%s can be bypassed: an entry of %s can be removed and added again", demand.Key, o.removable).In(o.Place).
					Hinted("rules cannot prevent this; document it in the field's description"))
			}
		}
		if u != nil && u.Change == union.Clear && o.uncorrelated != "" {
			c.report(diag.New(codes.ClearLeftOut, d.Pos,
				"the rule for changes is left out: the items of the list %s cannot be correlated with their old versions", o.uncorrelated).In(o.Place).
				Hinted("the static rules still reject leftover members; discriminatorChange: Allow silences this note"))
		}
	}
}

// versionsDiffer warns if served versions validate the same object differently: a client
// can bypass the stricter version through the laxer one.
func (c *compiler) versionsDiffer() {
	for _, o := range c.objects {
		for i, v := range c.crd.Spec.Versions {
			if i == o.Version || !v.Served || !c.crd.Spec.Versions[o.Version].Served {
				continue
			}
			there := slices.IndexFunc(c.objects, func(p *unionObject) bool { return p.Version == i && p.Path.Equal(o.Path) })
			other := schemapath.Place{Version: i, Name: v.Name, Path: o.Path}
			schema, difference := other.Schema(c.crd), ""
			switch {
			case there < 0 && hasAny(schema, o) && c.located.index(other) < 0 && !verify.Implied(o.Unions, schema, nil):
				difference = "declares no union there"
			case there >= 0 && i < o.Version && !sameUnions(c.objects[there], o):
				if p := c.objects[there]; verify.Implied(o.Unions, schema, p.Unions) && verify.Implied(p.Unions, o.schema, o.Unions) {
					continue
				}
				difference = "declares a different one"
			default:
				continue
			}
			c.report(diag.New(codes.VersionsDiffer, o.Declarations[0].Pos,
				"version %s is served too and %s: a write through the laxer version bypasses the stricter one", v.Name, difference).In(o.Place).
				Hinted(sameUnionsHint(schema, o, v.Name)))
		}
	}
}

// sameUnionsHint returns the hint to declare the unions of o in another version, and the obstacles in
// its schema.
func sameUnionsHint(schema *apiextensionsv1.JSONSchemaProps, o *unionObject, version string) string {
	hint := "declare the same unions in every served version"
	var lacking, always []string
	for _, u := range o.Unions {
		for _, name := range u.Names() {
			switch {
			case u.OfItems():
			case !has(schema)(name):
				lacking = append(lacking, name)
			case name != u.Discriminator && slices.Contains(schema.Required, name):
				always = append(always, name)
			}
		}
	}
	var obstacles []string
	if len(lacking) > 0 {
		obstacles = append(obstacles, "lacks "+english.List(lacking, "and"))
	}
	if len(always) > 0 {
		obstacles = append(obstacles, "requires "+english.List(always, "and"))
	}
	if len(obstacles) > 0 {
		hint += "; " + version + " " + strings.Join(obstacles, ", and ")
	}
	return hint
}

// sameUnions reports whether the unions of two versions mean the same, in any order, for their
// common properties: a property of only one version cannot be written through the other.
func sameUnions(a, b *unionObject) bool {
	both := func(name string) bool { return has(a.schema)(name) && has(b.schema)(name) }
	return slices.Equal(meanings(a.Unions, both), meanings(b.Unions, both))
}

// has returns a function that reports whether a schema has the named property.
func has(s *apiextensionsv1.JSONSchemaProps) func(name string) bool {
	return func(name string) bool {
		_, p := union.Property(s, name)
		return p != nil
	}
}

// hasAny reports whether a schema has a property that the unions of o restrict.
func hasAny(s *apiextensionsv1.JSONSchemaProps, o *unionObject) bool {
	return s != nil && slices.ContainsFunc(o.Declarations, func(d *union.Declaration) bool {
		if d.OfItems() {
			return s.Type == "array"
		}
		return slices.ContainsFunc(d.Properties(), has(s))
	})
}

func (c *compiler) result() *Result {
	r := &Result{}
	for _, o := range c.objects {
		r.Objects = append(r.Objects, o.Object)
		type source struct {
			rules.Rule
			union int
		}
		printed := map[string]*source{} // by text
		for i := range o.Unions {
			// fields-to-discriminateBy: {} declares a union whose members are added later.
			if len(o.rules(i)) == 0 && len(o.Unions[i].Members) > 0 {
				c.report(diag.New(codes.NoEffect, o.Declarations[i].Pos, "this union forbids nothing").In(o.Place).
					Hinted("add members, or give it a cardinality"))
			}
			if u := o.Unions[i]; u.Discriminator == "" && len(u.Members) == 1 && u.Cardinality != union.AtMostOne {
				c.report(diag.New(codes.SingleMember, o.Declarations[i].Pos,
					"%s is the only member of this union, which makes it required", u.Members[0].Name).In(o.Place).
					Hinted("check whether other members name another union by mistake; or make it required instead"))
			}
			for _, rule := range o.rules(i) {
				u, first := o.Unions[i], printed[rule.Rule]
				if first == nil {
					printed[rule.Rule] = &source{rule, i}
				} else if (u.Name != "" || u.Message != union.Texts{} || len(u.Messages) > 0) && (first.Message != rule.Message || first.MessageExpression != rule.MessageExpression) {
					c.report(diag.New(codes.MessageLost, o.Declarations[i].Pos,
						"another union of this object has a rule with the same text, and only its message is printed: %q", rule.Rule).In(o.Place).
						Hinted("delete the messages of one of the unions, or declare the same").
						With(diag.Related{Pos: o.Declarations[first.union].Pos, Message: "the other union"}))
				}
				if hasRule(o.schema.XValidations, rule) {
					c.report(diag.New(codes.HandWrittenRulePresent, o.Declarations[i].Pos,
						"a rule with this text is already present and is kept, with its own message: %q", rule.Rule).In(o.Place).
						Hinted("delete it to get the compiled one; two rules with the same text break server-side apply"))
				}
			}
		}
	}
	r.Additions = c.additions()
	r.CRD = c.extended(r.Additions)
	slices.SortStableFunc(r.Additions, func(a, b Addition) int {
		return cmp.Or(cmp.Compare(a.node.Line, b.node.Line), cmp.Compare(a.node.Column, b.node.Column))
	})
	return r
}
