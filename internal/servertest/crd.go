package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unioncel/unioncel/pkg/validate"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

const (
	crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

	// The server reacts to a CRD within milliseconds.
	pollInterval = 2 * time.Millisecond
	pollDeadline = 30 * time.Second

	// probeDeadline is well above what a create takes, and well below the two
	// seconds for which the server holds back one that comes soon after its
	// CRD.
	probeDeadline = 250 * time.Millisecond
)

// Install creates a CRD and returns when its served versions answer.
//
// The error of a server that rejects the CRD is returned as it came, so
// [apierrors.IsInvalid] and its like apply to it; unknown and repeated fields
// are among the things it rejects. Any other error says that the CRD, though
// created, did not become usable: its names are taken, or ctx or half a minute
// has passed.
func (s *Server) Install(ctx context.Context, crd []byte) error {
	answer, err := send(ctx, writing(s.client.Post(), crd).AbsPath(crdsPath))
	if err != nil {
		return err
	}
	return s.awaitServed(ctx, answer)
}

// Replace puts crd in the place of the installed CRD of its name and returns
// when the served versions answer by the new schema; in between the server
// holds the CRD with a deprecation warning of ours in it (see waitForSchemas). The
// resourceVersion is the live one unless crd has one.
//
// Errors are those of [Server.Install], and [apierrors.IsNotFound] when there
// is no such CRD. A repeated field is rejected before the server is called.
func (s *Server) Replace(ctx context.Context, crd []byte) error {
	obj, err := decode(crd, yaml.YAMLToJSONStrict)
	if err != nil {
		return err
	}
	answer, err := s.put(ctx, crdsPath+"/"+obj.GetName(), "", obj)
	if err != nil {
		return err
	}
	if err := s.awaitServed(ctx, answer); err != nil {
		return err
	}
	return s.waitForSchemas(ctx, obj.GetName())
}

// Remove deletes the CRD of that name, all its objects with it, and returns
// when both are gone. Errors are those of the server, as they came, or say
// that the CRD lingered: an object in it has a finalizer, perhaps.
func (s *Server) Remove(ctx context.Context, crdName string) error {
	path := crdsPath + "/" + crdName
	live, err := s.crd(ctx, crdName)
	if err != nil {
		return err
	}
	if _, err := send(ctx, s.client.Delete().AbsPath(path)); err != nil {
		return err
	}
	err = poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := s.crd(ctx, crdName)
		if !apierrors.IsNotFound(err) {
			return false, err
		}
		for _, version := range served(live) {
			// The handler may still answer, it learns of it later.
			err := s.list(live, version).Do(ctx).Error()
			if !apierrors.IsNotFound(err) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until CRD %s is gone: %w", crdName, err)
	}
	s.forget(live)
	return nil
}

// applyCRD is Apply for a CRD.
func (s *Server) applyCRD(ctx context.Context, name string, manifest []byte) error {
	_, err := s.crd(ctx, name)
	isNew := apierrors.IsNotFound(err)
	answer, err := send(ctx, s.applying(manifest).AbsPath(crdsPath, name))
	if err != nil {
		return err
	}
	if err := s.awaitServed(ctx, answer); err != nil || isNew {
		return err
	}
	return s.waitForSchemas(ctx, name)
}

// awaitServed returns when each served version of a CRD that was just written
// answers.
func (s *Server) awaitServed(ctx context.Context, written []byte) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(written, crd); err != nil {
		return fmt.Errorf("the server's answer: %w", err)
	}
	s.remember(crd)
	if err := s.awaitEstablished(ctx, crd.Name); err != nil {
		return fmt.Errorf("wait until CRD %s is established: %w", crd.Name, err)
	}
	for _, version := range served(crd) {
		err := poll(ctx, func(ctx context.Context) (bool, error) {
			return s.answers(ctx, crd, version)
		})
		if err != nil {
			return fmt.Errorf("wait until CRD %s answers in version %s: %w", crd.Name, version, err)
		}
	}
	return nil
}

// awaitEstablished returns when the CRD's condition Established is true, and
// dates that condition back: until two seconds after that date the server
// holds up every create of an object, on behalf of clusters with several API
// servers.
func (s *Server) awaitEstablished(ctx context.Context, name string) error {
	longAgo := metav1.NewTime(time.Now().Add(-time.Hour))
	return poll(ctx, func(ctx context.Context) (bool, error) {
		crd, err := s.crd(ctx, name)
		if err != nil {
			return false, err
		}
		conditions := crd.Status.Conditions
		if c := condition(conditions, apiextensionsv1.NamesAccepted); c != nil && c.Status == apiextensionsv1.ConditionFalse {
			return false, fmt.Errorf("%s: %s", c.Reason, c.Message)
		}
		established := condition(conditions, apiextensionsv1.Established)
		if established == nil || established.Status != apiextensionsv1.ConditionTrue {
			return false, nil
		}
		if !longAgo.Before(&established.LastTransitionTime) {
			return true, nil
		}
		established.LastTransitionTime = longAgo
		body, err := json.Marshal(crd)
		if err != nil {
			return false, err
		}
		_, err = send(ctx, writing(s.client.Put(), body).AbsPath(crdsPath, name, "status"))
		if apierrors.IsConflict(err) {
			return false, nil // a controller was faster
		}
		return err == nil, err
	})
}

