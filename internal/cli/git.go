package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// findRevisions is findInputs for arguments that may be REV:PATH, a file or directory at a git
// revision. A path with a colon must be written ./PATH: otherwise a pull request could add a file
// that shadows the revision it is compared with.
func (a *app) findRevisions(ctx context.Context, args []string) ([]input, error) {
	var l []input
	var errs []error
	for _, arg := range args {
		var found []input
		var err error
		switch isRevision := namesRevision(arg); {
		case isRevision && exists(arg):
			err = fmt.Errorf("%s: there is a file of this name: write ./%[1]s for the file, or refs/heads/%[1]s for a branch", arg)
		case isRevision:
			found, err = a.atRevision(ctx, arg)
		default:
			found, err = a.findInputs([]string{arg})
		}
		l, errs = append(l, found...), append(errs, err)
	}
	return l, errors.Join(errs...)
}

// namesRevision reports whether an argument is REV:PATH rather than a path.
func namesRevision(arg string) bool {
	rev, _, ok := strings.Cut(filepath.ToSlash(arg), ":")
	return ok && filepath.VolumeName(arg) == "" && !strings.HasPrefix(rev, "/") && !strings.HasPrefix(rev, "./") && !strings.HasPrefix(rev, "../")
}

// atRevision returns the file REV:PATH, or the manifests in the directory.
func (a *app) atRevision(ctx context.Context, arg string) ([]input, error) {
	if strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, ":") {
		return nil, fmt.Errorf("%s: no such file, and no revision of git", arg)
	}
	kind, err := a.git(ctx, "-c", "core.warnAmbiguousRefs=true", "cat-file", "-t", arg)
	if err != nil {
		return nil, fmt.Errorf("%s: no such file; as a revision of git: %w", arg, err)
	}
	id, err := a.git(ctx, "-c", "core.warnAmbiguousRefs=false", "rev-parse", "--verify", "--end-of-options", arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	object := strings.TrimSpace(string(id))
	if strings.TrimSpace(string(kind)) != "tree" {
		return []input{{name: arg, blob: object}}, nil
	}
	list, err := a.git(ctx, "ls-tree", "--full-tree", "-r", "-l", "-z", object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	limits := a.limits.OrDefault()
	if len(list) > limits.Size {
		return nil, fmt.Errorf("%s: the names in this directory have more bytes than the limit of %d; --limit size=N raises it", arg, limits.Size)
	}
	l, size := manifestsIn(string(list))
	if size > limits.Size {
		return nil, fmt.Errorf("%s: the manifests in this directory have more bytes than the limit of %d; --limit size=N raises it", arg, limits.Size)
	}
	if len(l) > limits.Documents {
		return nil, fmt.Errorf("%s: more manifests than the limit of %d; --limit documents=N raises it", arg, limits.Documents)
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("%s: no *.yaml, *.yml or *.json in this directory", arg)
	}
	dir := arg
	if !strings.HasSuffix(dir, ":") {
		dir = strings.TrimSuffix(dir, "/") + "/"
	}
	for i := range l {
		l[i].name = dir + l[i].name
	}
	return l, nil
}

// manifestsIn returns the manifests in the output of git ls-tree -l -z, without hidden files and
// links, and their total size: a small repository may have many large files.
func manifestsIn(list string) (l []input, size int) {
	for entry := range strings.SplitSeq(list, "\x00") {
		attributes, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(attributes) // mode, type, object and size
		hidden := slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
		if len(fields) == 4 && strings.HasPrefix(fields[0], "100") && !hidden && yamltext.IsManifestName(path.Base(name)) {
			l = append(l, input{name: name, walk: true, blob: fields[2]})
			bytes, _ := strconv.Atoi(fields[3]) // reading reports missing objects
			size += bytes
		}
	}
	return l, size
}

// git runs git and returns its output, but not far beyond the size limit of a file. Git's messages
// become the error or, on success, notes. Git fetches nothing, ignores replacement objects, and
// ignores a bare repository in the work tree: a pull request can contain one, with a configuration
// that names programs.
func (a *app) git(ctx context.Context, args ...string) ([]byte, error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(run, "git", append([]string{"-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	out, readErr := a.limits.Read(pipe)
	over := len(out) > a.limits.OrDefault().Size
	if over {
		stop()
	}
	err = errors.Join(readErr, cmd.Wait())
	switch said := strings.TrimSpace(messages.String()); {
	case over:
		return out, nil // git was stopped
	case err == nil:
		for line := range strings.Lines(messages.String()) {
			a.note("git: " + strings.TrimSpace(strings.TrimPrefix(line, "warning: ")))
		}
		return out, nil
	case said == "":
		return nil, fmt.Errorf("git: %w", err)
	default:
		for line := range strings.Lines(said) {
			if why, fatal := strings.CutPrefix(strings.TrimSpace(line), "fatal: "); fatal {
				return nil, errors.New(why)
			}
		}
		return nil, errors.New(said)
	}
}
