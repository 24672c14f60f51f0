package change_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// generated generates random schemas and values.
type generated struct{ *rand.Rand }

func pick[T any](g *generated, l ...T) T { return l[g.IntN(len(l))] }

func (g *generated) odds(n int) bool { return g.IntN(n) == 0 }

// keywords is a schema in JSON form.
type keywords = map[string]any

// pair returns a CRD, a CRD that differs in a few keywords, and a description of the difference.
func (g *generated) pair(ctx context.Context) (old, new *apiextensionsv1.CustomResourceDefinition, what string) {
	for {
		status := g.odds(6)
		spec := g.object0(3)
		root := keywords{"type": "object", "properties": keywords{"spec": spec}}
		if g.odds(4) {
			root["required"] = pick(g, []any{"spec"}, []any{"spec"}, []any{"spec", "status"})
		}
		if g.odds(4) {
			root["properties"].(keywords)["status"] = g.object0(1)
		}
		if old = g.crd(ctx, root, status); old == nil {
			continue
		}
		for range 40 {
			changed := integral(root).(keywords)
			var l []string
			for range 1 + g.IntN(2) {
				l = append(l, g.mutate(changed))
			}
			if asJSON(changed) == asJSON(root) {
				continue
			}
			if g.odds(20) {
				status = !status
				l = append(l, "subresource status")
			}
			if new = g.crd(ctx, changed, status); new != nil {
				return old, new, strings.Join(l, ", ")
			}
		}
	}
}

// crd returns a CRD with a schema, or nil if the API server rejects it.
func (g *generated) crd(ctx context.Context, root keywords, status bool) *apiextensionsv1.CustomResourceDefinition {
	data, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	schema := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(data, schema); err != nil {
		panic(err)
	}
	v := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}}
	if status {
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{v},
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
	}}
	crd.Name = "things.example.com"
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	in := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), in, nil); err != nil {
		panic(err)
	}
	in.Status.StoredVersions = []string{"v1"}
	if len(validation.ValidateCustomResourceDefinition(ctx, in)) > 0 {
		return nil
	}
	return crd
}

var patterns = []string{"^a", "^[a-z]+$", "^[a-z-]+$", "x", "^(on|off)$", "^$|^b", "^.{2,3}$", "[0-9]"}
var formats = []string{"date-time", "date", "ipv4", "uri", "byte", "hostname", "int32", "k8s-short-name", "nonsense", "duration"}
var words = []string{"", "a", "b", "ab", "x", "on", "off", "a-b", "z9", "abcdef", "1", "2024-01-01", "2024-01-01T00:00:00Z", "10.0.0.1", "YQ==", "5m"}
var numbers = []any{int64(-2), int64(-1), int64(0), int64(1), int64(2), int64(3), int64(5), int64(10), 0.5, 1.5, -0.5, 2.5, 3.0, 0.0}

// object0 returns an object schema with properties named a, b and so on.
func (g *generated) object0(depth int) keywords {
	props := keywords{}
	for _, name := range []string{"a", "b", "c", "d"}[:1+g.IntN(4)] {
		props[name] = g.schema(depth - 1)
	}
	s := keywords{"type": "object", "properties": props}
	for range g.IntN(3) {
		g.constrain(s)
	}
	return s
}

func (g *generated) schema(depth int) keywords {
	var s keywords
	switch n := g.IntN(20); {
	case n < 6 || depth <= 0 && n < 10:
		s = keywords{"type": "string"}
		if g.odds(2) {
			s["maxLength"] = 3 + g.IntN(10)
		}
	case n < 8 || depth <= 0 && n < 14:
		s = keywords{"type": "integer"}
	case n < 9 || depth <= 0 && n < 16:
		s = keywords{"type": "number"}
	case n < 10 || depth <= 0 && n < 18:
		s = keywords{"type": "boolean"}
	case n < 11 || depth <= 0:
		s = keywords{"x-kubernetes-int-or-string": true}
	case n < 14:
		s = g.object0(depth)
	case n < 18:
		s = keywords{"type": "array", "maxItems": 2 + g.IntN(4)}
		switch g.IntN(4) {
		case 0:
			s["x-kubernetes-list-type"], s["items"] = "set", g.schema(0)
			if g.odds(3) {
				s["items"] = g.object0(1)
				s["items"].(keywords)["x-kubernetes-map-type"] = "atomic"
			}
		case 1:
			items := g.object0(depth)
			props := items["properties"].(keywords)
			keys := []any{"a"}
			props["a"] = keywords{"type": pick(g, "string", "string", "integer")}
			if g.odds(3) {
				keys = append(keys, "b")
				props["b"] = keywords{"type": "string"}
			}
			for _, k := range keys {
				if g.odds(2) {
					v := g.value(nil, props[k.(string)].(keywords))
					props[k.(string)].(keywords)["default"] = v
				} else {
					items["required"] = including(items["required"], k)
				}
			}
			s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"], s["items"] = "map", keys, items
		default:
			s["items"] = g.schema(depth - 1)
		}
	default:
		s = keywords{"type": "object", "additionalProperties": g.schema(depth - 1), "maxProperties": 2 + g.IntN(3)}
	}
	for range g.IntN(3) {
		g.constrain(s)
	}
	return s
}

