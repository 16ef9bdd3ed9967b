package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// The tests run themselves again as other processes: SBX_JOURNAL_CHILD names what such a process does, its arguments follow.
func TestMain(m *testing.M) {
	if name := os.Getenv("SBX_JOURNAL_CHILD"); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(args []string) error{
	"hold": childHold, "list": childList, "busy": childBusy, "update": childUpdate, "churn": childChurn, "full": childFull, "readonly": childReadOnly, "user": childUser,
}

func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SBX_JOURNAL_CHILD="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

func small(j *journal.Journal, id string, step runtime.Step) runtime.Record {
	run := runtime.RunName{ID: id, Owner: j.Owner()}
	return runtime.Record{Run: run, Backend: "fake", Step: step, Token: runtime.Token{Run: run}}
}

// childHold creates a run, says so, and waits to be killed.
func childHold(args []string) error {
	j, err := journal.Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	if _, err := j.Create(context.Background(), small(j, args[1], runtime.StepStart)); err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

func TestALockEndsWithItsProcessHoweverThatEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	cmd := child(t, "hold", dir, "a")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	list(t, j).is(t, []string{"a"}, nil, 0)
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("taking a run of a live process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	list(t, j).is(t, nil, []string{"a"}, 0)
	e, err := j.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(); err != nil {
		t.Error(err)
	}
}

// A child of the controller that outlives it does not hold the run's lock.
func TestALockIsNotInheritedByWhatTheControllerStarts(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	cat := exec.Command("/bin/cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	defer cat.Wait()
	defer in.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, nil, []string{"a"}, 0)
}

// childUpdate goes through create, updates and remove, over and over, until it is killed.
func childUpdate(args []string) error {
	j, err := journal.Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := 0; ; n++ {
		e, err := j.Create(context.Background(), small(j, fmt.Sprintf("%s-%d", args[1], n), runtime.StepPrepare))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(e.Dir(), "workspace"), nil, 0o600); err != nil {
			return err
		}
		for i, s := range runtime.Steps() {
			r := e.Record()
			r.Step, r.PlanDigest = s, strings.Repeat("x", 100*i)
			if err := e.Update(r, i == 3); err != nil {
				return err
			}
		}
		if err := e.Remove(); err != nil {
			return err
		}
	}
}

func TestKilledInTheMiddleOfAnythingTheRecordIsWholeOrNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	rnd := rand.New(rand.NewPCG(1, 2))
	began := 0
	for n := range 60 {
		cmd := child(t, "update", dir, fmt.Sprint(n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		// The instant of the kill is what is being varied, not something that is waited for.
		time.Sleep(time.Duration(rnd.IntN(4000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		l := list(t, j)
		if len(l.live) != 0 || len(l.bad) != 0 || len(l.dead) > 1 {
			t.Fatalf("kill %d left live %v, dead %v, bad %v", n, l.live, l.dead, l.bad)
		}
		for _, id := range l.dead {
			began++
			e, err := j.Take(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(filepath.Join(dir, "runs")); err != nil || len(left) != 0 {
			t.Fatalf("kill %d: after the reconcile there is %v, %v", n, left, err)
		}
	}
	if began == 0 {
		t.Error("no kill met a run; the test says nothing")
	}
}

// childChurn makes runs and gives them up, and reconciles whatever it finds; it reports how many it removed.
func childChurn(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, args[0])
	if err != nil {
		return err
	}
	removed := 0
	for n := range 40 {
		e, err := j.Create(ctx, small(j, fmt.Sprintf("%s-%d", args[1], n), runtime.StepPrepare))
		if err != nil {
			return err
		}
		if n%2 == 0 {
			err = e.Close()
		} else {
			removed++
			err = e.Remove()
		}
		if err != nil {
			return err
		}
		err = j.List(ctx, func(r runtime.Record, live bool) error {
			if live {
				return nil
			}
			t, err := j.Take(ctx, r.Run.ID)
			if errors.Is(err, runtime.ErrBusy) || errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			removed++
			return t.Remove()
		}, func(p string, e error) { err = errors.Join(err, fmt.Errorf("%s: %w", p, e)) })
		if err != nil {
			return err
		}
	}
	fmt.Println(j.Owner(), removed)
	return nil
}

// Every run is removed by exactly one of several processes that create and reconcile in one state directory.
func TestSeveralControllersInOneStateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	const processes = 4
	var outs []io.Reader
	var cmds []*exec.Cmd
	for n := range processes {
		cmd := child(t, "churn", dir, fmt.Sprintf("p%d", n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		outs, cmds = append(outs, out), append(cmds, cmd)
	}
	total := 0
	var owners []string
	for n, out := range outs {
		b, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmds[n].Wait(); err != nil {
			t.Fatalf("process %d: %v", n, err)
		}
		var owner string
		removed := 0
		if _, err := fmt.Sscan(string(b), &owner, &removed); err != nil {
			t.Fatalf("process %d said %q: %v", n, b, err)
		}
		owners = append(owners, owner)
		total += removed
	}
	slices.Sort(owners)
	if len(slices.Compact(owners)) != 1 {
		t.Errorf("owners %v", owners)
	}
	l := list(t, open(t, dir))
	if total+len(l.dead) != 40*processes || len(l.live) != 0 || len(l.bad) != 0 {
		t.Errorf("%d were removed and %d are left, of %d (live %v, bad %v)", total, len(l.dead), 40*processes, l.live, l.bad)
	}
}

// childList lists, over and over, until it is killed. Anything that is not a whole run is an error.
func childList(args []string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		if err := j.List(ctx, func(r runtime.Record, live bool) error {
			if live && strings.HasPrefix(r.Run.ID, "dead") {
				return fmt.Errorf("dead run %s was listed as live", r.Run.ID)
			}
			return nil
		}, func(p string, e error) { err = errors.Join(err, fmt.Errorf("%s: %w", p, e)) }); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

// A listing meets every instant of a run's coming and going, and neither disturbs it nor takes what it meets for damage.
func TestListingBesideRunsThatComeAndGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := open(t, dir)
	for n := range 3 {
		if err := create(t, j, fmt.Sprintf("dead%d", n)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	var listers []*exec.Cmd
	for range 2 {
		cmd := child(t, "list", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		listers = append(listers, cmd)
	}
	for n := range 500 {
		e, err := j.Create(t.Context(), small(j, fmt.Sprint(n), runtime.StepPrepare))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(e.Dir(), "lock")); err != nil {
			t.Fatalf("run %d: a live run lost its lock file: %v", n, err)
		}
		if err := e.Update(small(j, fmt.Sprint(n), runtime.StepStart), false); err != nil {
			t.Fatal(err)
		}
		if err := e.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(e.Dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("run %d: its directory is there after Remove: %v", n, err)
		}
	}
	for _, cmd := range listers {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
			t.Errorf("a lister ended by itself: %v", err)
		}
	}
}

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
