package sbxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// keeper is a controller that keeps what it is asked, in order.
type keeper struct {
	dir                      string
	export, verify, imported error

	mu         sync.Mutex
	calls      []string
	candidates []*runtime.Candidate
}

func (k *keeper) note(call string, c *runtime.Candidate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, call)
	if c != nil {
		k.candidates = append(k.candidates, c)
	}
}

func (k *keeper) ExportDir(context.Context, *runtime.Plan) (string, error) {
	k.note("export", nil)
	return k.dir, k.export
}

func (k *keeper) Verify(_ context.Context, c *runtime.Candidate) error {
	k.note("verify", c)
	return k.verify
}

func (k *keeper) Import(_ context.Context, c *runtime.Candidate) error {
	k.note("import", c)
	return k.imported
}

// candidate runs a command that makes a candidate, in the way this backend hands one over, and gives the result.
func (c *C) candidate(k *keeper, h Hooks, change func(*runtime.Launch), more ...Act) (*runtime.Result, error) {
	k.dir = c.dir()
	l := c.launch(append([]Act{write("/workspace/out", "the work\n")}, more...)...)
	if !c.subject.Backend.Describe().Exports {
		l = c.launch(append([]Act{write("out", "the work\n")}, more...)...)
	}
	l.Workspace = &runtime.Workspace{Source: c.dir(), Mode: runtime.WorkspaceBindRW}
	if c.subject.Backend.Describe().Exports {
		l.Artifacts = &runtime.Artifacts{Paths: []string{"/workspace/out"}}
	}
	if change != nil {
		change(&l)
	}
	st := c.stand(setting{hooks: h, opts: []runtime.Option{runtime.WithController(k)}})
	return st.run(l)
}

// asked checks what the controller was asked.
func (c *C) asked(k *keeper, want ...string) {
	if !c.subject.Backend.Describe().Exports && len(want) > 0 && want[0] == "export" {
		want = want[1:]
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.calls) != len(want) {
		c.Fatalf("the controller was asked %v, want %v", k.calls, want)
	}
	for i := range want {
		if k.calls[i] != want[i] {
			c.Errorf("the controller was asked %v, want %v", k.calls, want)
		}
	}
}

type exportNext = func(context.Context, string, *runtime.Artifacts) (*runtime.Manifest, error)

