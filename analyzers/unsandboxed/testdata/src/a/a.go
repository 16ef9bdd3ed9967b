// Package a falls back.
package a

import (
	"context"
	"errors"
	"log"
	"os"
	"os/exec"
	"syscall"

	"detect"
	"wrap"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// A probe, a plan, a launch and a run that fail.

func probe(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	if _, err := s.Probe(ctx); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where Sandbox.Probe has failed, starts the command without a sandbox \(exec.Command\)`
	}
	_, err := s.Run(ctx, sbx.Launch{Argv: argv})
	return err
}

func plan(ctx context.Context, s *sbx.Sandbox, l sbx.Launch) ([]string, error) {
	p, err := s.Plan(ctx, l)
	if err != nil {
		return l.Argv, nil // want `where Sandbox.Plan has failed, gives the command unwrapped`
	}
	return p.Argv, nil
}

func launch(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	r, err := s.Launch(ctx, sbx.Launch{Argv: argv})
	if err == nil {
		_, err = r.Wait(ctx)
		return err
	}
	log.Print(err)
	cmd := exec.Command(argv[0], argv[1:]...) // want `where Sandbox.Launch has failed, starts the command`
	return cmd.Run()
}

func run(ctx context.Context, s *sbx.Sandbox) error {
	res, err := s.Run(ctx, sbx.Launch{Argv: []string{"make", "test"}})
	if errors.Is(err, sbx.ErrUnsupported) {
		return exec.Command("make", "test").Run() // want `where Sandbox.Run has failed, starts the command`
	}
	if res.Outcome == sbx.NeverRan {
		return exec.Command("make", "test").Run() // want `where Result.Outcome has failed, starts the command`
	}
	if res.Err() != nil {
		return syscall.Exec("/usr/bin/make", []string{"make", "test"}, nil) // want `where Result.Err has failed, starts the command`
	}
	return err
}

func backend() (sbx.Backend, error) {
	b, err := bwrap.New(bwrap.Options{})
	if err != nil {
		return local.New(local.Options{}) // want `where bwrap.New has failed, goes on with a backend that isolates nothing \(local.New\)`
	}
	return b, nil
}

func ahead() sbx.Backend {
	var b sbx.Backend
	l, _ := local.New(local.Options{})
	bw, err := bwrap.New(bwrap.Options{})
	b = bw
	if err != nil {
		b = l // want `where bwrap.New has failed, goes on with a backend that isolates nothing \(made before\)`
	}
	return b
}

func disabled(b, l sbx.Backend) (*sbx.Sandbox, error) {
	s, err := sbx.New(b)
	if err != nil {
		return sbx.New(nil, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(l)) // want `where runtime.New has failed, goes on with a backend that isolates nothing \(WithMode\(Disabled\)\)`
	}
	return s, nil
}

// Boolean probes.

func lookPath(argv []string) *exec.Cmd {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return exec.Command(argv[0], argv[1:]...) // want `where exec.LookPath has failed, starts the command`
	}
	return exec.Command("bwrap", append([]string{"--unshare-all"}, argv...)...)
}

func noPath(argv []string) *exec.Cmd {
	path, _ := exec.LookPath("bwrap")
	if path == "" {
		return exec.Command(argv[0], argv[1:]...) // want `starts the command`
	}
	return exec.Command(path, argv...)
}

func boolean(argv []string) error {
	if !detect.Available() {
		return wrap.Host(argv) // want `where detect.Available → exec.LookPath has failed, starts the command without a sandbox \(wrap.Host → exec.Command\)`
	}
	return nil
}

func missing(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	switch {
	case detect.Missing(ctx, s):
		return wrap.Host(argv) // want `where detect.Missing → Sandbox.Probe has failed`
	default:
		return wrap.Sandboxed(ctx, s, argv)
	}
}

func flag(argv []string) error {
	ok := false
	if _, err := exec.LookPath("docker"); err == nil {
		ok = true
	}
	if !ok {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where exec.LookPath has failed`
	}
	return nil
}

func variable(argv []string) error {
	if detect.Bubblewrap {
		return nil
	}
	return exec.Command(argv[0], argv[1:]...).Run() // want `where exec.LookPath has failed`
}

type runner struct{ available bool }

func newRunner() *runner { return &runner{available: detect.Available()} }

func (r *runner) run(argv []string) error { // want run:`result 0 error: exec.LookPath`
	if r.available {
		return nil
	}
	return exec.Command(argv[0], argv[1:]...).Run() // want `where detect.Available → exec.LookPath has failed`
}

func socket(argv []string) error {
	if _, err := os.Stat("/var/run/docker.sock"); os.IsNotExist(err) {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where os.Stat has failed`
	}
	return nil
}

func info(argv []string) error {
	if err := exec.Command("docker", "info").Run(); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where running docker has failed, starts the command`
	}
	return exec.Command("docker", append([]string{"run"}, argv...)...).Run()
}

// Through helpers.

func helpers(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	err := wrap.Sandboxed(ctx, s, argv)
	if err != nil {
		return host(argv) // want `where wrap.Sandboxed → Sandbox.Run has failed, starts the command without a sandbox \(host → wrap.Host → exec.Command\)`
	}
	return wrap.OrHost(detect.Ready(ctx, s), argv) // want `where detect.Ready → Sandbox.Probe has failed, starts the command without a sandbox \(OrHost`
}

