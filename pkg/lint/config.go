package lint

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
)

// What a configuration says of itself. No other apiVersion or kind is read.
const (
	apiVersion = "unioncel.dev/v1alpha1"
	kind       = "LintConfig"
)

// Config says what is reported, and how badly. The zero value changes nothing.
type Config struct {
	Setting
	// Overrides count for some files, beside the rest; a later one beats an earlier.
	Overrides []Override
	// FailOn is the severity that makes linting fail; nil leaves it to the caller.
	// ParseConfig refuses FailNever.
	FailOn *Threshold
}

// Setting is a part of a configuration.
type Setting struct {
	// Ignore are the codes that are not reported. Errors are reported all the same.
	Ignore []diag.Code
	// Severities are those that codes have in place of their own. Errors stay errors.
	Severities map[diag.Code]diag.Severity
}

// Override is a setting for some files.
type Override struct {
	// Files are patterns of their paths, with slashes. The elements of a pattern are
	// those of [path.Match], and ** for any number of elements: "legacy/**" is what is
	// in legacy, "**/crd.yaml" every crd.yaml. A malformed pattern matches nothing;
	// ParseConfig refuses it.
	Files []string
	Setting
}

// Threshold is the least severity that makes linting fail.
type Threshold int

// The thresholds; the zero value is the strictest that makes sense everywhere.
const (
	FailOnError Threshold = iota
	FailOnWarning
	FailOnInfo
	FailNever
)

// Thresholds are their spellings, in order.
var Thresholds = []string{"error", "warning", "info", "never"}

// ParseThreshold reads "error", "warning", "info" or "never".
func ParseThreshold(s string) (Threshold, error) {
	if i := slices.Index(Thresholds, s); i >= 0 {
		return Threshold(i), nil
	}
	return 0, fmt.Errorf("%q is none of %s", s, strings.Join(Thresholds, ", "))
}

// Reached reports whether a diagnostic of the list is as bad as the threshold.
func (t Threshold) Reached(l diag.List) bool {
	return t != FailNever && slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return int(d.Severity) <= int(t) })
}

// CheckIgnore returns an error unless a code exists and may be ignored.
func CheckIgnore(code diag.Code) error {
	if hint := unknownCode(code); hint != "" {
		return fmt.Errorf("there is no diagnostic %q: %s", code, hint)
	}
	if fixed(code) {
		return fmt.Errorf("%s is an error, which cannot be ignored", code)
	}
	return nil
}

// Apply returns the diagnostics as the configuration has them; l is not changed.
// path turns the name of a file into its path from the directory of the
// configuration, with slashes; nil leaves names as they are.
func (c *Config) Apply(l diag.List, path func(file string) string) diag.List {
	var out diag.List
	for _, d := range l {
		if fixed(d.Code) {
			out = append(out, d)
			continue
		}
		file := d.Pos.File
		if path != nil {
			file = path(file)
		}
		settings := []Setting{c.Setting}
		for _, o := range c.Overrides {
			if slices.ContainsFunc(o.Files, func(pattern string) bool { return matches(pattern, file) }) {
				settings = append(settings, o.Setting)
			}
		}
		if slices.ContainsFunc(settings, func(s Setting) bool { return slices.Contains(s.Ignore, d.Code) }) {
			continue
		}
		for _, s := range settings {
			if severity, ok := s.Severities[d.Code]; ok {
				d.Severity = severity
			}
		}
		out = append(out, d)
	}
	return out
}

// ParseConfig reads a configuration. name is the file's name in diagnostics. The
// result is nil when the list, which is sorted, has errors.
func ParseConfig(name string, src []byte) (*Config, diag.List) {
	p := &configParser{file: name}
	c := p.config(src)
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return c, nil
}

type configParser struct {
	file  string
	diags diag.List
}

func (p *configParser) errorf(n *yaml.Node, hint, format string, args ...any) {
	at := diag.Pos{File: p.file}
	if n != nil {
		at.Line, at.Col = n.Line, n.Column
	}
	p.diags = append(p.diags, diag.Diagnostic{Code: diag.BadLintConfig, Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *configParser) config(src []byte) *Config {
	const head = "write apiVersion: " + apiVersion + " and kind: " + kind
	if !source.IsConfig(src) {
		p.errorf(nil, head, "this is no %s: it has no apiVersion: %s", kind, apiVersion)
		return nil
	}
	root := p.root(src)
	if root == nil {
		return nil
	}
	c := &Config{}
	fields := p.fields(root, "a "+kind, "apiVersion", "kind", "ignore", "severities", "overrides", "failOn")
	if fields == nil {
		return nil
	}
	for _, want := range [][2]string{{"apiVersion", apiVersion}, {"kind", kind}} {
		n, ok := fields[want[0]]
		switch {
		case !ok:
			p.errorf(root, head, "this configuration has no %s", want[0])
		case n.Kind != yaml.ScalarNode || n.Value != want[1]:
			p.errorf(n, head, "%s must be %s", want[0], want[1])
		}
	}
	p.setting(&c.Setting, fields)
	if n, ok := fields["failOn"]; ok {
		severity := slices.Index(severities, n.Value)
		switch {
		case n.Kind == yaml.ScalarNode && n.Value == Thresholds[FailNever]:
			p.errorf(n, "write error; for a single run there is --fail-on never", "failOn: errors always fail")
		case n.Kind != yaml.ScalarNode || severity < 0:
			p.errorf(n, nearest(n.Value, severities), "failOn must be one of %s", strings.Join(severities, ", "))
		default:
			threshold := Threshold(severity)
			c.FailOn = &threshold
		}
	}
	for _, item := range p.list(fields["overrides"], "overrides", "- files: [\"legacy/**\"]") {
		o := Override{}
		fields := p.fields(item, "an item of overrides", "files", "ignore", "severities")
		p.setting(&o.Setting, fields)
		files := p.list(fields["files"], "files", "[\"legacy/**\"]")
		if len(files) == 0 && fields != nil {
			p.errorf(item, "write it like files: [\"legacy/**\"]", "this item of overrides names no files")
		}
		for _, f := range files {
			switch {
			case f.Kind != yaml.ScalarNode || f.Value == "":
				p.errorf(f, "write it like files: [\"legacy/**\"]", "files: want a pattern, not %s", yamltext.Describe(f))
			case checkPattern(f.Value) != nil:
				p.errorf(f, "write it like \"legacy/**\" or \"config/*.yaml\"", "files: %v", checkPattern(f.Value))
			default:
				o.Files = append(o.Files, f.Value)
			}
		}
		c.Overrides = append(c.Overrides, o)
	}
	return c
}

// root returns the only document of a file; what is wrong with it is reported.
func (p *configParser) root(src []byte) *yaml.Node {
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
func (p *configParser) fields(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
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
func (p *configParser) list(n *yaml.Node, key, example string) []*yaml.Node {
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
func (p *configParser) setting(s *Setting, fields map[string]*yaml.Node) {
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
func (p *configParser) code(n *yaml.Node, what string) bool {
	hint := unknownCode(diag.Code(n.Value))
	switch {
	case n.Kind != yaml.ScalarNode || hint != "":
		p.errorf(n, hint, "there is no diagnostic %q", n.Value)
	case fixed(diag.Code(n.Value)):
		p.errorf(n, "delete it, and correct what it is about", "%s is an error, which cannot be %s", n.Value, what)
	default:
		return true
	}
	return false
}

// nearest is the hint for a misspelt name.
func nearest(name string, known []string) string {
	if best := spelling.Closest(name, known); best != "" {
		return fmt.Sprintf("write %q", best)
	}
	return "write one of " + strings.Join(known, ", ")
}
