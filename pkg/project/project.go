package project

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/lint"
)

// What a configuration says of itself. No other apiVersion or kind is read.
const (
	APIVersion = "unioncel.dev/v1alpha1"
	Kind       = "Config"
)

// Config are the options of a project. The zero value is the default.
type Config struct {
	// Go are patterns of Go packages with markers, relative to the file's directory.
	Go []string
	// Kubebuilder declares the unions of kubebuilder's own markers, too.
	Kubebuilder bool
	// SkipInvalid are Go types whose unions are left out while they have errors, as
	// PACKAGE.Type, the package by its path or the end of that.
	SkipInvalid []string
	// Unions are files of UnionSets, with slashes, relative to the file's directory.
	Unions []string
	// KubeVersion and Encoding are those of [compile.Options].
	KubeVersion string
	Encoding    compile.Encoding
	// NoAnnotation leaves the annotation out.
	NoAnnotation bool
	// RequireUnions makes it an error that inputs have no unions.
	RequireUnions bool
	// Strict makes errors of the problems that a CRD has without its unions.
	Strict bool
	// Lint says what is reported, and how badly.
	Lint lint.Config
}

// Parse reads a configuration. name is the file's name in diagnostics. The result is
// nil when the list, which is sorted, has errors. Of a file that does not speak of
// unioncel nothing is repeated.
func Parse(name string, src []byte) (*Config, diag.List) {
	p := &parser{file: name}
	c := p.config(src)
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return c, nil
}

func (p *parser) config(src []byte) *Config {
	fields := p.document(src, "go", "kubebuilder", "skipInvalid", "unions", "kubeVersion", "encoding", "annotation", "requireUnions", "strict", "lint")
	if fields == nil {
		return nil
	}
	c := &Config{
		Go:            p.names(fields["go"], "go", "./api/..."),
		Kubebuilder:   p.boolean(fields["kubebuilder"], "kubebuilder", false),
		SkipInvalid:   p.types(fields["skipInvalid"]),
		Unions:        p.names(fields["unions"], "unions", "unions.yaml"),
		KubeVersion:   p.text(fields["kubeVersion"], "kubeVersion", `"1.30"`),
		NoAnnotation:  !p.boolean(fields["annotation"], "annotation", true),
		RequireUnions: p.boolean(fields["requireUnions"], "requireUnions", false),
		Strict:        p.boolean(fields["strict"], "strict", false),
	}
	var err error
	if c.KubeVersion, err = compile.ParseKubeVersion(c.KubeVersion); err != nil {
		p.errorf(fields["kubeVersion"], `write it like "1.30"`, "kubeVersion: %v", err)
	}
	if s := p.text(fields["encoding"], "encoding", "auto"); s != "" {
		if c.Encoding, err = compile.ParseEncoding(s); err != nil {
			p.errorf(fields["encoding"], "", "encoding: %v", err)
		}
	}
	if c.Kubebuilder && len(c.Go) == 0 {
		p.errorf(fields["kubebuilder"], "write it like go: [./api/...]", "kubebuilder needs go: it says which Go packages have the markers")
	}
	if n := fields["lint"]; n != nil {
		p.lint(&c.Lint, n)
	}
	return c
}

// names returns a list of patterns or files, which are not absolute.
func (p *parser) names(n *yaml.Node, key, example string) []string {
	var l []string
	for _, item := range p.list(n, key, "["+example+"]") {
		s := p.text(item, key, example)
		if path.IsAbs(s) || strings.Contains(s, `\`) || len(s) > 1 && s[1] == ':' {
			p.errorf(item, "write it from the directory of this file on, with slashes", "%s: %q is absolute, or has backslashes", key, s)
		}
		if key == "go" && strings.Contains(s, "=") { // file=PATH finds the package of any file
			p.errorf(item, "name packages, such as "+example, "%s: %q is no pattern of packages", key, s)
		}
		l = append(l, s)
	}
	return l
}

// types returns the names of Go types in skipInvalid.
func (p *parser) types(n *yaml.Node) []string {
	var l []string
	for _, item := range p.list(n, "skipInvalid", "[api/v1.Backup]") {
		s := p.text(item, "skipInvalid", "api/v1.Backup")
		if dot := strings.LastIndex(s, "."); s != "" && (dot <= strings.LastIndex(s, "/")+1 || !token.IsIdentifier(s[dot+1:])) {
			p.errorf(item, "write it like api/v1.Backup", "skipInvalid: %q is no package and type", s)
		}
		l = append(l, s)
	}
	return l
}

func (p *parser) lint(c *lint.Config, n *yaml.Node) {
	fields := p.fields(n, "lint", "ignore", "severities", "overrides", "failOn")
	p.setting(&c.Setting, fields)
	if n, ok := fields["failOn"]; ok {
		severity := slices.Index(severities, n.Value)
		switch {
		case n.Kind == yaml.ScalarNode && n.Value == lint.Thresholds[lint.FailNever]:
			p.errorf(n, "write error; for a single run there is --fail-on never", "failOn: errors always fail")
		case n.Kind != yaml.ScalarNode || severity < 0:
			p.errorf(n, nearest(n.Value, severities), "failOn must be one of %s", strings.Join(severities, ", "))
		default:
			threshold := lint.Threshold(severity)
			c.FailOn = &threshold
		}
	}
	const example = "files: [\"legacy/**\"]"
	for _, item := range p.list(fields["overrides"], "overrides", "- "+example) {
		o := lint.Override{}
		fields := p.fields(item, "an item of overrides", "files", "ignore", "severities")
		p.setting(&o.Setting, fields)
		files := p.list(fields["files"], "files", "[\"legacy/**\"]")
		if len(files) == 0 && fields != nil {
			p.errorf(item, "write it like "+example, "this item of overrides names no files")
		}
		for _, f := range files {
			pattern := p.text(f, "files", "\"legacy/**\"")
			if pattern == "" {
				continue
			}
			if err := lint.CheckPattern(pattern); err != nil {
				p.errorf(f, "write it like \"legacy/**\" or \"config/*.yaml\"", "files: %v", err)
			}
			o.Files = append(o.Files, pattern)
		}
		c.Overrides = append(c.Overrides, o)
	}
}
