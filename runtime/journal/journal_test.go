package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func open(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// record is a full record of run id.
func record(j *journal.Journal, id string) runtime.Record {
	run := runtime.RunName{ID: id, Owner: j.Owner(), Dir: j.RunDir(id)}
	return runtime.Record{
		Version: runtime.RecordVersion, Run: run, Backend: "fake", Step: runtime.StepPrepare, PlanDigest: "sha256:00", BootID: "boot",
		Token: runtime.Token{
			Backend: "fake", Run: run, Name: run.Name(), Endpoint: "unix:///run/x.sock", Volumes: []string{"v"}, Networks: []string{"n"},
			Cgroups: []string{"/sys/fs/cgroup/x"}, Paths: []string{filepath.Join(run.Dir, "workspace"), "/tmp/\xff\xfe raw"},
			Processes: []runtime.ProcessIdentity{{PID: 7, StartTime: 8, BootID: "boot"}},
		},
		Created: 1, Updated: 2, Charged: true, Outcome: runtime.Exited, Code: 3, Failure: []byte(`{"kind":"setup"}`),
		Labels: []runtime.Label{{Name: "issue", Value: "<1> & \u2028"}},
	}
}

func create(t *testing.T, j *journal.Journal, id string) runtime.JournalEntry {
	t.Helper()
	e, err := j.Create(t.Context(), record(j, id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closes(t, e) })
	return e
}

// closes closes c, and fails the test where that fails: what a defer drops is lost.
func closes(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// listing is what List gave.
type listing struct {
	live, dead []string
	bad        map[string]error // by base name
}

func list(t *testing.T, j *journal.Journal) listing {
	t.Helper()
	l := listing{bad: map[string]error{}}
	err := j.List(t.Context(), func(r runtime.Record, live bool) error {
		if live {
			l.live = append(l.live, r.Run.ID)
		} else {
			l.dead = append(l.dead, r.Run.ID)
		}
		return nil
	}, func(path string, err error) { l.bad[filepath.Base(path)] = err })
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(l.live)
	slices.Sort(l.dead)
	return l
}

func (l listing) is(t *testing.T, live, dead []string, bad int) {
	t.Helper()
	if !slices.Equal(l.live, live) || !slices.Equal(l.dead, dead) || len(l.bad) != bad {
		t.Errorf("listed live %v, dead %v, bad %v; want %v, %v and %d bad", l.live, l.dead, l.bad, live, dead, bad)
	}
}

func TestARecordComesBackAsItWasWritten(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	want := record(j, "a")
	want.Step, want.Code = runtime.StepStart, 9
	for _, sync := range []bool{false, true} {
		if err := e.Update(want, sync); err != nil {
			t.Fatal(err)
		}
		if err := j.List(t.Context(), func(got runtime.Record, live bool) error {
			if !live || !reflect.DeepEqual(got, want) {
				t.Errorf("listed (live %v)\n%+v\nwant\n%+v", live, got, want)
			}
			return nil
		}, func(p string, err error) { t.Errorf("%s: %v", p, err) }); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(e.Record(), want) || e.Dir() != j.RunDir("a") {
		t.Errorf("the entry has %+v in %s", e.Record(), e.Dir())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, j.Dir()).Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer closes(t, again)
	if !reflect.DeepEqual(again.Record(), want) {
		t.Errorf("taken %+v, want %+v", again.Record(), want)
	}
}

func TestTheLockSaysWhetherTheOwnerLives(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	a, b := create(t, j, "a"), create(t, j, "b")
	list(t, j).is(t, []string{"a", "b"}, nil, 0)
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("taking a live run: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, []string{"b"}, []string{"a"}, 0)
	taken, err := j.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, []string{"a", "b"}, nil, 0)
	if err := taken.Remove(); err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, []string{"b"}, nil, 0)
	if _, err := j.Take(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taking a removed run: %v", err)
	}
	if err := b.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(j.Dir(), "runs")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAnEntryAfterItsEnd(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	closed := create(t, j, "a")
	removed := create(t, j, "b")
	for range 10 {
		if err := closed.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := removed.Remove(); err != nil {
			t.Errorf("Remove: %v", err)
		}
	}
	for name, e := range map[string]runtime.JournalEntry{"a": closed, "b": removed} {
		if err := e.Update(record(j, name), false); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: Update: %v", name, err)
		}
	}
	if err := closed.Remove(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Remove after Close: %v", err)
	}
	if err := removed.Close(); err != nil {
		t.Errorf("Close after Remove: %v", err)
	}
	list(t, j).is(t, nil, []string{"a"}, 0)
}

func TestTheOwnerIsMadeOnceAndStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	owners := make([]string, 16)
	var wg sync.WaitGroup
	for n := range owners {
		wg.Go(func() {
			j, err := journal.Open(context.Background(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			owners[n] = j.Owner()
		})
	}
	wg.Wait()
	for _, o := range owners {
		if o != owners[0] || len(o) != 26 {
			t.Fatalf("owners %q", owners)
		}
	}
	moved := dir + " moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if got := open(t, moved).Owner(); got != owners[0] {
		t.Errorf("after a move it is %q, and was %q", got, owners[0])
	}
	if other := open(t, dir).Owner(); other == owners[0] {
		t.Error("two state directories have one owner")
	}
}

func TestRunDirectoriesMoveWithTheStateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := create(t, open(t, dir), "a").Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir+"2")
	e, err := j.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer closes(t, e)
	if r := e.Record(); r.Run.Dir != j.RunDir("a") || r.Token.Run.Dir != j.RunDir("a") {
		t.Errorf("the record says %q and %q", r.Run.Dir, r.Token.Run.Dir)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space", "with\nnewline", "\xff\xfe not utf-8", "-leading-dash", "--", "$(x) `y` 'z' \"q\"", "ünï", strings.Repeat("l", 200)} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			t.Chdir(t.TempDir())
			j := open(t, name)
			e := create(t, j, "a")
			if err := e.Update(record(j, "a"), true); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e, err := open(t, name).Take(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if want := record(j, "a"); !reflect.DeepEqual(e.Record(), want) {
				t.Errorf("got %+v, want %+v", e.Record(), want)
			}
			if err := e.Remove(); err != nil {
				t.Fatal(err)
			}
			list(t, j).is(t, nil, nil, 0)
		})
	}
}

