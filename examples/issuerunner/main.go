// Issuerunner works on the issues of a small git repository that it makes itself: each issue's script runs in a sandbox on a copy of the tree,
// and what it changed is verified and imported by the controller, never by the sandbox.
//
//	issuerunner [-dir DIR] [-workers N] [-issue ID]
//
// It may be killed at any time: started again with the same directory it removes what was left and goes on. ISSUERUNNER_BACKEND names the
// sandbox, SBX_SANDBOX_IMAGE the image for docker and podman.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"

	"github.com/sbxkit/sbxkit/examples/issuerunner/control"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir := flag.String("dir", filepath.Join(os.TempDir(), fmt.Sprintf("issuerunner-%d", os.Getuid())), "where the repository and the state are")
	workers := flag.Int("workers", 2, "how many issues are worked on at once")
	only := flag.String("issue", "", "work on this issue alone")
	flag.Parse()
	b, err := backend(os.Getenv(backendVariable))
	if err == nil {
		err = run(ctx, b, *dir, *workers, *only, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "issuerunner:", err)
		stop()
		os.Exit(1)
	}
}

// open makes the repository, where there is none yet, and the controller on it, and settles what an earlier one left.
func open(ctx context.Context, b sbx.Backend, dir string, opts ...sbx.Option) (*control.Runner, control.Config, error) {
	c := control.Config{Backend: b, Options: opts, Dir: filepath.Join(dir, "state"), Attempts: 3}
	err := os.MkdirAll(c.Dir, 0o700)
	if err != nil {
		return nil, c, err
	}
	if c.Git, c.Issues, err = demo(ctx, dir); err != nil {
		return nil, c, err
	}
	if c.Journal, err = journal.Open(ctx, filepath.Join(c.Dir, "journal")); err != nil {
		return nil, c, err
	}
	r, err := control.New(c)
	if err != nil {
		return nil, c, err
	}
	if err := r.Resume(ctx); err != nil {
		return nil, c, errors.Join(err, r.Close())
	}
	return r, c, nil
}

func run(ctx context.Context, b sbx.Backend, dir string, workers int, only string, out io.Writer, opts ...sbx.Option) (err error) {
	r, c, err := open(ctx, b, dir, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if only == "" {
		err = r.Schedule(ctx, workers)
	} else if i := slices.IndexFunc(c.Issues, func(i control.Issue) bool { return i.ID == only }); i >= 0 {
		err = r.Work(ctx, c.Issues[i])
	} else {
		err = fmt.Errorf("there is no issue %q", only)
	}
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ISSUE\tTITLE\tSTATE\tATTEMPTS\tCANDIDATE")
	for _, i := range c.Issues {
		p := r.Progress(i.ID)
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.12s\n", i.ID, i.Title, p.State, p.Attempts, p.Commit)
	}
	return errors.Join(err, t.Flush())
}
