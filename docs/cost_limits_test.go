//go:build exhaustive

package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
)

// most is the largest number of members in the search for limits.
const most = 60

// kind is a kind of union. %s stands for the values of its members.
type kind struct {
	name     string
	typ      string // schema of the discriminator, or "" without one
	required string // property that the object requires
	keys     string // of the declaration
	changes  bool   // the declaration has a key for rules about changes
	listed   bool   // in the table of limits
}

var kinds = []kind{
	{name: "without discriminator, `AtMostOne`", listed: true},
	{name: "without discriminator, `ExactlyOne`", keys: "cardinality: ExactlyOne"},
	{name: "discriminator", typ: "type: string"},
	{name: "discriminator with enum", typ: "type: string, enum: [%s]", listed: true},
	{name: "required discriminator", typ: "type: string", required: "type"},
	{name: "required discriminator with enum", typ: "type: string, enum: [%s]", required: "type", listed: true},
	{name: "discriminator with enum, `deduceInvalidDiscriminator`", typ: "type: string, enum: [%s]", keys: "deduceInvalidDiscriminator: true", listed: true},
	{name: "without discriminator, `ratchet`", keys: "ratchet: true", changes: true},
	{name: "discriminator with enum, `ratchet`", typ: "type: string, enum: [%s]", keys: "ratchet: true", changes: true},
	{name: "required discriminator with enum, `ratchet`", typ: "type: string, enum: [%s]", required: "type", keys: "ratchet: true", changes: true, listed: true},
	{name: "without discriminator, `Forbid`", keys: "discriminatorChange: Forbid", changes: true},
	{name: "discriminator with enum, `Forbid`", typ: "type: string, enum: [%s]", keys: "discriminatorChange: Forbid", changes: true, listed: true},
	{name: "required discriminator with enum, `Forbid`", typ: "type: string, enum: [%s]", required: "type", keys: "discriminatorChange: Forbid", changes: true, listed: true},
}

// place is the location of a union; %s in its schema is the union object.
type place struct {
	name, schema string
	key          bool // items have a required string
	correlated   bool // rules about changes are possible
}

var (
	inList     = place{name: "list", schema: "{type: array, items: %s}"}
	inTwoLists = place{name: "list in a list", schema: "{type: array, items: {type: object, properties: {in: {type: array, items: %s}}}}"}
	inListMap  = place{"list-map", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: %s}", true, true}
	inMap      = place{"map", "{type: object, additionalProperties: %s}", false, true}
)

