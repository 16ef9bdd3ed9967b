//go:build linux

// Package refusaltest has every step of a launch refused for a real reason, on every sandbox of this host: by what a person would have done
// wrong, or by a host that is not as it must be.
//
//sbx:seam its tests drive every real backend
package refusaltest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// host is a kind of sandbox: the backend as it should be, and one whose program or engine is not there.
type host struct {
	name         string
	engine       bool
	make, absent func() (sbx.Backend, error)
}

func hosts(t *testing.T, f func(t *testing.T, h host)) {
	t.Run("bwrap", func(t *testing.T) {
		testhost.Bwrap(t)
		f(t, host{"bwrap", false,
			func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{}) },
			func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{Program: "/no/such/bwrap"}) }})
	})
	t.Run("docker", func(t *testing.T) {
		at, _ := testhost.Docker(t)
		f(t, host{"docker", true,
			func() (sbx.Backend, error) { return docker.New(docker.Options{Endpoint: at}) },
			func() (sbx.Backend, error) { return docker.New(docker.Options{Endpoint: "unix:///no/such/socket"}) }})
	})
	t.Run("podman", func(t *testing.T) {
		at, _ := testhost.Podman(t)
		f(t, host{"podman", true,
			func() (sbx.Backend, error) { return podman.New(podman.Options{Endpoint: at}) },
			func() (sbx.Backend, error) { return podman.New(podman.Options{Endpoint: "unix:///no/such/socket"}) }})
	})
}

// run is one launch of these tests, before it is launched.
type run struct {
	t       *testing.T
	host    host
	journal *journal.Journal
	backend sbx.Backend
	launch  sbx.Launch
	charges int
	// verify is the controller's, nil where it takes everything.
	verify error
	out    bytes.Buffer
}

// workspace is a copied workspace with these files, by name; a target with a leading "->" is a symbolic link.
func (r *run) workspace(files map[string]string) {
	dir := r.t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := error(nil)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.launch.Workspace = &sbx.Workspace{Source: dir, Mode: sbx.WorkspaceCopy}
}

// ExportDir, Verify and Import make a run its own controller.
func (r *run) ExportDir(context.Context, *sbx.Plan) (string, error) { return r.t.TempDir(), nil }

func (r *run) Verify(context.Context, *sbx.Candidate) error { return r.verify }

func (r *run) Import(context.Context, *sbx.Candidate) error { return nil }

var errNotGood = errors.New("the tests do not pass")

// refusal is a reason, and how it comes out. ran says that the command did.
type refusal struct {
	name string
	step sbx.Step
	kind error
	// missed says that a try did not come to the refusal, for a reason that is no fault: the launch is then tried again. nil: it never does.
	missed  func(res *sbx.Result) bool
	charged bool
	ran     bool
	on      []string // these backends alone; nil: all
	prepare func(r *run)
}

var engines = []string{"docker", "podman"}

