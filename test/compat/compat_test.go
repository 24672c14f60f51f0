//go:build compat

// Package compat validates one set of cases with every supported minor version
// of Kubernetes: the unions of internal/testing/unioncases, the tables of
// test/e2e, and the verdicts of internal/prove/verify on hand-written rules. Each CRD is
// compiled for the version that validates it. The judges are separate programs
// (see judge/doc.go):
//
//	test/compat/build DIR [MINOR...]
//	go test -tags compat ./test/compat -v -args -judges DIR
//
// Without the build tag the package is empty, so that a test of the whole
// repository builds no judge and skips no test.
package compat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var judges = flag.String("judges", os.Getenv("UNIONCEL_JUDGES"), "directory of the judges that test/compat/build has built")

// TestVersions sends all cases to every judge.
func TestVersions(t *testing.T) {
	if *judges == "" {
		t.Fatal("no judges: run test/compat/build DIR, then go test -tags compat ./test/compat -v -args -judges DIR")
	}
	files, err := filepath.Glob(filepath.Join(*judges, "judge-1.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no judges in %s: %v", *judges, err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-8s %7s %9s %12s %14s %9s %10s\n", "version", "CRDs", "asks", "evaluations", "disagreements", "seconds", "judge CPU")
	for _, file := range files {
		minor := 0
		if _, err := fmt.Sscanf(filepath.Base(file), "judge-1.%d", &minor); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(fmt.Sprintf("1.%d", minor), func(t *testing.T) {
			v := &version{T: t, minor: minor}
			start := time.Now()
			var used time.Duration
			for _, source := range sources {
				t.Run(source.name, func(t *testing.T) {
					v.T = t
					used += v.ask(file, source.send)
				})
			}
			fmt.Fprintf(&table, "%-8s %7d %9d %12d %14d %9.0f %10.0f\n", fmt.Sprintf("1.%d", minor),
				v.crds, v.asks, v.evaluations, v.disagreements, time.Since(start).Seconds(), used.Seconds())
		})
	}
	t.Log(table.String())
}

// version is a version of Kubernetes with the statistics of its answers.
type version struct {
	*testing.T
	minor int

	mu            sync.Mutex
	crds, asks    int
	evaluations   int // number of unions validated in all asks
	disagreements int
}

// String returns the version in the format of --kube-version.
func (v *version) String() string { return fmt.Sprintf("1.%d", v.minor) }

// disagree reports that the server's answer is not the expected one. After thirty reports it only
// counts.
func (v *version) disagree(format string, args ...any) {
	v.Helper()
	v.mu.Lock()
	v.disagreements++
	n := v.disagreements
	v.mu.Unlock()
	if n <= 30 {
		v.Errorf("%s: %s", v, fmt.Sprintf(format, args...))
	} else {
		v.Fail()
	}
}

// sources are the sources of cases, by name.
var sources = []struct {
	name string
	send func(*version, func(*question))
}{
	{"facts", askFacts},                     // facts_test.go
	{"tables", askTables},                   // tables_test.go
	{"counterexamples", askCounterexamples}, // counterexamples_test.go
	{"shapes", askGroups},                   // shapes_test.go
}
