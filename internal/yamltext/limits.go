package yamltext

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits bound the content of a file. A field that is zero has its default value, and real
// manifests stay far below the defaults.
type Limits struct {
	// Size is the number of bytes of a file.
	Size int
	// Documents is the number of documents of a file.
	Documents int
	// Nodes is the number of keys, values and items of a file, which take memory. They are counted
	// by its punctuation.
	Nodes int
	// Depth is the maximal nesting of lists and mappings.
	Depth int
	// Versions is the number of versions of a CRD.
	Versions int
	// Unions is the number of unions of a CRD, in all its versions.
	Unions int
	// Members is the number of members of a union, and of values of its discriminator.
	Members int
	// Changes is the number of changes that the table allowedChanges of a union lists. Without a
	// discriminator, it is the number of changes that the table decides: members by rows.
	Changes int
	// Rules is the number of rules on one schema that commands compare or read.
	Rules int
	// Pairs is the number of pairs of members of the unions of an object, summed over the CRD: the
	// time of proofs is proportional to it.
	Pairs int
	// Tests is the number of steps in the tests of a CRD: for each union, the square of the number
	// of members of the unions of its object.
	Tests int
	// Steps is the number of steps of the search for the answer to one question: whether the rules
	// enforce a union, how a change of one schema affects objects, which mistakes the rules on one
	// object have. See internal/prove/logic.
	Steps int
}

// kinds are the limits, by name, in the order of the help.
var limits = []struct {
	name     string
	meaning  string
	field    func(*Limits) *int
	standard int
}{
	{"size", "bytes of a file", func(l *Limits) *int { return &l.Size }, 64 << 20},
	{"documents", "documents of a file", func(l *Limits) *int { return &l.Documents }, 50_000},
	{"nodes", "YAML nodes of a file, punctuation included", func(l *Limits) *int { return &l.Nodes }, 10_000_000},
	{"depth", "lists and mappings in one another", func(l *Limits) *int { return &l.Depth }, 500},
	{"versions", "versions of a CRD", func(l *Limits) *int { return &l.Versions }, 100},
	{"unions", "unions of a CRD", func(l *Limits) *int { return &l.Unions }, 500},
	{"members", "members of a union, or values of its discriminator", func(l *Limits) *int { return &l.Members }, 500},
	{"changes", "changes in the allowedChanges of a union", func(l *Limits) *int { return &l.Changes }, 10_000},
	{"rules", "rules on one schema", func(l *Limits) *int { return &l.Rules }, 1200},
	{"pairs", "pairs of members of the unions of a CRD", func(l *Limits) *int { return &l.Pairs }, 800_000},
	{"steps", "steps of the proof of a union, or of a change to one schema", func(l *Limits) *int { return &l.Steps }, 100_000_000},
	{"tests", "steps of the tests of a CRD", func(l *Limits) *int { return &l.Tests }, 300_000},
}

// OrDefault returns the limits, with defaults in place of zeros.
func (l Limits) OrDefault() Limits {
	for _, k := range limits {
		if f := k.field(&l); *f == 0 {
			*f = k.standard
		}
	}
	return l
}

// Unlimited returns limits that bound nothing, for content that was within limits in another form.
func Unlimited() (l Limits) {
	for _, k := range limits {
		*k.field(&l) = math.MaxInt
	}
	return l
}

// Read reads at most one byte more than the limit, so that callers can tell that it is exceeded.
func (l Limits) Read(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(l.OrDefault().Size)+1))
}

// Set sets a limit from a text such as "members=2000".
func (l *Limits) Set(s string) error {
	name, value, _ := strings.Cut(s, "=")
	var names []string
	for _, k := range limits {
		if k.name == name {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("want %s=N, with N at least 1", name)
			}
			*k.field(l) = n
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("unknown limit %q: the limits are %s", name, strings.Join(names, ", "))
}

// String is empty, as the default of a flag.
func (l *Limits) String() string { return "" }

// Type describes the argument of the flag.
func (l *Limits) Type() string { return "NAME=N" }

// DefaultLimits lists the limits with their defaults, as they are written in the flag --limit, with their
// meanings.
func DefaultLimits() []string {
	var l []string
	for _, k := range limits {
		l = append(l, fmt.Sprintf("%-18s %s", fmt.Sprintf("%s=%d", k.name, k.standard), k.meaning))
	}
	return l
}

// LimitHint returns a hint about raising a limit.
func LimitHint(name string) string {
	return fmt.Sprintf("a limit on untrusted input; --limit %s=N raises it", name)
}
