package english

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	known := []string{"http", "https", "tcp", "tls", "a", "configMap"}
	for name, want := range map[string]string{
		"htp": "http", "hptt": "http", "HTTPS": "https", "tsl": "tls", "tcpp": "tcp", "b": "", "": "", "ab": "a", "udp": "", "configmaps": "configMap", "xyz": "", "ünïcode": "",
	} {
		if got := Closest(name, known); got != want {
			t.Errorf("Closest(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"confgMap": "configMap", "HTTPS": "https", "tsl": "tls", "ftp": "", "htttp": "http", "httpx": "", "http2": "", "xyz": "",
	} {
		if got := Certain(name, known); got != want {
			t.Errorf("Certain(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"optons": "options", "optios": "options", "unoins": "unions"} {
		if got := Closest(name, []string{"unions", "options"}); got != want {
			t.Errorf("Closest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Closest("optons", []string{"unions"}); got != "" {
		t.Errorf("half of optons is wrong in %q", got)
	}
}

// TestWithin compares bounded distances with unbounded ones.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteByte("abc"[r.IntN(3)])
		}
		return b.String()
	}
	for range 20_000 {
		a, b, most := word(), word(), r.IntN(5)
		if got, want := boundedDistance(most, []rune(a), []rune(b)), min(Distance(a, b), most+1); got != want {
			t.Fatalf("%q and %q within %d: %d, want %d", a, b, most, got, want)
		}
	}
}

// A manifest can contain very long names; comparing them takes no noticeable time.
func TestLongNames(t *testing.T) {
	known := make([]string, 20_000)
	for i := range known {
		known[i] = strings.Repeat("x", 4000)
	}
	if got := Closest(strings.Repeat("x", 3999), known); got != "" {
		t.Error(got)
	}
}
