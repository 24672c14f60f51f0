package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/union"
)

// JudgeOptions configure a [Judge].
type JudgeOptions struct {
	// Before is the CRD under which the objects were stored; nil if it did not change.
	Before *apiextensionsv1.CustomResourceDefinition
	// KubeVersion is the version of the server, such as "1.30"; "" is the latest.
	KubeVersion string
	// Kinds are the kinds with unions. Without them there are no repairs.
	Kinds *union.KindSet
}

// Judge predicts the writes of stored objects of a CRD. It is safe for concurrent use.
type Judge struct {
	crd    *apiextensionsv1.CustomResourceDefinition
	before *Judge // for the CRD in Options.Before, or nil
	kind   *server.Kind
	opts   JudgeOptions
	rules  map[string][]*celRule // by version
	alone  sync.Map              // the *server.Kind that has only a *celRule, by rule
}

// NewJudge returns a judge for a CRD with compiled unions. It returns an error if no server would serve
// the CRD, or if an option is invalid.
func NewJudge(crd *apiextensionsv1.CustomResourceDefinition, opts JudgeOptions) (*Judge, error) {
	k, err := server.NewKindFor(crd, opts.KubeVersion)
	if err != nil {
		return nil, err
	}
	if len(k.Served()) == 0 {
		return nil, fmt.Errorf("%s serves no version", k.GroupKind())
	}
	j := &Judge{crd: crd.DeepCopy(), kind: k, opts: opts, rules: map[string][]*celRule{}}
	for _, v := range crd.Spec.Versions {
		if v.Served || v.Storage {
			if err := k.Check(v.Name); err != nil {
				return nil, fmt.Errorf("version %s of %s: %w", v.Name, k.GroupKind(), err)
			}
		}
		j.rules[v.Name] = rulesOf(crd, v.Name)
	}
	if opts.Before != nil {
		// A CRD that no server would serve cannot have stored objects to compare with.
		j.before, _ = NewJudge(opts.Before, JudgeOptions{KubeVersion: opts.KubeVersion})
	}
	return j, nil
}

// NewInputJudge returns the judge of objects that are stored under the old CRD, which may be nil, against the new one.
func NewInputJudge(old, new *Input) (*Judge, error) {
	set, err := new.Kinds()
	if err != nil {
		return nil, err
	}
	opts := JudgeOptions{KubeVersion: new.KubeVersion, Kinds: set}
	if old != nil {
		opts.Before = old.CustomResourceDefinition
	}
	return NewJudge(new.CustomResourceDefinition, opts)
}

// GroupKind returns the kind of the objects that the judge accepts.
func (j *Judge) GroupKind() schema.GroupKind { return j.kind.GroupKind() }

// Served returns the versions through which objects are written.
func (j *Judge) Served() []string { return j.kind.Served() }

// Resource returns the kubectl name of the objects.
func (j *Judge) Resource() schema.GroupResource {
	return schema.GroupResource{Group: j.crd.Spec.Group, Resource: j.crd.Spec.Names.Plural}
}

// Problem is an error of the server about an object, with the constraint that it violates.
type Problem struct {
	// Field is the path in the form that the server prints. It is empty for the root.
	Field string `json:"field,omitempty"`
	// Message is the error without the path.
	Message    string     `json:"message"`
	Constraint Constraint `json:"constraint"`

	at place // of the value under the constraint
}

