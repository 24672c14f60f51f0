package storageversion

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// cluster is a model of a cluster: servers that start in some version, die, and come back in
// another; a garbage collector; and a migrator. Each reads and writes in steps of its own,
// between which anything may happen.
type cluster struct {
	t       *testing.T
	clock   int
	stored  *v1alpha1.StorageVersion // nil when there is none
	version int                      // of the last write, for resourceVersion
	leases  sets.Set[string]
	servers []*server
	objects []string // the versions in which objects are stored

	// What the garbage collector and the migrator have read.
	collecting *v1alpha1.StorageVersion
	alive      sets.Set[string]
	migrating  *v1alpha1.StorageVersion
	rewritten  int
	migrated   int
	trace      []string
}

type state int

const (
	dead state = iota
	registered
	read
	listed
	ready
)

// server is an API server; version is what it encodes.
type server struct {
	id, version string
	state       state
	sv          *v1alpha1.StorageVersion
	servers     sets.Set[string]
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, leases: sets.New[string](), objects: []string{"v1", "v1"}}
	for _, id := range []string{"a", "b", "c"} {
		c.servers = append(c.servers, &server{id: id})
	}
	return c
}

func (c *cluster) now() metav1.Time {
	c.clock++
	return metav1.NewTime(time.Unix(int64(c.clock), 0).UTC())
}

// write stores an object, nil to delete it, unless somebody else has written since it was
// read.
func (c *cluster) write(was, next *v1alpha1.StorageVersion) bool {
	if (was == nil) != (c.stored == nil) || was != nil && was.ResourceVersion != c.stored.ResourceVersion {
		return false
	}
	c.version++
	if next != nil {
		next = next.DeepCopy()
		next.ResourceVersion = fmt.Sprint(c.version)
		c.transition(next)
	}
	c.stored = next
	return true
}

// transition checks what a write does to the condition.
func (c *cluster) transition(next *v1alpha1.StorageVersion) {
	if wrong := Validate(next); len(wrong) > 0 {
		c.fail("invalid: %v", wrong)
	}
	is := next.Status.Conditions[0]
	if (is.Status == v1alpha1.ConditionTrue) != (next.Status.CommonEncodingVersion != nil) {
		c.fail("the condition and the common version contradict each other: %s", summary(next))
	}
	if c.stored == nil {
		return
	}
	was := c.stored.Status.Conditions[0]
	moved := !was.LastTransitionTime.Equal(&is.LastTransitionTime)
	if changed := common(c.stored) != common(next); moved != changed {
		c.fail("from %s to %s", summary(c.stored), summary(next))
	}
}

func common(sv *v1alpha1.StorageVersion) string {
	if sv == nil || sv.Status.CommonEncodingVersion == nil {
		return ""
	}
	return *sv.Status.CommonEncodingVersion
}

func (c *cluster) fail(format string, args ...any) {
	c.t.Helper()
	for _, line := range c.trace {
		c.t.Log(line)
	}
	c.t.Fatalf(format, args...)
}

// step lets one of all do its next step. choose returns a number below n.
func (c *cluster) step(choose func(n int) int) {
	switch i := choose(8); {
	case i < 5:
		c.act(c.servers[choose(len(c.servers))], choose)
	case i == 5:
		c.collect(choose(8) == 0)
	case i == 6 && choose(20) == 0:
		c.objects = c.objects[:choose(len(c.objects)+1)] // users delete some
	default:
		c.migrate()
	}
	c.check()
}

func (c *cluster) act(s *server, choose func(n int) int) {
	if s.state != dead && choose(12) == 0 { // it dies; its lease may expire later
		s.state = dead
	}
	c.trace = append(c.trace, fmt.Sprintf("%s: %v %s, stored %s", s.id, s.state, s.version, summary(c.stored)))
	switch s.state {
	case dead:
		if choose(2) == 0 {
			c.leases.Delete(s.id)
		} else { // upgraded, rolled back, or as before
			c.leases.Insert(s.id)
			s.version, s.state = []string{"v1", "v2", "v3"}[choose(3)], registered
		}
	case registered:
		s.sv, s.state = c.stored.DeepCopy(), read
	case read:
		s.servers, s.state = c.leases.Clone(), listed
	case listed:
		next, err := Start(s.sv, routes, entry(s.id, s.version), s.servers, c.now())
		if err != nil {
			c.fail("%s: %v", s.id, err)
		}
		if s.state = registered; c.write(s.sv, next) {
			s.state = ready
		}
	case ready:
		if i := choose(3); i < len(c.objects) {
			c.objects[i] = s.version
		} else {
			c.objects = append(c.objects, s.version)
		}
	}
}