// manifest returns a CRD with a union of n members.
func (k kind) manifest(t *testing.T, p place, n int) compile.Manifest {
	t.Helper()
	var properties, names, values, by, required []string
	for i := range n {
		name, value := fmt.Sprintf("member%02d", i), fmt.Sprintf("Member%02d", i)
		names, values, by = append(names, name), append(values, value), append(by, name+": "+value)
		properties = append(properties, name+": {type: object}")
	}
	declaration := "members: [" + strings.Join(names, ", ") + "]"
	if k.typ != "" {
		properties = append(properties, "type: {"+strings.ReplaceAll(k.typ, "%s", strings.Join(values, ", "))+"}")
		declaration = "discriminator: type, fields-to-discriminateBy: {" + strings.Join(by, ", ") + "}"
	}
	if k.keys != "" {
		declaration += ", " + k.keys
	}
	if k.required != "" {
		required = append(required, k.required)
	}
	if p.key {
		properties, required = append(properties, "name: {type: string}"), append(required, "name")
	}
	object := fmt.Sprintf("{type: object, required: [%s], properties: {%s}, x-kubernetes-unions: [{%s}]}",
		strings.Join(required, ", "), strings.Join(properties, ", "), declaration)
	m, err := testmanifest.Parse("crd.yaml", []byte(testcrd.New("Probe", "spec: {type: object, properties: {in: "+fmt.Sprintf(p.schema, object)+"}}")))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// none stands for a union that does not compile.
const none = "–"

// choice is the compiler's encoding of a union.
type choice struct {
	encoding string
	changes  bool // includes a rule about changes
}

// choices caches the results of chosen, because several tests use the same unions.
var choices sync.Map

// chosen compiles a union of n members.
func (k kind) chosen(t *testing.T, p place, n int) choice {
	t.Helper()
	key := fmt.Sprint(k.name, p.name, n)
	if c, ok := choices.Load(key); ok {
		return c.(choice)
	}
	c := k.compiled(t, p, n)
	choices.Store(key, c)
	return c
}

func (k kind) compiled(t *testing.T, p place, n int) choice {
	t.Helper()
	plan, diags := compile.New(k.manifest(t, p, n), compile.Options{}).Plan()
	if diags.HasErrors() {
		return choice{encoding: none}
	}
	u := plan.Unions[0]
	return choice{strings.TrimPrefix(u.Encoding, "compact "), slices.ContainsFunc(u.Rules, func(r compile.RulePlan) bool { return r.Kind == compile.Transition })}
}

// family returns an encoding without its number of groups.
func family(encoding string) string {
	if strings.Contains(encoding, "groups") {
		return "in groups"
	}
	return encoding
}

var number = regexp.MustCompile(`\d+`)

// ranges returns the encodings for increasing numbers of members, and the limit for Clear rules:
// "fine to 9, in groups to 20; `Clear` to 12". It tries the previous result first, because large
// unions that fail are slow.
func (k kind) ranges(t *testing.T, p place, lastTime string) string {
	t.Helper()
	at := func(n int) choice { return k.chosen(t, p, n) }
	guesses := number.FindAllString(lastTime, -1)
	// last returns the end of the range of numbers, beginning with from, that satisfy holds.
	last := func(from int, holds func(choice) bool) int {
		if len(guesses) > 0 {
			guess, _ := strconv.Atoi(guesses[0]) // always digits
			guesses = guesses[1:]
			if from <= guess && guess <= most && holds(at(guess)) && (guess == most || !holds(at(guess+1))) {
				return guess
			}
		}
		step := 1
		for from+step <= most && holds(at(from+step)) {
			from, step = from+step, 2*step
		}
		return from + sort.Search(min(step, most-from+1)-1, func(i int) bool { return !holds(at(from + 1 + i)) })
	}
	var l []string
	greatest := 0
	for from := 2; from <= most && at(from).encoding != none; from = greatest + 1 {
		is := family(at(from).encoding)
		greatest = last(from, func(c choice) bool { return family(c.encoding) == is })
		l = append(l, fmt.Sprintf("%s to %d", is, greatest))
	}
	if len(l) == 0 {
		return none
	}
	s := strings.Join(l, ", ")
	if k.changes || !p.correlated {
		return s
	}
	if !at(2).changes {
		return s + "; no `Clear`"
	}
	if to := last(2, func(c choice) bool { return c.changes }); to < greatest {
		s += fmt.Sprintf("; `Clear` to %d", to)
	}
	return s
}

// shown returns a cell of the table in lines, or "" if it does not exist.
func shown(lines []string, row, column int) string {
	if row+2 >= len(lines) {
		return ""
	}
	cells := strings.Split(lines[row+2], "|")
	if column+1 >= len(cells) {
		return ""
	}
	return strings.TrimSpace(cells[column+1])
}

// sample are the cells of the limits, by row and column, that a plain run computes; other cells are
// copied from the table. Together they cover every encoding, and `Clear`.
var sample = [][2]int{{0, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}}

// limits returns a table of the largest unions that compile; lines are the previous table.
func limits(t *testing.T, lines []string) string {
	t.Helper()
	listed := slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return !k.listed })
	cells := make([][2]string, len(listed))
	t.Run("kinds", func(t *testing.T) {
		for i, k := range listed {
			for j, p := range []place{k.unkeyed(), inListMap} {
				before := shown(lines, i, j+1)
				if before != "" && !*update && !unioncases.Exhaustive && !slices.Contains(sample, [2]int{i, j + 1}) {
					cells[i][j] = before
					continue
				}
				t.Run(k.name+"/"+p.name, func(t *testing.T) {
					t.Parallel()
					cells[i][j] = k.ranges(t, p, before)
				})
			}
		}
	})
	rows := [][]string{{"union", "in a list or a map", "in a list-map"}}
	for i, k := range listed {
		rows = append(rows, append([]string{k.name}, cells[i][:]...))
	}
	return grid(rows)
}

// unkeyed returns the place for a union whose object requires no other properties.
func (k kind) unkeyed() place {
	if k.changes {
		return inMap
	}
	return inList
}

// A union in a list in a list, or in a map, gets the same encoding as in a list.
func TestCostDepth(t *testing.T) {
	for _, k := range kinds {
		if k.changes {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{4, 10} {
				want := k.chosen(t, inList, n).encoding
				for _, p := range []place{inTwoLists, inMap} {
					if got := k.chosen(t, p, n).encoding; got != want {
						t.Errorf("%d members: %s in a %s, %s in a list", n, got, p.name, want)
					}
				}
			}
		})
	}
}
