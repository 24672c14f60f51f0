package crd_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/pkg/uniontest"
)

// pkg/uniontest is tested here: linking a second program with the API server's packages would take
// longer than its tests.

const backups = "testdata/crd.yaml"

// validator is a webhook for Backups as people write it, with the holes that a test asks for.
type validator struct{ holes string }

func (v validator) validate(old, new *unstructured.Unstructured) error {
	store, _, _ := unstructured.NestedString(new.Object, "spec", "store")
	for member, value := range map[string]string{"s3": "S3", "disk": "Disk"} {
		_, set, _ := unstructured.NestedMap(new.Object, "spec", member)
		switch {
		case store == value && !set:
			return errors.New(member + " is required")
		case store != value && set && v.holes != "forgets "+member+" with "+store:
			return errors.New(member + " is forbidden")
		}
	}
	if old == nil || v.holes == "forgets updates" {
		return nil
	}
	if before, _, _ := unstructured.NestedString(old.Object, "spec", "store"); before != store {
		return errors.New("store is immutable")
	}
	if v.holes == "freezes disk" {
		if path, _, _ := unstructured.NestedString(new.Object, "spec", "disk", "path"); path != "" {
			return errors.New("disk cannot be updated")
		}
	}
	return nil
}

func TestParity(t *testing.T) { uniontest.Parity(t, backups, validator{}.validate) }

func TestSuite(t *testing.T) { uniontest.Suite(t, backups, "testdata/suites") }

// TestFailing runs the tests below as programs, because they fail.
func TestFailing(t *testing.T) {
	for _, test := range []struct {
		run, holes string
		want       []string
	}{
		{"ParityWith", "forgets s3 with None", []string{"the CRD rejects a request that the webhook accepts", "s3 is required when store is 'S3', and forbidden otherwise", "object:\n", "store: None", "bucket: "}},
		{"ParityWith", "forgets updates", []string{"the CRD rejects a request that the webhook accepts", "store may not change from", "old object:\n"}},
		{"ParityWith", "freezes disk", []string{"the webhook rejects a request that the CRD accepts: disk cannot be updated", "path: /backup"}},
		{"WithoutUnions", "yes", []string{"declares no unions"}},
		{"WithoutTests", "yes", []string{"has no tests"}},
		{"SuiteOfAnotherCRD", "yes", []string{"there is no CRD backups.example.com for these tests", "4 tests, 4 of them skipped"}},
	} {
		t.Run(test.run+" "+test.holes, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^Test"+test.run+"$")
			cmd.Env = append(os.Environ(), "HOLES="+test.holes)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("passes")
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

// holes returns the holes of a test that TestFailing runs, and skips it otherwise.
func holes(t *testing.T) string {
	h := os.Getenv("HOLES")
	if h == "" {
		t.Skip("run by TestFailing")
	}
	return h
}

func TestParityWith(t *testing.T) { uniontest.Parity(t, backups, validator{holes(t)}.validate) }

func TestWithoutUnions(t *testing.T) {
	holes(t)
	uniontest.Parity(t, "testdata/plain.yaml", validator{}.validate)
}

func TestWithoutTests(t *testing.T) {
	holes(t)
	uniontest.Suite(t, backups, backups)
}

func TestSuiteOfAnotherCRD(t *testing.T) {
	holes(t)
	uniontest.Suite(t, "testdata/plain.yaml", "testdata/suites")
}
