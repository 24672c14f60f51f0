package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// accepted runs the API server's own validation of the update.
func (f *Facts) accepted() []Step {
	old, err := internal(f.From)
	to, wrong := internal(f.To)
	if err := errors.Join(err, wrong); err != nil {
		return []Step{{ID: "accepted", State: Stopped, Title: "The API server cannot read the CRD", Reason: err.Error()}}
	}
	old.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: apiextensions.Established, Status: apiextensions.ConditionTrue}}
	// The API server takes fields that clients omit from the old object.
	labels, annotations := to.Labels, to.Annotations
	old.ResourceVersion = cmp.Or(old.ResourceVersion, "1")
	to.ObjectMeta = *old.ObjectMeta.DeepCopy()
	to.Labels, to.Annotations = labels, annotations
	// The step migration checks the other versions in which objects are stored.
	to.Status.StoredVersions = []string{storage(f.To)}
	var rejections []string
	for _, err := range validation.ValidateCustomResourceDefinitionUpdate(context.Background(), to, old) {
		if r, ok := err.BadValue.(apiextensions.ValidationRule); ok {
			err.BadValue = r.Rule
		}
		rejections = append(rejections, err.Error())
	}
	if len(rejections) > 0 {
		return []Step{{ID: "accepted", State: Stopped, Title: "The API server rejects the CRD", Reason: "Its validation reports:", Details: rejections}}
	}
	return []Step{{ID: "accepted", State: Done, Title: "The API server accepts the CRD"}}
}

// internal converts a CRD to the type that the API server validates. It drops the status.
func internal(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	crd = defaulted(crd)
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil)
}

// The releases with the APIs that plans use.
var (
	rules      = version.MajorMinor(1, 25) // x-kubernetes-validations
	validating = version.MajorMinor(1, 30) // ValidatingAdmissionPolicy
	mutating   = version.MajorMinor(1, 36) // MutatingAdmissionPolicy
	migrationA = version.MajorMinor(1, 30) // alpha StorageVersionMigration
	migrationB = version.MajorMinor(1, 35) // beta, off by default
	migration  = version.MajorMinor(1, 37)
)

// servers returns the step that checks whether all API servers support the new rules. The oldest
// server decides.
func (f *Facts) servers() []Step {
	l, needs, since := f.required()
	anywhere, oldest := uncompiled(f.To, l, rules), f.oldest()
	switch {
	case len(needs) == 0 && len(anywhere) == 0:
		return []Step{{ID: "servers", State: Done, Title: "Every API server supports the rules"}}
	case oldest == nil:
		return []Step{{ID: "servers", State: Unknown, Title: "Find out which API servers there are", Details: append(needs, anywhere...),
			Reason: "The rules need features that not every version of Kubernetes has. The oldest API server decides.",
			Run:    []string{"kubectl get --raw /version  # of each API server, for --servers"}}}
	case oldest.LessThan(since):
		return []Step{f.upgrade(needs, since)}
	}
	if l := uncompiled(f.To, l, oldest); len(l) > 0 {
		return []Step{{ID: "servers", State: Stopped, Title: "An API server does not support the rules", Details: l,
			Reason: fmt.Sprintf("The oldest is v%s, which cannot compile them.", minor(oldest))}}
	}
	which := "the only server"
	if n := len(f.Servers); n > 1 {
		which = fmt.Sprintf("the oldest of %d servers", n)
	}
	return []Step{{ID: "servers", State: Done, Title: fmt.Sprintf("Every API server supports the rules: they require v%s, and %s is v%s", minor(since), which, minor(oldest))}}
}

// required returns the rules that the change adds, a line about each feature that no rule used
// before, and the oldest version that has these features.
func (f *Facts) required() (added []*celRule, needs []string, since *version.Version) {
	all := func(crd *apiextensionsv1.CustomResourceDefinition) (l []*celRule) {
		for _, v := range crd.Spec.Versions {
			l = append(l, rulesOf(crd, v.Name)...)
		}
		return l
	}
	old, added := all(f.From), all(f.To)
	since = rules
	need := func(what string, v *version.Version) {
		needs = append(needs, fmt.Sprintf("%s: since v%s", what, minor(v)))
		if since.LessThan(v) {
			since = v
		}
	}
	if len(added) > 0 && len(old) == 0 {
		need("x-kubernetes-validations", rules)
	}
	for _, feature := range cost.Features {
		uses := func(r *celRule) bool { return feature.In(r.ValidationRule) }
		if slices.ContainsFunc(added, uses) && !slices.ContainsFunc(old, uses) {
			need(feature.Name, feature.Since)
		}
	}
	return slices.DeleteFunc(added, func(r *celRule) bool {
		return slices.ContainsFunc(old, func(q *celRule) bool {
			return q.Rule == r.Rule && q.MessageExpression == r.MessageExpression
		})
	}), needs, since
}

