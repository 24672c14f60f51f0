package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/validate"
)

// Options say how objects are judged.
type Options struct {
	// Version is the one through which objects are written: for a storage migration, the
	// new storage version. By default it is the one that they are printed in or, if the
	// CRD does not serve that, the one that it stores.
	Version string
	// KubeVersion is that of the server, such as "1.30"; "" is the latest.
	KubeVersion string
	// Kinds are those with unions, with which objects are repaired.
	Kinds *kinds.Set
}

// Judge judges the stored objects of a CRD. It may be used by several goroutines at a time.
type Judge struct {
	crd   *apiextensionsv1.CustomResourceDefinition
	kind  *validate.Kind
	opts  Options
	rules map[string][]*rule // by version
	alone sync.Map           // of *rule, a *validate.Kind that has no other
	// static are the versions without oldSelf: what is legal can be written as it is.
	static map[string]bool
}

// New returns the judge of a CRD, as the server is to have it: with its unions compiled. The
// error says that no server would serve it, or that an option is wrong.
func New(crd *apiextensionsv1.CustomResourceDefinition, opts Options) (*Judge, error) {
	k, err := validate.NewFor(crd, opts.KubeVersion)
	if err != nil {
		return nil, err
	}
	served := k.Served()
	if opts.Version != "" && !slices.Contains(served, opts.Version) {
		return nil, fmt.Errorf("%s does not serve version %q", k.GroupKind(), opts.Version)
	}
	if len(served) == 0 {
		return nil, fmt.Errorf("%s serves no version", k.GroupKind())
	}
	j := &Judge{crd: crd.DeepCopy(), kind: k, opts: opts, rules: map[string][]*rule{}, static: map[string]bool{}}
	for _, v := range crd.Spec.Versions {
		if v.Served || v.Storage {
			if err := k.Check(v.Name); err != nil {
				return nil, fmt.Errorf("version %s of %s: %w", v.Name, k.GroupKind(), err)
			}
		}
		text, err := json.Marshal(v.Schema)
		if err != nil {
			return nil, err
		}
		j.rules[v.Name], j.static[v.Name] = rulesOf(v), !bytes.Contains(text, []byte("oldSelf"))
	}
	return j, nil
}

// GroupKind is that of the objects.
func (j *Judge) GroupKind() schema.GroupKind { return j.kind.GroupKind() }

// Resource is what kubectl calls the objects.
func (j *Judge) Resource() schema.GroupResource {
	return schema.GroupResource{Group: j.crd.Spec.Group, Resource: j.crd.Spec.Names.Plural}
}

// Problem is what the server says against an object, and which constraint of the CRD makes
// it say so.
type Problem struct {
	// Field is where, as the server prints it; empty for the object.
	Field string `json:"field,omitempty"`
	// Message is what, without the field.
	Message    string     `json:"message"`
	Constraint Constraint `json:"constraint"`

	at place // of the value that the constraint is about
}

// Verdict is what becomes of an object.
type Verdict struct {
	// GroupVersionKind has the version through which the object is written.
	schema.GroupVersionKind
	Namespace, Name string
	// Problems are why the object is not legal under the CRD; there are none if it is.
	Problems []Problem
	// Asked are the writes that are possible, in order; of a legal object there is only
	// Rewrite.
	Asked []Write
	// Refused are those of them that the server refuses, and why.
	Refused map[Write][]Problem
	// Repair is how to make the object legal; nil when it is, or nothing is known.
	Repair *Repair
}

// State is what becomes of an object, in a word.
type State int

// The states, from the best to the worst.
const (
	// Legal: the object is valid.
	Legal State = iota
	// Spared: it is not, and every write that leaves alone what is at fault is accepted.
	Spared
	// Hindered: it can be written as it is, and some of those writes are refused.
	Hindered
	// Frozen: it cannot be written as it is, so that a storage migration fails.
	Frozen
)

var states = []string{"legal", "spared", "hindered", "frozen"}

// String is the state in lower case.
func (s State) String() string { return states[s] }

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is what becomes of the object, in a word.
func (v Verdict) State() State {
	refused := func(w Write) bool { return len(v.Refused[w]) > 0 }
	switch {
	case refused(Rewrite):
		return Frozen
	case refused(Status) || refused(Metadata) || refused(Elsewhere):
		return Hindered
	case len(v.Problems) > 0:
		return Spared
	}
	return Legal
}

