package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/source"
)

// findRevisions is findInputs for arguments that may be REV:PATH: what a file or directory
// is at a revision of git.
func (a *app) findRevisions(ctx context.Context, args []string) ([]input, error) {
	var l []input
	var errs []error
	for _, arg := range args {
		var found []input
		var err error
		if _, statErr := os.Stat(arg); statErr != nil && strings.Contains(arg, ":") {
			found, err = a.atRevision(ctx, arg)
		} else {
			found, err = a.findInputs([]string{arg}, "")
		}
		l, errs = append(l, found...), append(errs, err)
	}
	for i := range l {
		l[i].n = i
	}
	return l, errors.Join(errs...)
}

// atRevision returns the file REV:PATH, or the manifests in the directory.
func (a *app) atRevision(ctx context.Context, arg string) ([]input, error) {
	if strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, ":") {
		return nil, fmt.Errorf("%s: no such file, and no revision of git", arg)
	}
	kind, err := git(ctx, "cat-file", "-t", arg)
	if err != nil {
		return nil, fmt.Errorf("%s: no such file; as a revision of git: %w", arg, err)
	}
	if strings.TrimSpace(string(kind)) != "tree" {
		return a.blobs(ctx, arg)
	}
	list, err := git(ctx, "ls-tree", "--full-tree", "-r", "-z", "--name-only", arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	var names []string
	for name := range strings.SplitSeq(string(list), "\x00") {
		hidden := slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
		if name != "" && !hidden && source.IsManifestName(path.Base(name)) {
			names = append(names, strings.TrimSuffix(arg, "/")+separator(arg)+name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no *.yaml, *.yml or *.json in this directory", arg)
	}
	l, err := a.blobs(ctx, names...)
	for i := range l {
		l[i].walk = true
	}
	return l, err
}

// separator stands between a directory at a revision and a name in it.
func separator(arg string) string {
	if strings.HasSuffix(arg, ":") {
		return ""
	}
	return "/"
}

// blobs reads files at revisions.
func (a *app) blobs(ctx context.Context, names ...string) ([]input, error) {
	var l []input
	for _, name := range names {
		text, err := git(ctx, "cat-file", "blob", name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if text, err = a.limits.Read(bytes.NewReader(text)); err != nil {
			return nil, fileError(name, err)
		}
		l = append(l, input{name: name, text: append([]byte{}, text...)})
	}
	return l, nil
}

// git runs git, and returns what it prints. Its messages are the error.
func git(ctx context.Context, args ...string) ([]byte, error) {
	var out, wrong bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if said, _, _ := strings.Cut(strings.TrimSpace(wrong.String()), "\n"); said != "" {
			return nil, errors.New(strings.TrimPrefix(said, "fatal: "))
		}
		return nil, fmt.Errorf("git: %w", err)
	}
	return out.Bytes(), nil
}
