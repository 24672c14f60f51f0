package cost_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unioncel/unioncel/internal/cost"
)

func ExampleTime() {
	d, err := cost.Time("has(self.http) == (has(self.type) && self.type == 'HTTP')", 100, "type")
	if err != nil {
		panic(err)
	}
	fmt.Println(d) // one rule, which reads three fields; two of them are present
	// Output:
	// 125µs
}

// TestTime compares the number of copies with the fields that a rule reads.
func TestTime(t *testing.T) {
	tests := map[string]int{
		"true": 0,
		// absent fields are looked up once, present ones twice
		"has(self.a)":               1,
		"has(self.type)":            2,
		"self.a == 'x'":             2,
		"has(self.a.b)":             3,
		"self.type == oldSelf.type": 4,
		"self.type in ['A', 'B']":   2,
		"self.a.size() > 0":         2,
		"self.?a.hasValue()":        1,
		"self.?type.orValue('')":    2,
		"[self.a, self.b].size()":   4,
		"{'k': self.a}.size() > 0":  2,
		"self.a.all(x, x.b > 0)":    4,
		// known conditions decide
		"has(self.a) ? self.b : has(self.c)":                            2,
		"has(self.type) ? self.b == 1 : true":                           4,
		"self.type == 'A' ? has(self.a) : true":                         3,
		"self.type == 'A' ? true : self.b == 1":                         4,
		"has(self.a) && self.a == 'x'":                                  1,
		"has(self.type) && self.type == 'A'":                            4,
		"has(self.type) || self.type == 'A'":                            2,
		"!has(self.a) || self.a == 'x'":                                 1,
		"!(has(self.a) || has(self.b))":                                 2,
		"has(self.a) == has(self.b)":                                    2,
		"!has(self.a) ? has(self.b) : self.c":                           2,
		"(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1":            2,
		"(self.type == 'A' ? has(self.a) : has(self.b)) && self.c == 1": 3,
		// rules as unions generate them
		"has(self.a) == (has(self.type) && self.type == 'A')":             5,
		"has(self.a) ? has(self.type) && self.type == 'A' : true":         1,
		"has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)": 5,
	}
	for rule, want := range tests {
		got, err := cost.Time(rule, 1, "type")
		if err != nil || got != time.Duration(want)*cost.PerProperty {
			t.Errorf("%s: %d copies, want %d; %v", rule, got/cost.PerProperty, want, err)
		}
	}
	if d, err := cost.Time("has(self.a) && ", 1); err == nil {
		t.Errorf("not CEL: %v", d)
	}
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 µs", 7500 * time.Nanosecond: "7.5 µs", 996 * time.Microsecond: "1000 µs", time.Millisecond: "1 ms",
		1449 * time.Microsecond: "1.4 ms", 17600 * time.Microsecond: "18 ms", 136 * time.Millisecond: "140 ms", 2345 * time.Millisecond: "2.3 s",
	} {
		if got := cost.Format(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// TestTimeOfEscapedNames passes a name from the schema to a rule with its escaped form.
func TestTimeOfEscapedNames(t *testing.T) {
	plain, _ := cost.Time("has(self.kind) && self.kind == 'A'", 10, "kind")
	escaped, err := cost.Time("has(self.kind__dash__of) && self.kind__dash__of == 'A'", 10, "kind-of")
	if err != nil || escaped != plain {
		t.Errorf("%v, want %v; %v", escaped, plain, err)
	}
}

// TestTimeOfLongRules has rules that are as deep as the API server allows.
func TestTimeOfLongRules(t *testing.T) {
	var or, sum []string
	for i := range 2000 {
		or = append(or, fmt.Sprintf("has(self.m%d)", i))
		if i < 200 {
			sum = append(sum, fmt.Sprintf("(has(self.m%d) ? 1 : 0)", i))
		}
	}
	for want, rule := range map[int]string{2000: strings.Join(or, " || "), 200: strings.Join(sum, " + ") + " <= 1"} {
		if got, err := cost.Time(rule, 3); err != nil || got != time.Duration(3*want)*cost.PerProperty {
			t.Errorf("%d copies, want %d; %v", got/cost.PerProperty, 3*want, err)
		}
	}
}
