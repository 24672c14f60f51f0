package explain

import (
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/pkg/union"
)

// memberless returns the known values that select no member.
func (s *unionPlan) memberless() []string {
	l := []string{}
	for _, v := range s.Values {
		if len(s.MembersOf(v)) == 0 {
			l = append(l, v)
		}
	}
	return l
}

// anyValue reports whether the discriminator may have unknown values.
func (s *unionPlan) anyValue() bool {
	return s.Discriminator != "" && len(s.enum) == 0
}

// fallback returns the server's default of the discriminator, or "".
func (s *unionPlan) fallback() string {
	var value any
	if union.Defaulted(&s.written) {
		_ = json.Unmarshal(s.written.Default.Raw, &value) // the server rejects a default of another type
	}
	return s.Type.Text(value)
}
