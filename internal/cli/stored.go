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

	"github.com/unioncel/unioncel/internal/change/crddiff"
	"github.com/unioncel/unioncel/internal/change/stored"
	"github.com/unioncel/unioncel/internal/ordered"
	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/union"
)

// judges are those of stored objects, by kind.
type judges map[schema.GroupKind]*stored.Judge

// keptExamples is how many stored objects are shown of each reason and state.
const keptExamples = 10

// summarize judges stored objects by the CRDs on the new side, and counts them by kind. What
// is wrong with them is reported.
func (a *app) summarize(ctx context.Context, sides [][]*crddiff.Input, args []string, all bool) ([]*stored.Summary, error) {
	most := keptExamples
	if all {
		most = 0
	}
	by := judges{}
	summaries := map[schema.GroupKind]*stored.Summary{}
	var unusable diag.List
	for _, c := range sides[1] {
		j, err := judgeOf(find(sides[0], c.Name), c)
		if err != nil { // which matters only if there are objects
			unusable = append(unusable, diag.Diagnostic{Code: diag.UnusableFact, Severity: diag.Warning, Pos: c.Pos, Message: "the objects cannot be validated: " + err.Error()})
			continue
		}
		by[j.GroupKind()], summaries[j.GroupKind()] = j, stored.NewSummary(j.GroupKind(), most)
	}
	found, err := a.storedObjects(ctx, args, by, func(o resource.Item, v stored.Prediction) { summaries[v.GroupKind()].Add(v, o.Pos) })
	if err != nil {
		return nil, err
	}
	for _, c := range sides[1] {
		unusable = append(unusable, unasked(by, summaries, c)...)
	}
	l := slices.SortedFunc(maps.Values(summaries), func(a, b *stored.Summary) int { return strings.Compare(a.Kind.String(), b.Kind.String()) })
	none := func(s *stored.Summary) bool { return s.Objects == 0 }
	if count(l, none) < len(l) {
		l = slices.DeleteFunc(l, none)
	}
	return l, a.report([]result{{diagnostics: append(unusable, found...)}}, "text")
}

// unasked warns of versions through which no object was judged, since only a webhook converts to
// them.
func unasked(by judges, summaries map[schema.GroupKind]*stored.Summary, c *crddiff.Input) diag.List {
	kind := schema.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind}
	s := summaries[kind]
	if s == nil || s.Objects == 0 {
		return nil
	}
	var l diag.List
	for _, v := range by[kind].Served() {
		if !s.Versions[v] {
			l = append(l, diag.Diagnostic{Code: diag.UnusableFact, Severity: diag.Warning, Pos: c.Pos, Message: fmt.Sprintf("no object is validated in %s: only the CRD's webhook converts to it", v),
				Hint: fmt.Sprintf("give the objects in this version, too: kubectl get %s.%s.%s -A -o yaml", by[kind].Resource().Resource, v, kind.Group)})
		}
	}
	return l
}

// judgeOf is the judge of the objects that are stored under one CRD, which may be nil, by another.
func judgeOf(old, new *crddiff.Input) (*stored.Judge, error) {
	set, err := unionsOf(new)
	if err != nil {
		return nil, err
	}
	opts := stored.Options{KubeVersion: new.KubeVersion, Kinds: set}
	if old != nil {
		opts.Before = old.CustomResourceDefinition
	}
	return stored.New(new.CustomResourceDefinition, opts)
}

// unionsOf are the unions of a CRD.
func unionsOf(c *crddiff.Input) (*kinds.Set, error) {
	var declared []union.Object
	for _, u := range c.Unions {
		declared = append(declared, union.Object{Place: u.Place, Unions: []*union.Union{u.Union}})
	}
	set := &kinds.Set{}
	return set, set.Add(kinds.OfCRD(c.CustomResourceDefinition, declared, c.Name)...)
}

// dataOf is the JSON of differences and, if there are any, of stored objects.
func dataOf(reports []crddiff.Report, summaries []*stored.Summary) any {
	crds := crddiff.Data(reports)
	if summaries == nil {
		return crds
	}
	return struct {
		CRDs    any `json:"crds"`
		Objects any `json:"objects"`
	}{crds, stored.Data(summaries)}
}

// storedObjects judges the stored objects in files, as many at a time as there are
// processors, and has the verdicts taken in the order of the files. It holds no more objects
// than it works on. The diagnostics say what is wrong with the files, and which objects
// cannot be judged; those of other kinds are none of its business, unless there are no
// others.
func (a *app) storedObjects(ctx context.Context, args []string, by judges, take func(resource.Item, stored.Prediction)) (diag.List, error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, err
	}
	var files, objects diag.List
	known, others := 0, 0
	ordered.Each(func(yield func(resource.Item) bool) {
		for _, in := range inputs {
			var l diag.List
			if l, err = a.stream(in, func(i resource.Item) error {
				yield(i) // which always goes on
				return ctx.Err()
			}); err != nil {
				return
			}
			files = append(files, l...)
		}
	}, 2*runtime.GOMAXPROCS(0), func(i resource.Item) (stored.Prediction, error) { return by.judge(ctx, i.Value) }, func(i resource.Item, v stored.Prediction, err error) {
		known++
		p := (*ordered.Panic)(nil)
		switch {
		case err == nil:
			take(i, v)
		case errors.Is(err, stored.ErrOther):
			others++
			known--
		case errors.As(err, &p):
			objects = append(objects, p.Diagnostic(i.Pos.File))
		default:
			objects = append(objects, diag.Diagnostic{Code: diag.UnusableFact, Pos: i.Pos, Message: err.Error(),
				Hint: "have the API server convert it: kubectl get with a version of the CRD in the name of the resource"})
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
func (a *app) stream(in input, yield func(resource.Item) error) (diag.List, error) {
	var l diag.List
	err := a.read(in, func(r io.Reader) (err error) {
		l, err = resource.Stream(in.name, r, a.limits, yield)
		return err
	})
	return l, err
}

// none says that there are objects, and none of a kind that can be judged.
func (by judges) none(inputs []input) diag.Diagnostic {
	var kinds, resources []string
	for k, j := range by {
		kinds = append(kinds, fmt.Sprintf("a %s of %s", k.Kind, k.Group))
		resources = append(resources, j.Resource().String())
	}
	slices.Sort(kinds)
	slices.Sort(resources)
	d := diag.Diagnostic{Code: diag.UnusableFact, Message: "no object is of a kind that can be validated"}
	if len(by) > 0 {
		d.Message, d.Hint = "no object is "+alternatives(kinds), "kubectl get "+strings.Join(resources, ",")+" -A -o yaml"
	}
	if len(inputs) == 1 {
		d.Pos.File = inputs[0].name
	}
	return d
}

func (by judges) judge(ctx context.Context, object map[string]any) (stored.Prediction, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if j := by[schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()]; j != nil {
		return j.Object(ctx, object)
	}
	return stored.Prediction{}, stored.ErrOther
}
