// Package servertest runs the API server for custom resources in tests:
// k8s.io/apiextensions-apiserver itself, on an embedded etcd, in a separate
// process. It needs no network, no cluster and no configuration.
//
//	func TestWidget(t *testing.T) {
//		s := servertest.Start(t)
//		if err := s.Install(t.Context(), crd); err != nil {
//			t.Fatal(err)
//		}
//		_, err := s.Create(t.Context(), widget)
//		if !apierrors.IsInvalid(err) {
//			t.Errorf("the server says %v", err)
//		}
//	}
//
// [Start] works in tests and benchmarks and takes less than half a second. A
// server stops with the test that started it. A process may run several
// servers, but one server per top-level test is enough: it serves any number
// of CRDs, and each takes a few milliseconds. [Shared] returns one server for
// all tests of a process, which run with [Main].
//
// # Writing
//
// [Server.Install], [Server.Replace], [Server.Apply] and [Server.Remove] write
// CRDs. They return when the change has taken effect: the next object is
// validated against the new schema. [Server.Create], [Server.Update],
// [Server.UpdateStatus], [Server.Delete] and [Server.Apply] write objects of
// CRDs that were written through the same Server.
//
// All of them take one YAML or JSON document. Writes use strict field
// validation and the field manager "unioncel-test". Errors of the server are
// returned unchanged, so that the functions of
// k8s.io/apimachinery/pkg/api/errors work.
//
// Every create and update is also validated by internal/server. The test fails if
// its answer differs from the server's.
//
// # Limitations
//
// Only the extension server runs: there are no namespaces to create (any name
// works), no built-in types, no webhooks, no certificates and no users.
//
// # Admission policies
//
// [StartWithPolicies] starts a server with the API server's own plugins for
// admission policies. Only the storage of policies is replaced: see
// [Server.Policies]. Answers are not compared with internal/server then,
// because it does not evaluate policies.
package servertest
