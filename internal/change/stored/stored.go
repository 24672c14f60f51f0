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
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/validate"
)

// Options say how objects are judged.
type Options struct {
	// Before is the CRD that the objects are stored under; nil if it is the CRD itself.
	Before *apiextensionsv1.CustomResourceDefinition
	// KubeVersion is that of the server, such as "1.30"; "" is the latest.
	KubeVersion string
	// Kinds are those with unions, with which objects are repaired.
	Kinds *kinds.Set
}

// Judge judges the stored objects of a CRD. It may be used by several goroutines at a time.
type Judge struct {
	crd    *apiextensionsv1.CustomResourceDefinition
	before *Judge // by the CRD before, or nil
	kind   *validate.Kind
	opts   Options
	rules  map[string][]*rule // by version
	alone  sync.Map           // of *rule, a *validate.Kind that has no other
	// static are the versions without oldSelf: an unchanged legal object is accepted.
	static map[string]bool
	// structural are the schemas by version; there is none where unknown fields are kept.
	structural map[string]*structuralschema.Structural
	dropping   sync.Map // of two versions, see drops
}

// New returns the judge of a CRD, as the server is to have it: with its unions compiled. The
// error says that no server would serve it, or that an option is wrong.
func New(crd *apiextensionsv1.CustomResourceDefinition, opts Options) (*Judge, error) {
	k, err := validate.NewFor(crd, opts.KubeVersion)
	if err != nil {
		return nil, err
	}
	if len(k.Served()) == 0 {
		return nil, fmt.Errorf("%s serves no version", k.GroupKind())
	}
	j := &Judge{crd: crd.DeepCopy(), kind: k, opts: opts, rules: map[string][]*rule{}, static: map[string]bool{}, structural: map[string]*structuralschema.Structural{}}
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
		if j.structural[v.Name], err = structural(crd, v); err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", v.Name, k.GroupKind(), err)
		}
	}
	if opts.Before != nil {
		// A CRD that no server would serve has no stored objects to compare with.
		j.before, _ = New(opts.Before, Options{KubeVersion: opts.KubeVersion})
	}
	return j, nil
}

// GroupKind is that of the objects.
func (j *Judge) GroupKind() schema.GroupKind { return j.kind.GroupKind() }

// Served are the versions through which objects are written.
func (j *Judge) Served() []string { return j.kind.Served() }

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

// Verdict is the prediction for an object.
type Verdict struct {
	// GroupVersionKind has the version that the object is printed in.
	schema.GroupVersionKind
	Namespace, Name string
	// Versions are the served versions or, if only a webhook can convert the object, the one
	// that it is printed in.
	Versions []InVersion
	// Worse says that the server rejects a write that it accepts under the CRD before.
	Worse bool
	// Repair is how to make the object legal; nil when it is, or nothing is known.
	Repair *Repair
}

// InVersion is the prediction for an object that is written through a version.
type InVersion struct {
	Version string
	// Problems are why the object is not legal under the CRD; there are none if it is.
	Problems []Problem
	// Asked are the writes that are possible, in order; of a legal object there is only
	// Rewrite.
	Asked []Write
	// Refused has the reasons for each of them that the server rejects.
	Refused map[Write][]Problem
	// Lost are the paths of fields that every write loses, and did not before. Without a CRD
	// before, these are the fields that a migration loses, through whichever version.
	Lost []string
}

// State is what becomes of an object, in a word.
type State int

// The states, from the best to the worst.
const (
	// Legal: the object is valid.
	Legal State = iota
	// Spared: it is not, and every write is accepted that leaves the invalid values unchanged.
	Spared
	// Hindered: it can be written unchanged, and some of those writes are rejected.
	Hindered
	// Frozen: it cannot be written as it is, so that a storage migration fails.
	Frozen
)

var states = []string{"legal", "spared", "hindered", "frozen"}

// String is the state in lower case.
func (s State) String() string { return states[s] }

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is the worst of all versions.
func (v Verdict) State() State {
	worst := Legal
	for _, in := range v.Versions {
		worst = max(worst, in.State())
	}
	return worst
}

// State is the prediction in a word.
func (v InVersion) State() State {
	refused := func(w Write) bool { return len(v.Refused[w]) > 0 }
	switch {
	case refused(Rewrite):
		return Frozen
	case slices.ContainsFunc(Writes()[:Within], refused):
		return Hindered
	case len(v.Problems) > 0:
		return Spared
	}
	return Legal
}

// Problems are the reasons why the object is not legal in some version, or cannot be written
// unchanged, or by server-side apply.
func (v Verdict) Problems() []Problem {
	var l []Problem
	for _, in := range v.Versions {
		for _, p := range slices.Concat(in.Problems, in.Refused[Rewrite], in.Refused[Apply]) {
			if !slices.ContainsFunc(l, func(q Problem) bool {
				return q.Field == p.Field && (q.Message == p.Message || p.Constraint.Keyword == Typed)
			}) {
				l = append(l, p)
			}
		}
	}
	return l
}

// String names the object: kind, namespace and name.
func (v Verdict) String() string { return strings.TrimSpace(v.Kind + " " + v.name()) }

