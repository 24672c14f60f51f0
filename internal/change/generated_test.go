package change_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// TestGenerated compares pairs of generated schemas, and runs the API server's validators on
// generated objects and updates under both. A class is wrong if an object contradicts it. A
// counterexample is wrong if the validators do not confirm it. The generator knows schemas and
// values, but not the checks of internal/change.
//
// UNIONCEL_PAIR selects a single pair by its number, and prints it.
func TestGenerated(t *testing.T) {
	first, last := 0, unioncases.Choose(12, 15, 2500)
	if n, err := strconv.Atoi(os.Getenv("UNIONCEL_PAIR")); err == nil {
		first, last = n, n+1
	}
	tally := map[string]int{}
	for n := first; n < last; n++ {
		g := &generated{Rand: rand.New(rand.NewPCG(28, uint64(n)))}
		old, new, what := g.pair(t.Context())
		report, err := change.Compare(t.Context(), change.InputOf(old), change.InputOf(new))
		if err != nil {
			t.Fatalf("pair %d: %v", n, err)
		}
		tally["pair "+string(report.Class())]++
		for _, c := range report.Changes {
			tally["row "+string(c.Class)]++
			if c.Class == change.Undecided {
				tally["unknown "+c.Keyword+": "+c.Undecided]++
			}
		}
		wrong := append(unconfirmed(t.Context(), old, new, report), g.contradictions(t.Context(), old, new, report)...)
		if len(wrong) > 0 || last == first+1 {
			a, _ := yaml.Marshal(old.Spec.Versions[0].Schema.OpenAPIV3Schema)
			b, _ := yaml.Marshal(new.Spec.Versions[0].Schema.OpenAPIV3Schema)
			t.Logf("pair %d: %s\n%s\n--- old\n%s--- new\n%s", n, what, show(report), a, b)
		}
		for _, w := range wrong {
			t.Errorf("pair %d: %s", n, w)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(tally)) {
		t.Log(tally[k], k)
	}
}

// accepts reports whether a CRD accepts an object or, if before is set, an update. A status
// subresource is written after the rest of the object.
func accepts(ctx context.Context, k *server.Kind, before, object map[string]any) bool {
	refused := func(a server.Answer, err error) bool { return err != nil || a.Refused != nil }
	main := maps.Clone(object)
	base := before
	if before == nil {
		delete(main, "status")
		if !k.HasStatus("v1") {
			main = object
		}
		if refused(k.Create(ctx, main)) {
			return false
		}
		base = main
	} else if refused(k.Update(ctx, object, before)) {
		return false
	}
	if _, has := object["status"]; has && k.HasStatus("v1") {
		return !refused(k.UpdateStatus(ctx, object, base))
	}
	return true
}

// unconfirmed returns the counterexamples of a report that the validators do not confirm.
func unconfirmed(ctx context.Context, old, new *apiextensionsv1.CustomResourceDefinition, r change.Comparison) []string {
	var l []string
	was, is := server.NewKind(old), server.NewKind(new)
	for _, c := range r.Changes {
		for _, e := range []struct {
			*change.Counterexample
			accepting, refusing *server.Kind
		}{{c.Refused, was, is}, {c.Accepted, is, was}} {
			if e.Counterexample == nil {
				continue
			}
			if e.Old != nil && !e.Exempt && !accepts(ctx, e.accepting, nil, e.Old) || !accepts(ctx, e.accepting, e.Old, e.Object) || accepts(ctx, e.refusing, e.Old, e.Object) {
				l = append(l, fmt.Sprintf("%s: %s: no counterexample: %v -> %v", c.Path, c.What, e.Old, e.Object))
			}
		}
	}
	return l
}

// contradictions returns objects and updates that contradict the classes of a report.
func (g *generated) contradictions(ctx context.Context, old, new *apiextensionsv1.CustomResourceDefinition, r change.Comparison) []string {
	claimsNoneRefused, claimsNoneAccepted := true, true
	for _, c := range r.Changes {
		claimsNoneRefused = claimsNoneRefused && (c.Class == change.Same || c.Class == change.Looser)
		claimsNoneAccepted = claimsNoneAccepted && (c.Class == change.Same || c.Class == change.Tighter && c.Undecided == "")
	}
	if !claimsNoneRefused && !claimsNoneAccepted {
		return nil
	}
	was, is := server.NewKind(old), server.NewKind(new)
	var legal [2][]map[string]any
	// An update counts for a side only if this side accepts the old object.
	judge := func(before, object map[string]any, legalOnOld, legalOnNew bool) string {
		a, b := accepts(ctx, was, before, object), accepts(ctx, is, before, object)
		switch {
		case a && !b && legalOnOld && claimsNoneRefused:
			return fmt.Sprintf("%s, but refused now: %s -> %s", r.Class(), asJSON(before), asJSON(object))
		case b && !a && legalOnNew && claimsNoneAccepted:
			return fmt.Sprintf("%s, but accepted now: %s -> %s", r.Class(), asJSON(before), asJSON(object))
		}
		if before == nil {
			for i, ok := range []bool{a, b} {
				if ok {
					legal[i] = append(legal[i], object)
				}
			}
		}
		return ""
	}
	a, b := old.Spec.Versions[0].Schema.OpenAPIV3Schema, new.Spec.Versions[0].Schema.OpenAPIV3Schema
	var l []string
	for range 300 {
		if len(l) > 2 {
			return l
		}
		if w := judge(nil, g.object(a, b), true, true); w != "" {
			l = append(l, w)
		}
	}
	for side, stored := range legal {
		for range min(100, len(stored)*len(stored)) {
			if w := judge(stored[g.IntN(len(stored))], stored[g.IntN(len(stored))], side == 0, side == 1); w != "" && len(l) < 3 {
				l = append(l, w)
			}
		}
	}
	return l
}

func asJSON(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