// answers reports whether creates in a version reach its storage without
// delay. What is sent is not an object, so the storage rejects it.
func (s *Server) answers(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version string) (bool, error) {
	// List first, it is never held up.
	if err := s.list(crd, version).Do(ctx).Error(); err != nil {
		return false, ctx.Err()
	}
	probe, cancel := context.WithTimeout(ctx, probeDeadline)
	defer cancel()
	kind := resourceOf(crd)
	err := s.client.Post().MaxRetries(0).
		AbsPath(kind.path(version, metav1.NamespaceDefault)).Param("dryRun", "All").
		SetHeader("Content-Type", "application/json").Body([]byte("{}")).
		Do(probe).Error()
	return apierrors.IsBadRequest(err), ctx.Err()
}

// waitForSchemas returns when objects are validated by the schemas that a CRD has now.
// The server takes up a changed CRD a moment after it has accepted it, and
// the only trace of the schemas in use is the deprecation warning that comes
// with them. So waitForSchemas adds one, waits until it is seen, removes it
// again, and waits until it is heard no more.
func (s *Server) waitForSchemas(ctx context.Context, name string) error {
	crd, err := s.crd(ctx, name)
	if err != nil {
		return err
	}
	versions := served(crd)
	if len(versions) == 0 {
		return nil
	}
	mark := "settling " + string(uuid.NewUUID())
	for _, marked := range []bool{true, false} {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			return s.setDeprecation(ctx, crd, mark, marked)
		})
		if err != nil {
			return fmt.Errorf("waitForSchemas CRD %s: %w", name, err)
		}
		err = poll(ctx, func(ctx context.Context) (bool, error) {
			answer := s.list(crd, versions[0]).Do(ctx) // all versions change at once
			heard := slices.ContainsFunc(answer.Warnings(), func(w net.WarningHeader) bool {
				return w.Text == mark
			})
			return answer.Error() == nil && heard == marked, ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("waitForSchemas CRD %s: %w", name, err)
		}
	}
	return nil
}

// setDeprecation has all versions of the live CRD deprecated with the given
// warning, or, unmarked, as they are in crd.
func (s *Server) setDeprecation(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, mark string, marked bool) error {
	live := &unstructured.Unstructured{}
	raw, err := send(ctx, s.client.Get().AbsPath(crdsPath, crd.Name))
	if err != nil {
		return err
	}
	if err := live.UnmarshalJSON(raw); err != nil {
		return err
	}
	versions, _, err := unstructured.NestedSlice(live.Object, "spec", "versions")
	if err != nil {
		return err
	}
	for i := range versions {
		version := versions[i].(map[string]any)
		delete(version, "deprecated")
		delete(version, "deprecationWarning")
		original := crd.Spec.Versions[i]
		if marked || original.Deprecated {
			version["deprecated"] = true
		}
		if marked {
			version["deprecationWarning"] = mark
		} else if original.DeprecationWarning != nil {
			version["deprecationWarning"] = *original.DeprecationWarning
		}
	}
	if err := unstructured.SetNestedSlice(live.Object, versions, "spec", "versions"); err != nil {
		return err
	}
	_, err = s.put(ctx, crdsPath+"/"+crd.Name, "", live)
	return err
}

// crd returns the live CRD.
func (s *Server) crd(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	raw, err := send(ctx, s.client.Get().AbsPath(crdsPath, name))
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	return crd, json.Unmarshal(raw, crd)
}

// list is a cheap request that the storage of a version answers.
func (s *Server) list(crd *apiextensionsv1.CustomResourceDefinition, version string) *rest.Request {
	kind := resourceOf(crd)
	return s.client.Get().MaxRetries(0).
		AbsPath(kind.path(version, metav1.NamespaceDefault)).Param("limit", "1")
}

func (s *Server) remember(crd *apiextensionsv1.CustomResourceDefinition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources[groupKind(crd)] = resourceOf(crd)
	s.kinds[groupKind(crd)] = validate.New(crd)
}

func (s *Server) forget(crd *apiextensionsv1.CustomResourceDefinition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resources, groupKind(crd))
	delete(s.kinds, groupKind(crd))
}

func groupKind(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
}

func served(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, version := range crd.Spec.Versions {
		if version.Served {
			names = append(names, version.Name)
		}
	}
	return names
}

func condition(conditions []apiextensionsv1.CustomResourceDefinitionCondition, kind apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	i := slices.IndexFunc(conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == kind
	})
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

// poll asks at once and then again and again, until done, ctx ends or
// pollDeadline has passed.
func poll(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, pollInterval, pollDeadline, true, done)
}
