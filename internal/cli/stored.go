package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// judges validate stored objects, by kind.
type judges map[schema.GroupKind]*change.Judge

// keptExamples is the number of stored objects to print for each reason and state.
const keptExamples = 10

// summarize validates stored objects against the CRDs on the new side, counts them by kind, and
// reports diagnostics.
func (a *app) summarize(ctx context.Context, pairs []*comparison, objects []input, all bool) ([]*change.Summary, error) {
	most := keptExamples
	if all {
		most = 0
	}
	by := judges{}
	summaries := map[schema.GroupKind]*change.Summary{}
	var unusable diag.List
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p *comparison) bool { return p.new == nil })
	for _, p := range pairs {
		j, err := change.NewInputJudge(p.old, p.new)
		if err != nil { // matters only if there are objects
			unusable = append(unusable, diag.New(codes.UnusableFact, p.new.Pos, "the objects cannot be validated: %v", err).As(diag.Warning))
			continue
		}
		by[j.GroupKind()], summaries[j.GroupKind()] = j, change.NewSummary(j.GroupKind(), most)
	}
	found, err := a.storedObjects(ctx, objects, by, func(o yamltext.ObjectItem, v change.Prediction) { summaries[v.GroupKind].Add(v, o.Pos) })
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		unusable = append(unusable, unasked(by, summaries, p.new)...)
	}
	for _, s := range summaries {
		s.Sort()
	}
	l := slices.SortedFunc(maps.Values(summaries), func(a, b *change.Summary) int { return strings.Compare(a.Name(), b.Name()) })
	none := func(s *change.Summary) bool { return s.Objects == 0 }
	if count(l, none) < len(l) {
		l = slices.DeleteFunc(l, none)
	}
	return l, a.report(append(unusable, found...))
}

// unasked warns of versions that no object was validated in, because only a webhook converts to
// them.
func unasked(by judges, summaries map[schema.GroupKind]*change.Summary, c *change.Input) diag.List {
	kind := schema.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind}
	s := summaries[kind]
	if s == nil || s.Objects == 0 {
		return nil
	}
	var l diag.List
	for _, v := range by[kind].Served() {
		if !s.Versions[v] {
			l = append(l, diag.New(codes.UnusableFact, c.Pos,
				"no object is validated in %s: only the CRD's webhook converts to it", v).As(diag.Warning).
				Hinted(fmt.Sprintf("give the objects in this version, too: kubectl get %s.%s.%s -A -o yaml", by[kind].Resource().Resource, v, kind.Group)))
		}
	}
	return l
}

// storedObjects validates the stored objects in files, with one worker per processor, and passes
// the verdicts to take in the order of the files. It holds only the objects in work in memory. The
// diagnostics report unreadable files and objects that cannot be validated. Objects of other kinds
// are ignored, unless there are only those.
func (a *app) storedObjects(ctx context.Context, inputs []input, by judges, take func(yamltext.ObjectItem, change.Prediction)) (diag.List, error) {
	var err error
	var files, objects diag.List
	known, others := 0, 0
	yamltext.EachInOrder(func(yield func(yamltext.ObjectItem) bool) {
		for _, in := range inputs {
			var l diag.List
			if l, err = a.stream(in, func(i yamltext.ObjectItem) error {
				yield(i) // always continues
				return ctx.Err()
			}); err != nil {
				return
			}
			files = append(files, l...)
		}
	}, 2*runtime.GOMAXPROCS(0), func(i yamltext.ObjectItem) (change.Prediction, error) { return by.judge(ctx, i.Value) }, func(i yamltext.ObjectItem, v change.Prediction, err error) {
		known++
		p := (*yamltext.Panic)(nil)
		switch {
		case err == nil:
			take(i, v)
		case errors.Is(err, change.ErrOther):
			others++
			known--
		case errors.As(err, &p):
			objects = append(objects, p.Diagnostic(i.Pos.File))
		default:
			objects = append(objects, diag.New(codes.UnusableFact, i.Pos, "%v", err).
				Hinted("have the API server convert it: kubectl get with a version of the CRD in the name of the resource"))
		}
	})
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	if known == 0 && others > 0 {
		files = append(files, by.none(inputs))
	}
	return append(files, objects...), err
}

// stream reads the objects of an input, which may be large, one at a time.
func (a *app) stream(in input, yield func(yamltext.ObjectItem) error) (diag.List, error) {
	var l diag.List
	err := a.read(in, func(r io.Reader) (err error) {
		l, err = yamltext.StreamObjects(in.name, r, a.limits, yield)
		return err
	})
	return l, err
}

// none reports that no object is of a kind that can be validated.
func (by judges) none(inputs []input) diag.Diagnostic {
	var kinds, resources []string
	for k, j := range by {
		kinds = append(kinds, fmt.Sprintf("a %s of %s", k.Kind, k.Group))
		resources = append(resources, j.Resource().String())
	}
	slices.Sort(kinds)
	slices.Sort(resources)
	d := diag.New(codes.UnusableFact, diag.Pos{}, "no object is of a kind that can be validated")
	if len(by) > 0 {
		d.Message, d.Hint = "no object is "+alternatives(kinds), "kubectl get "+strings.Join(resources, ",")+" -A -o yaml"
	}
	if len(inputs) == 1 {
		d.Pos.File = inputs[0].name
	}
	return d
}

func (by judges) judge(ctx context.Context, object map[string]any) (change.Prediction, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if j := by[schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()]; j != nil {
		return j.Object(ctx, object)
	}
	return change.Prediction{}, change.ErrOther
}