// Prediction predicts the writes of one object.
type Prediction struct {
	schema.GroupKind `json:"-"`
	// Version is the version in which the object was printed.
	Version   string `json:"version"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// State is the worst state of all versions.
	State Outcome `json:"state"`
	// Versions are the served versions. If only a webhook can convert the object, they are the
	// version in which it was printed.
	Versions []InVersion `json:"versions"`
	// Worse is set if the server rejects a write that it accepts under Options.Before.
	Worse bool `json:"-"`
	// Repair makes the object legal, or closer to it. It is nil if no repair is needed or known.
	Repair *Repair `json:"repair"`
}

// InVersion predicts the writes of an object through one version.
type InVersion struct {
	Version string  `json:"version"`
	State   Outcome `json:"state"`
	// Problems are the reasons why the object is not legal under the CRD.
	Problems []Problem `json:"problems"`
	// Asked are the possible writes in order. For a legal object, these are Rewrite and, if a
	// manager has written another version, Apply.
	Asked []Write `json:"asked"`
	// Refused has the reasons for each rejected write.
	Refused map[Write][]Problem `json:"refused"`
	// Lost are the paths of fields that every write loses and did not lose under Options.Before.
	// Without Before, they are the fields that a migration loses through any version.
	Lost []string `json:"lost,omitempty"`
}

// Outcome summarizes the prediction for an object.
type Outcome int

// The states, from best to worst.
const (
	// Legal: the object is valid.
	Legal Outcome = iota
	// Ratcheted: the object is invalid, but the server accepts every write that does not change the
	// invalid values.
	Ratcheted
	// Restricted: the server accepts an unchanged object, but rejects some of these writes.
	Restricted
	// Blocked: the server rejects even an unchanged object, so a storage migration fails.
	Blocked
)

var states = []string{"legal", "ratcheted", "restricted", "blocked"}

// String returns the state in lower case.
func (s Outcome) String() string { return states[s] }

// MarshalText returns the same text as String.
func (s Outcome) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// state returns the state of the object in this version.
func (v InVersion) state() Outcome {
	refused := func(w Write) bool { return len(v.Refused[w]) > 0 }
	switch {
	case refused(Rewrite):
		return Blocked
	case slices.ContainsFunc(outside, refused):
		return Restricted
	case len(v.Problems) > 0:
		return Ratcheted
	}
	return Legal
}

// Problems returns the reasons why the object is not legal in some version, or cannot be written
// unchanged or by server-side apply.
func (v Prediction) Problems() []Problem {
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

// String returns the kind, namespace and name of the object.
func (v Prediction) String() string { return strings.TrimSpace(v.Kind + " " + v.name()) }

// ErrOther is the error for an object of another kind.
var ErrOther = errors.New("the object is of another kind")

// Object predicts the writes of an object in the form of kubectl get. It returns an error if the
// object is of another kind (ErrOther), if the CRD lacks its version, or if only a webhook could
// convert the object.
func (j *Judge) Object(ctx context.Context, object map[string]any) (Prediction, error) {
	u := unstructured.Unstructured{Object: object}
	gvk := u.GroupVersionKind()
	v := Prediction{GroupKind: gvk.GroupKind(), Version: gvk.Version, Namespace: u.GetNamespace(), Name: u.GetName(), Worse: true}
	if v.GroupKind != j.GroupKind() {
		return v, fmt.Errorf("%w: %s", ErrOther, gvk)
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
		// A write through a version without some fields of the object would drop these fields.
		if len(in.Problems) > 0 && v.Repair == nil && len(j.kind.Lost(stored, in.Version)) <= len(j.kind.Lost(stored, from)) {
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

// stored returns a printed object in the form that the API server stores.
func (j *Judge) stored(object map[string]any, v Prediction) (map[string]any, error) {
	now := j
	if j.before != nil {
		now = j.before
	}
	storage := now.kind.Storage()
	_, known := j.rules[storage]
	switch {
	case v.Version == storage || !known:
		return object, nil
	case !Converts(now.crd):
		u := unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
		u.SetAPIVersion(j.crd.Spec.Group + "/" + storage)
		return u.Object, nil
	case !Converts(j.crd):
		return nil, fmt.Errorf("%s is of version %s, which a webhook has made of the stored version %s", v, v.Version, storage)
	}
	return object, nil
}

func versionOf(object map[string]any) string {
	u := unstructured.Unstructured{Object: object}
	return u.GroupVersionKind().Version
}

// losses records the fields that writes of an object lose now but did not lose before the change.
func (j *Judge) losses(object, stored map[string]any, versions []InVersion) {
	was := j.before
	if was == nil {
		// Until a migration, the object may still be stored in the version in which it was printed.
		was, stored = j, object
	}
	// The API server reads neither unknown fields nor nulls, so the change does not drop them.
	had, err := was.kind.Read(stored, versionOf(stored))
	if err != nil {
		had = stored
	}
	all := make([][]string, len(versions))
	for i, in := range versions {
		all[i] = j.kind.Lost(had, in.Version)
	}
	for i, in := range versions {
		lost := slices.Clone(all[i])
		for k, other := range versions {
			switch {
			case j.before == nil: // a migration writes the object through some version
				every := all[k]
				lost = slices.DeleteFunc(lost, func(path string) bool { return !slices.Contains(every, path) })
			case other.Version == in.Version && slices.Contains(j.before.kind.Served(), in.Version):
				before := j.before.kind.Lost(had, in.Version)
				lost = slices.DeleteFunc(lost, func(path string) bool { return slices.Contains(before, path) })
			}
		}
		versions[i].Lost = lost
	}
}

// versions predicts the writes of an object through each version that can represent it.
func (j *Judge) versions(ctx context.Context, stored map[string]any, v *Prediction) error {
	for _, version := range j.kind.Served() {
		c, err := j.inquire(stored, version)
		if conversion := (*server.ConversionError)(nil); errors.As(err, &conversion) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s cannot be read from storage: %w", v, err)
		}
		in, err := c.judge(ctx)
		if err != nil {
			return err
		}
		in.State = in.state()
		v.Versions, v.State = append(v.Versions, in), max(v.State, in.State)
	}
	if len(v.Versions) == 0 {
		return fmt.Errorf("%s is of version %s, and only the CRD's webhook can convert it to %s", v, v.Version, j.kind.Served()[0])
	}
	return nil
}

// compare compares a verdict with the verdict under the CRD in Options.Before.
func (j *Judge) compare(ctx context.Context, stored map[string]any, v *Prediction) error {
	was := Prediction{GroupKind: v.GroupKind, Version: v.Version}
	if v.State > Ratcheted {
		// After an error, compare treats no write as rejected before.
		if err := j.before.versions(ctx, stored, &was); err != nil && ctx.Err() != nil {
			return err
		}
	}
	for _, in := range v.Versions {
		old := InVersion{}
		if k := slices.IndexFunc(was.Versions, func(o InVersion) bool { return o.Version == in.Version }); k >= 0 {
			old = was.Versions[k]
		}
		for _, w := range outside {
			v.Worse = v.Worse || len(in.Refused[w]) > 0 && len(old.Refused[w]) == 0
		}
	}
	return nil
}

// judge tries all relevant writes through a version.
func (c *inquiry) judge(ctx context.Context) (InVersion, error) {
	v := InVersion{Version: c.version, Refused: map[Write][]Problem{}}
	var err error
	if v.Problems, err = c.problems(func(k *server.Kind) (server.Answer, error) { return k.Legal(ctx, c.read) }); err != nil {
		return v, err
	}
	v.Problems = append([]Problem{}, v.Problems...) // never null in JSON
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
	transitions := slices.ContainsFunc(c.rules[v.Version], func(r *celRule) bool { return strings.Contains(r.Rule, "oldSelf") })
	if len(v.Problems) == 0 && !transitions {
		v.Asked = []Write{Rewrite} // the server has validated this object as a new one
	} else if err := ask(Rewrite); err != nil {
		return v, err
	}
	if v.state() == Legal {
		// The values have the right types in this version, but perhaps not in others.
		if !slices.ContainsFunc(server.Managed(c.read), func(name string) bool { return name != c.version }) {
			return v, nil
		}
		return v, ask(Apply)
	}
	// The server may reject an unchanged object for a reason that does not apply to new objects.
	faults = slices.Concat(v.Problems, v.Refused[Rewrite])
	for _, w := range Writes()[1:] {
		if err := ask(w); err != nil {
			return v, err
		}
	}
	for _, p := range v.Refused[Metadata] {
		if !slices.ContainsFunc(v.Refused[Apply], func(q Problem) bool { return q.Field == p.Field && q.Message == p.Message }) {
			v.Refused[Apply] = append(v.Refused[Apply], p)
		}
	}
	return v, nil
}

// inquiry has an object as one version represents it.
type inquiry struct {
	*Judge
	version string
	stored  map[string]any // in the form in storage
	read    map[string]any // in the form that the server returns for the version
}

// inquire returns the inquiry for an object in storage and a version.
func (j *Judge) inquire(stored map[string]any, version string) (*inquiry, error) {
	read, err := j.kind.Read(stored, version)
	return &inquiry{j, version, stored, read}, err
}

// problems returns the server's errors for a write.
func (c *inquiry) problems(ask func(*server.Kind) (server.Answer, error)) ([]Problem, error) {
	answer, err := ask(c.kind)
	if err != nil || answer.Refused == nil {
		return nil, err
	}
	if len(answer.Errors) == 0 {
		return []Problem{{Message: answer.Refused.ErrStatus.Message, Constraint: Constraint{Keyword: Malformed}}}, nil
	}
	var l []Problem
	for _, e := range answer.Errors {
		if e == server.NotEvaluated {
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
	slices.SortFunc(l, func(p, q Problem) int { // validators iterate over maps
		return cmp.Or(cmp.Compare(p.Field, q.Field), cmp.Compare(p.Message, q.Message))
	})
	return l, nil
}

// says reports whether an answer contains an error.
func says(answer server.Answer, e *field.Error) bool {
	return slices.ContainsFunc(answer.Errors, func(o *field.Error) bool {
		return o.Type == e.Type && o.Field == e.Field && o.Detail == e.Detail
	})
}
