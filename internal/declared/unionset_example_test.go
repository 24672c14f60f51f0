package declared_test

import (
	"fmt"
	"log"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func ExampleParseUnionSet() {
	set, diags := declared.ParseUnionSet("unions.yaml", []byte(`
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

	_, diags = declared.ParseUnionSet("unions.yaml", []byte(`
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

func ExampleFormatUnionSet() {
	u := &union.Union{Members: []union.Member{{Name: "s3"}, {Name: "nfs"}}}
	var l []union.External
	for _, version := range []string{"v1", "v1beta1"} {
		l = append(l, union.External{Target: union.Target{Name: "backups.example.com"}, Version: version, Path: schemapath.New("spec"),
			Value: &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{u.Node()}}})
	}
	out, err := declared.FormatUnionSet(l)
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
