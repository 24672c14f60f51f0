package schemapath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// String returns the path as users write it: the names of properties, joined by dots, and [*]
// for the elements of a list or a map. Names with characters other than letters, digits, _ and
// - are written as in a fieldPath: spec['a.b']. The root is empty.
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		if name, ok := s.Property(); ok {
			writeName(&b, name)
		} else {
			b.WriteString("[*]")
		}
	}
	return b.String()
}

var quote = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func writeName(b *strings.Builder, name string) {
	switch {
	case name == "" || plainLength(name) < len(name):
		b.WriteString("['" + quote.Replace(name) + "']")
	case b.Len() > 0:
		b.WriteString("." + name)
	default:
		b.WriteString(name)
	}
}

// plainLength returns the length of the prefix of s that needs no brackets.
func plainLength(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return i
		}
	}
	return len(s)
}

// Parse parses the output of [Path.String], with Elements for [*]. The error explains how to
// correct the path.
func Parse(path string) (Path, error) {
	var steps Path
	for rest := path; rest != ""; {
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			step, length, err := bracket(inside)
			if err != nil {
				return nil, err
			}
			steps = append(steps, step)
			rest = inside[length:]
			continue
		}
		dotted := len(steps) > 0
		if dotted {
			if rest[0] != '.' {
				return nil, fmt.Errorf("want a dot, a bracket or the end after %q; %s", path[:len(path)-len(rest)], otherNames)
			}
			rest = rest[1:]
		}
		n := plainLength(rest)
		if n == 0 {
			return nil, unnamed(rest, dotted)
		}
		steps = append(steps, Property(rest[:n]))
		rest = rest[n:]
	}
	return steps, nil
}

// unnamed returns the error for text that should begin with a name.
func unnamed(rest string, dotted bool) error {
	switch {
	case rest == "":
		return errors.New("the path ends with a dot: delete it")
	case rest[0] == '.' && !dotted:
		return errors.New("the path begins with a dot: delete it")
	case rest[0] == '.':
		return errors.New("there is no name between two dots")
	case rest[0] == '*':
		return errors.New("write [*] for the elements of a list or a map")
	case rest[0] == '[':
		return errors.New("there is no dot before a bracket: delete it")
	}
	return fmt.Errorf("no name begins with %q; %s", string([]rune(rest)[:1]), otherNames)
}

const otherNames = "names with anything but letters, digits, _ and - are written in brackets and quotes: ['a.b']"

// bracket parses the text after an opening bracket, and returns the length of the step.
func bracket(rest string) (step Step, length int, err error) {
	if strings.HasPrefix(rest, "*]") {
		return Elements, len("*]"), nil
	}
	if !strings.HasPrefix(rest, "'") {
		if end := strings.IndexByte(rest, ']'); end >= 0 && strings.Trim(rest[:end], "0123456789") == "" {
			return Step{}, 0, errors.New("a path leads to a schema, which all elements have in common: write [*]")
		}
		return Step{}, 0, errors.New("want [*] or a name in single quotes: ['a.b']")
	}
	var name []byte
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\'' && !strings.HasPrefix(rest[i:], "']"):
			return Step{}, 0, errors.New(`want ] after the quoted name; a quote in a name is written \'`)
		case rest[i] == '\'' && len(name) == 0:
			return Step{}, 0, errors.New("the name in brackets is empty")
		case rest[i] == '\'':
			return Property(string(name)), i + len("']"), nil
		case rest[i] == '\\' && (i+1 == len(rest) || !slices.Contains([]byte(`'\`), rest[i+1])):
			return Step{}, 0, errors.New(`write \\ for a backslash in a name, \' for a quote`)
		case rest[i] == '\\':
			i++
		}
		name = append(name, rest[i])
	}
	return Step{}, 0, errors.New("the quoted name in brackets is not closed")
}
