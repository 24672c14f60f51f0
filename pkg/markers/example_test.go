package markers_test

import (
	"fmt"
	"log"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
)

func ExampleLoad() {
	set, diags := markers.Load(markers.Options{}, "./testdata/good/kep2019")
	if err := diag.Text(os.Stderr, diags, nil); err != nil {
		log.Fatal(err)
	}
	if set == nil {
		os.Exit(1)
	}
	for _, e := range set.Declarations[:2] {
		declaration, err := yaml.Marshal(e.Value)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Target, e.Version, e.Path)
		fmt.Print(string(declaration))
	}
	// Output:
	// Example.kep2019.example.com v1 inlined
	// - discriminator: unionType
	//   fields-to-discriminateBy:
	//     fieldA: FieldA
	//     fieldB: FieldB
	//   cardinality: AtMostOne
	// Example.kep2019.example.com v1 inlined
	// - discriminator: type
	//   fields-to-discriminateBy:
	//     alpha: Alpha
	//     beta: Beta
	//   cardinality: AtMostOne
}
