package rollout

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/api/apiserverinternal/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unioncel/unioncel/internal/change/storageversion"
)

// reports has the entries of API servers in a StorageVersion. Versions are named as in the CRD.
type reports struct {
	all []v1alpha1.ServerStorageVersion
	// live has the entries of servers in Facts.Servers, gone the ids of the other entries, and
	// silent the servers without an entry. If not every server has a name, all entries are live.
	live         []v1alpha1.ServerStorageVersion
	gone, silent []string
}

func (f *Facts) reports() (r reports) {
	if f.StorageVersion != nil {
		r.all = f.StorageVersion.DeepCopy().Status.StorageVersions
	}
	reporting := sets.New[string]()
	for i, e := range r.all {
		reporting.Insert(e.APIServerID)
		r.all[i].EncodingVersion, _ = f.reported(e.EncodingVersion)
		for k, v := range e.DecodableVersions {
			if name, ok := f.reported(v); ok {
				e.DecodableVersions[k] = name
			}
		}
	}
	r.live = r.all
	given := sets.New[string]()
	for _, s := range f.Servers {
		given.Insert(s.Name)
		if !reporting.Has(s.Name) {
			r.silent = append(r.silent, s.Name)
		}
	}
	if len(given) == 0 || given.Has("") {
		r.silent = nil
		return r
	}
	r.live = storageversion.Collect(r.all, given)
	for _, e := range r.all {
		if !given.Has(e.APIServerID) {
			r.gone = append(r.gone, e.APIServerID)
		}
	}
	return r
}

// course simulates the entries until all servers follow the last CRD. It returns a line for each
// event with the versions after it: the garbage collector removes the entries of servers that are
// gone, and the other servers notice the CRDs one after the other. If there is no StorageVersion,
// each named server starts with an entry for the CRD before the change. The list ends soon after
// mostExamples lines.
func (f *Facts) course(crds ...*apiextensionsv1.CustomResourceDefinition) []string {
	r, now := f.reports(), "now"
	if f.StorageVersion == nil {
		now = "now, by the CRD"
		for _, id := range r.silent {
			r.live = append(r.live, entryOf(id, f.From))
		}
		r.all, r.silent = r.live, nil
	}
	if len(r.all) == 0 {
		return nil
	}
	lines := []string{now + ": " + inWords(r.all)}
	if len(r.gone) > 0 {
		lines = append(lines, fmt.Sprintf("%s: not among the API servers that are given; once the garbage collector has taken out the entries, %s", names(r.gone), inWords(r.live)))
	}
	var ids []string
	for _, e := range r.live {
		ids = append(ids, e.APIServerID)
	}
	ids = append(ids, r.silent...)
	for _, crd := range crds {
		for i, id := range ids {
			e := entryOf(id, crd)
			if i < len(r.live) && r.live[i].EncodingVersion == e.EncodingVersion && sets.New(r.live[i].DecodableVersions...).HasAll(e.DecodableVersions...) {
				continue
			}
			r.live = storageversion.Start(r.live, e)
			if lines = appendShort(lines, fmt.Sprintf("%s notices the CRD: %s", id, inWords(r.live))); len(lines) > mostExamples {
				return lines
			}
		}
	}
	return lines
}

// entryOf returns the entry of an API server that uses a CRD.
func entryOf(id string, crd *apiextensionsv1.CustomResourceDefinition) v1alpha1.ServerStorageVersion {
	e := v1alpha1.ServerStorageVersion{APIServerID: id, EncodingVersion: storage(crd)}
	for _, v := range crd.Spec.Versions {
		e.DecodableVersions = append(e.DecodableVersions, v.Name)
	}
	return e
}

