package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// inMountNamespace gives a child a mount namespace of its own, as an ordinary user with a user namespace too.
func inMountNamespace(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
}

func privately() error {
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
}

func TestAFullDiskIsASetupFailureThatLeavesNothing(t *testing.T) {
	cmd := child(t, "full", t.TempDir())
	inMountNamespace(t, cmd)
	run(t, cmd)
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("this host permits no namespaces to this user: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func childFull(args []string) error {
	ctx := context.Background()
	if err := privately(); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", args[0], "tmpfs", 0, "size=128k,mode=700"); err != nil {
		return err
	}
	dir := filepath.Join(args[0], "state")
	j, err := journal.Open(ctx, dir)
	if err != nil {
		return err
	}
	e, err := j.Create(ctx, small(j, "before", runtime.StepPrepare))
	if err != nil {
		return err
	}
	if err := fill(filepath.Join(args[0], "filler")); err != nil {
		return err
	}
	_, err = j.Create(ctx, small(j, "after", runtime.StepPrepare))
	if err := isSetup(err, unix.ENOSPC, "free some space"); err != nil {
		return err
	}
	if _, err := os.Lstat(j.RunDir("after")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a refused run left its directory: %w", err)
	}
	// What a run needs to be recorded to its end was taken when it began.
	r := e.Record()
	for n := range 4 {
		r.PlanDigest = strings.Repeat("x", 800*n)
		if err := e.Update(r, false); err != nil {
			return fmt.Errorf("update %d on a full disk: %w", n, err)
		}
	}
	want := e.Record()
	r.PlanDigest = strings.Repeat("x", 10_000)
	for _, sync := range []bool{false, true} {
		if err := isSetup(e.Update(r, sync), unix.ENOSPC, "free some space"); err != nil {
			return err
		}
	}
	if got := e.Record(); got.PlanDigest != want.PlanDigest {
		return errors.New("a failed update changed the entry's record")
	}
	if err := e.Close(); err != nil {
		return err
	}
	taken, err := j.Take(ctx, "before")
	if err != nil {
		return fmt.Errorf("the old record does not stand: %w", err)
	}
	if got := taken.Record(); got.PlanDigest != want.PlanDigest {
		return errors.New("a failed update changed the record")
	}
	// A full disk does not keep a run from being removed.
	if err := taken.Remove(); err != nil {
		return err
	}
	if err := fill(filepath.Join(args[0], "filler2")); err != nil {
		return err
	}
	_, err = journal.Open(ctx, filepath.Join(args[0], "another"))
	return isSetup(err, unix.ENOSPC, "free some space")
}

// fill writes until the file system is full.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, n := range []int{4096, 1} {
		for {
			if _, err := f.Write(make([]byte, n)); errors.Is(err, unix.ENOSPC) {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func isSetup(err error, cause error, cure string) error {
	var f *runtime.Failure
	if !errors.As(err, &f) || f.Kind != runtime.Setup || !errors.Is(err, cause) || !strings.Contains(f.Cure, cure) {
		return fmt.Errorf("got %v, want a Setup failure because of %w, cure %q", err, cause, cure)
	}
	return nil
}

func TestARemovalThatFailsKeepsTheRecordAndCanBeRepeated(t *testing.T) {
	cmd := child(t, "busy", filepath.Join(t.TempDir(), "state"))
	inMountNamespace(t, cmd)
	run(t, cmd)
}

// childBusy removes a run in whose directory something is mounted, which cannot be removed.
func childBusy(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, args[0])
	if err != nil {
		return err
	}
	e, err := j.Create(ctx, small(j, "a", runtime.StepPrepare))
	if err != nil {
		return err
	}
	work := filepath.Join(e.Dir(), "workspace")
	if err := errors.Join(privately(), os.Mkdir(work, 0o700), unix.Mount("tmpfs", work, "tmpfs", 0, "")); err != nil {
		return err
	}
	for range 2 {
		if err := e.Remove(); !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("removing what is mounted: %w", err)
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	e, err = j.Take(ctx, "a")
	if err != nil {
		return fmt.Errorf("after a failed removal the run is not found: %w", err)
	}
	if err := e.Update(small(j, "a", runtime.StepRemove), false); err != nil {
		return err
	}
	if err := unix.Unmount(work, 0); err != nil {
		return err
	}
	return e.Remove()
}

func TestAReadOnlyStateDirectoryCanBeListedAndNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	create(t, j, "live")
	if err := create(t, j, "dead").Close(); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "readonly", dir)
	inMountNamespace(t, cmd)
	run(t, cmd)
	list(t, j).is(t, []string{"live"}, []string{"dead"}, 0)
}

func childReadOnly(args []string) error {
	ctx := context.Background()
	dir := args[0]
	if err := privately(); err != nil {
		return err
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	j, err := journal.Open(ctx, dir)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	if err := j.List(ctx, func(r runtime.Record, live bool) error {
		seen[r.Run.ID] = live
		return nil
	}, func(p string, e error) { err = errors.Join(err, fmt.Errorf("%s: %w", p, e)) }); err != nil {
		return err
	}
	if live, ok := seen["dead"]; err != nil || len(seen) != 2 || !seen["live"] || live || !ok {
		return fmt.Errorf("listed %v, %w", seen, err)
	}
	_, err = j.Create(ctx, small(j, "new", runtime.StepPrepare))
	if err := isSetup(err, unix.EROFS, "writable"); err != nil {
		return err
	}
	_, err = j.Take(ctx, "dead")
	return isSetup(err, unix.EROFS, "writable")
}
