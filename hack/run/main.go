//go:build linux

// Run is the main job of this repository on real input: for each backend of this host it runs one real job in a sandbox (counting the Go
// lines of this repository's own tree) and three forbidden ones, and prints what came of them.
//
// It exits 1 where a sandbox failed its job or did not contain a forbidden one. A backend this host does not have is said to be missing,
// and is no failure.
//
//sbx:seam the demonstration wires every backend to its name
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/local"
	"github.com/sbxkit/sbxkit/generated/podman"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	//sbx:allow lostfailure an error exits 1, as a job that was not contained does
	ok, err := run(ctx, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// row is one backend's line in the table.
type row struct {
	name, identity, job string
	contained           []string
	took                time.Duration
	failed              bool
	// details are what went wrong, too long for the table.
	details []string
}

// fail notes what went wrong and gives the word for the table.
func (r *row) fail(word, detail string) string {
	r.failed = true
	r.details = append(r.details, detail)
	return word
}

func run(ctx context.Context, out io.Writer) (bool, error) {
	toolbox, image := os.Getenv("SBX_TEST_TOOLBOX"), os.Getenv("SBX_TEST_IMAGE")
	if toolbox == "" {
		return false, errors.New("SBX_TEST_TOOLBOX is not set: start this by make run, which sets it up")
	}
	scene, err := newScene(".")
	if err != nil {
		return false, err
	}
	defer scene.close()
	ok := true
	var rows []row
	for _, b := range []struct {
		name string
		make func() (sbx.Backend, error)
	}{
		{"bwrap", func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{}) }},
		{"docker", func() (sbx.Backend, error) {
			return docker.New(docker.Options{Endpoint: os.Getenv("SBX_TEST_DOCKER_HOST")})
		}},
		{"podman", func() (sbx.Backend, error) {
			return podman.New(podman.Options{Endpoint: os.Getenv("SBX_TEST_PODMAN_HOST")})
		}},
		{"local", func() (sbx.Backend, error) { return local.New(local.Options{}) }},
	} {
		fmt.Fprintf(out, "%s ...\n", b.name)
		backend, err := b.make()
		if err != nil {
			return false, err
		}
		r, err := scene.play(ctx, b.name, backend, toolbox, image)
		if err != nil {
			return false, err
		}
		ok = ok && !r.failed
		rows = append(rows, r)
	}
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "BACKEND\tIDENTITY\tGO LINES COUNTED\tFORBIDDEN: READ OUTSIDE, HOST'S LOOPBACK, WRITE OUTSIDE\tTIME")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.name, r.identity, r.job, strings.Join(r.contained, ", "), r.took.Round(time.Millisecond))
	}
	if err := t.Flush(); err != nil {
		return false, err
	}
	for _, r := range rows {
		for _, d := range r.details {
			fmt.Fprintf(out, "%s: %s\n", r.name, d)
		}
	}
	return ok, nil
}

// play runs the job and the forbidden ones on one backend.
func (s *scene) play(ctx context.Context, name string, b sbx.Backend, toolbox, image string) (r row, err error) {
	r.name = name
	box, err := s.sandbox(ctx, b)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	began := time.Now()
	id, err := box.Probe(ctx)
	if err != nil {
		f := sbx.AsFailure(err, sbx.Setup)
		r.identity, r.job, r.contained = "not on this host", "did not run", []string{"did not run"}
		r.fail("", f.Error())
		r.failed = !errors.Is(err, sbx.ErrUnsupported)
		return r, nil
	}
	r.identity = id.String()
	workspace, err := s.workspace(name)
	if err != nil {
		return r, err
	}
	l := func(words ...string) sbx.Launch {
		l := sbx.Launch{
			Argv: append([]string{inside}, words...), Workspace: &sbx.Workspace{Source: workspace}, Timeouts: sbx.Timeouts{Wall: time.Minute},
			Mounts: []sbx.Mount{{Kind: sbx.MountBindRO, Source: toolbox, Target: inside}},
		}
		switch {
		case b.Describe().Kind == "engine":
			l.Image.Ref = image
		case b.Describe().Unsandboxed:
			// Nothing is mounted where nothing is sandboxed.
			l.Mounts = nil
			l.Argv[0] = toolbox
		}
		return l
	}
	if r.job, err = s.count(ctx, box, l, workspace); err != nil {
		r.job = r.fail("FAILED", err.Error())
	}
	for _, f := range s.forbidden() {
		held, err := f(ctx, box, l)
		switch {
		case err != nil:
			r.contained = append(r.contained, r.fail("FAILED", err.Error()))
		case held:
			r.contained = append(r.contained, "contained")
		case id.Unsandboxed:
			r.contained = append(r.contained, "open (isolates nothing)")
		default:
			r.contained = append(r.contained, r.fail("NOT CONTAINED", "a forbidden job was not contained"))
		}
	}
	r.took = time.Since(began)
	return r, nil
}

func (s *scene) sandbox(ctx context.Context, b sbx.Backend) (*sbx.Sandbox, error) {
	j, err := journal.Open(ctx, filepath.Join(s.dir, "state"))
	if err != nil {
		return nil, err
	}
	if b.Describe().Unsandboxed {
		return sbx.New(nil, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(b), sbx.WithJournal(j))
	}
	return sbx.New(b, sbx.WithJournal(j))
}