// ErrOther is the error for an object of another kind than the CRD's.
var ErrOther = errors.New("the object is of another kind")

// Object judges an object, as kubectl get prints it. The error says that it cannot be judged:
// it is of another kind (ErrOther) or version than the CRD's, or only a webhook could convert
// it.
func (j *Judge) Object(ctx context.Context, object map[string]any) (Verdict, error) {
	u := unstructured.Unstructured{Object: object}
	v := Verdict{GroupVersionKind: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Worse: true}
	if v.GroupKind() != j.GroupKind() {
		return v, fmt.Errorf("%w: %s", ErrOther, v.GroupVersionKind)
	}
	if _, ok := j.rules[v.Version]; !ok {
		return v, fmt.Errorf("%s is of version %q, which the CRD does not have", v, v.Version)
	}
	if wrong := validation.NameIsDNSSubdomain(v.Name, false); v.Name != "" && wrong != nil {
		return v, fmt.Errorf("%s has a name that no API server accepts: %s", v, wrong[0])
	}
	if wrong := validation.ValidateNamespaceName(v.Namespace, false); v.Namespace != "" && wrong != nil {
		return v, fmt.Errorf("%s has a namespace that no API server accepts: %s", v, wrong[0])
	}
	stored, err := j.stored(object, v)
	if err != nil {
		return v, err
	}
	if err := j.versions(ctx, stored, &v); err != nil {
		return v, err
	}
	if j.before != nil {
		v.Worse = false
		if err := j.compare(ctx, stored, &v); err != nil {
			return v, err
		}
	}
	j.losses(object, stored, v.Versions)
	from := versionOf(stored)
	for _, in := range v.Versions {
		// A repair through a version that lacks fields of the object would drop them.
		if len(in.Problems) > 0 && v.Repair == nil && len(j.lost(stored, in.Version)) <= len(j.lost(stored, from)) {
			c, err := j.inquire(stored, in.Version)
			if err != nil {
				return v, err
			}
			if v.Repair, err = c.repair(ctx, len(in.Problems)); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// versions judges an object in each version through which it can be written.
func (j *Judge) versions(ctx context.Context, stored map[string]any, v *Verdict) error {
	for _, version := range j.kind.Served() {
		c, err := j.inquire(stored, version)
		if conversion := (*validate.ConversionError)(nil); errors.As(err, &conversion) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s cannot be read from storage: %w", v, err)
		}
		in, err := c.judge(ctx)
		if err != nil {
			return err
		}
		v.Versions = append(v.Versions, in)
	}
	if len(v.Versions) == 0 {
		return fmt.Errorf("%s is of version %s, and only the CRD's webhook can convert it to %s", v, v.Version, j.kind.Served()[0])
	}
	return nil
}

// compare compares a verdict with that under the CRD before.
func (j *Judge) compare(ctx context.Context, stored map[string]any, v *Verdict) error {
	was := Verdict{GroupVersionKind: v.GroupVersionKind}
	if v.State() > Spared {
		// An error leaves the verdict empty: nothing is known to be rejected before.
		if err := j.before.versions(ctx, stored, &was); err != nil && ctx.Err() != nil {
			return err
		}
	}
	for _, in := range v.Versions {
		old := InVersion{}
		if k := slices.IndexFunc(was.Versions, func(o InVersion) bool { return o.Version == in.Version }); k >= 0 {
			old = was.Versions[k]
		}
		for _, w := range Writes()[:Within] {
			v.Worse = v.Worse || len(in.Refused[w]) > 0 && len(old.Refused[w]) == 0
		}
	}
	return nil
}

// judge asks for all writes that matter through a version.
func (c *inquiry) judge(ctx context.Context) (InVersion, error) {
	v := InVersion{Version: c.version, Refused: map[Write][]Problem{}}
	var err error
	if v.Problems, err = c.problems(func(k *validate.Kind) (validate.Answer, error) { return k.Legal(ctx, c.read) }); err != nil {
		return v, err
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
	if len(v.Problems) == 0 && c.static[v.Version] {
		v.Asked = []Write{Rewrite} // which is validated as the new object was
	} else if err := ask(Rewrite); err != nil {
		return v, err
	}
	if v.State() == Legal {
		// Its values have the right types, but perhaps not in other versions.
		if !slices.ContainsFunc(validate.Managed(c.read), func(name string) bool { return name != c.version }) {
			return v, nil
		}
		return v, ask(Apply)
	}
	// An unchanged object may be refused for what is legal in a new one.
	faults = slices.Concat(v.Problems, v.Refused[Rewrite])
	for _, w := range Writes()[1:] {
		if err := ask(w); err != nil {
			return v, err
		}
	}
	if same := v.Refused[Metadata]; len(same) > 0 {
		v.Refused[Apply] = same
	}
	return v, nil
}

// inquiry is an object that is judged.
type inquiry struct {
	*Judge
	version string
	stored  map[string]any // as it is in storage
	read    map[string]any // as the server returns it in the version
}

// inquire reads an object from storage.
func (j *Judge) inquire(stored map[string]any, version string) (*inquiry, error) {
	read, err := j.kind.Read(stored, version)
	return &inquiry{j, version, stored, read}, err
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
