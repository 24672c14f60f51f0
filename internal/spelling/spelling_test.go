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
