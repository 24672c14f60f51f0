package rollout

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

	"github.com/unioncel/unioncel/internal/change/crddiff"
	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// gates returns the steps before the change. Some of them also apply after the change.
func (f *Facts) gates() []Step {
	var l []Step
	if !f.applied() {
		l = append(l, f.accepted())
		if l[0].State == Stopped {
			return l
		}
	}
	l = append(l, f.servers(), f.objects())
	if !f.applied() {
		l = append(l, f.undisturbed()...)
		l = append(l, f.clients()...)
		if s := f.warnFirst(); s.ID != "" {
			l = append(l, s)
		}
	}
	return append(l, f.removed()...)
}

// accepted runs the API server's own validation of the update.
func (f *Facts) accepted() Step {
	s := Step{ID: "accepted", State: Done, Title: "The API server accepts the CRD"}
	old, err := internal(f.From)
	to, wrong := internal(f.To)
	if err := errors.Join(err, wrong); err != nil {
		s.State, s.Title, s.Reason = Stopped, "The API server cannot read the CRD", err.Error()
		return s
	}
	old.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: apiextensions.Established, Status: apiextensions.ConditionTrue}}
	// The API server takes fields that clients omit from the old object.
	labels, annotations := to.Labels, to.Annotations
	old.ResourceVersion = cmp.Or(old.ResourceVersion, "1")
	to.ObjectMeta = *old.ObjectMeta.DeepCopy()
	to.Labels, to.Annotations = labels, annotations
	// The step migration checks the other versions in which objects are stored.
	to.Status.StoredVersions = []string{storage(f.To)}
	if l := validation.ValidateCustomResourceDefinitionUpdate(context.Background(), to, old); len(l) > 0 {
		s.State, s.Title, s.Reason = Stopped, "The API server rejects the CRD", "Its validation reports:"
		for _, err := range l {
			if r, ok := err.BadValue.(apiextensions.ValidationRule); ok {
				err.BadValue = r.Rule
			}
			s.Details = append(s.Details, err.Error())
		}
	}
	return s
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

// rulePlace is a rule with its version and path.
type rulePlace struct {
	version int
	path    schemapath.Path
	rule    apiextensionsv1.ValidationRule
}

// rulesOf returns all rules of a CRD.
func rulesOf(crd *apiextensionsv1.CustomResourceDefinition) (l []rulePlace) {
	for i, v := range crd.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		schemapath.Walk(v.Schema.OpenAPIV3Schema, func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			for _, r := range s.XValidations {
				l = append(l, rulePlace{i, path, r})
			}
			return true
		})
	}
	return l
}

// servers returns the step that checks whether all API servers support the new rules. The oldest
// server decides.
func (f *Facts) servers() Step {
	s := Step{ID: "servers", State: Done, Title: "Every API server supports the rules"}
	before, after := rulesOf(f.From), rulesOf(f.To)
	known := func(p rulePlace) bool {
		return slices.ContainsFunc(before, func(q rulePlace) bool {
			return q.rule.Rule == p.rule.Rule && q.rule.MessageExpression == p.rule.MessageExpression
		})
	}
	since, needs := rules, []string{}
	need := func(what string, v *version.Version) {
		needs = append(needs, fmt.Sprintf("%s: since v%s", what, minor(v)))
		if since.LessThan(v) {
			since = v
		}
	}
	if len(after) > 0 && len(before) == 0 {
		need("x-kubernetes-validations", rules)
	}
	for _, feature := range cost.Features {
		uses := func(p rulePlace) bool { return feature.In(p.rule) }
		if slices.ContainsFunc(after, uses) && !slices.ContainsFunc(before, uses) {
			need(feature.Name, feature.Since)
		}
	}
	after = slices.DeleteFunc(after, known)
	switch {
	case len(needs) == 0 && len(uncompiled(f.To, after, rules)) == 0: // every server supports them
		return s
	case f.Servers == nil:
		s.State, s.Title, s.Reason = Unknown, "Find out which API servers there are", "The rules need features that not every version of Kubernetes has. The oldest API server decides."
		s.Details = slices.Concat(needs, uncompiled(f.To, after, rules))
		s.Run = []string{"kubectl get --raw /version  # of each API server, for --servers"}
		return s
	}
	var old []string
	for _, server := range f.Servers {
		if server.Version.LessThan(since) {
			old = append(old, server.String())
		}
	}
	if len(old) == 0 {
		if l := uncompiled(f.To, after, f.oldest()); len(l) > 0 {
			s.State, s.Title, s.Details = Stopped, "An API server does not support the rules", l
			s.Reason = fmt.Sprintf("The oldest is v%s, which cannot compile them.", minor(f.oldest()))
			return s
		}
		oldest := "the only server"
		if n := len(f.Servers); n > 1 {
			oldest = fmt.Sprintf("the oldest of %d servers", n)
		}
		s.Title += fmt.Sprintf(": they require v%s, and %s is v%s", minor(since), oldest, minor(f.oldest()))
		return s
	}
	s.Title, s.Details = "Upgrade the API servers", needs
	s.Reason = fmt.Sprintf("Older than v%s: %s.", minor(since), strings.Join(old, ", "))
	if f.Names.CompileTo && !f.oldest().LessThan(rules) {
		s.Title += ", or compile for the oldest"
		s.Run = []string{fmt.Sprintf("unioncel compile --kube-version %s %s", minor(f.oldest()), f.Names.toFile())}
	}
	switch {
	case f.applied():
		s.State, s.Title = Stopped, "Upgrade the API servers again, or take the change back"
		s.Reason += " They do not enforce all rules, and lose parts of the CRD when they write it."
		s.Run = f.takeBack()
	case len(old) < len(f.Servers):
		s.State = Waiting
	default:
		s.State = Stopped
	}
	return s
}

