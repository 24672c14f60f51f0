package declared

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The keys of the configuration and of its parts.
var (
	configKeys = yamltext.ConfigMapping{Name: "a " + ConfigKind, Keys: []yamltext.ConfigKey{
		{Name: "go", Example: "[./api/...]"}, {Name: "kubebuilder", Example: "true"}, {Name: "skipInvalid", Example: "[api/v1.Backup]"},
		{Name: "unions", Example: "[unions.yaml]"}, {Name: "kubeVersion", Example: `"1.30"`}, {Name: "encoding", Example: "auto"},
		{Name: "annotation", Example: "false"}, {Name: "requireUnions", Example: "true"}, {Name: "strict", Example: "true"},
		{Name: "lint", Example: "{ignore: [UC521]}"},
	}}
	lintKeys = yamltext.ConfigMapping{Name: "lint", Keys: []yamltext.ConfigKey{
		{Name: "ignore", Example: "[UC521]"}, {Name: "severities", Example: "{UC524: error}"}, {Name: "failOn", Example: "warning"},
	}}
)

// readConfig reads the document of a file. It returns nil unless there is exactly one document.
func readConfig(r *yamltext.ConfigReader, src []byte) *Config {
	documents := r.Open(src, ConfigKind, "")
	if len(documents) > 1 {
		r.Value(documents[1], "").Errorf("put everything in the first document", "a configuration is one document, and this is a second one")
	}
	if len(documents) != 1 {
		return nil
	}
	fields := r.Object(documents[0], ConfigKind, configKeys)
	c := &Config{
		Go:            names(fields["go"]),
		Kubebuilder:   fields["kubebuilder"].Bool(false),
		SkipInvalid:   types(fields["skipInvalid"]),
		Unions:        names(fields["unions"]),
		KubeVersion:   yamltext.ParseConfigValue(fields["kubeVersion"], compile.ParseKubeVersion),
		Encoding:      yamltext.ParseConfigValue(fields["encoding"], compile.ParseEncoding),
		Origins:       compile.Origins{KubeVersion: fields["kubeVersion"].At(), Encoding: fields["encoding"].At()},
		NoAnnotation:  !fields["annotation"].Bool(true),
		RequireUnions: fields["requireUnions"].Bool(false),
		Strict:        fields["strict"].Bool(false),
		Lint:          lintConfig(fields["lint"]),
	}
	for _, item := range fields["go"].Items() {
		if s := item.Node.Value; strings.Contains(s, "=") { // file=PATH would find the package of any file
			item.Errorf("name packages, such as ./api/...", "go: %q is not a package pattern", s)
		}
	}
	if c.Kubebuilder && len(c.Go) == 0 {
		fields["kubebuilder"].Errorf("write it like go: [./api/...]", "kubebuilder needs go: it says which Go packages have the markers")
	}
	return c
}

// names returns a list of patterns or files. They must be relative.
func names(list yamltext.ConfigValue) []string {
	var l []string
	for _, item := range list.Items() {
		s := item.Text()
		if path.IsAbs(s) || strings.Contains(s, `\`) || len(s) > 1 && s[1] == ':' {
			item.Errorf("write it relative to the directory of this file, with slashes", "%q is absolute, or has backslashes", s)
		}
		l = append(l, s)
	}
	return l
}

// types returns the names of Go types in skipInvalid.
func types(list yamltext.ConfigValue) []string {
	var l []string
	for _, item := range list.Items() {
		s := item.Text()
		if dot := strings.LastIndex(s, "."); s != "" && (dot <= strings.LastIndex(s, "/")+1 || !token.IsIdentifier(s[dot+1:])) {
			item.Errorf("write it like api/v1.Backup", "skipInvalid: %q is not a package and type", s)
		}
		l = append(l, s)
	}
	return l
}

func lintConfig(v yamltext.ConfigValue) report.LintConfig {
	fields := v.Fields(lintKeys)
	var c report.LintConfig
	for _, item := range fields["ignore"].Items() {
		c.Ignore = append(c.Ignore, code(item, "ignored"))
	}
	for _, e := range fields["severities"].Entries() {
		code, severity := code(e.Key, "lowered"), e.Value.OneOf(severities, "list the code under ignore to switch it off")
		if c.Severities == nil {
			c.Severities = map[diag.Code]diag.Severity{}
		}
		c.Severities[code] = diag.Severity(slices.Index(severities, severity))
	}
	const never = "errors always fail: write error; for a single run there is --fail-on never"
	if i := slices.Index(severities, fields["failOn"].OneOf(severities, never)); i >= 0 {
		c.FailOn = new(report.Threshold(i))
	}
	return c
}

// severities are the names of severities, in order.
var severities = []string{diag.Error.String(), diag.Warning.String(), diag.Info.String()}

// code returns a code that can be ignored or get another severity.
func code(v yamltext.ConfigValue, what string) diag.Code {
	c := diag.Code(v.Text())
	if hint, err := report.CheckLintCode(c, what); err != nil && c != "" {
		v.Errorf(hint, "%v", err)
	}
	return c
}
