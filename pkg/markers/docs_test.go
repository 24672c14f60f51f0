package markers_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/markers"
)

var (
	fenced  = regexp.MustCompile("(?s)```(go|yaml)\n(.*?)```")
	declare = regexp.MustCompile(`(?m)^type (\w+) struct`)
)

// Each Go example of docs/markers.md gives the declarations that are shown for it.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/markers.md")
	if err != nil {
		t.Fatal(err)
	}
	workspace(t, "docs")
	var want []string
	blocks := slices.DeleteFunc(fenced.FindAllStringSubmatch(string(text), -1), func(block []string) bool {
		return strings.HasPrefix(block[2], "apiVersion: ") // a configuration
	})
	for i, block := range blocks {
		if block[1] == "yaml" {
			want = append(want, block[2])
			continue
		}
		if i%2 != 0 {
			t.Fatalf("block %d is a second Go example in a row", i)
		}
		write(t, fmt.Sprintf("docs/v%d/types.go", len(want)), fmt.Sprintf(`// +groupName=example.com
package v%d

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:storageversion
type Example struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`

	Spec %s `+"`json:\"spec\"`"+`
}

%s`, len(want), declare.FindStringSubmatch(block[2])[1], block[2]))
	}
	set, diags := markers.Load(markers.Options{Kubebuilder: true}, "./docs/...")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got := declarations(t, set)
	if len(want) < 7 || len(got) != len(want) {
		t.Errorf("%d examples give %d declarations", len(want), len(got))
	}
	for i, w := range want {
		at := fmt.Sprintf("Example.example.com v%d spec", i)
		for path := range got {
			if strings.HasPrefix(path, at+".") { // a union of list items
				at = path
			}
		}
		if diff := cmp.Diff(w, got[at]); diff != "" {
			t.Errorf("example %d: -want +got\n%s", i, diff)
		}
	}
}