func including(l any, v any) []any {
	have, _ := l.([]any)
	if slices.Contains(have, v) {
		return have
	}
	return append(slices.Clone(have), v)
}

// constrain adds, changes or removes one keyword of a schema, and describes the change.
func (g *generated) constrain(s keywords) string {
	kind, _ := s["type"].(string)
	l := []string{"nullable", "default", "rule"}
	switch kind {
	case "string":
		l = append(l, "enum", "enum", "pattern", "format", "minLength", "maxLength")
	case "integer", "number":
		l = append(l, "minimum", "maximum", "minimum", "maximum", "multipleOf", "enum", "exclusiveMinimum", "exclusiveMaximum")
	case "object":
		l = append(l, "required", "required", "minProperties", "maxProperties", "oneOf", "anyOf", "not", "rule", "rule", "x-kubernetes-preserve-unknown-fields")
		if g.odds(8) {
			l = append(l, "enum")
		}
	case "array":
		l = append(l, "minItems", "maxItems", "x-kubernetes-list-type", "rule")
	}
	k := pick(g, l...)
	if _, has := s[k]; has && g.odds(3) {
		delete(s, k)
		return k + " removed"
	}
	names := slices.Sorted(maps.Keys(properties(s)))
	some := func() any { return names[g.IntN(len(names))] }
	switch k {
	case "nullable":
		s[k] = true
	case "default":
		s[k] = g.value(nil, s)
	case "enum":
		var e []any
		for range 1 + g.IntN(3) {
			if v := g.value(nil, onlyIn(s, "enum")); v != nil {
				e = append(e, v)
			}
		}
		if have, ok := s[k].([]any); ok && g.odds(2) {
			e = append(have[:len(have)-g.IntN(2)], e...)
		}
		if e = distinct(e); len(e) > 0 {
			s[k] = e
		}
	case "pattern":
		s[k] = pick(g, patterns...)
	case "format":
		s[k] = pick(g, formats...)
	case "minLength", "minItems":
		s[k] = g.IntN(3)
	case "minProperties":
		s[k] = g.IntN(3)
	case "maxLength", "maxItems", "maxProperties":
		s[k] = 1 + g.IntN(5)
	case "minimum", "maximum":
		s[k] = pick(g, numbers...)
	case "exclusiveMinimum", "exclusiveMaximum":
		s[k] = true
	case "multipleOf":
		s[k] = pick[any](g, 2, 3, 0.5, 1.5)
	case "x-kubernetes-list-type":
		s[k] = pick(g, "atomic", "set")
	case "x-kubernetes-preserve-unknown-fields":
		s[k] = true
	case "required":
		if len(names) > 0 {
			s[k] = including(s[k], some())
		}
	case "oneOf", "anyOf":
		if len(names) > 1 {
			s[k] = []any{keywords{"required": []any{some()}}, keywords{"required": []any{some()}}}
		}
	case "not":
		if len(names) > 0 {
			s[k] = keywords{"required": []any{some()}}
		}
	case "rule":
		k = "rule " + g.rule(s)
	}
	return k
}

func onlyIn(s keywords, name string) keywords {
	s = maps.Clone(s)
	delete(s, name)
	return s
}

func distinct(l []any) []any {
	seen := map[string]bool{}
	return slices.DeleteFunc(l, func(v any) bool {
		k := asJSON(v)
		was := seen[k]
		seen[k] = true
		return was
	})
}

func properties(s keywords) keywords {
	p, _ := s["properties"].(keywords)
	return p
}