// inWords describes the versions that API servers encode and decode.
func inWords(entries []v1alpha1.ServerStorageVersion) string {
	if len(entries) == 0 {
		return "none reports"
	}
	decodable := "no version"
	if l := storageversion.Decodable(entries); len(l) > 0 {
		decodable = strings.Join(l, ", ")
	}
	if agreed, ok := storageversion.Agreed(entries); ok {
		return fmt.Sprintf("all encode %s and decode %s", agreed, decodable)
	}
	var versions, words []string
	by := map[string][]string{}
	for _, e := range entries {
		if by[e.EncodingVersion] == nil {
			versions = append(versions, e.EncodingVersion)
		}
		by[e.EncodingVersion] = append(by[e.EncodingVersion], e.APIServerID)
	}
	for _, v := range versions {
		words = append(words, v+" by "+names(by[v]))
	}
	return fmt.Sprintf("%s; all decode %s", strings.Join(words, "; "), decodable)
}

// names lists the first few API servers.
func names(ids []string) string {
	const most = 3
	if len(ids) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return strings.Join(ids, ", ")
}

// encoding returns the step that checks whether all API servers encode objects in the storage
// version. If there is no StorageVersion, the step is empty: Kubernetes' own servers do not report
// custom resources.
func (f *Facts) encoding(target string) Step {
	if f.StorageVersion == nil {
		return Step{}
	}
	s, r := Step{ID: "encoding", State: Done}, f.reports()
	if len(r.all) == 0 {
		s.State, s.Title, s.Reason = Unknown, "Find out in which version API servers encode objects", "None has reported one yet."
		return s
	}
	if n := max(len(r.silent), len(f.Servers)-len(r.all)); n > 0 {
		s.State, s.Title, s.Details = Unknown, "Find out in which version the other API servers encode objects", f.course(f.current())
		s.Reason = fmt.Sprintf("%d of %s have reported none yet", n, count(len(f.Servers), "API server"))
		if len(r.silent) > 0 {
			s.Reason += ": " + names(r.silent)
		}
		s.Reason += "."
		s.Run = []string{leases}
		return s
	}
	var stored []string
	if f.Live != nil {
		stored = f.Live.Status.StoredVersions
	}
	if l := undecodable(r.live, stored...); len(l) > 0 {
		s.State, s.Title, s.Details = Stopped, "Upgrade the API servers that cannot read the stored objects", l
		s.Reason = "Requests through them fail for objects that are stored in these versions."
		return s
	}
	agreed, ok := storageversion.Agreed(r.all)
	ok = ok && agreed == target
	if ok && len(undecodable(r.all, stored...)) == 0 {
		s.Title = fmt.Sprintf("All %s encode %s", count(len(r.all), "API server"), target)
		return s
	}
	s.State, s.Title, s.Details = Waiting, "Wait until every API server encodes "+target, f.course(f.current())
	s.Reason = "Objects that are written through the others are stored in another version, during a migration as well."
	if ok {
		s.Title, s.Reason = "Find out whether "+names(r.gone)+" is gone", "Requests through an API server that cannot decode stored objects fail."
	}
	s.Run = []string{"kubectl get storageversion " + f.StorageVersion.Name + " -o yaml"}
	if len(r.gone) > 0 {
		s.Run = append(s.Run, leases)
	}
	if last := f.latest(); last != nil && !last.ended() {
		s.Run = append(s.Run, "kubectl delete storageversionmigration "+last.Name+"  # it has to begin again when they agree")
	}
	return s
}

// leases is the command that prints the names of the API servers.
const leases = "kubectl get leases -n kube-system -l apiserver.kubernetes.io/identity=kube-apiserver  # the names of the API servers, for --servers"

// undecodable lists the API servers that cannot decode some versions.
func undecodable(entries []v1alpha1.ServerStorageVersion, versions ...string) []string {
	var l []string
	for _, e := range entries {
		for _, v := range versions {
			if !slices.Contains(e.DecodableVersions, v) {
				l = append(l, fmt.Sprintf("%s cannot decode %s", e.APIServerID, v))
			}
		}
	}
	return l
}

// encoded reports whether an API server encodes objects in a version.
func (f *Facts) encoded(version string) bool {
	return slices.ContainsFunc(f.reports().all, func(e v1alpha1.ServerStorageVersion) bool { return e.EncodingVersion == version })
}
