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
	"strings"

	"github.com/unioncel/unioncel/internal/source"
)

// findRevisions is findInputs for arguments that may be REV:PATH: a file or directory at a
// revision of git. A path with a colon is written ./PATH: otherwise a pull request could add
// a file that takes the place of the revision it is compared with.
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
			found, err = a.findInputs([]string{arg}, "")
		}
		l, errs = append(l, found...), append(errs, err)
	}
	for i := range l {
		l[i].n = i
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
	kind, err := a.git(ctx, "cat-file", "-t", arg)
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
	list, err := a.git(ctx, "ls-tree", "--full-tree", "-r", "-z", object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	l := manifestsIn(string(list))
	if len(l) == 0 {
		return nil, fmt.Errorf("%s: no *.yaml, *.yml or *.json in this directory", arg)
	}
	for i := range l {
		l[i].name = strings.TrimSuffix(arg, "/") + separator(arg) + l[i].name
	}
	return l, nil
}

// manifestsIn returns the manifests that git ls-tree -z lists, without hidden ones and links.
func manifestsIn(list string) []input {
	var l []input
	for entry := range strings.SplitSeq(list, "\x00") {
		attributes, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(attributes) // mode, type and object
		hidden := slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
		if len(fields) == 3 && strings.HasPrefix(fields[0], "100") && !hidden && source.IsManifestName(path.Base(name)) {
			l = append(l, input{name: name, walk: true, blob: fields[2]})
		}
	}
	return l
}

// separator stands between a directory at a revision and a name in it.
func separator(arg string) string {
	if strings.HasSuffix(arg, ":") {
		return ""
	}
	return "/"
}

// readBlob reads a file at a revision, or enough of it to tell that it is over the limit.
func (a *app) readBlob(ctx context.Context, id string) ([]byte, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := gitCommand(ctx, "cat-file", "blob", id)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	text, err := a.limits.Read(out)
	if len(text) > a.limits.OrDefault().Size {
		stop()
		_ = cmd.Wait() // it was killed
		return text, nil
	}
	return text, errors.Join(err, cmd.Wait())
}

// gitCommand returns a call of git that fetches nothing, and that ignores a bare repository in
// the work tree: a pull request can contain one, with a configuration that names programs.
func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
	return cmd
}

// git runs git, and returns its output. Its messages are the error or, when it succeeds, notes.
func (a *app) git(ctx context.Context, args ...string) ([]byte, error) {
	var out, messages bytes.Buffer
	cmd := gitCommand(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	if err == nil {
		for line := range strings.Lines(messages.String()) {
			a.note("git: " + strings.TrimSpace(strings.TrimPrefix(line, "warning: ")))
		}
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	for line := range strings.Lines(messages.String()) {
		if said, fatal := strings.CutPrefix(strings.TrimSpace(line), "fatal: "); fatal {
			return nil, errors.New(said)
		}
	}
	if said := strings.TrimSpace(messages.String()); said != "" {
		return nil, errors.New(said)
	}
	return nil, fmt.Errorf("git: %w", err)
}