// rule adds, changes or removes a rule.
func (g *generated) rule(s keywords) string {
	var l []string
	kind, _ := s["type"].(string)
	names := slices.Sorted(maps.Keys(properties(s)))
	switch {
	case kind == "string":
		l = []string{"self != 'x'", "self.startsWith('a')", "self == oldSelf", "self.matches('^[a-z]*$')", "size(self) < 4"}
	case kind == "integer":
		l = []string{"self > 0", "self <= 5", "self >= oldSelf", "self != 3"}
	case kind == "number":
		l = []string{"self > 0.0", "self <= 5.0"}
	case kind == "array":
		l = []string{"self.size() < 3", "self.size() > 0", "self == oldSelf", "oldSelf.all(x, x in self)"}
		items, _ := s["items"].(keywords)
		switch items["type"] {
		case "string":
			l = append(l, "self.all(x, x != 'x')", "self.exists(x, x == 'a')", "self.all(x, x.matches('^[a-z]'))", "self.all(x, self.exists_one(y, x == y))")
		case "integer":
			l = append(l, "self.all(x, x < 5)", "self.exists(x, x == 1)")
		case "object":
			for name := range properties(items) {
				l = append(l, "self.all(x, has(x."+name+"))", "self.exists_one(x, has(x."+name+"))", "!self.exists(x, has(x."+name+")) || self.size() == 1")
			}
		}
	case kind == "object" && len(names) > 0:
		some := func() string { return names[g.IntN(len(names))] }
		x, y := some(), some()
		l = []string{"has(self." + x + ")", "!has(self." + x + ")", "has(self." + x + ") == has(self." + y + ")", "!(has(self." + x + ") && has(self." + y + "))",
			"has(self." + x + ") || has(self." + y + ")", "!has(oldSelf." + x + ") || has(self." + x + ")", "has(self." + x + ") || !has(oldSelf." + x + ")",
			"!has(self." + x + ") || !has(oldSelf." + x + ") || self." + x + " == oldSelf." + x}
		p := properties(s)[x].(keywords)
		switch p["type"] {
		case "string":
			l = append(l, "!has(self."+x+") || self."+x+" != 'a'", "has(self."+x+") && self."+x+" in ['a', 'b', 'x']", "self."+x+".size() < 3", "!has(self."+x+") || self."+x+".matches('^[a-z]')")
		case "integer":
			l = append(l, "!has(self."+x+") || self."+x+" < 5", "self."+x+" >= 1", "!has(self."+x+") || self."+x+" % 2 == 0")
		case "array":
			l = append(l, "!has(self."+x+") || self."+x+".size() < 2", "has(self."+x+") && self."+x+".size() > 0")
		case "object":
			for name := range properties(p) {
				l = append(l, "!has(self."+x+") || has(self."+x+"."+name+")")
			}
		}
		slices.Sort(l)
	case kind == "object":
		l = []string{"self.size() < 3", "self.all(k, k != 'x')", "'a' in self", "self.all(k, k.startsWith('a') || k == 'b')"}
	default:
		return "not added"
	}
	slices.Sort(l)
	rules, _ := s["x-kubernetes-validations"].([]any)
	if len(rules) > 0 && g.odds(2) {
		i := g.IntN(len(rules))
		rules = append(slices.Clone(rules[:i]), rules[i+1:]...)
		if g.odds(2) {
			s["x-kubernetes-validations"] = rules
			return "removed"
		}
	}
	text := pick(g, l...)
	for _, r := range rules {
		if r.(keywords)["rule"] == text {
			return "not added"
		}
	}
	s["x-kubernetes-validations"] = append(slices.Clone(rules), keywords{"rule": text})
	return "added: " + text
}

// mutate changes one schema below root, and describes the change.
func (g *generated) mutate(root keywords) string {
	var all []keywords
	var names []string
	var visit func(path string, s keywords)
	visit = func(path string, s keywords) {
		if path != "" {
			all, names = append(all, s), append(names, path)
		}
		for _, name := range slices.Sorted(maps.Keys(properties(s))) {
			visit(path+"."+name, properties(s)[name].(keywords))
		}
		for _, k := range []string{"items", "additionalProperties"} {
			if sub, ok := s[k].(keywords); ok {
				visit(path+"["+k+"]", sub)
			}
		}
	}
	visit("", root)
	i := g.IntN(len(all))
	s, at := all[i], names[i]+": "
	props := properties(s)
	switch {
	case props != nil && g.odds(6):
		props[pick(g, "c", "d", "e")] = g.schema(1)
		return at + "property added or replaced"
	case len(props) > 1 && g.odds(8):
		name := slices.Sorted(maps.Keys(props))[g.IntN(len(props))]
		delete(props, name)
		return at + "property " + name + " removed"
	case g.odds(14):
		s["type"] = pick(g, "string", "number", "integer")
		return at + "type changed"
	case g.odds(4):
		for _, k := range []string{"nullable", "default"} {
			if _, has := s[k]; has {
				delete(s, k)
				return at + k + " removed"
			}
		}
		if g.odds(2) {
			s["nullable"] = true
			return at + "nullable added"
		}
		s["default"] = g.value(nil, s)
		return at + "default added"
	}
	return at + g.constrain(s)
}