// upgrade returns the step for API servers that are older than the rules require.
func (f *Facts) upgrade(needs []string, since *version.Version) Step {
	var old []string
	for _, server := range f.Servers {
		if server.Version.LessThan(since) {
			old = append(old, server.String())
		}
	}
	s := Step{ID: "servers", State: Stopped, Title: "Upgrade the API servers", Details: needs,
		Reason: fmt.Sprintf("Older than v%s: %s.", minor(since), strings.Join(old, ", "))}
	if f.applied() {
		s.Title += " again, or take the change back"
		s.Reason += " They do not enforce all rules, and lose parts of the CRD when they write it."
		s.Run = f.takeBack()
		return s
	}
	if len(old) < len(f.Servers) {
		s.State = Waiting
	}
	if oldest := f.oldest(); f.Names.CompileTo && !oldest.LessThan(rules) {
		s.Title += ", or compile for the oldest"
		s.Run = []string{fmt.Sprintf("unioncel compile%s --kube-version %s %s", f.Names.Flags, minor(oldest), f.Names.toFile())}
	}
	return s
}

// uncompiled lists the rules in l that a server of a version cannot compile.
func uncompiled(crd *apiextensionsv1.CustomResourceDefinition, l []*celRule, v *version.Version) (lines []string) {
	for _, fault := range cost.Faults(crd, v) {
		is := func(r *celRule) bool {
			return r.version == crd.Spec.Versions[fault.Version].Name && r.path.Equal(fault.Path) && reflect.DeepEqual(r.ValidationRule, fault.Rule)
		}
		if fault.Feature == nil && slices.ContainsFunc(l, is) {
			lines = append(lines, fmt.Sprintf("%s: %s (%s)", cmp.Or(fault.Path.String(), "the object"), fault.Message, fault.Rule.Rule))
		}
	}
	return lines
}

// objects returns the step for stored objects that become invalid or lose fields.
func (f *Facts) objects() []Step {
	o, rejects := f.Objects, f.rejects()
	switch {
	case o == nil && len(rejects) == 0:
		reason := ""
		if l := f.added(); Converts(f.To) && len(l) > 0 {
			reason = "The webhook's conversion of stored objects in " + strings.Join(l, ", ") + " is unknown: ask again when that is served, with --objects in it."
		} else if f.constrains() {
			reason = "Stored objects that the old CRD rejects may still be affected: give --objects if there may be some."
		}
		return []Step{{ID: "objects", State: Done, Title: "The new schema accepts every object that the old one accepts", Reason: reason}}
	case o == nil:
		return []Step{{ID: "objects", State: Unknown, Title: "Find out about the stored objects", Details: rejects,
			Reason: "The change may reject objects that were accepted.",
			Run: []string{
				fmt.Sprintf("unioncel diff%s %s %s  # its rejections, with examples", f.Names.Flags, f.Names.fromFile(), f.Names.toFile()),
				f.printObjects(storage(f.current())) + " > " + f.Names.objects("objects.yaml"),
			}}}
	case o.Losing > 0:
		title, in, loses := "Add the fields that a version lacks", "each version", "Only a write through a version without them loses them: add them there."
		if o.Dropped {
			title, in, loses = "Move the data that the change drops", "the CRD", "The next write loses them."
		}
		return []Step{{ID: "objects", State: Waiting, Title: title, Details: o.Lost,
			Reason: fmt.Sprintf("Fields of %d of %s are not in %s after the change. %s", o.Losing, count(o.Total, "object"), in, loses)}}
	}
	s := Step{ID: "objects", State: Done, Title: fmt.Sprintf("%s valid after the change", all(o.Total))}
	if o.Invalid > 0 {
		s = f.invalid()
	}
	if l := f.unprinted(); s.State != Waiting && len(l) > 0 && len(rejects) > 0 {
		s = Step{ID: "objects", State: Unknown, Title: "Print the objects in " + strings.Join(l, ", ") + " as well", Details: rejects,
			Reason: "The change matters to writes through these versions, and objects that are printed in another version do not show everything."}
		for _, v := range l {
			s.Run = append(s.Run, f.printObjects(v)+"  # a file of its own, in a directory for --objects")
		}
	}
	return []Step{s}
}

