// Package control is a controller that lets untrusted commands work on issues of a git repository: it launches them through the seam, counts
// their attempts, and imports at most one candidate for each issue.
//
// Which backend runs a command is not known here. What a crash at any instant leaves is settled by Resume: the seam removes what is left of
// the runs, the repository says whether a candidate was imported, and the controller's own counters say how often was tried.
package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

const (
	issueLabel = "issue"
	// workspace is where the tree stands inside.
	workspace = "/workspace"
)

// Issue is a piece of work.
type Issue struct {
	ID, Title string
	// Base is the commit to work on.
	Base string
	// Script is what works on it, for the shell, in a copy of the base's tree.
	Script string
	// Paths are patterns (path.Match) of what a candidate may change.
	Paths []string
}

// Config is what a Runner is made of.
type Config struct {
	Backend sbx.Backend
	Journal sbx.Journal
	// Options are what else the sandbox is made with: an observer, a mode.
	Options []sbx.Option
	Git     Git
	// Dir is the controller's own directory, for its counters and what was exported.
	Dir string
	// Attempts is how often an issue is tried.
	Attempts int
	Issues   []Issue
}

// Runner is the controller. It is safe for concurrent use.
type Runner struct {
	c     Config
	box   *sbx.Sandbox
	state *State
	in    *importer
}

// New opens the controller's state and makes its one sandbox.
func New(c Config) (*Runner, error) {
	in := &importer{git: c.Git, dir: c.Dir, issues: map[string]Issue{}}
	for _, i := range c.Issues {
		in.issues[i.ID] = i
	}
	box, err := sbx.New(c.Backend, append([]sbx.Option{sbx.WithJournal(c.Journal), sbx.WithController(in), sbx.WithStager(stage.New())}, c.Options...)...)
	if err != nil {
		return nil, err
	}
	state, err := OpenState(c.Dir)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return &Runner{c: c, box: box, state: state, in: in}, nil
}

// Close waits for what runs.
func (r *Runner) Close() error { return errors.Join(r.box.Close(), r.state.Close()) }

// Progress gives what is known of an issue.
func (r *Runner) Progress(issue string) Progress { return r.state.Get(issue) }

// Resume settles what an earlier controller left, whenever it died. It comes before any launch.
func (r *Runner) Resume(ctx context.Context) error {
	rep, err := r.box.Reconcile(ctx, sbx.ReconcileOptions{})
	if err != nil {
		return err
	}
	var all []error
	for _, run := range rep.Runs {
		if run.Failure != nil {
			all = append(all, run.Failure)
		}
	}
	all = append(all, os.RemoveAll(filepath.Join(r.c.Dir, "exports")))
	indexes, err := filepath.Glob(filepath.Join(r.c.Dir, "index-*"))
	all = append(all, err)
	for _, i := range indexes {
		all = append(all, os.Remove(i))
	}
	for _, i := range r.c.Issues {
		if r.state.Get(i.ID).State == Charged {
			all = append(all, r.settle(ctx, i, "the controller died"))
		}
	}
	return errors.Join(all...)
}

// launch is how every attempt at an issue is launched, whoever asks for it.
func (r *Runner) launch(i Issue, output *sbx.Tail) sbx.Launch {
	l := sbx.Launch{
		Script:    &sbx.Script{Interpreter: []string{"/bin/sh", "-eu"}, Text: []byte(i.Script)},
		Workspace: &sbx.Workspace{Source: r.c.Git.Dir, Treeish: i.Base, Target: workspace, Mode: sbx.WorkspaceCopy, Files: maxFiles, Bytes: maxBytes},
		User:      sbx.User{Kind: sbx.UserCaller},
		Labels:    map[string]string{issueLabel: i.ID},
		Stdout:    output, Stderr: output,
		Charge: func(_ context.Context, p *sbx.Plan) error { return r.charge(i, p) },
	}
	if b := r.c.Backend; b != nil && b.Describe().Exports {
		l.Artifacts = &sbx.Artifacts{Paths: []string{workspace}, Files: maxFiles, Bytes: maxBytes}
	}
	return l
}

// charge is the line from which an attempt counts.
func (r *Runner) charge(i Issue, p *sbx.Plan) error {
	return r.state.Change(i.ID, func(g *Progress) error {
		if g.State != Open || g.Attempts >= r.c.Attempts {
			return fmt.Errorf("issue %s is %s after %d attempts", i.ID, g.State, g.Attempts)
		}
		*g = Progress{State: Charged, Attempts: g.Attempts + 1, Run: p.Token.Run.ID, Plan: p.Digest()}
		return nil
	})
}

// Work works on one issue until its candidate is imported or its attempts are used up. The error is for what kept it from that: a refused
// launch, which does not count, a cleanup that is uncertain, or the end of ctx.
func (r *Runner) Work(ctx context.Context, i Issue) error {
	for r.state.Get(i.ID).State == Open {
		if err := ctx.Err(); err != nil {
			return err
		}
		output := sbx.NewTail(1<<10, 3<<10)
		res, err := r.box.Run(ctx, r.launch(i, output))
		if r.state.Get(i.ID).State != Charged {
			return err // nothing was changed: the launch was refused before its charge, or by it
		}
		why := res.String()
		if err != nil {
			why += ": " + err.Error()
		}
		if s := output.String(); s != "" {
			why += fmt.Sprintf("; it wrote %q", s)
		}
		// The end of ctx does not leave a charged attempt unsettled.
		if err := errors.Join(r.settle(context.WithoutCancel(ctx), i, why), r.in.forget(res.Facts.RunID)); err != nil {
			return err
		}
		if res.Failure != nil && len(res.Failure.Left) > 0 {
			return res.Failure
		}
	}
	return nil
}

// settle ends a charged attempt. Whether it was imported is the repository's to say, and not the record of a run.
func (r *Runner) settle(ctx context.Context, i Issue, why string) error {
	commit, err := r.c.Git.Candidate(ctx, i.ID)
	if err != nil {
		return err
	}
	return r.state.Change(i.ID, func(g *Progress) error {
		switch {
		case commit != "":
			g.State, g.Commit, g.Why = Imported, commit, ""
		case g.Attempts >= r.c.Attempts:
			g.State, g.Why = Failed, why
		default:
			g.State, g.Why = Open, why
		}
		return nil
	})
}

// Schedule works on all issues with so many workers. The first error ends the handing out; what is being worked on is finished.
func (r *Runner) Schedule(ctx context.Context, workers int) error {
	queue := make(chan Issue)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	errs := make([]error, max(workers, 1))
	for w := range errs {
		wg.Go(func() {
			for i := range queue {
				if err := r.Work(ctx, i); err != nil {
					errs[w] = errors.Join(errs[w], fmt.Errorf("issue %s: %w", i.ID, err))
				}
			}
		})
	}
	for _, i := range r.c.Issues {
		select {
		case queue <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wg.Wait()
	return errors.Join(errs...)
}
