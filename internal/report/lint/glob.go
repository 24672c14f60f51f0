package lint

import (
	"fmt"
	"path"
	"strings"
)

// matches reports whether a pattern of [Override] matches a path with slashes.
func matches(pattern, name string) bool {
	return CheckPattern(pattern) == nil && match(strings.Split(pattern, "/"), strings.Split(path.Clean(name), "/"))
}

func match(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			if len(pattern) == 1 {
				return len(name) > 0
			}
			for i := range name {
				if match(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

// CheckPattern returns an error for a malformed pattern of [Override].
func CheckPattern(pattern string) error {
	for element := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(element, ""); err != nil {
			return fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
		if strings.Contains(element, "**") && element != "**" {
			return fmt.Errorf("%q is not a pattern: ** must be a whole path element", pattern)
		}
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%q is not a pattern: an element is empty, . or .., and patterns are relative to the configuration", pattern)
		}
	}
	return nil
}
