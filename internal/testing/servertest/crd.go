package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unioncel/unioncel/internal/server"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

	// The server reacts to a CRD within milliseconds.
	pollInterval = 3 * time.Millisecond
	pollDeadline = 30 * time.Second
)

// Install creates a CRD and returns when its served versions answer requests.
//
// If the server rejects the CRD, its error is returned unchanged, so that [apierrors.IsInvalid] and
// similar functions work. The server also rejects unknown and duplicate fields. If the CRD does not
// become usable within 30 seconds, for example because its names are taken, Install returns an
// error, and the CRD exists. If ctx ends, the CRD may exist.
func (s *Server) Install(ctx context.Context, crd []byte) error {
	answer, err := send(ctx, writing(s.client.Post(), crd).AbsPath(crdsPath))
	if err != nil {
		return err
	}
	return s.awaitServed(ctx, answer)
}

// Replace updates the installed CRD of the same name and returns when the served versions use the
// new schema. Unless crd has a resourceVersion, the live one is used.
//
// Errors are the errors of [Server.Install], and [apierrors.IsNotFound] if there is no such CRD. A
// duplicate field is rejected before the server is called.
func (s *Server) Replace(ctx context.Context, crd []byte) error {
	obj, err := decode(crd, yaml.YAMLToJSONStrict)
	if err != nil {
		return err
	}
	_, answer, err := s.put(ctx, crdsPath+"/"+obj.GetName(), "", obj)
	if err != nil {
		return err
	}
	return s.awaitServed(ctx, answer)
}

// Remove deletes the named CRD and all its objects, and returns when they are gone. It
// returns the server's error unchanged, or an error if the CRD is not removed in time, for example
// because an object has a finalizer.
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
			// The handler may still answer until it learns about the deletion.
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
	s.installed.Delete(groupKind(live))
	return nil
}

// applyCRD implements Apply for a CRD.
func (s *Server) applyCRD(ctx context.Context, name string, manifest []byte) error {
	answer, err := send(ctx, s.applying(manifest).AbsPath(crdsPath, name))
	if err != nil {
		return err
	}
	return s.awaitServed(ctx, answer)
}

// awaitServed returns when every served version of a CRD that was just written uses its new schema.
func (s *Server) awaitServed(ctx context.Context, written []byte) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(written, crd); err != nil {
		return fmt.Errorf("the server's answer: %w", err)
	}
	s.remember(crd)
	if err := s.awaitEstablished(ctx, crd); err != nil {
		return fmt.Errorf("wait until CRD %s is established: %w", crd.Name, err)
	}
	versions := served(crd)
	if len(versions) == 0 {
		return nil
	}
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		return s.inForce(ctx, crd, versions[0]), ctx.Err() // all versions change at the same time
	})
	if err != nil {
		return fmt.Errorf("wait until CRD %s answers: %w", crd.Name, err)
	}
	return nil
}

// awaitEstablished returns when a CRD is established, possibly immediately.
func (s *Server) awaitEstablished(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	if isTrue(crd, apiextensionsv1.Established) {
		return nil
	}
	return poll(ctx, func(ctx context.Context) (bool, error) {
		live, err := s.crd(ctx, crd.Name)
		if err != nil {
			return false, err
		}
		for _, c := range live.Status.Conditions {
			if c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse {
				return false, fmt.Errorf("%s: %s", c.Reason, c.Message)
			}
		}
		return isTrue(live, apiextensionsv1.Established), nil
	})
}

// inForce reports whether objects are validated against the current version of a CRD. The server
// picks up a change shortly after it has accepted it. The test server exposes the change as a table
// column.
func (s *Server) inForce(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	raw, err := s.list(crd, version).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	var table metav1.Table
	return err == nil && json.Unmarshal(raw, &table) == nil &&
		slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool {
			return c.Name == fmt.Sprint(crd.UID, " ", crd.Generation)
		})
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

// list returns a cheap request to the storage of a version.
func (s *Server) list(crd *apiextensionsv1.CustomResourceDefinition, version string) *rest.Request {
	return s.client.Get().MaxRetries(0).
		AbsPath(endpoint(crd, version, metav1.NamespaceDefault)).Param("limit", "1")
}

// remember records a CRD that this Server wrote.
func (s *Server) remember(crd *apiextensionsv1.CustomResourceDefinition) {
	s.installed.Store(groupKind(crd), &installed{crd, server.NewKind(crd)})
}

// lookup returns the CRD that this Server wrote for a kind.
func (s *Server) lookup(kind schema.GroupKind) (*installed, bool) {
	known, ok := s.installed.Load(kind)
	if !ok {
		return nil, false
	}
	return known.(*installed), true
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

func isTrue(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == kind && c.Status == apiextensionsv1.ConditionTrue
	})
}

// poll calls done at growing intervals until it succeeds, ctx ends, or pollDeadline has passed.
func poll(ctx context.Context, done wait.ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, pollDeadline)
	defer cancel()
	for pause := pollInterval; ; pause += pause / 4 {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