// object returns an object that one of two CRDs may accept.
func (g *generated) object(a, b *apiextensionsv1.JSONSchemaProps) map[string]any {
	as := func(s *apiextensionsv1.JSONSchemaProps) (k keywords) {
		data, _ := json.Marshal(s)
		_ = json.Unmarshal(data, &k)
		return k
	}
	o := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}}
	v := g.value(as(a), as(b))
	if m, ok := v.(map[string]any); ok {
		for _, name := range []string{"spec", "status"} {
			if v, has := m[name]; has {
				o[name] = v
			}
		}
	}
	return o
}

// value returns a value that one of two schemas may accept. The first schema may be nil.
func (g *generated) value(a, b keywords) any {
	s := b
	if a != nil && (b == nil || g.odds(2)) {
		s = a
	}
	other := b
	if a != nil && same(s, b) {
		other = a
	}
	if s["nullable"] == true && g.odds(4) || g.odds(40) {
		return nil
	}
	for _, e := range []any{s["enum"], other["enum"]} {
		if e, ok := e.([]any); ok && !g.odds(8) {
			return integral(e[g.IntN(len(e))])
		}
	}
	if d, has := s["default"]; has && g.odds(4) {
		return integral(d)
	}
	kind, _ := s["type"].(string)
	if s["x-kubernetes-int-or-string"] == true {
		kind = pick(g, "integer", "string")
	}
	switch kind {
	case "string":
		if g.odds(25) {
			return pick[any](g, []any{}, int64(1), map[string]any{})
		}
		return pick(g, words...)
	case "integer", "number":
		if kind == "integer" { // whether 1.0 is an integer depends on the decoder
			return int64(pick(g, -2, -1, 0, 1, 2, 3, 4, 5, 6, 9, 10, 11))
		}
		return pick(g, numbers...)
	case "boolean":
		return g.odds(2)
	case "array":
		l := []any{}
		for range g.IntN(4) {
			if len(l) > 0 && g.odds(4) {
				l = append(l, runtime.DeepCopyJSONValue(l[0]))
				continue
			}
			l = append(l, g.value(sub(a, "items"), sub(b, "items")))
		}
		return l
	case "object":
		o := map[string]any{}
		pa, pb := properties(a), properties(b)
		names := slices.Sorted(maps.Keys(pa))
		for name := range pb {
			if _, ok := pa[name]; !ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		required := fmt.Sprint(s["required"])
		for _, name := range names {
			if strings.Contains(required, name) && !g.odds(6) || g.odds(2) {
				o[name] = g.value(sub(pa, name), sub(pb, name))
			}
		}
		if x, y := sub(a, "additionalProperties"), sub(b, "additionalProperties"); x != nil || y != nil {
			for range g.IntN(4) {
				o[pick(g, "a", "b", "x", "ab")] = g.value(x, y)
			}
		}
		if s["x-kubernetes-preserve-unknown-fields"] == true && g.odds(3) {
			o["unnamed"] = pick[any](g, "a", int64(1), map[string]any{})
		}
		return o
	}
	return pick[any](g, "a", int64(1), map[string]any{}, []any{})
}

func same(a, b keywords) bool { return asJSON(a) == asJSON(b) }

func sub(s keywords, name string) keywords {
	k, _ := s[name].(keywords)
	return k
}

// integral decodes the integers in a JSON value as the API server does.
func integral(v any) any {
	data := asJSON(v)
	var out any
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	if d.Decode(&out) != nil {
		return v
	}
	var fix func(v any) any
	fix = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			if n, err := v.Int64(); err == nil {
				return n
			}
			f, _ := v.Float64()
			return f
		case []any:
			for i := range v {
				v[i] = fix(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = fix(v[k])
			}
		}
		return v
	}
	return fix(out)
}
