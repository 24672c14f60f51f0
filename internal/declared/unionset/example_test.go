package unionset_test

import (
	"fmt"
	"log"

	"github.com/unioncel/unioncel/internal/declared/unionset"
)

func ExampleParse() {
	set, diags := unionset.Parse("unions.yaml", []byte(`
apiVersion: unioncel.dev/v1alpha1
kind: UnionSet
schemas:
- crd: backups.example.com
  path: spec.targets[*].storage
  x-kubernetes-unions:
  - members: [s3, nfs]
`))
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	for _, e := range set.Declarations {
		fmt.Println(e.Pos(), e.Target, e.Path)
	}

	_, diags = unionset.Parse("unions.yaml", []byte(`
apiVersion: unioncel.dev/v1alpha1
kind: UnionSet
schemas:
- crd: Backup.example.com
  paht: spec
`))
	for _, d := range diags {
		fmt.Println(d)
		fmt.Println(" hint:", d.Hint)
	}
	// Output:
	// unions.yaml:8:3 backups.example.com spec.targets[*].storage
	// unions.yaml:5:8: error: UC701: "Backup.example.com" is not the name of a CRD
	//  hint: names of CRDs are in lower case: the plural and the group, as kubectl get crd prints them
	// unions.yaml:6:3: error: UC701: unknown key "paht" in an item of schemas
	//  hint: write "path"
}

func ExampleFormat() {
	set, diags := unionset.Parse("unions.json", []byte(`{"apiVersion": "unioncel.dev/v1alpha1", "kind": "UnionSet", "schemas": [
		{"crd": "backups.example.com", "versions": ["v1"], "path": "spec", "x-kubernetes-unions": [{"members": ["s3", "nfs"]}]},
		{"crd": "backups.example.com", "versions": ["v1beta1"], "path": "spec", "x-kubernetes-unions": [{"members": ["s3", "nfs"]}]}]}`))
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	out, err := unionset.Format(set.Declarations)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(out))
	// Output:
	// apiVersion: unioncel.dev/v1alpha1
	// kind: UnionSet
	// schemas:
	// - crd: backups.example.com
	//   versions: [v1, v1beta1]
	//   path: spec
	//   x-kubernetes-unions:
	//   - members: [s3, nfs]
}
