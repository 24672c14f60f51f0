package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/limit"
)

// topics are help pages that several commands share.
func topics() []*cobra.Command {
	topic := func(name, short, long string) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long}
	}
	return []*cobra.Command{
		topic("inputs", "Which files a command reads", `The input is standard input without arguments, and for -. A directory stands for its
*.yaml, *.yml and *.json at any depth, without hidden files and directories, and without
following symbolic links to directories, or to files outside it. Files in it that cannot
be read and do not mention CRDs, such as templates, are skipped. A file given twice is
processed once. A pipe, such as <(kubectl get ...), is read like standard input.

Errors in one file do not hide the results for others: commands that only report print
these first, then the errors, and exit with 1.

A project keeps its options in .unioncel.yaml, which flags override. For each input, the
file in its directory or the nearest one above it is used, up to the root of the
repository (docs/config.md).

Unions are declared in the CRDs or outside them: with --go, by markers in the Go types
from which controller-gen generates the CRDs; with --unions, in a file of kind UnionSet.
Commands that need compiled CRDs compile those that declare unions in memory, with the
options of compile. Compiled and live CRDs are taken as they are.`),
		topic("output", "Where results go, and how files are written", `Results go to standard output. One result is printed as it is; several become one
stream: YAML documents separated by ---, or, when all are JSON, one JSON text after the
other.

-w replaces every file that changes, and the file that a symbolic link leads to. With -o
the results go to another place, and never through a link: with standard input, to a file
of that name; with a single file, to a file of that name or into an existing directory;
otherwise into a directory, created if missing, in which a file keeps its name and the
files of a directory keep their relative paths.

Either all files are written or none. A run that is killed may have written some, each of
them whole, and may leave .unioncel-*.tmp files next to them, which can be deleted.

--check lists the inputs whose result differs, and --diff shows how, even if other inputs
have errors; neither writes anything. A difference is exact, for patch; only on a terminal
are control and invisible characters in it spelled out.`),
		topic("limits", "Limits on the content of files", `--limit raises or lowers a limit on the content of a file, as in --limit size=1000000.
The limits protect from hostile input. The defaults are

  `+strings.Join(limit.Defaults(), "\n  ")),
	}
}