// printObjects returns the command that prints the objects in a version, even if kubectl prefers
// another version.
func (f *Facts) printObjects(version string) string {
	r := f.Resource()
	if now := f.current(); !served(now, version) || len(now.Spec.Versions) == 1 {
		return "kubectl get " + r.String() + " -A -o yaml --show-managed-fields"
	}
	return fmt.Sprintf("kubectl get %s.%s.%s -A -o yaml --show-managed-fields", r.Resource, version, r.Group)
}

// constrains reports whether the change may add a constraint.
func (f *Facts) constrains() bool {
	return f.Changes != nil && slices.ContainsFunc(f.Changes.Changes, func(c Change) bool {
		return c.Sort != VersionSort && c.Kind != Removed
	})
}

// invalid returns the step for objects that are invalid after the change.
func (f *Facts) invalid() Step {
	o := f.Objects
	note := ""
	if o.Repairable > 0 {
		note = fmt.Sprintf("  # with patches for %d of them", o.Repairable)
	}
	s := Step{ID: "objects", State: Waiting, Title: "Repair the stored objects", Details: o.Examples,
		Reason: fmt.Sprintf("%d of %s would be invalid after the change.", o.Invalid, count(o.Total, "object")),
		Run:    []string{fmt.Sprintf("unioncel diff%s --objects %s %s %s%s", f.Names.Flags, f.Names.objects("OBJECTS"), f.Names.fromFile(), f.Names.toFile(), note)}}
	rejects := "would reject writes that it accepts now"
	if f.applied() {
		s.Reason = fmt.Sprintf("Invalid: %d of %s.", o.Invalid, count(o.Total, "object"))
		rejects = "rejects writes that leave the invalid values unchanged"
	}
	switch {
	case o.Blocked > 0:
		s.Reason += fmt.Sprintf(" For %d of them, the API server %s.", o.Blocked, rejects)
	case o.Rewrites > 0 && storage(f.From) != storage(f.To):
		s.Reason += fmt.Sprintf(" %d cannot be written unchanged, so migrating them to %s fails.", o.Rewrites, storage(f.To))
	case f.Servers == nil:
		s.State = Unknown
		s.Reason += " Whether the API servers accept updates that leave the invalid values unchanged depends on their versions: give --servers."
	default:
		s.State = Advisory
		s.Reason += " Writes that leave the invalid values unchanged are accepted as before, so this can wait."
	}
	return s
}