// String names the object: kind, namespace and name.
func (v Verdict) String() string { return strings.TrimSpace(v.Kind + " " + v.name()) }

// ErrOther says that an object is not of the judge's kind.
var ErrOther = errors.New("the object is of another kind")

// Object judges an object that the server has in storage, given as it prints it. The object
// is not changed. The error says that it cannot be judged: it is ErrOther, or the object is
// of a version that the CRD does not have, or only a webhook could convert it.
func (j *Judge) Object(ctx context.Context, object map[string]any) (Verdict, error) {
	u := unstructured.Unstructured{Object: object}
	v := Verdict{GroupVersionKind: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Refused: map[Write][]Problem{}}
	if v.GroupKind() != j.GroupKind() {
		return v, fmt.Errorf("%w: %s", ErrOther, v.GroupVersionKind)
	}
	if _, ok := j.rules[v.Version]; !ok {
		return v, fmt.Errorf("%s is of version %q, which the CRD does not have", v, v.Version)
	}
	printed := v.Version
	switch {
	case j.opts.Version != "":
		v.Version = j.opts.Version
	case !slices.Contains(j.kind.Served(), v.Version):
		v.Version = j.kind.Storage()
		if !slices.Contains(j.kind.Served(), v.Version) {
			v.Version = j.kind.Served()[0]
		}
	}
	read, err := j.kind.Read(object, v.Version)
	if err != nil {
		if conversion := (*validate.ConversionError)(nil); errors.As(err, &conversion) {
			return v, fmt.Errorf("%s is of version %s, and only the CRD's webhook can convert it to %s", v, printed, v.Version)
		}
		return v, fmt.Errorf("%s cannot be read from storage: %w", v, err)
	}
	c := &inquiry{Judge: j, version: v.Version, printed: printed, stored: object, read: read}
	if v.Problems, err = c.problems(func(k *validate.Kind) (validate.Answer, error) { return k.Legal(ctx, read) }); err != nil {
		return v, err
	}
	if len(v.Problems) == 0 && j.static[v.Version] {
		v.Asked = []Write{Rewrite} // which the server would judge by the same
		return v, nil
	}
	faults := v.Problems
	ask := func(w Write) error {
		possible, refused, err := c.write(ctx, w, faults)
		if possible {
			v.Asked = append(v.Asked, w)
		}
		if len(refused) > 0 {
			v.Refused[w] = refused
		}
		return err
	}
	if err := ask(Rewrite); err != nil {
		return v, err
	}
	if v.State() == Legal {
		return v, nil
	}
	// An unchanged object may be refused for what is legal in a new one.
	faults = slices.Concat(v.Problems, v.Refused[Rewrite])
	for _, w := range Writes()[1:] {
		if err := ask(w); err != nil {
			return v, err
		}
	}
	v.Repair, err = c.repair(ctx, v.GroupVersionKind, len(v.Problems))
	return v, err
}

// inquiry is an object that is judged.
type inquiry struct {
	*Judge
	version string
	printed string         // the version of what is in storage
	stored  map[string]any // as it is in storage
	read    map[string]any // as who reads it in the version gets it
}

// problems are what the server says against a write.
func (c *inquiry) problems(ask func(*validate.Kind) (validate.Answer, error)) ([]Problem, error) {
	answer, err := ask(c.kind)
	if err != nil || answer.Refused == nil {
		return nil, err
	}
	if len(answer.Errors) == 0 {
		return []Problem{{Message: answer.Refused.ErrStatus.Message, Constraint: Constraint{Keyword: Malformed}}}, nil
	}
	var l []Problem
	for _, e := range answer.Errors {
		if e == validate.NotEvaluated {
			continue
		}
		p, err := c.problem(e, ask)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(l, func(q Problem) bool { return q.Field == p.Field && q.Message == p.Message }) {
			l = append(l, p)
		}
	}
	slices.SortFunc(l, compareProblems) // validators walk maps
	return l, nil
}

// says reports whether an answer has an error.
func says(answer validate.Answer, e *field.Error) bool {
	return slices.ContainsFunc(answer.Errors, func(o *field.Error) bool {
		return o.Type == e.Type && o.Field == e.Field && o.Detail == e.Detail
	})
}
