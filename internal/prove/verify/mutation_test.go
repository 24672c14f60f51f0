package verify_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestMutants changes the rules compiled for the examples, one operator at a time. It compares
// verify with the API server's validator, which decides for every pair of states whether the
// mutated rules still enforce the union. With [unioncases.Exhaustive] it covers all mutants,
// otherwise a sample.
func TestMutants(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	sources := map[string][]byte{"open.yaml": []byte(openDiscriminator), "shared.yaml": []byte(sharedValue), "nested.yaml": []byte(nested), "items.yaml": []byte(items), "unset.yaml": []byte(unset), "boolean.yaml": []byte(boolean), "integer.yaml": []byte(integer), "grouped.yaml": []byte(grouped), "related.yaml": []byte(related)}
	for _, file := range files {
		if sources[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	every := unioncases.Choose(50, 23, 1)
	var total, invalid, changed, noticed atomic.Int64
	t.Run("examples", func(t *testing.T) {
		for file, src := range sources {
			for _, encoding := range []compile.Encoding{compile.Fine, compile.Compact} {
				out, diags := crdpatch.Compile(crdpatch.Open(file, src), crdpatch.Options{Encoding: encoding})
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				declared, diags := crdpatch.Ask(crdpatch.Open(file, out), crdpatch.Options{}, (*crdpatch.CRD).Declared)
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				seen := map[string]bool{}
				for _, o := range declared[0].Objects {
					for i, u := range o.Unions {
						same := fmt.Sprintf("%v %+v", o.Path, *u)
						if seen[same] {
							continue // another version has the same union
						}
						seen[same] = true
						t.Run(fmt.Sprintf("%s %s %v %d", filepath.Base(file), encoding, o.Path, i), func(t *testing.T) {
							t.Parallel()
							j := newJudge(t, declared[0].CRD, o.Version, o.Path.Fields(), u)
							for p, place := range j.places {
								for r := range place.rules {
									for m, mutant := range mutants(place.rules[r].Rule) {
										if (p+r+m)%every > 0 {
											continue // all mutants take some ten seconds
										}
										total.Add(1)
										meaning, ok := j.differs(t, p, r, mutant)
										if !ok {
											invalid.Add(1)
											continue
										}
										proof := j.verify(t, p, r, mutant, o.Unions)
										if meaning {
											changed.Add(1)
										}
										// A rule on other items of a list is a restriction instead
										// of a difference, since a list may lack these items.
										found := len(proof.Differences()) > 0 || u.OfItems() && len(proof.OfKind(verify.Restricted)) > 0
										if found {
											noticed.Add(1)
										}
										if meaning != found || len(proof.OfKind(verify.Undecided)) > 0 {
											t.Errorf("%s\nbecame %s\nit changes the meaning: %t; verify says %s", place.rules[r].Rule, mutant, meaning, summary(proof))
										}
									}
								}
							}
						})
					}
				}
			}
		}
	})
	t.Logf("%d mutants: %d do not compile, %d mean the same, %d mean something else, of which %d were noticed",
		total.Load(), invalid.Load(), total.Load()-invalid.Load()-changed.Load(), changed.Load(), noticed.Load())
	if changed.Load() < int64(unioncases.Choose(0, 50, 100)) {
		t.Error("too few mutants to say anything")
	}
}

// judge evaluates the rules around a union independently of verify. It validates whole resources
// with minimal values of the right types, with the API server's validator and one rule at a time.
type judge struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	version int
	steps   []string
	u       *union.Union
	places  []place
	// foreign are values that only the rules or their mutants mention, and a value that nothing
	// mentions.
	foreign []string
	states  []situation
	// accepts has the results of each rule for each pair, by new state and old state. In the last
	// old state there is no object: a creation.
	accepts map[[2]int][][]bool
	// aside means that the mutant mentions ancestors of the union object, but not the union. The
	// union does not determine whether the ancestors are required.
	aside bool
}

// place is a schema on the path to the union object.
type place struct {
	steps []string
	rules []apiextensionsv1.ValidationRule
}

// situation is a resource with the union in a state, or without the union object.
type situation struct {
	state    union.State
	gone     bool
	resource map[string]any
}

func newJudge(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, version int, steps []string, u *union.Union) *judge {
	j := &judge{crd: crd.DeepCopy(), version: version, steps: steps, u: u, accepts: map[[2]int][][]bool{}, foreign: []string{"nothing mentions this"}}
	switch u.Type {
	case union.BooleanValue:
		j.foreign = nil
	case union.IntegerValue:
		j.foreign = []string{"7777"}
	}
	root := crd.Spec.Versions[version].Schema.OpenAPIV3Schema
	for n := 0; n <= len(steps); n++ {
		if n > 0 && steps[n-1] == "properties" {
			continue
		}
		var rules []apiextensionsv1.ValidationRule
		for _, r := range at(t, root, steps[:n]).XValidations {
			above := n < len(steps) && !strings.Contains(r.Rule, "."+steps[len(steps)-1])
			if j.mentions(r.Rule) && !above {
				rules = append(rules, r)
			}
		}
		j.places = append(j.places, place{steps[:n], rules})
	}
	for _, p := range j.places {
		for _, r := range p.rules {
			for _, m := range append(mutants(r.Rule), r.Rule) {
				for _, text := range literal.FindAllString(m, -1) {
					if text = strings.Trim(text, "'"); text != "" && u.Type == union.StringValue && !slices.Contains(append(j.foreign, j.u.Values...), text) {
						j.foreign = append(j.foreign, text)
					}
				}
			}
		}
	}
	j.situations(t, root)
	for p := range j.places {
		for r := range j.places[p].rules {
			if j.accepts[[2]int{p, r}] = j.evaluate(t, p, j.places[p].rules[r]); j.accepts[[2]int{p, r}] == nil {
				t.Fatalf("%s does not compile", j.places[p].rules[r].Rule)
			}
		}
	}
	if at := j.disagreement(); at != "" {
		t.Fatalf("the rules do not mean what the union says: %s", at)
	}
	return j
}

// mentions reports whether a rule reads a property of the union.
func (j *judge) mentions(rule string) bool {
	if j.u.OfItems() {
		return strings.Contains(rule, "item.")
	}
	return slices.ContainsFunc(append(j.u.MemberNames(), j.u.Discriminator), func(name string) bool {
		return name != "" && regexp.MustCompile(`\.`+regexp.QuoteMeta(name)+`\b`).MatchString(rule)
	})
}

// situations adds resources in every state, and resources without the union object.
func (j *judge) situations(t *testing.T, root *apiextensionsv1.JSONSchemaProps) {
	object := at(t, root, j.steps)
	path, d := union.Property(object, j.u.Discriminator)
	values := []string{""}
	if d != nil {
		if len(path) == 1 && slices.Contains(object.Required, j.u.Discriminator) {
			values = nil
		}
		values = append(values, j.u.Values...)
		if len(d.Enum) == 0 {
			values = append(values, j.foreign...)
		}
	}
	add := func(m map[string]any) {
		j.add(t, root, m)
		for name := range j.u.Paths { // add a variant with an empty object
			holder := j.u.Path(name).Properties()[0]
			if _, ok := m[holder]; !ok {
				empty := maps.Clone(m)
				empty[holder] = map[string]any{}
				j.add(t, root, empty)
				break
			}
		}
	}
	if j.u.OfItems() {
		for bits := range 1 << len(j.u.Members) {
			list := []any{}
			for i, member := range j.u.Members {
				if bits&(1<<i) != 0 {
					item := map[string]any{}
					for _, k := range member.Item {
						item[k.Name] = k.Value
					}
					list = append(list, item)
				}
			}
			j.add(t, root, list)
			j.add(t, root, append(list, map[string]any{"type": "nothing mentions this"}))
		}
		values = nil
	}
	for _, value := range values {
		for bits := range 1 << len(j.u.Members) {
			m := map[string]any{}
			if value != "" {
				j.set(m, j.u.Discriminator, j.u.Type.Value(value))
			}
			for i, member := range j.u.Members {
				if bits&(1<<i) != 0 {
					_, p := union.Property(object, member.Name)
					j.set(m, member.Name, dummy(p))
				}
			}
			add(m)
			if value == "" && d != nil && len(d.Enum) == 0 && d.Type == "string" {
				empty := runtime.DeepCopyJSON(m)
				j.set(empty, j.u.Discriminator, "")
				j.add(t, root, empty)
			}
			for i, member := range j.u.Members {
				if bits&(1<<i) == 0 && member.Empty == union.EmptyCollection {
					empty := maps.Clone(m)
					empty[member.Name] = []any{}
					j.add(t, root, empty)
				}
			}
		}
	}
	for n := len(j.steps); n >= 2 && j.steps[n-2] == "properties"; n -= 2 {
		parent := at(t, root, j.steps[:n-2])
		if !slices.Contains(parent.Required, j.steps[n-1]) {
			j.states = append(j.states, situation{gone: true, resource: wrap(t, root, j.steps[:n-2], map[string]any{}).(map[string]any)})
		}
	}
}

// set sets a member or the discriminator in the union object.
func (j *judge) set(object map[string]any, name string, v any) {
	if err := unstructured.SetNestedField(object, v, j.u.Path(name).Properties()...); err != nil {
		panic(err) // a parent is not an object
	}
}

func (j *judge) add(t *testing.T, root *apiextensionsv1.JSONSchemaProps, object any) {
	j.states = append(j.states, situation{state: j.u.StateOf(object), resource: wrap(t, root, j.steps, object).(map[string]any)})
}

// dummy returns a value of a schema's type.
func dummy(s *apiextensionsv1.JSONSchemaProps) any {
	switch s.Type {
	case "string":
		return "x"
	case "integer":
		return int64(1)
	case "array":
		return []any{dummy(s.Items.Schema)}
	}
	return map[string]any{}
}

// wrap returns a resource with the value v at the path steps.
func wrap(t *testing.T, s *apiextensionsv1.JSONSchemaProps, steps []string, v any) any {
	if len(steps) == 0 {
		return v
	}
	switch steps[0] {
	case "properties":
		return map[string]any{steps[1]: wrap(t, at(t, s, steps[:2]), steps[2:], v)}
	case "items":
		inner := wrap(t, s.Items.Schema, steps[1:], v).(map[string]any)
		for _, k := range s.XListMapKeys {
			inner[k] = "key"
		}
		return []any{inner}
	}
	return map[string]any{"key": wrap(t, s.AdditionalProperties.Schema, steps[1:], v)}
}

// evaluate returns the API server's result for every pair of states, or nil if the rule does not
// compile.
func (j *judge) evaluate(t *testing.T, p int, rule apiextensionsv1.ValidationRule) [][]bool {
	t.Helper()
	root := bare(j.crd.Spec.Versions[j.version].Schema.OpenAPIV3Schema, j.steps)
	rule.MessageExpression, rule.FieldPath = "", ""
	setRules(root, j.places[p].steps, apiextensionsv1.ValidationRules{rule})
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, &in, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	v := schemacel.NewValidator(s, true, celconfig.PerCallLimit)
	var l [][]bool
	for _, next := range j.states {
		var row []bool
		for o := range len(j.states) + 1 {
			if o > 0 && !strings.Contains(rule.Rule, "oldSelf") {
				row = append(row, row[0])
				continue
			}
			var old any
			if o < len(j.states) {
				old = j.states[o].resource
			}
			errs, _ := v.Validate(context.Background(), nil, nil, next.resource, old, math.MaxInt64)
			if len(errs) > 0 && strings.HasPrefix(errs[0].Detail, "rule compile error") {
				return nil
			}
			row = append(row, len(errs) == 0)
		}
		l = append(l, row)
	}
	return l
}

// bare returns a schema without rules. It has only the schemas on the path steps, and the
// properties at the end of this path.
func bare(s *apiextensionsv1.JSONSchemaProps, steps []string) *apiextensionsv1.JSONSchemaProps {
	c := *s
	c.XValidations = nil
	switch {
	case len(steps) == 0:
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for name, p := range s.Properties {
			p.XValidations = nil
			c.Properties[name] = p
		}
	case steps[0] == "properties":
		p := s.Properties[steps[1]]
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{steps[1]: *bare(&p, steps[2:])}
	case steps[0] == "items":
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: bare(s.Items.Schema, steps[1:])}
	default:
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Schema: bare(s.AdditionalProperties.Schema, steps[1:])}
	}
	return &c
}

