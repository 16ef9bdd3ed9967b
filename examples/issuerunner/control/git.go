package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// zeroID is no object: as the old value of an update it means that the ref must not exist yet.
const zeroID = "0000000000000000000000000000000000000000"

// Git is the controller's own hold on the repository. Nothing inside a sandbox ever sees it.
type Git struct{ Dir string }

// identity is of the controller, and its times are fixed, so that the same candidate is the same commit however often it is made.
var identity = []string{
	"GIT_AUTHOR_NAME=issuerunner", "GIT_AUTHOR_EMAIL=issuerunner@localhost", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=issuerunner", "GIT_COMMITTER_EMAIL=issuerunner@localhost", "GIT_COMMITTER_DATE=@0 +0000",
}

// run gives git's output without its last line break. Extra is added to the environment, in goes to its input.
func (g Git) run(ctx context.Context, in []byte, extra []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", g.Dir}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}, identity...)
	cmd.Env = append(cmd.Env, extra...)
	cmd.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// Candidate gives the imported commit of an issue; empty where there is none.
func (g Git) Candidate(ctx context.Context, issue string) (string, error) {
	out, err := g.run(ctx, nil, nil, "for-each-ref", "--format=%(objectname)", candidateRef(issue))
	if err != nil {
		return "", err
	}
	return out, nil
}

func candidateRef(issue string) string { return "refs/candidates/" + issue }

// files gives the path and blob of every file of a commit.
func (g Git) files(ctx context.Context, commit string) (map[string]string, error) {
	out, err := g.run(ctx, nil, nil, "ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, line := range strings.Split(out, "\x00") {
		if id, path, ok := strings.Cut(line, " "); ok {
			files[path] = id
		}
	}
	return files, nil
}

// blob names content as git does; with write it is also kept. No filter of the repository is applied to it.
func (g Git) blob(ctx context.Context, content []byte, write bool) (string, error) {
	args := []string{"hash-object", "--no-filters", "--stdin"}
	if write {
		args = append(args, "-w")
	}
	return g.run(ctx, content, nil, args...)
}

// commit makes a commit of base with the changes (an empty content removes the path), in an index of its own at index.
func (g Git) commit(ctx context.Context, base, message, index string, changes []change) (id string, err error) {
	extra := []string{"GIT_INDEX_FILE=" + index}
	defer func() {
		if e := os.Remove(index); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}()
	if _, err := g.run(ctx, nil, extra, "read-tree", base); err != nil {
		return "", err
	}
	var lines bytes.Buffer
	for _, c := range changes {
		if c.removed {
			fmt.Fprintf(&lines, "0 %s\t%s\x00", zeroID, c.path)
			continue
		}
		blob, err := g.blob(ctx, c.content, true)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%s %s\t%s\x00", c.mode, blob, c.path)
	}
	if _, err := g.run(ctx, lines.Bytes(), extra, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.run(ctx, nil, extra, "write-tree")
	if err != nil {
		return "", err
	}
	return g.run(ctx, []byte(message), nil, "commit-tree", tree, "-p", base)
}
