package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// clients returns the steps for requests that the change breaks: requests through a version that is
// no longer served, writes of the status if the status subresource is added or removed, and requests
// to a removed scale subresource.
// The metadata.managedFields of objects name the writers.
func (f *Facts) clients() []Step {
	var l []Step
	for _, v := range f.From.Spec.Versions {
		to := versionNamed(f.To, v.Name)
		switch {
		case !v.Served:
			continue
		case to == nil || !to.Served:
			l = append(l, f.stopServing(v))
			continue
		}
		had, has := subresources(v), subresources(*to)
		if had.Status != nil && has.Status == nil {
			l = append(l, f.written(v.Name, "status", "the status of "+v.Name+" through the subresource",
				"Without the subresource, requests to it get 404, and an update of an object replaces its status."))
		}
		if had.Status == nil && has.Status != nil {
			l = append(l, f.written(v.Name, "", "the status of "+v.Name+" with the object",
				"With the subresource, the API server silently drops the status in a write of the object."))
		}
		if had.Scale != nil && has.Scale == nil {
			l = append(l, f.written(v.Name, "scale", "the replicas of "+v.Name+" through the subresource",
				"Without the subresource, requests to it get 404: those of kubectl scale, and of autoscalers."))
		}
	}
	return l
}

// written returns the step for clients that write a part of objects in the way that the change
// ends: through a subresource or, if it is "", the status with the object. who describes this part.
func (f *Facts) written(version, subresource, who, reason string) Step {
	l, ok := f.managed(version)
	if !ok {
		return f.unmanaged("clients", "who writes "+who, reason)
	}
	var writers []string
	for _, m := range l {
		if m.Subresource == subresource && (subresource != "" || m.Status) {
			writers = appendShort(writers, m.line())
		}
	}
	if len(writers) == 0 {
		return Step{ID: "clients", State: Done, Title: "No known client writes " + who}
	}
	return Step{ID: "clients", State: Waiting, Title: "Change the subresource in a new version, to which clients move",
		Reason: reason + " These have written " + who + ".", Details: writers}
}

// stopServing returns the step for a version that is no longer served.
func (f *Facts) stopServing(v apiextensionsv1.CustomResourceDefinitionVersion) Step {
	const reason = "Requests through a version that is not served get 404."
	if has(f.To, v.Name) { // otherwise managedFields handles its managed fields
		l, ok := f.managed(v.Name)
		if !ok {
			return f.unmanaged("clients", "who writes through "+v.Name, reason)
		}
		if len(l) > 0 {
			s := Step{ID: "clients", State: Waiting, Title: "Move clients from " + v.Name + " to another version",
				Reason: reason + " These clients have written through it. The entry of a client that has moved may remain: move it, too."}
			f.move(&s, l, v.Name)
			return s
		}
	}
	if !v.Deprecated {
		return Step{ID: "clients", State: Waiting, Title: "Deprecate " + v.Name + " first",
			Reason: reason + " With deprecated: true clients get a warning, and API servers count their requests, also of those that only read."}
	}
	return Step{ID: "clients", State: Advisory, Title: "See who still uses " + v.Name,
		Reason: "Requests that only read leave no trace in objects, but API servers count the requests through a deprecated version.",
		Run:    []string{"kubectl get --raw /metrics | grep 'apiserver_requested_deprecated_apis{.*" + f.Resource().Resource + "'  # of each API server"}}
}

// unmanaged returns the step to find out about managedFields that are missing in the facts.
func (f *Facts) unmanaged(id, what, reason string) Step {
	return Step{ID: id, State: Unknown, Title: "Find out " + what, Reason: reason,
		Run: []string{f.printObjects(storage(f.current())) + "  # for --objects"}}
}

// line names the object and the manager in one line.
func (m Managed) line() string {
	return fmt.Sprintf("%s: fields of %s", strings.TrimPrefix(m.Namespace+"/"+m.Name, "/"), cmp.Or(m.Manager, "an unnamed manager"))
}

// mostManaged bounds the number of managedFields entries that a step lists.
const mostManaged = 10

// managedFields returns the step for managedFields that name removed versions. Server-side apply converts
// objects to each version that an entry names, and fails without this version.
func (f *Facts) managedFields() []Step {
	const fails = "Server-side apply fails for objects whose managedFields name a version that the CRD does not have."
	gone := f.gone()
	if len(gone) == 0 {
		return nil
	}
	s := Step{ID: "managedFields", State: Done, Title: "No managedFields name " + strings.Join(gone, ", ")}
	for _, v := range gone {
		l, ok := f.managed(v)
		if !ok {
			return []Step{f.unmanaged(s.ID, "which managedFields name "+strings.Join(gone, ", "), fails)}
		}
		if len(l) > 0 {
			s.State, s.Title, s.Reason = Waiting, "Move managedFields to "+storage(f.From), fails
			f.move(&s, l, v)
		}
	}
	return []Step{s}
}

// move adds the commands that move entries of managedFields to another version.
func (f *Facts) move(s *Step, l []Managed, version string) {
	target := storage(f.current())
	if i := slices.IndexFunc(f.To.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served }); target == version && i >= 0 {
		target = f.To.Spec.Versions[i].Name
	}
	for _, m := range l {
		if len(s.Run) == mostManaged {
			s.Details = append(s.Details, "and so on: there are more")
			return
		}
		s.Details = append(s.Details, m.line())
		in := ""
		if m.Namespace != "" {
			in = " -n " + m.Namespace
		}
		s.Run = append(s.Run, fmt.Sprintf(`kubectl patch %s %s%s --type=json -p '[{"op":"test","path":"/metadata/managedFields/%d/apiVersion","value":"%s/%s"},{"op":"replace","path":"/metadata/managedFields/%[4]d/apiVersion","value":"%[5]s/%[7]s"}]'`,
			f.Resource(), m.Name, in, m.Index, f.To.Spec.Group, version, target))
	}
}
