package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// program is the name of the program, also in messages.
const program = "unioncel"

// invocation takes a command line apart, the name of the program first. The name
// under which the program was started counts:
//
//   - kubectl-unioncel is a plugin of kubectl, and help calls it kubectl unioncel;
//   - unioncel-fn is the command fn, for orchestrators of KRM functions, which run
//     a program without arguments.
func invocation(args []string) (name string, rest []string) {
	if len(args) == 0 {
		return program, nil
	}
	base := args[0][strings.LastIndexAny(args[0], `/`+string(filepath.Separator))+1:]
	switch strings.TrimSuffix(strings.ToLower(base), ".exe") { // Windows does not mind case
	case "kubectl-" + program:
		return "kubectl " + program, args[1:]
	case program + "-fn":
		return program, slices.Concat([]string{"fn"}, args[1:])
	}
	return program, args[1:]
}