// uncompiled lists the rules in l that a server of a version cannot compile.
func uncompiled(crd *apiextensionsv1.CustomResourceDefinition, l []rulePlace, v *version.Version) (lines []string) {
	for _, fault := range cost.Faults(crd, v) {
		is := func(p rulePlace) bool {
			return p.version == fault.Version && p.path.Equal(fault.Path) && reflect.DeepEqual(p.rule, fault.Rule)
		}
		if fault.Feature == nil && slices.ContainsFunc(l, is) {
			lines = append(lines, fmt.Sprintf("%s: %s (%s)", cmp.Or(fault.Path.String(), "the object"), fault.Message, fault.Rule.Rule))
		}
	}
	return lines
}

// objects returns the step for stored objects that become invalid or lose fields.
func (f *Facts) objects() Step {
	s := Step{ID: "objects", State: Done, Title: "The new schema accepts every object that the old one accepts"}
	o, rejects := f.Objects, f.rejects()
	if o == nil && len(rejects) == 0 {
		if l := f.added(); converts(f.To) && len(l) > 0 {
			s.Reason = "The webhook's conversion of stored objects in " + strings.Join(l, ", ") + " is unknown: ask again when that is served, with --objects in it."
		} else if f.constrains() {
			s.Reason = "Stored objects that the old CRD rejects may still be affected: give --objects if there may be some."
		}
		return s
	}
	if o == nil {
		s.State, s.Title, s.Reason = Unknown, "Find out about the stored objects", "The change may reject objects that were accepted."
		s.Details = rejects
		s.Run = []string{
			fmt.Sprintf("unioncel diff %s %s  # its rejections, with examples", f.Names.fromFile(), f.Names.toFile()),
			f.printObjects(storage(f.current())) + " > " + f.Names.objects("objects.yaml"),
		}
		return s
	}
	s.Title = fmt.Sprintf("%s valid after the change", all(o.Total))
	if o.Losing > 0 {
		s.State, s.Title, s.Details = Waiting, "Move the data that the change drops", o.Lost
		s.Reason = fmt.Sprintf("Fields of %d of %s are not in the CRD after the change. The next write loses them.", o.Losing, count(o.Total, "object"))
		if !o.Dropped {
			s.Title = "Add the fields that a version lacks"
			s.Reason = fmt.Sprintf("Fields of %d of %s are not in each version after the change. Only a write through a version without them loses them: add them there.", o.Losing, count(o.Total, "object"))
		}
		return s
	}
	if o.Invalid > 0 {
		s = f.invalid(s)
	}
	if l := f.unprinted(); s.State != Waiting && len(l) > 0 && len(rejects) > 0 {
		s = Step{ID: s.ID, State: Unknown, Title: "Print the objects in " + strings.Join(l, ", ") + " as well", Details: rejects,
			Reason: "The change matters to writes through these versions, and objects that are printed in another version do not show everything."}
		for _, v := range l {
			s.Run = append(s.Run, f.printObjects(v)+"  # a file of its own, in a directory for --objects")
		}
	}
	return s
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
	return f.Changes != nil && slices.ContainsFunc(f.Changes.Changes, func(c crddiff.Change) bool {
		return c.Sort != crddiff.Version && c.Kind != crddiff.Removed
	})
}

