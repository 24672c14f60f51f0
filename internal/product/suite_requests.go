package product

import (
	"context"
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// SuiteRequests returns tests without expected results for each union of a CRD in its served versions: the
// creation of objects with up to two members set, the updates of a legal object to each of them, the
// updates between legal objects, and those of [Tests]. It omits unions in a status that is a
// subresource. crd is the compiled CRD of the plan.
func SuiteRequests(ctx context.Context, plan compile.Plan, crd *apiextensionsv1.CustomResourceDefinition) ([]Test, error) {
	tests, err := SuiteTests(ctx, plan, crd)
	if err != nil {
		return nil, err
	}
	var l []Test
	seen := map[string]bool{}
	add := func(object, old map[string]any) {
		data, _ := json.Marshal([]any{object, old}) // JSON data can always be marshaled
		if !seen[string(data)] {
			l, seen[string(data)] = append(l, Test{Object: object, Old: old}), true
		}
	}
	for _, t := range tests {
		if !t.Status {
			add(t.Object, t.Old)
		}
	}
	judge := server.NewKind(crd)
	for _, u := range plan.Unions {
		if !crd.Spec.Versions[u.Place.Version].Served || inStatus(u, judge) {
			continue
		}
		x, err := verify.NewExamples(ctx, withoutRules(crd, u), u.Place.Version, u.Place.Path, u.Union, unionsAt(plan, u.Place))
		if err != nil {
			return nil, err
		}
		var legal, all []map[string]any
		for _, s := range states(u.Union, plan.Tried()) {
			e, err := x.In(s)
			if err != nil {
				return nil, err
			}
			if e == nil {
				continue // the schema excludes the state
			}
			all = append(all, e.New)
			if a, err := judge.Create(ctx, e.New); err == nil && a.Refused == nil {
				legal = append(legal, e.New)
			}
		}
		for _, object := range all {
			add(object, nil)
		}
		for i, old := range legal {
			to := legal
			if i == 0 {
				to = all
			}
			for _, object := range to {
				add(object, old)
			}
		}
	}
	return l, nil
}

// states returns the states of a union with at most two of its first members set. With two members,
// the discriminator selects one of them, none or is unset.
func states(u *union.Union, members int) []union.State {
	all := []string{""}
	if u.Discriminator != "" {
		all = append(append(all, u.Values...), union.AnotherValue)
	}
	members = min(members, len(u.Members))
	var l []union.State
	add := func(values []string, set ...int) {
		for _, v := range values {
			s := union.State{Value: v, Present: make([]bool, len(u.Members))}
			for _, i := range set {
				s.Present[i] = true
			}
			l = append(l, s)
		}
	}
	add(all)
	for i := range members {
		add(all, i)
	}
	for i := range members {
		for j := range i {
			values := slices.DeleteFunc(slices.Clone(all), func(v string) bool {
				selected := u.MembersOf(v)
				return len(selected) > 0 && !slices.Contains(selected, i) && !slices.Contains(selected, j)
			})
			add(values, j, i)
		}
	}
	return l
}