func setRules(s *apiextensionsv1.JSONSchemaProps, steps []string, rules apiextensionsv1.ValidationRules) {
	switch {
	case len(steps) == 0:
		s.XValidations = rules
	case steps[0] == "properties":
		p := s.Properties[steps[1]]
		setRules(&p, steps[2:], rules)
		s.Properties[steps[1]] = p
	case steps[0] == "items":
		setRules(s.Items.Schema, steps[1:], rules)
	default:
		setRules(s.AdditionalProperties.Schema, steps[1:], rules)
	}
}

// disagreement describes a pair for which the rules and the model differ. It is "" if there is
// none.
func (j *judge) disagreement() string {
	correlated := !slices.Contains(j.steps, "items")
	for i := range j.steps {
		if j.steps[i] == "items" {
			list := at(nil, j.crd.Spec.Versions[j.version].Schema.OpenAPIV3Schema, j.steps[:i])
			correlated = list.XListType != nil && *list.XListType == "map"
		}
	}
	for n, next := range j.states {
		for o := range len(j.states) + 1 {
			accepted := true
			for _, m := range j.accepts {
				accepted = accepted && m[n][o]
			}
			want := true
			creation := o == len(j.states) || j.states[o].gone || !correlated
			switch {
			case next.gone && (creation || j.states[o].gone):
				if j.aside {
					continue // the mutant does not read the union any more
				}
			case next.gone && j.aside && !accepted:
				continue
			case next.gone:
				want = j.u.Removable(j.states[o].state)
			case creation:
				want = len(j.u.Judge(nil, next.state)) == 0
			default:
				want = len(j.u.Judge(&j.states[o].state, next.state)) == 0
			}
			if accepted != want {
				return fmt.Sprintf("pair %d -> %d: accepted: %t", o, n, accepted)
			}
		}
	}
	return ""
}

