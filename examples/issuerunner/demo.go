package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sbxkit/sbxkit/examples/issuerunner/control"
)

// demo makes a small repository in dir, and gives the issues that are open in it. Made again with the same content it is the same: the base
// has the same commit.
func demo(ctx context.Context, dir string) (control.Git, []control.Issue, error) {
	g := control.Git{Dir: filepath.Join(dir, "repository")}
	if _, err := os.Stat(filepath.Join(g.Dir, ".git", "refs", "heads", "main")); err != nil {
		if err := os.RemoveAll(g.Dir); err != nil { // half of one, of an earlier start
			return g, nil, err
		}
		for name, text := range map[string]string{"README": "A small project.\n", "greeting.txt": "hello wrld\n", "count.sh": "seq 1 3\n", "notes/todo": "nothing\n"} {
			if err := os.MkdirAll(filepath.Join(g.Dir, filepath.Dir(name)), 0o755); err != nil {
				return g, nil, err
			}
			if err := os.WriteFile(filepath.Join(g.Dir, name), []byte(text), 0o644); err != nil {
				return g, nil, err
			}
		}
		for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
			if _, err := git(ctx, g.Dir, args...); err != nil {
				return g, nil, err
			}
		}
	}
	base, err := git(ctx, g.Dir, "rev-parse", "main")
	if err != nil {
		return g, nil, err
	}
	return g, []control.Issue{
		{ID: "1", Title: "Correct the greeting", Base: base, Paths: []string{"greeting.txt"}, Script: "echo hello world >greeting.txt\n"},
		{ID: "2", Title: "Count to five", Base: base, Paths: []string{"count.sh"}, Script: "echo 'seq 1 5' >count.sh\nsh count.sh\n"},
		{ID: "3", Title: "Say who wrote it", Base: base, Paths: []string{"AUTHORS"}, Script: "echo everybody >AUTHORS\n"},
		{ID: "4", Title: "Remove the notes", Base: base, Paths: []string{"notes/*"}, Script: "rm notes/todo\n"},
		{ID: "5", Title: "Cannot be done", Base: base, Paths: []string{"README"}, Script: "echo no >&2\nexit 1\n"},
		{ID: "6", Title: "Does what nobody asked for", Base: base, Paths: []string{"README"}, Script: "echo better >README\necho surprise >greeting.txt\n"},
	}, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@localhost", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@localhost", "GIT_COMMITTER_DATE=@0 +0000",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
