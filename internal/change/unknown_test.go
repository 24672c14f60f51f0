package change

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestLessIsNeverGo asserts that fewer facts never turn wait or stop into go. There are two
// exceptions by design: without the status it is unknown whether the CRD is applied or a migration is
// running; and objects that From rejects are considered only if they are given.
func TestLessIsNeverGo(t *testing.T) {
	one, two := crd(t, v("v1", plain)), crd(t, v("v2", plain), v("v1", plain))
	pairs := [][2]*apiextensionsv1.CustomResourceDefinition{
		{one, one}, {one, crd(t, v("v1", ruled))}, {one, crd(t, v("v1", pointed))}, {one, crd(t, v("v1", compared))}, {crd(t, v("v1", compared)), one},
		{one, two}, {two, crd(t, v("v1", plain), v("v2", plain))}, {two, one}, {two, crd(t, v("v2", plain))}, {crd(t, v("v1", plain), v("v2", plain)), crd(t, v("v2", pointed))},
	}
	changed := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	verdicts := map[Recommendation]int{}
	seeds := uint64(200)
	if unioncases.Exhaustive {
		seeds = 5000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(n int) bool { return r.IntN(n) == 0 }
		pair := pairs[r.IntN(len(pairs))]
		f := Facts{From: pair[0], To: pair[1], Changes: classed(Classes[r.IntN(len(Classes))])}
		f.Servers = [][]Server{servers("1.37", "1.37"), servers("1.36"), servers("1.34", "1.29"), servers("1.26")}[r.IntN(4)]
		hasAPI := slices.ContainsFunc(f.Servers, func(s Server) bool { return !s.Version.LessThan(migrationA) })
		notes := !f.oldest().LessThan(migrationGA)
		total := r.IntN(3)
		f.Objects = &Objects{Total: total, Invalid: r.IntN(total + 1), Managed: map[string][]Managed{}}
		f.Objects.Blocked = r.IntN(f.Objects.Invalid + 1)
		f.Objects.Rewrites = r.IntN(f.Objects.Blocked + 1)
		if pick(4) {
			f.Objects.Losing = f.Objects.Total
		}
		if !f.Changes.Class().Refuses() && storage(f.From) == storage(f.To) {
			f.Objects = &Objects{Total: total, Managed: map[string][]Managed{}}
		}
		if f.Objects.Total > 0 && pick(3) {
			f.Objects.Managed["v1"] = []Managed{{Name: "a", Manager: "m"}}
		}
		stored := []string{storage(pair[0])}
		current := pair[0]
		if pick(2) {
			if current = pair[1]; storage(current) != stored[0] {
				if stored = append(stored, storage(current)); !has(current, stored[0]) {
					stored = stored[1:]
				}
			}
		}
		f.Live = live(current, stored...)
		if pick(2) {
			f.Live.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &changed}}
		}
		f.Migrations = []storagemigrationv1.StorageVersionMigration{}
		if hasAPI && pick(2) {
			created := metav1.NewTime(changed.Add(time.Duration(r.IntN(3)-1) * time.Hour))
			state := []string{"", "Running", "Failed", "Succeeded"}[r.IntN(4)]
			m := migrationNamed("m", state)
			m.CreationTimestamp = created
			f.Migrations = []storagemigrationv1.StorageVersionMigration{m}
			if notes {
				c := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.StorageMigrating, Status: apiextensionsv1.ConditionFalse}
				if state == "Running" {
					c.Status = apiextensionsv1.ConditionTrue
				}
				f.Live.Status.Conditions = append(f.Live.Status.Conditions, c)
			}
		}
		l := append(Contradictions(InputOf(f.From), InputOf(f.To)), f.contradictLive(f.Live, &yamltext.Object{Node: &yaml.Node{}})...)
		if len(l) > 0 {
			t.Fatal(l)
		}
		full := NewPlan(f)
		verdicts[full.Verdict]++
		less := f
		for range 1 + r.IntN(3) {
			switch r.IntN(4) {
			case 0:
				less.Servers = nil
			case 1:
				less.Objects = nil
			case 2:
				less.Migrations = nil
			case 3:
				less.Changes = nil
			}
		}
		if partial := NewPlan(less); partial.Verdict == Go && full.Verdict != Go {
			t.Fatalf("seed %d: with more and with less\n%s\n%s", seed, PlanDocument(full).Text(), PlanDocument(partial).Text())
		}
	}
	for _, v := range []Recommendation{Go, Wait, Stop} {
		if verdicts[v] < 10 {
			t.Errorf("%s %d times only", v, verdicts[v])
		}
	}
}