// differs reports whether the rules have another result with a mutant in place of rule r of place
// p. ok is false if the mutant does not compile.
func (j *judge) differs(t *testing.T, p, r int, mutant string) (differs, ok bool) {
	rule := j.places[p].rules[r]
	rule.Rule = mutant
	verdicts := j.evaluate(t, p, rule)
	if verdicts == nil {
		return false, false
	}
	k := [2]int{p, r}
	original := j.accepts[k]
	j.accepts[k] = verdicts
	j.aside = !j.mentions(mutant)
	defer func() { j.accepts[k], j.aside = original, false }()
	return j.disagreement() != "", true
}

// verify proves the union with a mutant in place of a rule.
func (j *judge) verify(t *testing.T, p, r int, mutant string, unions []*union.Union) verify.Proof {
	t.Helper()
	root := j.crd.Spec.Versions[j.version].Schema.OpenAPIV3Schema
	before := at(t, root, j.places[p].steps).XValidations
	rules := slices.Clone(before)
	i := slices.IndexFunc(rules, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == j.places[p].rules[r].Rule })
	rules[i].Rule = mutant
	setRules(root, j.places[p].steps, rules)
	defer setRules(root, j.places[p].steps, before)
	proofs, err := verify.Object(context.Background(), j.crd, j.version, pathOf(j.steps), unions)
	if err != nil {
		t.Fatal(err)
	}
	for _, proof := range proofs {
		if proof.Union == j.u {
			return proof
		}
	}
	t.Fatal("no proof")
	return verify.Proof{}
}