// refusals are the reasons, in the order of the steps.
var refusals = []refusal{
	{name: "nothing to make a sandbox with", step: sbx.StepProbe, kind: sbx.ErrUnsupported, prepare: func(r *run) {
		b, err := r.host.absent()
		if err != nil {
			r.t.Fatal(err)
		}
		r.backend = b
	}},
	{name: "a role the spec does not declare", step: sbx.StepPlan, kind: sbx.ErrDenied, prepare: func(r *run) {
		r.launch.Credentials = map[string]sbx.Credential{"no-such-role": {Value: []byte("x")}}
	}},
	{name: "what the backend cannot do", step: sbx.StepPlan, kind: sbx.ErrUnsupported, prepare: func(r *run) { r.launch.Hardening.Landlock = true }},
	{name: "a state directory that takes no run", step: sbx.StepPrepare, kind: sbx.ErrSetup, prepare: func(r *run) {
		runs := filepath.Dir(r.journal.RunDir("x"))
		if err := errors.Join(os.RemoveAll(runs), os.WriteFile(runs, nil, 0o600)); err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() {
			if err := errors.Join(os.Remove(runs), os.Mkdir(runs, 0o700)); err != nil {
				r.t.Error(err)
			}
		})
	}},
	{name: "less memory than the engine starts anything with", step: sbx.StepPrepare, kind: sbx.ErrSetup, on: []string{"docker"}, prepare: func(r *run) {
		r.launch.Limits.Memory = sbx.AtMost(1 << 20)
	}},
	{name: "a link that leaves the workspace", step: sbx.StepStage, kind: sbx.ErrDenied, prepare: func(r *run) {
		r.workspace(map[string]string{"passwd": "->/etc/passwd"})
	}},
	{name: "an executor that has no attempt left", step: sbx.StepCharge, kind: sbx.ErrDenied, prepare: func(r *run) {
		r.launch.Charge = func(context.Context, *sbx.Plan) error { return errors.New("no attempt left") }
	}},
	{name: "a program without its interpreter", step: sbx.StepStart, kind: sbx.ErrCommand, charged: true, on: []string{"bwrap"}, prepare: func(r *run) {
		r.workspace(map[string]string{"program": "#!/no/such/interpreter\n"})
		r.launch.Argv = []string{"/workspace/program"}
	}},
	{name: "a mount that the engine's runtime does not make", step: sbx.StepStart, kind: sbx.ErrSetup, charged: true, on: engines, prepare: func(r *run) {
		r.launch.Mounts = []sbx.Mount{{Kind: sbx.MountTmpfs, Target: "/proc/self"}}
	}},
	// Docker's wait tells the end of a container that is removed, and its record is there a moment longer; Podman's can be, in which case the end
	// was witnessed.
	{name: "a container that vanishes", step: sbx.StepCapture, kind: sbx.ErrUncertain, charged: true, ran: true, on: []string{"podman"}, prepare: func(r *run) {
		r.launch.Argv = []string{"sleep", "1000"}
	}, missed: func(res *sbx.Result) bool { return res.Failure == nil && res.Outcome == sbx.Signaled }},
	{name: "an artifact that is not there", step: sbx.StepExport, kind: sbx.ErrSetup, charged: true, ran: true, on: engines, prepare: func(r *run) {
		r.launch.Artifacts = &sbx.Artifacts{Paths: []string{"/workspace/no-such-file"}}
	}},
	{name: "a candidate that the controller does not take", step: sbx.StepImport, kind: sbx.ErrDenied, charged: true, ran: true, on: engines, prepare: func(r *run) {
		r.launch.Artifacts = &sbx.Artifacts{Paths: []string{"/etc/passwd"}}
		r.verify = errNotGood
	}},
}

// TestARefusalAtEachStepLeavesNothingAndChargesOnlyPastTheLine looks at kind, step and charge of each refusal, and at what is left behind.
func TestARefusalAtEachStepLeavesNothingAndChargesOnlyPastTheLine(t *testing.T) {
	hosts(t, func(t *testing.T, h host) {
		b, err := h.make()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := b.(sbx.Closer).Close(); err != nil {
				t.Error(err)
			}
		}()
		for _, c := range refusals {
			if c.on != nil && !slices.Contains(c.on, h.name) {
				continue
			}
			t.Run(string(c.step)+": "+c.name, func(t *testing.T) {
				r, res := c.launched(t, h, b)
				for try := 1; c.missed != nil && c.missed(res); try++ {
					if r.nothingLeft(b, res.Facts.RunID, nil); try == tries {
						t.Fatalf("%d tries came to %v", tries, res)
					}
					r, res = c.launched(t, h, b)
				}
				f := res.Failure
				if f == nil {
					t.Fatalf("it came to %v, want a refusal at %s", res, c.step)
				}
				t.Log(f)
				if !errors.Is(f, c.kind) || f.Step != c.step || !strings.HasPrefix(f.Backend, h.name) {
					t.Errorf("refused as %s at %s by %q, want %v at %s", f.Kind, f.Step, f.Backend, c.kind, c.step)
				}
				if f.Charged != c.charged || res.Facts.Charged != c.charged || (r.charges == 1) != c.charged {
					t.Errorf("charged %d times; the failure says %v, the facts %v, want %v", r.charges, f.Charged, res.Facts.Charged, c.charged)
				}
				switch ran := strings.Contains(r.out.String(), "ran"); {
				case !c.ran && (res.Outcome != sbx.NeverRan || ran):
					t.Errorf("outcome %s, output %q: it has not run", res.Outcome, &r.out)
				case c.ran && res.Success():
					t.Errorf("it counts as a success: %v", res)
				}
				r.nothingLeft(b, res.Facts.RunID, f)
			})
		}
	})
}

