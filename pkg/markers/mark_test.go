package markers

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/union"
)

// FuzzParseMark checks that every known marker is read, and that any other marker that is read has
// a name and describes its problem.
func FuzzParseMark(f *testing.F) {
	for _, text := range []string{
		"union", "unionMember=type,optional", "unionMember,", "unionmember", "k8s:unionMember(union: \"x\", memberName: `V`)",
		"k8s:alpha(since: \"1.36\")=+k8s:ifMode(\"A\")=+k8s:required", "k8s:item(a: 1)=+k8s:unionMember", "k8s:unionMember(",
		"unioncel:union:ratchet", "unioncel:union(x):members=a;b", "unioncel:union:allowedChanges={A: [B, \"\"]}", "unioncel:union:values=&a [*a]",
		"kubebuilder:validation:ExactlyOneOf=a;b", "optional", "", "=", "(", "k8s:", "unión",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := parseMark(text)
		switch {
		case !ok:
			if definitions()[text].role != none {
				t.Errorf("%q is not read", text)
			}
		case !strings.HasPrefix(m.name, "+") || len(m.name) < 2:
			t.Errorf("%q has the name %q", text, m.name)
		case m.problem == nil && m.role == none:
			t.Errorf("%q is of no kind", text)
		case m.problem != nil && (m.problem.Message == "" || m.problem.Hint == ""):
			t.Errorf("%q: a problem without message or hint", text)
		case m.problem == nil && m.role == own && (m.node == nil || m.key == ""):
			t.Errorf("%q: key %q, %v", text, m.key, m.node)
		case m.problem == nil && m.role == inMode && (m.value == nil || !slices.Contains([]string{"required", "optional", "forbidden"}, m.mode)):
			t.Errorf("%q: mode %q", text, m.mode)
		}
	})
}

func TestOrdinaryMarkers(t *testing.T) {
	for _, text := range []string{
		"optional", "required", "nullable", "groupName=example.com", "kubebuilder:validation:Enum=union;unionMember",
		"kubebuilder:validation:XValidation:rule=\"self.union\"", "k8s:optional", "k8s:required", "k8s:item(type: \"A\")=+k8s:immutable",
		"k8s:enum", "k8s:maxLength=5", "k8s:eachVal=+k8s:maxLength=5", "k8s:format=k8s-uuid(", "listType=map", "enum", "genclient",
	} {
		if m, ok := parseMark(text); ok {
			t.Errorf("+%s is read as %s", text, m.name)
		}
	}
}

// docs/markers.md names every marker.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/markers.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range definitions() {
		mention := "`+" + name
		if d.role == listing && d.cardinality != union.ExactlyOne { // next to ExactlyOneOf, which is written in full
			mention = "`" + name[strings.LastIndex(name, ":")+1:]
		}
		if !strings.Contains(string(text), mention) {
			t.Errorf("docs/markers.md does not mention +%s", name)
		}
	}
	for _, key := range append(union.Keys(), valuesKey, optionalKey) {
		if !strings.Contains(string(text), "+unioncel:union:"+key) && !regexp.MustCompile(`\+unioncel:union\(\w+\):`+key).Match(text) {
			t.Errorf("no example in docs/markers.md has the key %s", key)
		}
	}
}
