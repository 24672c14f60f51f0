package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// TestKubectl pins down the messages for the two most common mistakes. Run it with -v to see the
// text.
func TestKubectl(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	crd := newTrial(t, server, []byte(testcrd.Read("backend")), crdpatch.Options{})
	crd.install(t, nil)
	object := func(spec string) []byte {
		return []byte("apiVersion: example.com/v1\nkind: Backend\nmetadata: {name: web}\nspec: " + spec + "\n")
	}
	_, err := server.Create(t.Context(), object("{type: HTTP, tcp: {port: 80}}"))
	wantText(t, "create the wrong member", "Backend", err, `The Backend "web" is invalid: 
* spec.http: Invalid value: http is required when type is 'HTTP', and forbidden otherwise
* spec.tcp: Invalid value: tcp is required when type is 'TCP', and forbidden otherwise
`)
	if _, err := server.Create(t.Context(), object("{type: HTTP, http: {path: /}}")); err != nil {
		t.Fatal(err)
	}
	_, err = server.Update(t.Context(), object("{type: TCP, tcp: {port: 80}, http: {path: /}}"))
	wantText(t, "switch the type without clearing", "Backend", err, `The Backend "web" is invalid: 
* spec.http: Invalid value: http is required when type is 'HTTP', and forbidden otherwise
* spec.type: Invalid value: when type changes, the member of its old value must be cleared
`)
	_, err = server.Update(t.Context(), object("{type: HTTP}"))
	wantText(t, "drop the member", "Backend", err,
		`The Backend "web" is invalid: spec.http: Invalid value: http is required when type is 'HTTP', and forbidden otherwise`)
}

// wantText compares the output of kubectl (k8s.io/kubectl/pkg/cmd/util, CheckErr and
// MultilineError).
func wantText(t *testing.T, mistake, kind string, err error, want string) {
	t.Helper()
	l := causes(t, err)
	text := fmt.Sprintf("The %s %q is invalid: ", kind, "web")
	if len(l) == 1 {
		text += l[0]
	} else {
		text += "\n* " + strings.Join(l, "\n* ") + "\n"
	}
	t.Logf("%s\n%s\nclient-go says\n%v", mistake, text, err)
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
