package spelling

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"http", "https", "tcp", "tls", "a", "configMap"}
	for name, want := range map[string]string{
		"htp": "http", "hptt": "http", "HTTPS": "https", "tsl": "tls", "tcpp": "tcp", "b": "", "": "", "ab": "a", "udp": "", "configmaps": "configMap", "xyz": "", "ünïcode": "",
	} {
		if got := Closest(name, known); got != want {
			t.Errorf("Closest(%q) = %q, want %q", name, got, want)
		}
	}
}
