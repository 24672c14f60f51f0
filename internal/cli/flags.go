package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/report"
)

// checked is the value of a flag that is checked when the command line is read.
type checked struct {
	pflag.Value
	check func(string) (string, error)
}

func (c checked) Set(value string) error {
	value, err := c.check(value)
	if err != nil {
		return err
	}
	return c.Value.Set(value)
}

// check adds a check of the values of a flag, which returns the value to set.
func check(cmd *cobra.Command, name string, check func(string) (string, error)) {
	f := cmd.Flag(name)
	f.Value = checked{f.Value, check}
	if f.DefValue == "[]" {
		f.DefValue = "" // help prints the default of types that are not pflag's
	}
}

// choose limits the values of a flag to some words, which completion offers.
func choose(cmd *cobra.Command, name string, words ...string) {
	list := cmd.Flag(name).Value.Type() == "stringSlice"
	check(cmd, name, func(value string) (string, error) {
		given := []string{value}
		if list {
			given = strings.Split(value, ",")
		}
		for _, word := range given {
			if !slices.Contains(words, word) {
				return "", fmt.Errorf("%q is not %s", word, alternatives(words))
			}
		}
		return value, nil
	})
	complete(cmd, name, oneOf(words...))
}

// complete adds the completion of the values of a flag.
func complete(cmd *cobra.Command, name string, values cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(name, values) // fails only for flags that do not exist
}

// registerFormat adds the flag --format for the thing that is printed. The first format is the
// default.
func registerFormat(cmd *cobra.Command, format *string, what string, formats ...string) {
	cmd.Flags().StringVar(format, "format", formats[0], "how to print "+what+": "+alternatives(formats))
	choose(cmd, "format", formats...)
}

// toFile is the usage of the flag -o of a command that writes one file.
const toFile = "write to this `FILE` instead of standard output"

// registerOutput adds the flag -o. Its value - is standard output.
func registerOutput(cmd *cobra.Command, path *string, usage string) {
	cmd.Flags().StringVarP(path, "output", "o", "", usage)
	check(cmd, "output", func(path string) (string, error) {
		switch {
		case path == "":
			return "", fmt.Errorf("needs the name of a file")
		case path == "yaml" || slices.Contains(report.Formats(true), path):
			return "", fmt.Errorf("takes a file, --format a format; for a file of that name write ./%s", path)
		case path == "-":
			return "", nil
		}
		return path, nil
	})
}

// printing holds the flags of a command that prints results in one piece.
type printing struct {
	format, path string
}

func (p *printing) register(cmd *cobra.Command, what string, formats ...string) {
	registerFormat(cmd, &p.format, what, formats...)
	registerOutput(cmd, &p.path, toFile)
}
