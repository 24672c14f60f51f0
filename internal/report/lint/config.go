package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Config says what is reported, and how badly. The zero value changes nothing.
type Config struct {
	Setting
	// Overrides apply to some files, in addition to the rest; a later one overrides an earlier one.
	Overrides []Override
	// FailOn is the severity that makes linting fail; nil leaves it to the caller.
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
	// in legacy, "**/crd.yaml" every crd.yaml. A malformed pattern matches nothing
	// (CheckPattern).
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
	return 0, fmt.Errorf("%q is not one of %s", s, strings.Join(Thresholds, ", "))
}

// Reached reports whether a diagnostic of the list is as bad as the threshold.
func (t Threshold) Reached(l diag.List) bool {
	return t != FailNever && slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return int(d.Severity) <= int(t) })
}

// CheckCode returns an error, and a hint, unless a code exists and is none of an error,
// which cannot be ignored or lowered: what says which it is to be.
func CheckCode(code diag.Code, what string) (hint string, err error) {
	if hint := unknownCode(code); hint != "" {
		return hint, fmt.Errorf("there is no diagnostic %q", code)
	}
	if fixed(code) {
		return "fix the error instead", fmt.Errorf("%s is an error, which cannot be %s", code, what)
	}
	return "", nil
}

// Apply returns the diagnostics as the configuration has them; l is not changed.
// path turns the name of a file into its path from the directory of the
// configuration, with slashes; nil leaves names as they are.
func (c *Config) Apply(l diag.List, path func(file string) string) diag.List {
	var out diag.List
	for _, d := range l {
		if fixed(d.Code) || d.Severity == diag.Error {
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