func host(argv []string) error { return wrap.Host(argv) }

func openHelper(ctx context.Context, s *sbx.Sandbox) (sbx.Backend, error) {
	if err := detect.Ready(ctx, s); err != nil {
		return wrap.Open() // want `goes on with a backend that isolates nothing \(wrap.Open → local.New\)`
	}
	return nil, nil
}

func predicate(ctx context.Context, s *sbx.Sandbox) error {
	_, err := s.Run(ctx, sbx.Launch{Argv: []string{"go", "test"}})
	if detect.Unsupported(err) {
		return constant() // want `starts the command without a sandbox \(constant → exec.Command\)`
	}
	return err
}

func constant() error { return exec.Command("go", "test").Run() }

// Forms of calls.

func closures(ctx context.Context, s *sbx.Sandbox, argv []string) (err error) {
	onHost := func() error { return exec.Command(argv[0], argv[1:]...).Run() }
	defer func() {
		if err != nil {
			err = onHost() // want `where Sandbox.Run has failed, starts the command`
		}
	}()
	_, err = s.Run(ctx, sbx.Launch{Argv: argv})
	return err
}

func goroutine(ctx context.Context, s *sbx.Sandbox, argv []string) {
	if _, err := s.Run(ctx, sbx.Launch{Argv: argv}); err != nil {
		go func() {
			exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
		}()
		defer wrap.Host(argv) // want `starts the command`
	}
}

func methodValue(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	try := s.Probe
	if _, err := try(ctx); err != nil {
		start := wrap.Host
		return start(argv) // want `starts the command`
	}
	return nil
}

func functionValue(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	start := sandboxed
	if _, err := s.Probe(ctx); err != nil {
		start = host // want `starts the command without a sandbox \(host → wrap.Host → exec.Command`
	}
	return start(argv)
}

func sandboxed(argv []string) error { return nil }

func generic[B sbx.Backend](ctx context.Context, b B, argv []string) error {
	if _, err := b.Probe(ctx); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

type prober interface{ Ready() bool }

type byPath struct{}

func (byPath) Ready() bool { _, err := exec.LookPath("podman"); return err == nil } // want Ready:`result 0 false: exec.LookPath`

func interfaced(p prober, argv []string) error {
	if !p.Ready() {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

type alias = sbx.Sandbox

func aliased(ctx context.Context, s *alias, argv []string) error {
	if _, err := s.Probe(ctx); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

type boxes struct{ *sbx.Sandbox }

func promoted(ctx context.Context, b boxes, argv []string) error {
	if _, err := b.Probe(ctx); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func tries(yield func(int) bool) { _ = yield(1) && yield(2) }

func rangeFunc(ctx context.Context, s *sbx.Sandbox, argv []string) (err error) {
	for range tries {
		if _, err = s.Probe(ctx); err == nil {
			return nil
		}
	}
	if err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func retried(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	for range 3 {
		if _, err := s.Run(ctx, sbx.Launch{Argv: argv}); err == nil {
			return nil
		}
	}
	return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
}

func either(ctx context.Context, s *sbx.Sandbox, off bool, argv []string) error {
	if off || detect.Ready(ctx, s) != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func wrapper(argv []string) []string {
	if !detect.Available() {
		return argv // want `gives the command unwrapped`
	}
	return append([]string{"bwrap"}, argv...)
}

func merged(argv []string) *exec.Cmd {
	name, args := argv[0], argv[1:]
	if detect.Available() {
		name, args = "bwrap", argv
	}
	return exec.Command(name, args...) // want `starts the command`
}

func mergedList(argv []string) *exec.Cmd {
	full := argv
	if detect.Available() {
		full = append([]string{"bwrap"}, argv...)
	}
	return exec.Command(full[0], full[1:]...) // want `starts the command`
}

func shell(ctx context.Context, s *sbx.Sandbox, text string) error {
	if _, err := s.Run(ctx, sbx.Launch{Script: &sbx.Script{Text: []byte(text)}}); err != nil {
		return exec.Command("sh", "-c", text).Run() // want `starts the command`
	}
	return nil
}

func before(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	if _, err := s.Run(ctx, sbx.Launch{Argv: cmd.Args}); err != nil {
		return cmd.Run() // want `starts the command`
	}
	return nil
}

// Loops.

func first(ctx context.Context) sbx.Backend {
	bw, _ := bwrap.New(bwrap.Options{})
	l, _ := local.New(local.Options{})
	for _, b := range []sbx.Backend{bw, l} {
		if _, err := b.Probe(ctx); err == nil { // want `takes the first backend for which Backend.Probe succeeds, and one of them isolates nothing`
			return b
		}
	}
	return nil
}

func firstMade() (found sbx.Backend) {
	for _, make := range []func() (sbx.Backend, error){
		func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{}) },
		func() (sbx.Backend, error) { return local.New(local.Options{}) },
	} {
		b, err := make() // want `takes the first backend`
		if err != nil {
			continue
		}
		found = b
		break
	}
	return found
}

func open(name string) (sbx.Backend, error) {
	switch name {
	case "local":
		return local.New(local.Options{})
	}
	return bwrap.New(bwrap.Options{})
}

func firstNamed() sbx.Backend {
	for _, name := range []string{"bwrap", "local"} {
		if b, err := open(name); err == nil { // want `takes the first backend`
			return b
		}
	}
	return nil
}
