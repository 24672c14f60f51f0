package formula

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
)

// EntryKey is the key of the map entry that [Entry] stands for. [Item] stands for the first item of
// a list.
const EntryKey = "example"

// Value returns the value at the place in an object. root is the old or the new object, like the
// place. The result is nil if the value is absent.
func (p *Place) Value(root any) any {
	if p.Parent == nil && p.view != nil {
		return p.view.decode(root)
	}
	if p.Parent == nil {
		return root
	}
	switch v := p.Parent.Value(root).(type) {
	case map[string]any:
		if p.Name == Entry {
			return v[EntryKey]
		}
		return v[p.Name]
	case []any:
		if p.Name == Item && len(v) > 0 {
			return v[0]
		}
		return ItemWith(v, p.Name)
	}
	return nil
}

// Put returns an object that has only the value at the place.
func (p *Place) Put(v any) any {
	switch {
	case p.Parent == nil:
		return v
	case p.Name == Item:
		return p.Parent.Put([]any{v})
	case strings.HasPrefix(p.Name, itemPrefix):
		keyed := map[string]any{}
		if object, ok := v.(map[string]any); ok {
			maps.Copy(keyed, object)
		}
		maps.Copy(keyed, KeysOf(p.Name))
		return p.Parent.Put([]any{keyed})
	case p.Name == Entry:
		return p.Parent.Put(map[string]any{EntryKey: v})
	}
	return p.Parent.Put(map[string]any{p.Name: v})
}

// nullIn reports whether the value at the place is null.
func (p *Place) nullIn(root any) bool {
	if p.Parent == nil {
		return false
	}
	m, ok := p.Parent.Value(root).(map[string]any)
	v, there := m[p.Name]
	return ok && there && v == nil
}

// Evaluate reports whether the fact holds if v is the value at an ancestor place. The fact must be
// about one place, and not a question.
func (f *Fact) Evaluate(at *Place, v any) bool {
	path := f.Place.Path()[len(at.Path()):]
	null := false
	for _, name := range path {
		if list, ok := v.([]any); ok && KeysOf(name) != nil {
			v, null = ItemWith(list, name), false
			continue
		}
		m, _ := v.(map[string]any)
		inner, there := m[name]
		v, null = inner, there && inner == nil
	}
	return f.of(v, null)
}

// of reports whether the fact holds if v is the value at its place. null tells null and an absent
// value apart.
func (f *Fact) of(v any, null bool) bool {
	switch f.Kind {
	case Present:
		return v != nil
	case Null:
		return null
	case Equals:
		return is(v, f.Constant)
	}
	return isEmpty(v)
}

// is reports whether a value equals a constant. The only constant of numbers is 0.
func is(v, constant any) bool {
	n, ok := v.(float64)
	return v == constant || ok && n == 0 && constant == any(int64(0))
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Answers evaluates the questions of a space with the API server's code, and caches programs.
type Answers struct {
	programs map[*Question]func(ctx context.Context, value, old any) (bool, error)
}

// NewAnswers returns an empty cache.
func NewAnswers() *Answers {
	return &Answers{map[*Question]func(context.Context, any, any) (bool, error){}}
}

// Ask evaluates a question for an object. ok is false if the question cannot be evaluated
// separately, or if the object lacks a value that it needs.
func (a *Answers) Ask(ctx context.Context, q *Question, new, old any) (holds, fails, ok bool) {
	run, known := a.programs[q]
	if !known {
		logic.Spend(ctx, stepsOfProgram)
		run = q.program()
		a.programs[q] = run
	}
	if run == nil || !q.applies(new, old) {
		return false, false, false
	}
	result, err := run(ctx, q.At.Value(new), q.oldSelf(old))
	return result && err == nil, err != nil, true
}

// oldSelf returns the value of oldSelf, or nil.
func (q *Question) oldSelf(old any) any {
	if old == nil || q.alone {
		return nil
	}
	return q.At.Counterpart().Value(old)
}

// applies reports whether the values that the question needs exist.
func (q *Question) applies(new, old any) bool {
	return q.At.Value(new) != nil && (q.Optional || !q.readsOld() || q.oldSelf(old) != nil)
}

func (q *Question) readsOld() bool {
	return slices.ContainsFunc(q.Reads, func(p *Place) bool { return p.Old })
}

func (q *Question) program() func(ctx context.Context, value, old any) (bool, error) {
	switch {
	case q.Schema != nil:
		v, err := Validator(q.Schema)
		if err != nil {
			return nil
		}
		return func(ctx context.Context, value, _ any) (bool, error) {
			return len(v.Validate(ctx, value)) == 0, nil
		}
	case q.Text == "" || q.At.Schema == nil:
		return nil
	}
	s, err := server.Structural(Pruned(q.At.Schema, q.paths()))
	if err != nil {
		return nil
	}
	var programs []*Program
	var errs []error
	for _, text := range []string{q.Text, "[" + q.Text + "].size() == 1"} { // the second text also fits expressions that are not conditions
		programs, errs = Compile(s, q.At.Parent == nil, apiextensionsv1.ValidationRules{{Rule: text, OptionalOldSelf: &q.Optional}})
		if errs[0] == nil {
			break
		}
	}
	if errs[0] != nil {
		return nil
	}
	return func(ctx context.Context, value, before any) (bool, error) {
		return programs[0].Run(ctx, value, before, q.readsOld())
	}
}

// ReadsOld reports whether the fact depends on the old object.
func (f *Fact) ReadsOld() bool {
	if f.Question != nil {
		return f.Question.readsOld()
	}
	return f.Place.Old || f.Other != nil && f.Other.Old
}

// paths returns the paths that the question reads, relative to the place of the question.
func (q *Question) paths() [][]string {
	var l [][]string
	for _, p := range q.Reads {
		if own := q.At.Path(); len(p.Path()) >= len(own) {
			l = append(l, p.Path()[len(own):])
		}
	}
	return l
}

// Holds reports whether a fact holds for an object. ok is false if the fact cannot be evaluated
// separately.
func (a *Answers) Holds(ctx context.Context, f *Fact, new, old any) (holds, ok bool) {
	root := func(p *Place) any {
		if p.Old {
			return old
		}
		return new
	}
	switch f.Kind {
	case Same:
		v, w := f.Place.Value(root(f.Place)), f.Other.Value(root(f.Other))
		return v != nil && w != nil && f.Place.cel(v).Equal(f.Other.cel(w)) == types.True, true
	case Holds, Fails:
		holds, fails, ok := a.Ask(ctx, f.Question, new, old)
		return f.Kind == Holds && holds || f.Kind == Fails && fails, ok
	}
	at := root(f.Place)
	return f.of(f.Place.Value(at), f.Place.nullIn(at)), true
}

// cel converts a value at the place to CEL.
func (p *Place) cel(v any) ref.Val {
	if p.types == nil {
		if s, err := server.Structural(Pruned(p.Schema, [][]string{nil})); err == nil {
			p.types = newView(&model.Structural{Structural: s})
		} else {
			return types.WrapErr(err)
		}
	}
	return common.UnstructuredToVal(v, p.types)
}
