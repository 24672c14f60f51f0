package sample

import (
	"iter"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/prove/formula"
)

// decoded decodes a default or an enum value of a schema. It returns nil for null and for invalid
// JSON.
func decoded(j *apiextensionsv1.JSON) any {
	var v any
	if err := json.Unmarshal(j.Raw, &v); err != nil {
		return nil
	}
	return v
}

// formats has a value for each format that API servers validate.
var formats = map[string]string{
	"bsonobjectid": "507f1f77bcf86cd799439011", "uri": "https://example.com", "email": "user@example.com", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "ip": "192.0.2.1", "cidr": "192.0.2.0/24", "mac": "00:00:5e:00:53:01",
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "uuid3": "a3bb189e-8bf9-3888-9912-ace4e6543002",
	"uuid4": "123e4567-e89b-42d3-a456-426614174000", "uuid5": "74738ff5-5367-5958-9aee-98fffdcd1876",
	"isbn": "0321751043", "isbn10": "0321751043", "isbn13": "978-0321751041", "creditcard": "4111111111111111", "ssn": "111-11-1111",
	"hexcolor": "#ffffff", "rgbcolor": "rgb(1,2,3)", "byte": "YQ==", "password": "a", "date": "2000-01-01", "duration": "1s",
	"datetime": "2000-01-01T00:00:00Z", "date-time": "2000-01-01T00:00:00Z", "k8s-short-name": "a", "k8s-long-name": "a",
}

// samples are common strings without a format.
var samples = []string{
	"a", "", "A", "1", "0", "example.com", "https://example.com", "a/b", "1s", "5m", "192.0.2.1", "192.0.2.0/24", "10.0.0.0/8", "2001:db8::1", "2001:db8::/32", "1Gi", "50%", "a=b", "/a", "a@example.com",
	"example.com/a", "v1", "v1.2.3", "1.2.3", "true", "2000-01-01T00:00:00Z", "123e4567-e89b-12d3-a456-426614174000", "http://a", "a:1", "a.b", "{}", "us-east-1", "*",
}

// texts yields candidate strings for n.
func texts(n *Schema) iter.Seq[any] {
	all := append(formula.Flattened(n.Props, nil), n.hints...)
	lengths := lengthsOf(n, n.Rules())
	return func(yield func(any) bool) {
		for _, a := range all {
			for _, v := range formula.EnumValues(a) {
				if !yield(v) {
					return
				}
			}
			if f, ok := formats[strings.ToLower(a.Format)]; ok && !yield(f) {
				return
			}
			for _, length := range lengths {
				for _, text := range matching(a.Pattern, length) {
					if !yield(text) {
						return
					}
				}
			}
		}
		for i, length := range lengths {
			for _, text := range samples {
				if again := i > 0 && length.missing(text) == 0; !again && !yield(length.filled(text)) {
					return
				}
			}
		}
	}
}

// numbers yields candidate numbers for n.
func numbers(n *Schema) iter.Seq[any] {
	s := n.Props
	var l []any
	add := func(f float64) {
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			l = append(l, int64(f))
		} else if s.Type == "number" {
			l = append(l, f)
		}
	}
	for _, a := range append(formula.Flattened(s, nil), n.hints...) {
		l = append(l, formula.EnumValues(a)...)
		if a.Minimum != nil {
			add(*a.Minimum)
			add(math.Floor(*a.Minimum) + 1)
			if a.MultipleOf != nil {
				add(math.Ceil(*a.Minimum / *a.MultipleOf) * *a.MultipleOf)
				add((math.Floor(*a.Minimum / *a.MultipleOf) + 1) * *a.MultipleOf)
			}
		}
		if a.MultipleOf != nil {
			add(*a.MultipleOf)
		}
		if a.Maximum != nil {
			add(*a.Maximum)
			add(math.Ceil(*a.Maximum) - 1)
			if a.Minimum != nil {
				add((*a.Minimum + *a.Maximum) / 2)
			}
		}
	}
	for _, f := range []float64{1, 0, 2, 10, 443, 8080, 30000, -1, 0.5} {
		add(f)
	}
	return slices.Values(l)
}
