// Command unioncel compiles the unions declared in CustomResourceDefinitions
// into validation rules that any API server enforces. See 'unioncel --help'.
package main

import (
	"os"

	"github.com/unioncel/unioncel/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, cli.OSStreams())) }