// collect is a step of the garbage collector, or a whole run of it.
func (c *cluster) collect(whole bool) {
	if c.collecting == nil || whole {
		c.alive, c.collecting = nil, c.stored.DeepCopy()
	}
	if c.collecting == nil {
		return
	}
	if c.alive == nil {
		c.alive = c.leases.Clone()
		if !whole {
			return
		}
	}
	if next, changed := Collect(c.collecting, c.alive, c.now()); changed {
		c.write(c.collecting, next)
	}
	c.collecting = nil
	if whole && c.stored != nil {
		for _, e := range c.stored.Status.StorageVersions {
			if !c.leases.Has(e.APIServerID) {
				c.fail("%s is gone, and its entry is there: %s", e.APIServerID, summary(c.stored))
			}
		}
	}
}

// migrate is a step of a migrator, which rewrites one object after the other through some
// server.
func (c *cluster) migrate() {
	switch {
	case c.stored == nil:
		c.migrating = nil
	case c.migrating == nil:
		if ShouldStart(c.stored, c.objects) {
			c.migrating, c.rewritten = c.stored.DeepCopy(), 0
		}
	case ShouldAbort(c.stored):
		c.migrating = nil
	case c.rewritten < len(c.objects):
		for _, s := range c.servers {
			if s.state == ready {
				c.objects[c.rewritten] = s.version
				c.rewritten++
				break
			}
		}
	default:
		if !Disturbed(c.migrating, c.stored) {
			for _, v := range c.objects {
				if v != common(c.migrating) {
					c.fail("the migration to %s succeeded, and an object is stored in %s", common(c.migrating), v)
				}
			}
			c.migrated++
		}
		c.migrating = nil
	}
}

// check checks what holds at any time.
func (c *cluster) check() {
	entries := map[string]v1alpha1.ServerStorageVersion{}
	if c.stored != nil {
		for _, e := range c.stored.Status.StorageVersions {
			entries[e.APIServerID] = e
		}
		if (c.stored.Status.CommonEncodingVersion != nil) != (len(Encoded(c.stored.Status.StorageVersions)) == 1) {
			c.fail("agreed or not: %s", summary(c.stored))
		}
	}
	for _, s := range c.servers {
		if s.state != ready {
			continue
		}
		e, ok := entries[s.id]
		switch {
		case !ok:
			c.fail("%s serves without an entry: %s", s.id, summary(c.stored))
		case e.EncodingVersion != s.version:
			c.fail("%s encodes %s, and its entry says %s", s.id, s.version, e.EncodingVersion)
		case common(c.stored) != "" && common(c.stored) != s.version:
			c.fail("%s encodes %s, and all agree on %s", s.id, s.version, common(c.stored))
		case common(c.stored) != "" && !sets.New(e.DecodableVersions...).Has(common(c.stored)):
			c.fail("%s cannot decode %s, on which all agree", s.id, common(c.stored))
		}
	}
}

// interleave lets everything happen in some order, and then ends all servers.
func interleave(t *testing.T, steps int, choose func(n int) int) *cluster {
	c := newCluster(t)
	for range steps {
		c.step(choose)
	}
	live := c.leases.Clone()
	for _, s := range c.servers {
		s.state = dead
		c.leases.Delete(s.id)
	}
	if c.collect(true); c.stored != nil {
		c.fail("all servers are gone, of %v, and there is %s", live, summary(c.stored))
	}
	return c
}

func TestInterleavings(t *testing.T) {
	migrated := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		migrated += interleave(t, 400, r.IntN).migrated
	}
	if migrated < 100 {
		t.Errorf("%d migrations succeeded only", migrated)
	}
}

func FuzzInterleavings(f *testing.F) {
	for seed := range byte(4) {
		f.Add([]byte{seed, 0, 7, 1, 5, seed, 3, 0, 1, 2, 6})
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		choose := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			i := int(choices[0]) % n
			choices = choices[1:]
			return i
		}
		interleave(t, min(len(choices), 400), choose)
	})
}

// "gets a storageVersion object, gets the list of participating API servers": the other way
// round, a server that starts in between loses its entry.
func TestTheListOfServersIsReadLast(t *testing.T) {
	before := sets.New("a")
	sv := start(t, object(entry("a", "v1")), entry("b", "v2"), "a", "b")
	wrong, _ := Collect(sv, before, evening)
	is(t, wrong, "a=v1 v1 True 18h")
	right, _ := Collect(sv, sets.New("a", "b"), evening)
	is(t, right, "a=v1 b=v2 False 18h")
}