// invalid returns the step for objects that are invalid after the change.
func (f *Facts) invalid(s Step) Step {
	o := f.Objects
	s.Details = o.Examples
	note := ""
	if o.Repairable > 0 {
		note = fmt.Sprintf("  # with patches for %d of them", o.Repairable)
	}
	s.Run = []string{fmt.Sprintf("unioncel diff --objects %s %s %s%s", f.Names.objects("OBJECTS"), f.Names.fromFile(), f.Names.toFile(), note)}
	s.Title, s.Reason = "Repair the stored objects", fmt.Sprintf("%d of %s would be invalid after the change.", o.Invalid, count(o.Total, "object"))
	if f.applied() {
		s.Reason = fmt.Sprintf("Invalid: %d of %s.", o.Invalid, count(o.Total, "object"))
	}
	switch {
	case o.Blocked > 0 && f.applied():
		s.State = Waiting
		s.Reason += fmt.Sprintf(" For %d of them, the API server rejects writes that leave the invalid values unchanged.", o.Blocked)
	case o.Blocked > 0:
		s.State = Waiting
		s.Reason += fmt.Sprintf(" For %d of them, the API server would reject writes that it accepts now.", o.Blocked)
	case o.Rewrites > 0 && storage(f.From) != storage(f.To):
		s.State = Waiting
		s.Reason += fmt.Sprintf(" %d cannot be written unchanged, so migrating them to %s fails.", o.Rewrites, storage(f.To))
	case f.Servers == nil:
		s.State = Unknown
		s.Reason += " Whether the API servers accept updates that leave the invalid values unchanged depends on their versions: give --servers."
	default:
		s.State = Advice
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

// undisturbed returns the steps that settle the storage version before the change.
func (f *Facts) undisturbed() []Step {
	if to := storage(f.To); !has(f.From, to) {
		return []Step{{ID: "storage", State: Stopped, Title: "Add " + to + " in one change, and store it in the next",
			Reason: fmt.Sprintf("An API server that has not noticed the change cannot read objects that others store in %s, and the CRD before the change could not be applied any more.", to)}}
	}
	if f.Live != nil {
		if running, _ := condition(f.Live, apiextensionsv1.StorageMigrating); running {
			return []Step{{ID: "migration", State: Waiting, Title: "Wait for the migration that is running",
				Reason: "When the CRD changes meanwhile, the API server does not note that nothing is stored in the old version any more.",
				Run:    []string{"kubectl get storageversionmigrations"}}}
		}
	}
	return nil
}

// warnFirst returns the advice to install a policy that warns before the schema rejects. It is
// empty if no policy can warn.
func (f *Facts) warnFirst() Step {
	if f.Changes == nil {
		return Step{}
	}
	var l []string
	clears := false
	for _, c := range f.Changes.Changes {
		i := slices.IndexFunc(f.Policies, func(p Policy) bool {
			return p.Rejects && p.Version == c.NewVersion && p.Path.Equal(c.Path)
		})
		if c.Sort == crddiff.Union && c.Class.Refuses() && i >= 0 && f.violates(c) {
			clears = clears || f.Policies[i].Clears
			if text := inLine(c); !slices.Contains(l, text) {
				l = append(l, text)
			}
		}
	}
	if len(l) == 0 {
		return Step{}
	}
	s := Step{ID: "policy", State: Advice, Title: "Warn before you reject",
		Reason: "Clients may still write objects that the change rejects. A policy that warns, and notes it in the audit log, finds them; delete it once the CRD is applied.",
		Run:    []string{fmt.Sprintf("unioncel policy %s --validate --action Warn --action Audit | kubectl apply -f -", f.Names.toFile())}}
	if f.Objects != nil { // otherwise the step for objects lists them
		s.Details = l
	}
	switch v := f.oldest(); {
	case v == nil:
	case v.LessThan(validating):
		s.Reason += fmt.Sprintf(" It needs API servers of v%s, and the oldest is v%s.", minor(validating), minor(v))
		s.Run = nil
	case !v.LessThan(mutating) && clears:
		s.Run = append(s.Run, fmt.Sprintf("unioncel policy %s | kubectl apply -f -  # or clears members that clients leave set", f.Names.toFile()))
	}
	return s
}

// violates reports whether the example of a change violates the new unions on its schema, so that a
// policy finds such requests. A policy does not detect removed members. The result is true if the
// change has no example.
func (f *Facts) violates(c crddiff.Change) bool {
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
func (f *Facts) apply(state StepState) Step {
	s := Step{ID: "apply", State: state, Title: "Apply the CRD"}
	if state == Done {
		s.Title = "The CRD is applied"
		return s
	}
	s.Run = []string{applyCommand(f.Names.toFile(), f.Names.CompileTo)}
	return s
}

// takeBack returns the command that applies the CRD before the change. The output of kubectl get
// cannot be applied to the cluster again.
func (f *Facts) takeBack() []string {
	if f.From.ResourceVersion != "" {
		return []string{"kubectl apply -f MANIFEST  # the manifest of " + f.From.Name + " before the change"}
	}
	return []string{applyCommand(f.Names.fromFile(), f.Names.CompileFrom)}
}

func applyCommand(file string, compile bool) string {
	if compile {
		return fmt.Sprintf("unioncel compile %s | kubectl apply -f -", file)
	}
	return fmt.Sprintf("kubectl apply -f %s", file)
}

// back returns the step for taking the change back.
func (f *Facts) back() Step {
	s := Step{ID: "back", State: Advice, Title: "The change can be reverted", Run: f.takeBack()}
	switch {
	case !has(f.From, storage(f.To)):
		s.Title, s.Run = "The change cannot be reverted", nil
		s.Reason = fmt.Sprintf("Objects will be stored in %s, which the CRD before the change does not have. Add the version in one change, served and not stored, and switch the storage version in the next.", storage(f.To))
	case f.Changes != nil && slices.Contains([]crddiff.Class{crddiff.Same, crddiff.Tighter}, f.Changes.Class()):
	default:
		s.Title = "The change can be reverted with a separate plan"
		s.Reason = "Objects that are written meanwhile may be rejected by the CRD before the change."
		s.Run = []string{fmt.Sprintf("unioncel rollout %s %s --objects OBJECTS", f.Names.toFile(), f.Names.fromFile())}
	}
	return s
}
