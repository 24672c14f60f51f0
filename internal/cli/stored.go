package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/stored"
)

// judges are those of stored objects, by kind.
type judges map[schema.GroupKind]*stored.Judge

// storedObjects judges the stored objects in files, as many at a time as there are
// processors, and has the verdicts taken in the order of the files. It holds no more objects
// than it works on. The diagnostics say what is wrong with the files, and which objects
// cannot be judged; those of other kinds are none of its business, unless there are no
// others.
func (a *app) storedObjects(ctx context.Context, args []string, by judges, take func(resource.Item, stored.Verdict)) (diag.List, error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, err
	}
	var l diag.List
	known, others := 0, map[string]bool{}
	line := newLine(ctx, by, func(j *judged) {
		switch {
		case j.err == nil:
			take(j.Item, j.verdict)
		case errors.Is(j.err, stored.ErrOther):
			others[fmt.Sprintf("%v of %v", j.Value["kind"], j.Value["apiVersion"])] = true
			return
		default:
			l = append(l, diag.Diagnostic{Code: diag.BadOldObject, Pos: j.Pos, Message: j.err.Error(),
				Hint: "have the API server convert it: kubectl get with a version of the CRD in the name of the resource"})
		}
		known++
	})
	var wrong diag.List
	for _, in := range inputs {
		var found diag.List
		if found, err = a.stream(in, line.add); err != nil {
			err = fileError(in.name, err)
			break
		}
		wrong = append(wrong, found...)
	}
	line.end()
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	if l = append(wrong, l...); err == nil && known == 0 && !l.HasErrors() {
		l = append(l, noneStored(inputs, by, others))
	}
	return l, err
}

// stream reads the objects of an input, one at a time.
func (a *app) stream(in input, yield func(resource.Item) error) (diag.List, error) {
	var r io.Reader = a.streams.In
	if in.path != "" {
		file, err := os.Open(in.path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	return resource.Stream(in.name, r, a.limits, yield)
}

// noneStored says that no object is of a kind that can be judged.
func noneStored(inputs []input, by judges, others map[string]bool) diag.Diagnostic {
	var kinds []string
	for k := range by {
		kinds = append(kinds, k.Kind+" of "+k.Group)
	}
	slices.Sort(kinds)
	d := diag.Diagnostic{Code: diag.NoCRD, Message: "there is no object", Hint: "the CRDs are for " + strings.Join(kinds, ", ")}
	if len(others) > 0 {
		d.Message = "no object is of a kind that has a CRD, but " + few(slices.Sorted(maps.Keys(others)))
	}
	if len(inputs) == 1 {
		d.Pos.File = inputs[0].name
	}
	return d
}

// judged is an object on its way.
type judged struct {
	resource.Item
	verdict stored.Verdict
	err     error
	done    chan struct{}
}

// line is where objects are judged.
type line struct {
	ctx    context.Context
	todo   chan *judged
	order  chan *judged
	taking sync.WaitGroup
}

func newLine(ctx context.Context, by judges, take func(*judged)) *line {
	n := runtime.GOMAXPROCS(0)
	l := &line{ctx: ctx, todo: make(chan *judged), order: make(chan *judged, 2*n)}
	for range n {
		go func() {
			for j := range l.todo {
				j.verdict, j.err = by.judge(ctx, j.Value)
				close(j.done)
			}
		}()
	}
	l.taking.Go(func() {
		for j := range l.order {
			<-j.done
			take(j)
		}
	})
	return l
}

// add takes an object in; the error is that of a context that has ended.
func (l *line) add(i resource.Item) error {
	j := &judged{Item: i, done: make(chan struct{})}
	l.order <- j
	l.todo <- j
	return l.ctx.Err()
}

// end returns when all objects are judged, and taken.
func (l *line) end() {
	close(l.todo)
	close(l.order)
	l.taking.Wait()
}

func (by judges) judge(ctx context.Context, object map[string]any) (stored.Verdict, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if j := by[schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()]; j != nil {
		return j.Object(ctx, object)
	}
	return stored.Verdict{}, stored.ErrOther
}
