// Command judge answers requests as Kubernetes 1.30 would.
package main

import (
	"log"
	"os"

	"github.com/unioncel/unioncel/test/compat/judge"
)

func main() {
	if err := judge.Main(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
