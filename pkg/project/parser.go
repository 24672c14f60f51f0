package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/lint"
)

type parser struct {
	file  string
	diags diag.List
}

func (p *parser) errorf(n *yaml.Node, hint, format string, args ...any) {
	at := diag.Pos{File: p.file}
	if n != nil {
		at.Line, at.Col = n.Line, n.Column
	}
	p.diags = append(p.diags, diag.Diagnostic{Code: diag.BadConfig, Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// document returns the values of a file by key, nil when it is no configuration.
func (p *parser) document(src []byte, known ...string) map[string]*yaml.Node {
	const head = "write apiVersion: " + APIVersion + " and kind: " + Kind
	if !source.IsConfig(src) {
		p.errorf(nil, head, "this is no %s: it has no apiVersion: %s", Kind, APIVersion)
		return nil
	}
	root := p.root(src)
	if root == nil {
		return nil
	}
	fields := p.fields(root, "a "+Kind, append([]string{"apiVersion", "kind"}, known...)...)
	if fields == nil {
		return nil
	}
	for _, want := range [][2]string{{"apiVersion", APIVersion}, {"kind", Kind}} {
		n, ok := fields[want[0]]
		switch {
		case !ok:
			p.errorf(root, head, "this configuration has no %s", want[0])
		case n.Kind != yaml.ScalarNode || n.Value != want[1]:
			p.errorf(n, head, "%s must be %s", want[0], want[1])
		}
	}
	return fields
}

// root returns the only document of a file; what is wrong with it is reported.
func (p *parser) root(src []byte) *yaml.Node {
	file, wrong := source.Parse(p.file, src, limit.Limits{})
	if wrong != nil {
		p.diags = append(p.diags, *wrong)
		return nil
	}
	var root *yaml.Node
	for _, d := range file.Docs {
		switch {
		case d.Root == nil:
		case root != nil:
			p.errorf(d.Root, "put all of it into the first", "a configuration is one document, and this is a second one")
		default:
			root = yamltext.Resolve(d.Root)
			p.diags = append(p.diags, source.Duplicates(p.file, d.Root)...)
			if _, _, wrong := source.Value(p.file, file, d); wrong != nil {
				p.diags = append(p.diags, *wrong)
			}
		}
	}
	if root == nil {
		p.errorf(nil, "", "there is no configuration in this file")
	}
	return root
}

// fields returns the values of a mapping by key, and reports unknown keys. what names
// the mapping in messages. nil is no mapping, which is reported.
func (p *parser) fields(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "its keys are "+strings.Join(known, ", "), "%s must be a mapping, not %s", what, yamltext.Describe(n))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for _, e := range yamltext.Entries(n) {
		if slices.Contains(known, e.Key.Value) {
			fields[e.Key.Value] = yamltext.Resolve(e.Value)
			continue
		}
		p.errorf(e.Key, nearest(e.Key.Value, known), "unknown key %q in %s", e.Key.Value, what)
	}
	return fields
}

// list returns the items of a list; no list has none.
func (p *parser) list(n *yaml.Node, key, example string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.errorf(n, fmt.Sprintf("write it like %s: %s", key, example), "%s: want a list, not %s", key, yamltext.Describe(n))
		return nil
	}
	var l []*yaml.Node
	for _, item := range n.Content {
		l = append(l, yamltext.Resolve(item))
	}
	return l
}

// setting reads what stands at the top and in overrides alike.
func (p *parser) setting(s *lint.Setting, fields map[string]*yaml.Node) {
	for _, n := range p.list(fields["ignore"], "ignore", "[UC521]") {
		if p.code(n, "ignored") {
			s.Ignore = append(s.Ignore, diag.Code(n.Value))
		}
	}
	n, ok := fields["severities"]
	if !ok {
		return
	}
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "write it like severities: {UC524: error}", "severities: want a mapping, not %s", yamltext.Describe(n))
		return
	}
	s.Severities = map[diag.Code]diag.Severity{}
	for _, e := range yamltext.Entries(n) {
		v := yamltext.Resolve(e.Value)
		i := slices.Index(severities, v.Value)
		switch {
		case v.Kind != yaml.ScalarNode || i < 0:
			p.errorf(v, nearest(v.Value, severities)+"; what is not to be reported goes into ignore", "the severity of %s must be one of %s", e.Key.Value, strings.Join(severities, ", "))
		case p.code(e.Key, "lowered"):
			s.Severities[diag.Code(e.Key.Value)] = diag.Severity(i)
		}
	}
}

// severities are the spellings, in order.
var severities = []string{diag.Error.String(), diag.Warning.String(), diag.Info.String()}

// code reports whether a node is a code that can be changed.
func (p *parser) code(n *yaml.Node, what string) bool {
	hint, err := lint.CheckCode(diag.Code(n.Value), what)
	if err != nil {
		p.errorf(n, hint, "%v", err)
	}
	return err == nil
}

// text returns a string; none is empty.
func (p *parser) text(n *yaml.Node, key, example string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || n.Value == "" {
		p.errorf(n, "write it like "+example, "%s: want a string, not %s", key, yamltext.Describe(n))
		return ""
	}
	s, err := yamltext.String(n)
	if err != nil {
		p.errorf(n, "write it in quotes, like "+example, "%s: %v", key, err)
	}
	return s
}

// boolean returns true or false; without a value the default.
func (p *parser) boolean(n *yaml.Node, key string, value bool) bool {
	if n != nil && (n.ShortTag() != "!!bool" || n.Decode(&value) != nil) {
		p.errorf(n, fmt.Sprintf("write %s: true, without quotes", key), "%s: want true or false, not %s", key, yamltext.Describe(n))
	}
	return value
}

// nearest is the hint for a misspelt name.
func nearest(name string, known []string) string {
	if best := spelling.Closest(name, known); best != "" {
		return fmt.Sprintf("write %q", best)
	}
	return "write one of " + strings.Join(known, ", ")
}
