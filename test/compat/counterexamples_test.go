//go:build compat

package compat

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
)

// proof is the result of internal/prove/verify for the only union of a manifest.
type proof struct {
	compile.Declared
	verify.Proof
}

// prove computes the proof, which is the same for all versions.
func prove(v *version, manifest []byte) proof {
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", manifest), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if len(declared) != 1 {
		v.Fatal(diags)
	}
	d := declared[0]
	o := d.Objects[0]
	proofs, err := verify.Object(v.Context(), d.CRD, o.Version, o.Path, o.Unions)
	if err != nil || len(proofs) != 1 {
		v.Fatal(proofs, err)
	}
	return proof{*d, proofs[0]}
}

var proofs sync.Map

func (v *version) proof(name string, manifest []byte) (proof, json.RawMessage) {
	p, ok := proofs.Load(name)
	if !ok {
		p = prove(v, manifest)
		proofs.Store(name, p)
	}
	crd, err := json.Marshal(p.(proof).CRD)
	if err != nil {
		v.Fatal(err)
	}
	return p.(proof), crd
}

// askCounterexamples asks about the objects that internal/prove/verify reports as accepted or rejected by
// rules that disagree with the union next to them.
func askCounterexamples(v *version, send func(*question)) {
	for _, name := range slices.Sorted(maps.Keys(unioncases.HandWritten)) {
		p, crd := v.proof(name, unioncases.HandWrittenCRD(name))
		if len(p.Differences()) == 0 {
			v.disagree("verify finds nothing wrong with %s", name)
			continue
		}
		q := &question{request: request{Name: "verify " + name, CRD: crd}, evaluations: len(p.Differences())}
		for _, d := range p.Differences() {
			a := askOf(q, d.Old, d.New)
			q.Asks = append(q.Asks, a)
		}
		q.full = func(got [][]refusal) {
			for i, d := range p.Differences() {
				if (len(got[i]) == 0) != (d.Kind == verify.Accepted) {
					v.disagree("verify %s: %s: %s\n\texpected %s, got %v", name, d.Rule, d.Words(p.Union), said(d.Kind == verify.Rejected), got[i])
				}
			}
		}
		send(q)
	}
	askOptional(v, send)
}

func askOf(q *question, old, new map[string]any) ask {
	a := ask{Old: -1}
	if old != nil {
		a.Old = len(q.Objects)
		q.Objects = append(q.Objects, old)
	}
	a.New = len(q.Objects)
	q.Objects = append(q.Objects, new)
	return a
}

// optional is a union with ratchet and a rule that reads the old object through an optional. On
// 1.37 the rule has the meaning of the union.
const optional = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.compat.example.com}
spec:
  group: compat.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          u:
            type: object
            properties:
              plain: {type: string, nullable: true}
              namespace: {type: string, nullable: true}
              cluster-ref: {type: object, nullable: true}
            x-kubernetes-unions:
            - members: [plain, namespace, cluster-ref]
              cardinality: ExactlyOne
              ratchet: true
            x-kubernetes-validations:
            - message: exactly one
              optionalOldSelf: true
              rule: |-
                (oldSelf.hasValue() &&
                has(self.plain) == has(oldSelf.value().plain) &&
                has(self.__namespace__) == has(oldSelf.value().__namespace__) &&
                has(self.cluster__dash__ref) == has(oldSelf.value().cluster__dash__ref)) ||
                (has(self.plain) ? 1 : 0) + (has(self.__namespace__) ? 1 : 0) + (has(self.cluster__dash__ref) ? 1 : 0) == 1
`

// askOptional checks the notes of internal/prove/verify about such rules: before 1.37, null in the old object
// counts as set, and a property that CEL escapes is never found.
func askOptional(v *version, send func(*question)) {
	p, crd := v.proof("optional oldSelf", []byte(optional))
	if !p.Proved() || len(p.OfKind(verify.Noted)) == 0 {
		v.disagree("verify of the rule with optionalOldSelf: %+v", p.Proof)
		return
	}
	q := &question{request: request{Name: "optional oldSelf", CRD: crd}}
	var objects []map[string]any
	for _, plain := range []any{unioncases.Absent{}, nil, "x"} {
		for _, namespace := range []any{unioncases.Absent{}, nil, "x"} {
			for _, ref := range []any{unioncases.Absent{}, nil, map[string]any{}} {
				o := unioncases.Put(unioncases.Put(unioncases.Put(nil, "plain", plain), "namespace", namespace), "cluster-ref", ref)
				objects = append(objects, o)
				q.Objects = append(q.Objects, map[string]any{"u": o})
			}
		}
	}
	for new := range objects {
		for old := -1; old < len(objects); old++ {
			q.Asks = append(q.Asks, ask{Old: old, New: new})
		}
	}
	q.evaluations = len(q.Asks)
	q.full = func(got [][]refusal) {
		otherwise := 0
		for i, a := range q.Asks {
			new := p.Union.StateOf(objects[a.New])
			right := len(p.Union.Violations(new)) > 0
			want := right
			if a.Old >= 0 {
				old := p.Union.StateOf(objects[a.Old])
				right = right && !old.Equal(new)
				if v.minor < 37 {
					_, old.Present[0] = objects[a.Old]["plain"]
					old.Present[1], old.Present[2] = false, false
				}
				want = want && !old.Equal(new)
			}
			refused := len(got[i]) > 0
			if refused != want {
				v.disagree("optional oldSelf: %v: expected %s, got %v", a, said(want), got[i])
			}
			if refused != right {
				otherwise++
			}
		}
		v.Logf("1.%d judges %d of %d asks of a rule that reads through optionalOldSelf otherwise than the union", v.minor, otherwise, len(got))
		if (otherwise > 0) != (v.minor < 37) {
			v.disagree("optional oldSelf: %d asks are judged otherwise than the union says", otherwise)
		}
	}
	send(q)
}
