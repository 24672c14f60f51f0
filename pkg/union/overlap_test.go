package union_test

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/pkg/union"
)

func TestSharing(t *testing.T) {
	u := func(declaration string) *union.Union { return unionFor(t, declaration) }
	unions := []*union.Union{u("members: [a]"), u("members: [b]"), u("discriminator: type, fields-to-discriminateBy: {a: A}"), u("members: [c]"), u("dependentRequired: {type: c}")}
	if got := fmt.Sprint(union.Sharing(unions)); got != "[[0 2 3 4] [1]]" {
		t.Error(got)
	}
}
