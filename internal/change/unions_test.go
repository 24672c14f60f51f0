package change_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestUnions compares pairs of unions of the same shape in all encodings. The class must be the
// one that pkg/union gives for all pairs of states.
func TestUnions(t *testing.T) {
	shapes := slices.DeleteFunc(slices.Concat(unioncases.Shapes(), unioncases.Escaped(), unioncases.Further()), func(s unioncases.Shape) bool {
		return s.Members > 3 // too many states
	})
	encodings := []compile.Encoding{compile.Auto, compile.Fine, compile.Compact}
	r := rand.New(rand.NewPCG(34, 0))
	for range unioncases.Choose(4, 6, 400) {
		s := shapes[r.IntN(len(shapes))]
		declarations := s.Declarations()
		i := r.IntN(len(declarations))
		l := []string{declarations[i], declarations[(i+1)%len(declarations)]} // neighbours differ little
		if r.IntN(2) == 0 {
			l[1] = declarations[r.IntN(len(declarations))]
		}
		var in []*change.Input
		for _, d := range l {
			text := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: s.Schema() + "x-kubernetes-unions: [" + d + "]\n"})
			read, wrong := change.ReadInputs(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{Encoding: encodings[r.IntN(len(encodings))]})
			if wrong.HasErrors() {
				t.Fatalf("%v\n%s", wrong, text)
			}
			in = append(in, read...)
		}
		report, err := change.Compare(t.Context(), in[0], in[1])
		if err != nil {
			t.Fatal(err)
		}
		if want := classOf(s, in[0].Unions[0].Union, in[1].Unions[0].Union); report.Class() != want {
			t.Errorf("%s: %s, want %s\n%s\n%s\n%s", s, report.Class(), want, l[0], l[1], show(report))
		}
	}
}

// classOf returns the class of a change from old to new: an update counts if its old object is
// accepted, or if the union that accepts the update has ratchet.
func classOf(s unioncases.Shape, old, new *union.Union) change.Class {
	accepts := func(u *union.Union, before, after *union.State) bool {
		if after == nil {
			return before == nil || u.Removable(*before)
		}
		return len(u.Judge(before, *after)) == 0
	}
	var refused, accepted bool
	states := statesOf(s)
	for _, after := range states {
		for _, before := range states {
			differs := func(u, v *union.Union) bool {
				legal := before == nil || accepts(u, nil, before) || u.Ratchet
				return legal && accepts(u, before, after) && !accepts(v, before, after)
			}
			refused, accepted = refused || differs(old, new), accepted || differs(new, old)
		}
	}
	switch {
	case refused && accepted:
		return change.Both
	case refused:
		return change.Tighter
	case accepted:
		return change.Looser
	}
	return change.Same
}

// statesOf returns the states of the shape that its schema accepts. It is nil for an absent union
// object.
func statesOf(s unioncases.Shape) []*union.State {
	values := s.Values()
	if s.Enum {
		values = slices.DeleteFunc(values, func(v string) bool { return v != "" })
		values = append(values, s.Enumerated()...)
	}
	states := []*union.State{nil}
	for _, v := range values {
		for bits := range 1 << s.Members {
			state := union.State{Value: v, Present: make([]bool, s.Members)}
			for i := range s.Members {
				state.Present[i] = bits&(1<<i) > 0
			}
			states = append(states, &state)
		}
	}
	return states
}
