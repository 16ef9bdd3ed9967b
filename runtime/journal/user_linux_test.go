package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// asUser makes cmd run as the user nobody, from a copy of the test that it may read.
func asUser(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		return // this is an ordinary user already
	}
	dir, err := os.MkdirTemp("", "sbx-journal-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "test")
	cmd.Args[0] = cmd.Path
	if err := os.WriteFile(cmd.Path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func TestAnOrdinaryUser(t *testing.T) {
	roots := filepath.Join(os.TempDir(), fmt.Sprintf("sbx-journal-root-%d", os.Getpid()))
	open(t, roots)
	t.Cleanup(func() { os.RemoveAll(roots) })
	args := []string{}
	if os.Geteuid() == 0 {
		args = append(args, roots)
	}
	cmd := child(t, "user", args...)
	cmd.Dir = t.TempDir()
	asUser(t, cmd)
	run(t, cmd)
}

// childUser is an ordinary user in a directory of its own; its argument is another user's state directory.
func childUser(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, "state")
	if err != nil {
		return err
	}
	e, err := j.Create(ctx, small(j, "a", runtime.StepPrepare))
	if err != nil {
		return err
	}
	deep := filepath.Join(e.Dir(), "workspace", "locked")
	if err := errors.Join(os.MkdirAll(filepath.Join(deep, "in"), 0o700), os.Chmod(deep, 0), os.Chmod(filepath.Dir(deep), 0o100)); err != nil {
		return err
	}
	if err := e.Remove(); err != nil {
		return fmt.Errorf("removing what a command locked: %w", err)
	}
	// A directory of its own that this user cannot write to.
	if err := errors.Join(os.Mkdir("readonly", 0o700), os.Mkdir("readonly/runs", 0o700), os.Chmod("readonly", 0o500)); err != nil {
		return err
	}
	_, err = journal.Open(ctx, "readonly")
	if err := isSetup(err, fs.ErrPermission, "of your own"); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(j.Dir(), "runs"), 0o500); err != nil {
		return err
	}
	_, err = j.Create(ctx, small(j, "b", runtime.StepPrepare))
	if err := isSetup(err, fs.ErrPermission, "of your own"); err != nil {
		return err
	}
	for _, other := range args {
		_, err = journal.Open(ctx, other)
		if err := isSetup(err, fs.ErrPermission, "of your own"); err != nil {
			return err
		}
	}
	return nil
}
