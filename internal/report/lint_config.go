package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
)

// LintConfig selects the reported diagnostics and their severities. The zero value changes nothing.
type LintConfig struct {
	// Ignore are the codes that are not reported. Errors are always reported.
	Ignore []diag.Code
	// Severities replace the severities of codes. Errors stay errors.
	Severities map[diag.Code]diag.Severity
	// FailOn is the severity that makes linting fail; nil leaves it to the caller.
	FailOn *Threshold
}

// Threshold is the lowest severity that makes linting fail.
type Threshold int

// The thresholds. With the zero value, only errors make linting fail.
const (
	FailOnError Threshold = iota
	FailOnWarning
	FailOnInfo
	FailNever
)

// Thresholds are the names of the thresholds, in order.
var Thresholds = []string{"error", "warning", "info", "never"}

// ParseThreshold reads "error", "warning", "info" or "never".
func ParseThreshold(s string) (Threshold, error) {
	if i := slices.Index(Thresholds, s); i >= 0 {
		return Threshold(i), nil
	}
	return 0, fmt.Errorf("%q is not one of %s", s, strings.Join(Thresholds, ", "))
}

// Reached reports whether the list has a diagnostic that is at least as severe as the threshold.
func (t Threshold) Reached(l diag.List) bool {
	return t != FailNever && slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return int(d.Severity) <= int(t) })
}

// CheckLintCode returns an error with a hint unless the code exists and is not an error. Errors cannot
// be ignored or lowered. what is the participle that names the intended change.
func CheckLintCode(code diag.Code, what string) (hint string, err error) {
	if hint := unknownCode(code); hint != "" {
		return hint, fmt.Errorf("there is no diagnostic %q", code)
	}
	if fixed(code) {
		return "fix the error instead", fmt.Errorf("%s is an error, which cannot be %s", code, what)
	}
	return "", nil
}

// Apply returns the diagnostics with the configuration applied. It does not change l.
func (c *LintConfig) Apply(l diag.List) diag.List {
	var out diag.List
	for _, d := range l {
		switch severity, ok := c.Severities[d.Code]; {
		case fixed(d.Code) || d.Severity == diag.Error:
		case slices.Contains(c.Ignore, d.Code):
			continue
		case ok:
			d.Severity = severity
		}
		out = append(out, d)
	}
	return out
}

// fixed reports whether a code is always an error.
func fixed(code diag.Code) bool {
	info, ok := diag.Lookup(code)
	return ok && info.Severity == diag.Error
}

// unknownCode returns a hint for a code that does not exist, and "" for other codes.
func unknownCode(code diag.Code) string {
	if _, ok := diag.Lookup(code); ok {
		return ""
	}
	var known []string
	for _, c := range diag.Codes {
		if c.Severity != diag.Error {
			known = append(known, string(c.Code))
		}
	}
	upper := strings.ToUpper(string(code))
	if slices.Contains(known, upper) {
		return "write " + upper
	}
	digits := strings.TrimLeft(upper, "UC")
	if _, err := strconv.Atoi(digits); err != nil || len(digits) != 3 { // else any other number is as likely
		if best := english.Closest(string(code), known); best != "" && strings.HasPrefix(upper, "UC") {
			return fmt.Sprintf("did you mean %s?", best)
		}
	}
	return "codes are written like UC521; docs/diagnostics.md lists them"
}
