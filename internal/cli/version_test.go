package cli

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/compile"
)

func TestVersionText(t *testing.T) {
	if got := versionsOf(nil).text(); !strings.HasPrefix(got, "unioncel (unknown)\nkubernetes v"+compile.Linked()+"\ngo ") {
		t.Errorf("without build information: %q", got)
	}
	got := versionsOf(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.1.0"}, {Path: kubernetesModule, Version: "v0.37.2"}},
	}).text()
	if !strings.HasPrefix(got, "unioncel v1.2.3\nkubernetes v1.37.2\ngo ") {
		t.Errorf("%q", got)
	}
}
