// Package limit bounds the work that a manifest may cause, whoever wrote it.
package limit

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits bound what a file may contain. A field that is zero means its
// default, which real manifests keep far below.
type Limits struct {
	// Size is the number of bytes of a file.
	Size int
	// Documents is the number of documents of a file.
	Documents int
	// Nodes is the number of keys, values and items of a file, which are counted by
	// its punctuation: they take memory.
	Nodes int
	// Depth is how deep lists and mappings may be nested.
	Depth int
	// Versions is the number of versions of a CRD.
	Versions int
	// Unions is the number of unions of a CRD, in all its versions.
	Unions int
	// Members is the number of members of a union, and of values of its discriminator.
	Members int
	// Changes is the number of changes that the table allowedChanges of a union lists;
	// without a discriminator, that it decides on: members by rows.
	Changes int
	// Rules is the number of rules on one schema that commands compare or read.
	Rules int
	// Proofs is the number of rules of a file that an annotation claims, its unions do
	// not write, and pkg/verify is asked about; and of the members of these unions.
	Proofs int
	// Pairs is the number of pairs of members of the unions of an object, added up over the
	// CRD: proofs take time in proportion.
	Pairs int
	// Tests is the number of steps that tests of a CRD take: for each union, the square of the
	// number of members of the unions of its object.
	Tests int
}

// kinds are the limits, by name, in the order of the help.
var kinds = []struct {
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
	{"proofs", "rules of a file to prove, and members of their unions", func(l *Limits) *int { return &l.Proofs }, 1000},
	{"pairs", "pairs of members of the unions of a CRD", func(l *Limits) *int { return &l.Pairs }, 800_000},
	{"tests", "steps of the tests of a CRD", func(l *Limits) *int { return &l.Tests }, 300_000},
}

// OrDefault returns the limits with the defaults for those that are zero.
func (l Limits) OrDefault() Limits {
	for _, k := range kinds {
		if f := k.field(&l); *f == 0 {
			*f = k.standard
		}
	}
	return l
}

// None bounds nothing: for what has been within limits in another form.
func None() (l Limits) {
	for _, k := range kinds {
		*k.field(&l) = math.MaxInt
	}
	return l
}

// Read reads no more than it takes to tell that there is more than the limit.
func (l Limits) Read(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(l.OrDefault().Size)+1))
}

// Set raises or lowers a limit as "members=2000" says.
func (l *Limits) Set(s string) error {
	name, value, _ := strings.Cut(s, "=")
	var names []string
	for _, k := range kinds {
		if k.name == name {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("a limit is written %s=N, with a number from 1", name)
			}
			*k.field(l) = n
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("there is no limit %q: they are %s", name, strings.Join(names, ", "))
}

// String is empty: it is the default of a flag.
func (l *Limits) String() string { return "" }

// Type is what the flag takes.
func (l *Limits) Type() string { return "NAME=N" }

// Defaults lists the limits of [Standard], as they are written in the flag --limit, with their
// meanings.
func Defaults() []string {
	var l []string
	for _, k := range kinds {
		l = append(l, fmt.Sprintf("%-18s %s", fmt.Sprintf("%s=%d", k.name, k.standard), k.meaning))
	}
	return l
}

// Hint says how to raise a limit.
func Hint(name string) string {
	return fmt.Sprintf("a limit on untrusted input; --limit %s=N raises it", name)
}
