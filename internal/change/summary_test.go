package change_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/diag"
)

// summarized returns the summary of some Things.
func summarized(t *testing.T, most int) []*change.Summary {
	t.Helper()
	j := judge(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: strings.Replace(spec, "RATCHET", "", 1)}), change.JudgeOptions{})
	s := change.NewSummary(j.GroupKind(), most)
	for i, text := range []string{"{mode: A}", "{mode: C}", "{mode: D}", "{mode: E, note: bad}", "{mode: F, u: {type: A, a: {}, b: {}}}", "{still: {a: x}}"} {
		o := object(t, "spec: "+text)
		o["metadata"].(map[string]any)["name"] = fmt.Sprintf("thing-%d", i)
		v, err := j.Object(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(v, diag.Pos{File: "live.yaml", Line: 10 * i, Col: 3})
	}
	s.Sort()
	return []*change.Summary{s, change.NewSummary(schema.GroupKind{Kind: "None"}, most)}
}

func TestText(t *testing.T) {
	want := `Stored objects: Thing.example.com: 6

OBJECTS  STATE       MEANING
      1  legal       valid
      3  ratcheted   invalid, but writes that leave the invalid values unchanged are accepted
      1  restricted  invalid, and some writes that leave the invalid values unchanged are rejected
      1  blocked     rejected even unchanged: a storage migration fails

transition rule of spec.still: 1 blocked
    self.a == 'x' ? oldSelf.a == 'w' : true

  spec.still: Invalid value: moved

- live.yaml:50:3: shop/thing-5: blocked, rejected: rewrite, metadata, apply, elsewhere

enum of spec.mode: 3 ratcheted, 1 restricted
  spec.mode: Unsupported value: "C": supported values: "A", "B"

- live.yaml:30:3: shop/thing-3: restricted, rejected: elsewhere
- live.yaml:10:3: shop/thing-1: ratcheted
- and 2 more

rule of spec: 1 restricted
    !has(self.note) || self.note != 'bad'

  spec: Invalid value: bad

- live.yaml:30:3: shop/thing-3: restricted, rejected: elsewhere

rule of spec.u: 1 ratcheted
    has(self.b) == (has(self.type) && self.type == 'B')

  spec.u.b: Invalid value: b is required when type is 'B', and forbidden otherwise

A patch repairs 1 of them.

- live.yaml:40:3: shop/thing-4: ratcheted
    kubectl patch things.v1.example.com thing-4 -n shop --type merge -p '{"spec":{"u":{"b":null}}}'

Stored objects: None: 0
`
	if d := cmp.Diff(want, change.SummaryDocument(summarized(t, 1)).Text()); d != "" {
		t.Error(d)
	}
}

func TestMarkdown(t *testing.T) {
	want := strings.ReplaceAll(`## Stored objects: ~Thing.example.com~: 6

| objects | state | meaning |
|--:|---|---|
| 1 | legal | valid |
| 3 | ratcheted | invalid, but writes that leave the invalid values unchanged are accepted |
| 1 | restricted | invalid, and some writes that leave the invalid values unchanged are rejected |
| 1 | blocked | rejected even unchanged: a storage migration fails |

### ~transition rule of spec.still~: 1 blocked

~~~cel
self.a == 'x' ? oldSelf.a == 'w' : true
~~~

> spec.still: Invalid value: moved

- ~live.yaml:50:3~: ~shop/thing-5~: blocked, rejected: rewrite, metadata, apply, elsewhere

### ~enum of spec.mode~: 3 ratcheted, 1 restricted

> spec.mode: Unsupported value: "C": supported values: "A", "B"

- ~live.yaml:30:3~: ~shop/thing-3~: restricted, rejected: elsewhere
- ~live.yaml:10:3~: ~shop/thing-1~: ratcheted
- and 2 more

### ~rule of spec~: 1 restricted

~~~cel
!has(self.note) || self.note != 'bad'
~~~

> spec: Invalid value: bad

- ~live.yaml:30:3~: ~shop/thing-3~: restricted, rejected: elsewhere

### ~rule of spec.u~: 1 ratcheted

~~~cel
has(self.b) == (has(self.type) && self.type == 'B')
~~~

> spec.u.b: Invalid value: b is required when type is 'B', and forbidden otherwise

A patch repairs 1 of them.

- ~live.yaml:40:3~: ~shop/thing-4~: ratcheted

  ~~~sh
  kubectl patch things.v1.example.com thing-4 -n shop --type merge -p '{"spec":{"u":{"b":null}}}'
  ~~~

## Stored objects: ~None~: 0
`, "~", "`")
	if d := cmp.Diff(want, change.SummaryDocument(summarized(t, 1)).Markdown()); d != "" {
		t.Error(d)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := diag.WriteJSON(&b, summarized(t, 0)); err != nil {
		t.Fatal(err)
	}
	var l []struct {
		Kind    string
		States  map[string]int
		Reasons []struct {
			Constraint struct{ Keyword, Rule string }
			Objects    int
			Examples   []struct {
				Name, State string
				Line        int
				Versions    []struct {
					Version, State string
					Refused        map[string][]struct{ Message string }
				}
				Repair *struct{ Patch string }
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"legal": 1, "ratcheted": 3, "restricted": 1, "blocked": 1}, l[0].States); d != "" || l[0].Kind != "Thing" || len(l) != 2 {
		t.Error(d)
	}
	r := l[0].Reasons
	if len(r) != 4 || len(r[1].Examples) != 4 || r[1].Examples[1].Name != "thing-1" || r[1].Constraint.Keyword != "enum" || r[3].Examples[0].Repair.Patch != `{"spec":{"u":{"b":null}}}` || r[0].Examples[0].Versions[0].Refused["metadata"][0].Message != "Invalid value: moved" {
		t.Error(b.String())
	}
}