func TestPermissions(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	if err := e.Update(record(j, "a"), true); err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{
		".": 0o700, "runs": 0o700, "runs/a": 0o700, "owner": 0o600, "owner.lock": 0o600, "runs/a/lock": 0o600, "runs/a/record.json": 0o600,
	}
	for name, mode := range want {
		i, err := os.Lstat(filepath.Join(j.Dir(), name))
		if err != nil || i.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want %v", name, i, err, mode)
		}
	}
}

func TestRecordsThatDoNotBelong(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	for name, change := range map[string]func(*runtime.Record){
		"no id":            func(r *runtime.Record) { r.Run.ID = "" },
		"an id that leads": func(r *runtime.Record) { r.Run.ID = "../x" },
		"an option":        func(r *runtime.Record) { r.Run.ID = "-x" },
		"a long id":        func(r *runtime.Record) { r.Run.ID = strings.Repeat("a", 64) },
		"another owner":    func(r *runtime.Record) { r.Run.Owner = "x" },
		"another token":    func(r *runtime.Record) { r.Token.Run.ID = "b" },
		"no backend":       func(r *runtime.Record) { r.Backend = "" },
		"no step":          func(r *runtime.Record) { r.Step = "x" },
		"a huge one":       func(r *runtime.Record) { r.PlanDigest = strings.Repeat("x", 1<<20) },
	} {
		r := record(j, "a")
		change(&r)
		var f *runtime.Failure
		if _, err := j.Create(t.Context(), r); !errors.As(err, &f) || f.Kind != runtime.Setup {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := j.Take(t.Context(), "../x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taking what leads away: %v", err)
	}
	e := create(t, j, "a")
	if err := e.Update(record(j, "b"), false); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("updating with another run's record: %v", err)
	}
	if _, err := j.Create(t.Context(), record(j, "a")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating a run again: %v", err)
	}
	list(t, j).is(t, []string{"a"}, nil, 0)
}

func TestRemoveTakesWhatTheCommandLeftAndFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "keep"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	deep := filepath.Join(e.Dir(), "workspace", "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(deep, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(e.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(deep, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(deep), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(e.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(outside, "keep")); err != nil {
		t.Errorf("what a link leads to was removed: %v", err)
	}
}

func TestListEndsWithItsContextAndWithItsCallersError(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	create(t, j, "a")
	create(t, j, "b")
	stop := errors.New("stop")
	if err := j.List(t.Context(), func(runtime.Record, bool) error { return stop }, nil); err != stop {
		t.Errorf("List gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.List(ctx, func(runtime.Record, bool) error { return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("List gave %v", err)
	}
	if _, err := j.Create(ctx, record(j, "c")); !errors.Is(err, context.Canceled) {
		t.Errorf("Create gave %v", err)
	}
	list(t, j).is(t, []string{"a", "b"}, nil, 0)
}

func TestOpenExistingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := journal.OpenExisting(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	j := open(t, dir)
	k, err := journal.OpenExisting(t.Context(), dir)
	if err != nil || k.Owner() != j.Owner() {
		t.Errorf("%v, %v", k, err)
	}
	if _, err := journal.Open(t.Context(), filepath.Join(dir, "no", "parent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: %v", err)
	}
	if _, err := journal.Open(t.Context(), ""); !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("an empty path: %v", err)
	}
}