// tries is how often a refusal that can be missed is asked for.
const tries = 20

// launched launches once for a refusal.
func (c *refusal) launched(t *testing.T, h host, b sbx.Backend) (*run, *sbx.Result) {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, host: h, journal: j, backend: b, launch: sbx.Launch{Argv: []string{"echo", "ran"}}}
	if h.engine {
		r.launch.Image.Ref = os.Getenv("SBX_TEST_IMAGE")
	}
	r.launch.Stdout = &r.out
	c.prepare(r)
	if ask := r.launch.Charge; ask == nil {
		r.launch.Charge = func(context.Context, *sbx.Plan) error { r.charges++; return nil }
	}
	box, err := sbx.New(r.backend, sbx.WithJournal(j), sbx.WithStager(stage.New()), sbx.WithController(r))
	if err != nil {
		t.Fatal(err)
	}
	return r, r.walk(box, c.step == sbx.StepCapture)
}

// walk launches and waits; where it is to vanish, its container is removed by somebody else meanwhile.
func (r *run) walk(box *sbx.Sandbox, vanish bool) *sbx.Result {
	ctx := r.t.Context()
	if !vanish {
		res, err := box.Run(ctx, r.launch)
		return r.same(res, err)
	}
	run, err := box.Launch(ctx, r.launch)
	if err != nil {
		r.t.Fatal(err)
	}
	other, err := r.backend.Reopen(ctx, run.Plan().Token)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := other.Remove(ctx); err != nil {
		r.t.Fatal(err)
	}
	res, err := run.Wait(ctx)
	return r.same(res, err)
}

// same checks that the error of a run is its result's failure.
func (r *run) same(res *sbx.Result, err error) *sbx.Result {
	if f := sbx.AsFailure(err, ""); err != nil && f != res.Failure || err == nil && res.Failure != nil {
		r.t.Errorf("the error is %v, and the result's failure %v", err, res.Failure)
	}
	return res
}

// nothingLeft looks for what a run may leave: a record, a directory, a resource of an engine, a process, a control group.
func (r *run) nothingLeft(b sbx.Backend, id string, f *sbx.Failure) {
	r.t.Helper()
	if f != nil && len(f.Left) != 0 {
		r.t.Errorf("the failure says that this is left: %+v", f.Left)
	}
	if entries, err := os.ReadDir(filepath.Dir(r.journal.RunDir(id))); err == nil && len(entries) != 0 {
		r.t.Errorf("run directories %v are left", entries)
	}
	if finder, ok := b.(sbx.Reconciler); ok {
		if found, _, err := finder.Find(r.t.Context(), r.journal.Owner()); err != nil || len(found) != 0 {
			r.t.Errorf("the engine still has %+v, %v", found, err)
		}
	}
	// A sandbox's program is started under its run's name, and its control groups carry it.
	cmdlines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range cmdlines {
		// An engine's own monitor ends a moment after its container.
		var text []byte
		for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
			if text, err = os.ReadFile(name); err != nil || !bytes.Contains(text, []byte(id)) {
				text = nil
				break
			}
		}
		if text != nil {
			r.t.Errorf("%s is left: %q", filepath.Dir(name), text)
		}
	}
	if groups := testhost.ControlGroups(r.t, id); len(groups) != 0 {
		r.t.Errorf("control groups %v are left", groups)
	}
}

// TestEveryStepThatARefusalCanComeFromIsRefused compares the table with the driver's own list.
func TestEveryStepThatARefusalCanComeFromIsRefused(t *testing.T) {
	for _, s := range sbx.Steps() {
		if s == sbx.StepRemove || s == sbx.StepReconcile {
			continue // refused by a daemon that fails them: the engine's room and the crash tests have those
		}
		if !slices.ContainsFunc(refusals, func(r refusal) bool { return r.step == s }) {
			t.Errorf("no refusal at %s", s)
		}
	}
}
