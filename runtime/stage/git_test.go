//go:build unix

package stage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// git runs git for a test's own repository, with an identity and nothing of the host.
func git(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: no tree-ish is copied")
	}
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func repository(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "", "init", "-q", "-b", "main")
	plant(t, dir, names...)
	git(t, dir, "", "add", "-A")
	git(t, dir, "", "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func TestASnapshotOfATreeish(t *testing.T) {
	repo := repository(t, "a/b", "a/run", "name with\nline break", "up -> a/b", "z")
	if err := os.Chmod(filepath.Join(repo, "a/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "", "add", "-A")
	git(t, repo, "", "commit", "-q", "-m", "second")
	git(t, repo, "", "tag", "v1")
	plant(t, repo, "untracked", "z2")
	git(t, repo, "", "worktree", "add", "-q", "--detach", filepath.Join(repo, "wt"))
	for _, tt := range []struct {
		name, source, treeish string
		want                  []string
	}{
		{"HEAD", repo, "HEAD", []string{"a/", "a/b", "a/run", "name with\nline break", "up -> a/b", "z"}},
		{"a tag", repo, "v1", []string{"a/", "a/b", "a/run", "name with\nline break", "up -> a/b", "z"}},
		{"a tree", repo, "main:a", []string{"b : a/b", "run : a/run"}},
		{"an earlier commit", repo, "HEAD~1", []string{"a/", "a/b", "a/run", "name with\nline break", "up -> a/b", "z"}},
		{"from a worktree", filepath.Join(repo, "wt"), "HEAD", []string{"a/", "a/b", "a/run", "name with\nline break", "up -> a/b", "z"}},
		{"from the bare state", filepath.Join(repo, ".git"), "HEAD", []string{"a/", "a/b", "a/run", "name with\nline break", "up -> a/b", "z"}},
		{"the empty tree", repo, git(t, repo, "", "mktree"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, note, err := take(t, t.Context(), runtime.Workspace{Source: tt.source, Treeish: tt.treeish})
			if err != nil {
				t.Fatal(err)
			}
			if got := listTree(t, dir); !slices.Equal(got, tt.want) {
				t.Errorf("copied %q, want %q (%s)", got, tt.want, note)
			}
		})
	}
	dir, _, err := take(t, t.Context(), runtime.Workspace{Source: repo, Treeish: "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"a/run": 0o755, "a/b": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestNoCommandOfARepositoryRuns plants commands wherever a repository, its user or the environment can name one, and copies a tree.
func TestNoCommandOfARepositoryRuns(t *testing.T) {
	repo := repository(t, "f", "g.x")
	ran := filepath.Join(t.TempDir(), "ran")
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, ".gitattributes"), []byte("* filter=trap diff=trap\nf export-ignore\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "", "add", "-A")
	git(t, repo, "", "commit", "-q", "-m", "attributes")
	for _, kv := range [][2]string{
		{"filter.trap.smudge", trap}, {"filter.trap.clean", trap}, {"filter.trap.process", trap}, {"diff.trap.textconv", trap},
		{"core.fsmonitor", trap}, {"core.sshCommand", trap}, {"core.pager", trap}, {"core.editor", trap}, {"core.hooksPath", filepath.Dir(trap)},
		{"core.gitProxy", trap}, {"core.alternateRefsCommand", trap}, {"core.askPass", trap}, {"credential.helper", "!" + trap}, {"pager.ls-tree", trap},
		{"alias.cat-file", "!" + trap}, {"gpg.program", trap}, {"uploadpack.packObjectsHook", trap},
		{"remote.origin.url", "ext::" + trap + " %S"}, {"remote.origin.promisor", "true"}, {"protocol.allow", "always"}, {"protocol.ext.allow", "always"},
		{"extensions.partialClone", "origin"}, {"core.repositoryFormatVersion", "1"},
	} {
		git(t, repo, "", "config", kv[0], kv[1])
	}
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_SSH_COMMAND", trap)
	t.Setenv("GIT_EXTERNAL_DIFF", trap)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", trap)
	dir, _, err := take(t, t.Context(), runtime.Workspace{Source: repo, Treeish: "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	if got := listTree(t, dir); !slices.Contains(got, "f") || !slices.Contains(got, "g.x") {
		t.Errorf("copied %q", got)
	}
	// An object that is not there would be fetched by the command that the repository names.
	blob := git(t, repo, "", "rev-parse", "HEAD:g.x")
	if err := os.Remove(filepath.Join(repo, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if _, _, err := take(t, t.Context(), runtime.Workspace{Source: repo, Treeish: "HEAD"}); !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("a tree with a missing object: %v", err)
	}
	if data, err := os.ReadFile(ran); err == nil {
		t.Errorf("ran:\n%s", data)
	}
}

func TestWhatNoTreeishHolds(t *testing.T) {
	repo := repository(t, "f", "dir/g")
	blob := git(t, repo, "content", "hash-object", "-w", "--stdin")
	out := git(t, repo, "../../outside", "hash-object", "-w", "--stdin")
	commit := git(t, repo, "", "rev-parse", "HEAD")
	tree := func(lines ...string) string {
		return git(t, repo, strings.Join(lines, "\x00")+"\x00", "mktree", "-z", "--missing")
	}
	// raw writes a tree that git's own commands refuse to write.
	raw := func(mode, name, id string) string {
		bin := make([]byte, 0, 20)
		for i := 0; i < len(id); i += 2 {
			var b byte
			fmt.Sscanf(id[i:i+2], "%02x", &b)
			bin = append(bin, b)
		}
		return git(t, repo, mode+" "+name+"\x00"+string(bin), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	}
	tests := []struct {
		name, treeish string
		w             runtime.Workspace
		kind          error
		says          string
	}{
		{"no such name", "none", runtime.Workspace{}, runtime.ErrSetup, `"none" names nothing`},
		{"a blob", "HEAD:f", runtime.Workspace{}, runtime.ErrSetup, "not a tree object"},
		{"an option", "--help", runtime.Workspace{}, runtime.ErrDenied, "no name of a tree"},
		{"two lines", "HEAD\nHEAD", runtime.Workspace{}, runtime.ErrDenied, "no name of a tree"},
		{"link out", tree("120000 blob " + out + "\tl"), runtime.Workspace{}, runtime.ErrDenied, "leads out"},
		{"repository state", raw("100644", ".git", blob), runtime.Workspace{}, runtime.ErrDenied, ".git"},
		{"repository state in other letters", raw("100644", ".GIT", blob), runtime.Workspace{}, runtime.ErrDenied, ".GIT"},
		{"parent", raw("100644", "..", blob), runtime.Workspace{}, runtime.ErrDenied, "leads out"},
		{"a path as a name", raw("100644", "../x", blob), runtime.Workspace{}, runtime.ErrDenied, "leads out"},
		{"odd mode", raw("104755", "f", blob), runtime.Workspace{}, nil, ""},
		{"a missing object", tree("100644 blob " + strings.Repeat("12", 20) + "\tf"), runtime.Workspace{}, runtime.ErrSetup, "git"},
		{"too many files", "HEAD", runtime.Workspace{Files: 2}, runtime.ErrDenied, "2 files"},
		{"as many files as may be", "HEAD", runtime.Workspace{Files: 3}, nil, ""},
		{"too many bytes", "HEAD", runtime.Workspace{Bytes: 5}, runtime.ErrDenied, "5 bytes"},
		{"as many bytes as may be", "HEAD", runtime.Workspace{Bytes: 6}, nil, ""},
		{"a submodule is left out", tree("160000 commit "+commit+"\tsub", "100644 blob "+blob+"\tf"), runtime.Workspace{}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.w.Source, tt.w.Treeish = repo, tt.treeish
			_, note, err := take(t, t.Context(), tt.w)
			if !errors.Is(err, tt.kind) || tt.kind == nil && err != nil {
				t.Fatalf("err = %v, want %v", err, tt.kind)
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
			if strings.HasPrefix(tt.name, "a submodule") && !strings.Contains(note, "sub (a submodule)") {
				t.Errorf("note %q", note)
			}
		})
	}
}

func TestNoRepositoryIsLookedForAbove(t *testing.T) {
	repo := repository(t, "dir/f")
	_, _, err := take(t, t.Context(), runtime.Workspace{Source: filepath.Join(repo, "dir"), Treeish: "HEAD"})
	if !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("err = %v", err)
	}
}

func TestALargeTreeEndsWithItsContext(t *testing.T) {
	repo := repository(t, "f")
	var lines []string
	blob := git(t, repo, strings.Repeat("x", 1<<16), "hash-object", "-w", "--stdin")
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("100644 blob %s\tf%05d", blob, i))
	}
	tree := git(t, repo, strings.Join(lines, "\n")+"\n", "mktree")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := take(t, ctx, runtime.Workspace{Source: repo, Treeish: tree}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("err = %v", err)
	}
}

var _ runtime.Stager = stage.New()