func controllerChecks() []Check {
	exports := func(c *C) {
		if !c.subject.Backend.Describe().Exports {
			c.Gap("the candidate is the worktree itself, and nothing is exported")
		}
	}
	return []Check{
		check("a candidate is verified and then imported, once", ruleController, func(c *C) {
			k := &keeper{}
			res, err := c.candidate(k, Hooks{}, nil)
			if err != nil || !res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
			c.asked(k, "export", "verify", "import")
		}, "workspace.bind-rw"),
		check("a candidate holds what the command made", ruleExport, func(c *C) {
			k := &keeper{}
			res, err := c.candidate(k, Hooks{}, nil)
			c.must(err, "running")
			if len(k.candidates) == 0 {
				c.Fatalf("there is no candidate")
			}
			x := k.candidates[0]
			if x.RunID != res.Facts.RunID || x.PlanDigest != res.Facts.PlanDigest || x.Outcome != runtime.Exited || x.Code != 0 {
				c.Errorf("the candidate is %+v", x)
			}
			if x.Worktree {
				c.content(filepath.Join(x.Dir, "out"), "the work\n")
				return
			}
			if x.Manifest == nil || !x.Manifest.Whole || len(x.Manifest.Files) == 0 || x.Manifest.Digest == "" {
				c.Fatalf("the manifest is %+v", x.Manifest)
			}
			for _, f := range x.Manifest.Files {
				if f.Size > 0 && f.Digest == "" {
					c.Errorf("%s has no digest", f.Path)
				}
				if filepath.Base(f.Path) == "out" {
					c.content(filepath.Join(x.Dir, f.Path), "the work\n")
				}
			}
		}, "workspace.bind-rw"),
		check("a candidate that is not verified is not imported", ruleController, func(c *C) {
			k := &keeper{verify: errors.New("a bad tree")}
			res, err := c.candidate(k, Hooks{}, nil)
			f := c.failure(err)
			if f.Kind != runtime.Denied || f.Step != runtime.StepImport || !f.Charged || res.Success() || !errors.Is(err, k.verify) {
				c.Errorf("came to %s, %v", res, err)
			}
			c.outcome(res, runtime.Exited)
			c.asked(k, "export", "verify")
		}, "workspace.bind-rw"),
		check("an import that fails is no success", ruleController, func(c *C) {
			k := &keeper{imported: errors.New("busy")}
			res, err := c.candidate(k, Hooks{}, nil)
			if f := c.failure(err); f.Step != runtime.StepImport || res.Success() || res.ExitCode() == 0 {
				c.Errorf("came to %s, %v", res, err)
			}
			c.asked(k, "export", "verify", "import")
		}, "workspace.bind-rw"),
		check("what a failed command left is the controller's to judge", ruleController, func(c *C) {
			k := &keeper{}
			res, _ := c.candidate(k, Hooks{}, nil, exit(9))
			c.asked(k, "export", "verify", "import")
			if res.Code != 9 || len(k.candidates) == 0 || k.candidates[0].Code != 9 {
				c.Errorf("came to %s; candidates %+v", res, k.candidates)
			}
		}, "workspace.bind-rw"),
		check("an end nobody witnessed makes no candidate", ruleController, func(c *C) {
			k := &keeper{}
			res, _ := c.candidate(k, Hooks{Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
				_, _ = next(ctx, d)
				return nil, runtime.Fail(runtime.Uncertain, "the engine died")
			}}, nil)
			c.outcome(res, runtime.UncertainOutcome)
			c.asked(k)
		}, "workspace.bind-rw"),
		check("a launch that never ran makes no candidate", ruleController, func(c *C) {
			k := &keeper{}
			_, _ = c.candidate(k, refuser(runtime.StepStart, false, runtime.Fail(runtime.Setup, "not today")), nil)
			c.asked(k)
		}, "workspace.bind-rw"),
		check("a partial export is never a candidate", ruleExport, func(c *C) {
			exports(c)
			k := &keeper{}
			res, err := c.candidate(k, Hooks{Export: func(ctx context.Context, dir string, a *runtime.Artifacts, next exportNext) (*runtime.Manifest, error) {
				m, err := next(ctx, dir, a)
				if err != nil {
					return m, err
				}
				half := *m
				half.Whole = false
				return &half, nil
			}}, nil)
			if f := c.failure(err); f.Step != runtime.StepExport || res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
			c.asked(k, "export")
		}, "artifacts", "workspace.bind-rw"),
		check("an export above its bound is refused, and no candidate", ruleExport, func(c *C) {
			exports(c)
			k := &keeper{}
			res, err := c.candidate(k, Hooks{}, func(l *runtime.Launch) { l.Artifacts.Bytes = 3 })
			if err == nil || res.Success() {
				c.Fatalf("nine bytes went through a bound of three")
			}
			if f := c.failure(err); f.Step != runtime.StepExport || f.Kind != runtime.Setup && f.Kind != runtime.Denied {
				c.Errorf("got %v", err)
			}
			c.asked(k, "export")
		}, "artifacts", "workspace.bind-rw"),
		check("an artifact that is not there is a failure", ruleExport, func(c *C) {
			exports(c)
			k := &keeper{}
			res, err := c.candidate(k, Hooks{}, func(l *runtime.Launch) { l.Artifacts.Paths = []string{"/workspace/none"} })
			if err == nil || res.Success() {
				c.Fatalf("came to %s", res)
			}
			if f := c.failure(err); f.Step != runtime.StepExport {
				c.Errorf("got %v", err)
			}
			c.asked(k, "export")
		}, "artifacts", "workspace.bind-rw"),
		check("a controller that gives no place gets no candidate", ruleExport, func(c *C) {
			exports(c)
			k := &keeper{export: errors.New("no place")}
			_, err := c.candidate(k, Hooks{}, nil)
			if f := c.failure(err); f.Step != runtime.StepExport || !errors.Is(err, k.export) {
				c.Errorf("got %v", err)
			}
			c.asked(k, "export")
		}, "artifacts", "workspace.bind-rw"),
		check("nothing that was not declared is exported", ruleExport, func(c *C) {
			exports(c)
			k := &keeper{}
			_, err := c.candidate(k, Hooks{}, nil, write("/workspace/private", "x"))
			c.must(err, "running")
			list, err := os.ReadDir(k.dir)
			c.must(err, "listing the export")
			_ = filepath.WalkDir(k.dir, func(p string, d os.DirEntry, err error) error {
				if err == nil && filepath.Base(p) == "private" {
					c.Errorf("%s was exported", p)
				}
				return err
			})
			if len(list) == 0 {
				c.Errorf("nothing was exported")
			}
		}, "artifacts", "workspace.bind-rw"),
		check("without a controller nothing is handed over, and the steps say so", ruleController, func(c *C) {
			res, err := c.plain().run(c.launch(say("x")))
			c.must(err, "running")
			for _, s := range res.Facts.Steps {
				if (s.Step == runtime.StepExport || s.Step == runtime.StepImport) && s.State != runtime.StateNothing {
					c.Errorf("%s came to %s", s.Step, s.State)
				}
			}
		}),
	}
}