func all(n int) string {
	switch n {
	case 0:
		return "No object is stored, so all are"
	case 1:
		return "The only object is"
	}
	return fmt.Sprintf("All %d objects are", n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// storageVersion returns the steps that settle the storage version before the change.
func (f *Facts) storageVersion() []Step {
	if to := storage(f.To); !has(f.From, to) {
		return []Step{{ID: "storage", State: Stopped, Title: "Add " + to + " in one change, and store it in the next",
			Reason: fmt.Sprintf("An API server that has not noticed the change cannot read objects that others store in %s, and the CRD before the change could not be applied any more.", to)}}
	}
	if running, _ := condition(f.Live, apiextensionsv1.StorageMigrating); running {
		return []Step{{ID: "migration", State: Waiting, Title: "Wait for the migration that is running",
			Reason: "When the CRD changes meanwhile, the API server does not note that nothing is stored in the old version any more.",
			Run:    []string{"kubectl get storageversionmigrations"}}}
	}
	return nil
}

// warnFirst returns the advice to install a policy that warns before the schema rejects, if one can.
func (f *Facts) warnFirst() []Step {
	if f.Changes == nil {
		return nil
	}
	var l []string
	clears := false
	for _, c := range f.Changes.Changes {
		i := slices.IndexFunc(f.Policies, func(p Policy) bool {
			return p.Rejects && p.Version == c.NewVersion && p.Path.Equal(c.Path)
		})
		if c.Sort == UnionSort && c.Class.Refuses() && i >= 0 && f.violates(c) {
			clears = clears || f.Policies[i].Clears
			if text := inLine(c); !slices.Contains(l, text) {
				l = append(l, text)
			}
		}
	}
	if len(l) == 0 {
		return nil
	}
	s := Step{ID: "policy", State: Advisory, Title: "Warn before you reject",
		Reason: "Clients may still write objects that the change rejects. A policy that warns, and notes it in the audit log, finds them; delete it once the CRD is applied.",
		Run:    []string{fmt.Sprintf("%s --validate --action Warn --action Audit | kubectl apply -f -", f.Names.policy())}}
	if f.Objects != nil { // otherwise the step for objects lists them
		s.Details = l
	}
	switch v := f.oldest(); {
	case v == nil:
	case v.LessThan(validating):
		s.Reason += fmt.Sprintf(" It needs API servers of v%s, and the oldest is v%s.", minor(validating), minor(v))
		s.Run = nil
	case !v.LessThan(mutating) && clears:
		s.Run = append(s.Run, f.Names.policy()+" | kubectl apply -f -  # or clears members that clients leave set")
	}
	return []Step{s}
}

// violates reports whether the example of a change violates the new unions on its schema, so that a
// policy finds such requests. A policy does not detect removed members. The result is true if the
// change has no example.
func (f *Facts) violates(c Change) bool {
	if c.Refused == nil {
		return true
	}
	for _, k := range slices.Concat(f.Kinds.ByKind()...) {
		for _, o := range slices.Concat(k.Objects, k.Lists) {
			if k.Version != c.NewVersion || !o.Path.Equal(c.Path) {
				continue
			}
			is, was := valuesAt(c.Path, c.Refused.Object), valuesAt(c.Path, c.Refused.Old)
			if len(is) < len(was) {
				return true // a removal guard
			}
			for i, v := range is {
				for _, u := range o.Unions {
					var old *union.State
					if len(was) == len(is) {
						old = new(u.StateOf(was[i]))
					}
					if len(u.Judge(old, u.StateOf(v))) > 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

// valuesAt returns the values at a path in an object.
func valuesAt(path schemapath.Path, v any) []any {
	if len(path) == 0 {
		return []any{v}
	}
	var l []any
	switch v := v.(type) {
	case map[string]any:
		if name, ok := path[0].Property(); ok {
			if v[name] != nil {
				l = valuesAt(path[1:], v[name])
			}
			break
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			l = append(l, valuesAt(path[1:], v[key])...)
		}
	case []any:
		for _, item := range v {
			l = append(l, valuesAt(path[1:], item)...)
		}
	}
	return l
}

// apply returns the step that applies the CRD.
func (f *Facts) apply() []Step {
	return []Step{{ID: "apply", State: Next, Title: "Apply the CRD", Run: []string{applyCommand(f.Names.Flags, f.Names.toFile(), f.Names.CompileTo)}}}
}

// isApplied returns the step apply after it is done.
func (f *Facts) isApplied() []Step {
	if sameSpec(f.From, f.To) {
		return nil
	}
	return []Step{{ID: "apply", State: Done, Title: "The CRD is applied"}}
}

// takeBack returns the command that applies the CRD before the change. The output of kubectl get
// cannot be applied to the cluster again.
func (f *Facts) takeBack() []string {
	if f.From.ResourceVersion != "" {
		return []string{"kubectl apply -f MANIFEST  # the manifest of " + f.From.Name + " before the change"}
	}
	return []string{applyCommand(f.Names.OldFlags, f.Names.fromFile(), f.Names.CompileFrom)}
}

func applyCommand(flags, file string, compile bool) string {
	if compile {
		return fmt.Sprintf("unioncel compile%s %s | kubectl apply -f -", flags, file)
	}
	return fmt.Sprintf("kubectl apply -f %s", file)
}

// back returns the step for taking the change back.
func (f *Facts) back() []Step {
	if to := storage(f.To); !has(f.From, to) {
		return []Step{{ID: "back", State: Advisory, Title: "The change cannot be reverted",
			Reason: fmt.Sprintf("Objects will be stored in %s, which the CRD before the change does not have. Add the version in one change, served and not stored, and switch the storage version in the next.", to)}}
	}
	if f.Changes != nil && slices.Contains([]Class{Same, Tighter}, f.Changes.Class()) {
		return []Step{{ID: "back", State: Advisory, Title: "The change can be reverted", Run: f.takeBack()}}
	}
	return []Step{{ID: "back", State: Advisory, Title: "The change can be reverted with a separate plan",
		Reason: "Objects that are written meanwhile may be rejected by the CRD before the change.",
		Run:    []string{fmt.Sprintf("unioncel rollout %s %s --objects OBJECTS", f.Names.toFile(), f.Names.fromFile())}}}
}
