package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/union"
)

// Repair is a patch that makes an object valid, or leaves it with fewer problems.
type Repair struct {
	// Says describes each change in words.
	Says []string `json:"says"`
	// Type and Patch are the arguments of kubectl patch.
	Type  product.PatchType `json:"type"`
	Patch string            `json:"patch"`
	// Command is the kubectl command that applies the patch.
	Command string `json:"command"`
	// Left are the problems that remain.
	Left []Problem `json:"left,omitempty"`
}

// repair returns a patch that clears the members that the object's unions forbid, or sets an unset
// discriminator. It returns nil unless the server accepts the patched object and fewer problems
// remain.
func (c *inquiry) repair(ctx context.Context, problems int) (*Repair, error) {
	gvk := c.kind.GroupKind().WithVersion(c.version)
	if c.opts.Kinds == nil || problems == 0 {
		return nil, nil
	}
	kind, ok := c.opts.Kinds.Lookup(gvk)
	if !ok {
		return nil, nil
	}
	repaired := runtime.DeepCopyJSON(c.read)
	changes, _ := product.NormalizeObject(kind, nil, repaired, product.NormalizeOptions{Algorithm: union.KEP2019})
	if len(changes) == 0 {
		return nil, nil
	}
	if refused, err := c.replace(ctx, repaired, c.stored); err != nil || len(refused) > 0 {
		return nil, err
	}
	left, err := c.problems(func(k *server.Kind) (server.Answer, error) { return k.Legal(ctx, repaired) })
	if err != nil || len(left) >= problems {
		return nil, err
	}
	r := &Repair{Left: left, Type: product.MergePatch}
	for _, change := range changes {
		r.Says = append(r.Says, change.At.String()+": "+change.String())
		// A merge patch would have to repeat the whole list.
		if slices.ContainsFunc(change.At, func(step any) bool { _, ok := step.(int); return ok }) {
			r.Type = product.JSONPatch
		}
	}
	text, err := product.CreatePatch(gvk, r.Type, c.read, repaired)
	if err != nil {
		return nil, err
	}
	r.Patch = string(text)
	r.Command = c.command(r)
	return r, nil
}

// command returns the kubectl patch command of a repair.
func (c *inquiry) command(r *Repair) string {
	u := unstructured.Unstructured{Object: c.read}
	l := []string{"kubectl", "patch", fmt.Sprintf("%s.%s.%s", c.crd.Spec.Names.Plural, c.version, c.crd.Spec.Group), report.ShellQuote(u.GetName())}
	if namespace := u.GetNamespace(); namespace != "" {
		l = append(l, "-n", report.ShellQuote(namespace))
	}
	return strings.Join(append(l, "--type", string(r.Type), "-p", report.ShellQuote(r.Patch)), " ")
}
