package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/krm"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) fnCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Compile unions and normalize objects as a KRM function, for kustomize",
		Long: `Fn is run by kustomize and other orchestrators of KRM functions, not by people:
it reads a ResourceList from standard input and writes one to standard output.
Orchestrators run programs without arguments, so unioncel runs this command when
it is called unioncel-fn.

The functionConfig says what is done to the items of the list; those that it is not
about stay as they are. Its kinds are

  UnionCompiler    The CRDs among the items are compiled. The keys are options of the
                   command compile. If they name files, their documents are added to
                   the items, which makes the function a generator.
  UnionNormalizer  Members that their unions exclude are cleared in the objects among
                   the items, as they are when patches have been merged into them:
                   those that the discriminator does not select. Where there is none,
                   and two are set, that is an error. crds, unions and schemas say
                   which kinds have unions, builtin: true adds Kubernetes' own, and
                   CRDs among the items count as well.

Files are relative to the working directory, which kustomize sets to that of the
kustomization; no files outside it can be read. docs/kustomize.md has the details.

Diagnostics go to the results of the list and to standard error. If there is an
error, the items are those of the input and the exit code is 1; if the input is
not a ResourceList, nothing is printed and the exit code is 2.`,
		Example: `  # What kustomize does
  unioncel fn <<EOF
  apiVersion: config.kubernetes.io/v1
  kind: ResourceList
  functionConfig:
    apiVersion: unioncel.dev/v1alpha1
    kind: UnionCompiler
    metadata:
      name: unions
    kubeVersion: "1.30"
  items:
  - apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata:
      name: probes.example.com
    spec:
      group: example.com
      names: {kind: Probe, plural: probes}
      scope: Namespaced
      versions:
      - name: v1
        served: true
        storage: true
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec:
                type: object
                properties: {http: {type: object}, tcp: {type: object}}
                x-kubernetes-unions:
                - members: [http, tcp]
EOF`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("fn takes no arguments, since kustomize and others run it; for files, use %s compile", a.name)
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return a.fn() },
	}
}

// fn runs the KRM function.
func (a *app) fn() error {
	in, err := a.limits.Read(a.streams.In)
	if err != nil {
		return fileError(stdinName, err)
	}
	// Symbolic links that lead out of a Root are errors.
	dir, err := os.OpenRoot(".")
	if err != nil {
		return fileError("the working directory", err)
	}
	defer dir.Close()
	report, err := krm.Run(in, krm.Host{Files: dir.FS(), Compiler: a.proving, Limits: a.limits})
	if err != nil {
		return err
	}
	var sources []result
	for name, src := range report.Sources {
		sources = append(sources, result{input: input{name: name}, src: src})
	}
	findings := a.report(append(sources, result{diagnostics: report.Diagnostics}), "text")
	if err := a.print(report.Output); err != nil {
		return err
	}
	return findings
}

// proving is the compiler with these options, which proves its rules when asked to.
func (a *app) proving(opts crdfile.Options, verify bool) krm.Compiler {
	t := a.compile
	if verify {
		t = selfChecked(t)
	}
	return func(name string, src []byte) ([]byte, diag.List) {
		return t(crdfile.Open(name, src).Within(a.limits), opts)
	}
}
