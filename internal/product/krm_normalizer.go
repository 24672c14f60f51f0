package product

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// normalizerKind is the kind that clears the members that unions forbid in objects.
var normalizerKind = kindOf("UnionNormalizer", readNormalizer,
	yamltext.ConfigKey{Name: "crds", Example: "[crds/backup.yaml]"}, yamltext.ConfigKey{Name: "builtin", Example: "true"}, unionsKey, schemasKey,
)

// normalizer has the options of a UnionNormalizer.
type normalizer struct {
	crds    []string // files of CRDs
	builtin bool     // include Kubernetes' own kinds
	// external are the declarations outside of CRDs.
	external union.Externals
}

func readNormalizer(r *run, fields map[string]yamltext.ConfigValue) function {
	return &normalizer{crds: names(fields["crds"]), builtin: fields["builtin"].Bool(false), external: r.declarations(fields)}
}

func (n *normalizer) items(r *run) []*yaml.RNode {
	r.needsItems("", "list it under transformers, which run after the patches")
	set := n.kinds(r)
	if r.diags.HasErrors() {
		return nil
	}
	work := r.received(func(item *yaml.RNode) bool { return !isLocal(item) && has(set, item) })
	eachPiece(work, (*piece).encode)
	if !r.gather(work) || !r.convert(work, func(name string, src []byte) ([]byte, diag.List) {
		result := NormalizeFile(set, name, src, nil, NormalizeOptions{Merged: true}, r.host.Limits)
		return result.Text, result.Diagnostics
	}) {
		r.diags = WithoutChanges(r.diags)
		return nil
	}
	return r.joined(work)
}

// has reports whether the set has the kind of an item or, for a list, the kind of an item in it.
func has(set *union.KindSet, item *yaml.RNode) bool {
	if items, ok := listed(item); ok && strings.HasSuffix(word(item, yaml.KindField), "List") {
		return slices.ContainsFunc(items, func(item *yaml.RNode) bool { return has(set, item) })
	}
	_, ok := set.Lookup(schema.FromAPIVersionAndKind(word(item, yaml.APIVersionField), word(item, yaml.KindField)))
	return ok
}

// kinds returns the kinds whose unions are known. CRDs among the items count, including local ones.
// They take precedence over files, because the API server will get the items.
func (n *normalizer) kinds(r *run) *union.KindSet {
	set := &union.KindSet{}
	declarations := n.external.Declarations
	if n.builtin {
		declarations = slices.Concat(declared.Builtin(), declarations)
	}
	own, others, diags := declared.BuiltinKinds(declarations)
	r.report(diags...)
	n.add(r, set, own)

	opts := crdpatch.Options{External: union.Externals{Declarations: others, Scopes: n.external.Scopes}}
	work := r.received(func(item *yaml.RNode) bool { return yamltext.MayHold(word(item, yaml.KindField)) })
	work = slices.DeleteFunc(work, func(w *piece) bool { return w.asIs })
	work = append(work, r.read("crds", n.crds)...)
	eachPiece(work, (*piece).encode)
	if !r.gather(work) {
		return nil
	}
	eachPiece(work, func(w *piece) {
		// Warnings are for users who compile the CRDs.
		declared, diags := crdpatch.Ask(crdpatch.Open(w.name, w.text).WithLimits(r.host.Limits), opts, (*crdpatch.CRD).Resolved)
		diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		if w.takes(diags) {
			w.declared = declared
		}
	})
	r.missing(work, opts)
	if !r.gather(work) {
		return nil
	}
	for _, w := range work {
		for _, d := range w.declared {
			l := d.Kinds(w.name)
			if w.item == nil {
				l = slices.DeleteFunc(l, func(k union.Kind) bool {
					other, ok := set.Lookup(k.GroupVersionKind)
					return ok && among(work, other.Origin)
				})
			}
			n.add(r, set, l)
		}
	}
	switch {
	case len(set.Names()) > 0:
	case len(set.ByKind()) > 0:
		r.misconfigured("", "delete this function, or name the CRDs of other objects, too", "the CRDs declare only unions of list items, which are left alone")
	default:
		r.misconfigured("", "name the CRDs of the objects, as in crds: [crds/backup.yaml], or write builtin: true for Kubernetes' own kinds",
			"no CRD declares unions")
	}
	return set
}

func (n *normalizer) add(r *run, set *union.KindSet, l []union.Kind) {
	for _, k := range l {
		if err := set.Add(k); err != nil {
			r.report(diag.New(codes.TwoCRDs, diag.Pos{File: k.Origin}, "%v", err).Hinted("keep one of them"))
		}
	}
}

// among reports whether an item has the name of a piece.
func among(work []*piece, name string) bool {
	return slices.ContainsFunc(work, func(w *piece) bool { return w.item != nil && w.name == name })
}
