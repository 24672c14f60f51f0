package servertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/internal/server"
)

// compare fails the test unless internal/server answers a write of obj like the server, with the same
// stored object and the same text of errors. stored and err are the server's answer.
func (s *Server) compare(obj, stored *unstructured.Unstructured, err error, ask func(*server.Kind) (server.Answer, error)) {
	s.tb.Helper()
	if s.policies != "" {
		return // internal/server does not evaluate policies
	}
	if err != nil && (strings.Contains(err.Error(), "already set in map") || strings.Contains(err.Error(), "duplicate field")) {
		return // internal/server gets the decoded object, without duplicate fields
	}
	gvk := obj.GroupVersionKind()
	installed, _ := s.lookup(gvk.GroupKind()) // the object's collection is known
	if !slices.Contains(installed.kind.Served(), gvk.Version) {
		return
	}
	answer, wrong := ask(installed.kind)
	if wrong != nil {
		s.tb.Errorf("internal/server: %v\nof\n%v", wrong, obj.Object)
		return
	}
	var refused error
	if answer.Refused != nil {
		refused = answer.Refused
	}
	if got, want := inWords(refused), inWords(err); got != want {
		s.tb.Errorf("internal/server says\n%s\nand the server\n%s\nof\n%v", got, want, obj.Object)
	}
	// The server converts an object if its version is not the stored one.
	if err == nil && gvk.Version == installed.kind.Storage() {
		if got, want := constant(answer.Object), constant(stored.Object); got != want {
			s.tb.Errorf("internal/server stores\n%s\nand the server\n%s", got, want)
		}
	}
}

// storageKey matches the storage key of an object, which the server prints in some errors.
var storageKey = regexp.MustCompile(`StorageError: .*, AdditionalErrorMsg: `)

// inWords returns the whole text of an answer.
func inWords(err error) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "accepted"
	case !errors.As(err, &status):
		return err.Error()
	}
	is := status.Status()
	if is.Details == nil || len(is.Details.Causes) == 0 {
		return fmt.Sprint(is.Code, " ", is.Reason, ": ", storageKey.ReplaceAllString(is.Message, ""))
	}
	var l []string
	for _, c := range is.Details.Causes {
		l = append(l, fmt.Sprintf("%s %s: %s\n", c.Type, c.Field, c.Message))
	}
	slices.Sort(l) // validators iterate over maps
	return fmt.Sprint(is.Code, " ", is.Reason, "\n", l)
}

// constant encodes an object without the fields that differ in each run.
func constant(object map[string]any) string {
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	for _, name := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp"} {
		unstructured.RemoveNestedField(u.Object, "metadata", name)
	}
	if u.GetGenerateName() != "" {
		u.SetName("")
	}
	text, err := json.Marshal(u.Object)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
