package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// client is a way to use a version that the change ends.
type client struct {
	version string
	// who describes the clients, and why is the reason why they break.
	who, why string
	// subresource is the one that they write, or "" if they write the status with the object.
	subresource string
}

// clients returns the steps for requests that the change breaks: requests through a version that is
// no longer served, writes of the status if the status subresource is added or removed, and requests
// to a removed scale subresource. The metadata.managedFields of objects name the writers.
func (f *Facts) clients() (l []Step) {
	add := func(rows outcomes, c client) {
		g := *f
		g.client = c
		l = append(l, rows.steps(&g)...)
	}
	for _, v := range f.From.Spec.Versions {
		if !v.Served {
			continue
		}
		if !served(f.To, v.Name) {
			add(versionClients, client{version: v.Name})
			continue
		}
		had, has := subresources(v), subresources(*versionNamed(f.To, v.Name))
		if had.Status != nil && has.Status == nil {
			add(partClients, client{v.Name, "the status of " + v.Name + " through the subresource",
				"Without the subresource, requests to it get 404, and an update of an object replaces its status.", "status"})
		}
		if had.Status == nil && has.Status != nil {
			add(partClients, client{v.Name, "the status of " + v.Name + " with the object",
				"With the subresource, the API server silently drops the status in a write of the object.", ""})
		}
		if had.Scale != nil && has.Scale == nil {
			add(partClients, client{v.Name, "the replicas of " + v.Name + " through the subresource",
				"Without the subresource, requests to it get 404: those of kubectl scale, and of autoscalers.", "scale"})
		}
	}
	return l
}

// unmanaged reports whether the managedFields of the objects are unknown.
func (f *Facts) unmanaged() bool {
	return f.Objects == nil || f.Objects.Managed == nil && f.Objects.Total > 0
}

// managed returns the managedFields entries with a version.
func (f *Facts) managed(version string) []Managed {
	if f.Objects == nil {
		return nil
	}
	return f.Objects.Managed[version]
}

// writers lists the managers that write what the client does.
func (f *Facts) writers() (l []string) {
	for _, m := range f.managed(f.client.version) {
		if sub := f.client.subresource; m.Subresource == sub && (sub != "" || m.Status) {
			l = appendShort(l, m.line())
		}
	}
	return l
}

// line names the object and the manager in one line.
func (m Managed) line() string {
	return fmt.Sprintf("%s: fields of %s", strings.TrimPrefix(m.Namespace+"/"+m.Name, "/"), cmp.Or(m.Manager, "an unnamed manager"))
}

// mostManaged bounds the number of managedFields entries that a step lists.
const mostManaged = 10

// moves returns the managedFields entries to move, in lines, and the commands that move them to another version:
// the entries with the version of the client or, without a client, with removed versions.
func (f *Facts) moves() (lines, commands []string) {
	versions, target := []string{f.client.version}, storage(f.current())
	if i := slices.IndexFunc(f.To.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served }); target == f.client.version && i >= 0 {
		target = f.To.Spec.Versions[i].Name
	}
	if f.client.version == "" {
		versions = f.gone()
	}
	for _, v := range versions {
		for _, m := range f.managed(v) {
			if len(commands) == mostManaged {
				return append(lines, "and so on: there are more"), commands
			}
			in := ""
			if m.Namespace != "" {
				in = " -n " + m.Namespace
			}
			lines = append(lines, m.line())
			commands = append(commands, fmt.Sprintf(`kubectl patch %s %s%s --type=json -p '[{"op":"test","path":"/metadata/managedFields/%d/apiVersion","value":"%s/%s"},{"op":"replace","path":"/metadata/managedFields/%[4]d/apiVersion","value":"%[5]s/%[7]s"}]'`,
				f.Resource(), m.Name, in, m.Index, f.To.Spec.Group, v, target))
		}
	}
	return lines, commands
}

// moved returns the lines of moves.
func (f *Facts) moved() []string {
	lines, _ := f.moves()
	return lines
}
