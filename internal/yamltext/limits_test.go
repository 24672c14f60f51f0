package yamltext

import (
	"math"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	var l Limits
	for _, s := range []string{"members=7", "size=9", "members=8"} {
		if err := l.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if l != (Limits{Members: 8, Size: 9}) {
		t.Errorf("%+v", l)
	}
	for _, s := range []string{"", "members", "members=", "members=0", "members=-1", "members=1e3", "Members=1", "members=99999999999999999999"} {
		if err := l.Set(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	if full := l.OrDefault(); full.Members != 8 || full.Depth != 500 {
		t.Errorf("%+v", full)
	}
	if n := Unlimited(); n.OrDefault() != n || n.Nodes != math.MaxInt {
		t.Errorf("%+v", n)
	}
}

// Read reads only one byte more than the limit.
func TestRead(t *testing.T) {
	r := strings.NewReader("0123456789")
	if data, err := (Limits{Size: 3}).Read(r); err != nil || string(data) != "0123" || r.Len() != 6 {
		t.Errorf("%q, %v, %d left", data, err, r.Len())
	}
}
