// Package servertest runs the API server that judges custom objects, so that a
// test can ask it instead of guessing: k8s.io/apiextensions-apiserver itself,
// on an embedded etcd, in a process of its own. It needs no network, no cluster
// and no configuration.
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
// [Start] serves tests and benchmarks alike and takes less than half a second;
// a server goes down with the test that started it. A process may run several
// at once, but one serves any number of CRDs, a few milliseconds each, so one
// per top-level test is plenty.
//
// # Writing
//
// [Server.Install], [Server.Replace], [Server.Apply] and [Server.Remove] are
// about CRDs. They return when the change has taken effect: an object that is
// sent next is judged by the new schema. [Server.Create], [Server.Update],
// [Server.UpdateStatus], [Server.Delete] and [Server.Apply] are about the
// objects of CRDs that were written through the same Server.
//
// All of them take one document, YAML or JSON, and all that write do so with
// strict field validation and the field manager "unioncel-test". An error of
// the server is returned as it came, for the functions of
// k8s.io/apimachinery/pkg/api/errors to tell apart.
//
// Whatever a test creates or updates, pkg/validate is asked, too: the test fails unless it
// says what the server says.
//
// # What is not there
//
// There is nothing but the extension server: no namespaces to create (any
// will do), no built-in types, no webhooks, no certificates and no users.
//
// # Admission policies
//
// [StartWithPolicies] starts a server that has the API server's own plugins for admission
// policies, which [Server.SetPolicies] writes. Only where they are kept is ours. What the
// server answers to writes is then not compared with pkg/validate, which knows no policies.
//
// # Facts
//
// The tests of this package pin down, fact by fact, how the server behaves
// where the compiler relies on it.
package servertest
