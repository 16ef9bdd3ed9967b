package a

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"

	"wrap"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func dropped(ctx context.Context, s *sbx.Sandbox, r *sbx.Run) {
	r.Reap(ctx)          // want `error of Run.Reap is dropped; return it`
	_ = r.Kill(ctx)      // want `error of Run.Kill is dropped`
	defer s.Close()      // want `error of Sandbox.Close is dropped by defer`
	go s.Reconcile(ctx)  // want `error of Sandbox.Reconcile is dropped by go`
	f, _ := s.Probe(ctx) // want `error of Sandbox.Probe is dropped`
	fmt.Println(f)
	wrap.Clean(ctx, r)       // want `error of wrap.Clean → Run.Reap is dropped`
	_ = clean(ctx, r)        // want `error of clean → Run.Reap is dropped`
	func() { r.Stop(ctx) }() // want `error of Run.Stop is dropped`
	stop := r.Stop
	stop(ctx) // want `error of .*Stop is dropped`
	var k killer = r
	k.Kill(ctx)            // want `error of Run.Kill is dropped`
	embedded{r}.Reap(ctx)  // want `error of Run.Reap is dropped`
	generic(r, ctx)        // want `error of generic → Run.Reap is dropped`
	inField{r.Reap}.f(ctx) // want `Reap is dropped`
	for range seq {
		r.Reap(ctx) // want `error of Run.Reap is dropped`
	}
}

type killer interface{ Kill(context.Context) error }

type embedded struct{ *sbx.Run }

type inField struct{ f func(context.Context) error }

func seq(yield func(int) bool) { yield(1) }

func generic[T any](r *sbx.Run, t T) error { return r.Reap(context.Background()) }

func clean(ctx context.Context, r *sbx.Run) error { return fmt.Errorf("clean: %w", r.Reap(ctx)) }

func overwritten(ctx context.Context, r *sbx.Run) error {
	err := r.Kill(ctx) // want `error of Run.Kill is dropped`
	err = r.Reap(ctx)
	return err
}

func overwrittenNamed(ctx context.Context, r *sbx.Run) (err error) {
	defer func() { err = errors.Join(err, r.Reap(ctx)) }()
	err = r.Stop(ctx) // want `error of Run.Stop is overwritten`
	err = r.Kill(ctx)
	return err
}

func logged(ctx context.Context, r *sbx.Run) error {
	if err := r.Reap(ctx); err != nil { // want `error of Run.Reap is logged and turned into success`
		log.Println("reap:", err)
	}
	return nil
}

func loggedEarly(ctx context.Context, s *sbx.Sandbox, l *slog.Logger) (*sbx.Run, error) {
	run, err := s.Launch(ctx, sbx.Launch{}) // want `error of Sandbox.Launch is logged and turned into success`
	if err != nil {
		l.Error("launch", "err", err)
		return nil, nil
	}
	return run, nil
}

func swallowed(ctx context.Context, s *sbx.Sandbox) error {
	if _, err := s.Plan(ctx, sbx.Launch{}); err != nil { // want `error of Sandbox.Plan is looked at and turned into success`
		return nil
	}
	return nil
}

func zeroUsed(ctx context.Context, s *sbx.Sandbox) {
	res, err := s.Run(ctx, sbx.Launch{}) // want `error of Sandbox.Run is logged and the result used all the same`
	if err != nil {
		log.Print(err)
	}
	fmt.Println(res.Outcome)
}

func outcomes(ctx context.Context, s *sbx.Sandbox, r *sbx.Run) error {
	if _, err := s.Run(ctx, sbx.Launch{}); err != nil { // want `result of Sandbox.Run is dropped`
		return err
	}
	if _, err := wrap.Do(ctx, s); err != nil { // want `result of wrap.Do → Sandbox.Run is dropped`
		return err
	}
	res, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Code != 0 { // want `exit code of Run.Wait is read without the outcome`
		return errors.New("failed")
	}
	res, err = r.Wait(ctx) // want `outcome of the result of Run.Wait is not looked at`
	if err != nil {
		return err
	}
	fmt.Println(res.Signal)
	return nil
}

type state struct {
	Running  bool
	ExitCode int
}

type inspect struct{ State *state }

func codes(i *inspect) int {
	return i.State.ExitCode // want `exit code of a.state is read without the running flag`
}

func codesLooked(i *inspect) (int, bool) {
	if i.State.Running {
		return 0, false
	}
	return code(i.State), true
}

func code(s *state) int { return s.ExitCode }

func write(s *state) { s.ExitCode = 3 }

func uncertain(res *sbx.Result) error {
	switch res.Outcome {
	case sbx.Exited, sbx.Uncertain: // want `Uncertain shares a case`
		return nil
	}
	switch res.Outcome {
	case sbx.Uncertain: // want `Uncertain is taken for success`
		return nil
	}
	if res.Outcome == sbx.Uncertain { // want `Uncertain is taken for success`
		log.Print("hm")
		return nil
	}
	if res.Outcome == sbx.NeverRan || res.Outcome == sbx.Uncertain { // want `Uncertain is treated like another outcome`
		return errors.New("failed")
	}
	if res.Outcome != sbx.Exited && res.Outcome != sbx.Uncertain { // want `Uncertain is treated like another outcome`
		return errors.New("failed")
	}
	if res.Outcome < sbx.Uncertain { // want `compared by its place`
		return nil
	}
	return nil
}

// Look-alikes.

func returned(ctx context.Context, s *sbx.Sandbox, r *sbx.Run) (err error) {
	defer func() { err = errors.Join(err, r.Reap(ctx)) }()
	defer func() {
		if e := s.Close(); e != nil && err == nil {
			err = e
		}
	}()
	res, err := s.Run(ctx, sbx.Launch{})
	if err != nil {
		log.Print(err)
		return fmt.Errorf("running: %w", err)
	}
	if res.Outcome != sbx.Exited || res.Code != 0 {
		return errors.New("failed")
	}
	if err := r.Signal(ctx, "TERM"); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return r.Stop(ctx)
}

func joined(ctx context.Context, r *sbx.Run) error {
	err := r.Kill(ctx)
	err = errors.Join(err, r.Reap(ctx))
	return err
}

type recorder struct{ err error }

func (rec *recorder) recorded(ctx context.Context, r *sbx.Run) {
	rec.err = r.Reap(ctx)
}

func sent(ctx context.Context, r *sbx.Run, c chan error) {
	go func() { c <- r.Reap(ctx) }()
}

func bestEffort(ctx context.Context, r *sbx.Run) {
	if err := r.Reap(ctx); err != nil {
		log.Print(err)
	}
}

func exits(ctx context.Context, s *sbx.Sandbox) {
	res, err := s.Run(ctx, sbx.Launch{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(res.Outcome)
}

func retried(ctx context.Context, s *sbx.Sandbox) error {
	var last error
	for range 3 {
		_, err := s.Probe(ctx)
		if err == nil {
			return nil
		}
		log.Print(err)
		last = err
	}
	return last
}

func handed(ctx context.Context, s *sbx.Sandbox) (*sbx.Result, error) {
	res, err := s.Run(ctx, sbx.Launch{})
	return res, err
}

func apart(res *sbx.Result) error {
	switch res.Outcome {
	case sbx.Exited:
		return nil
	case sbx.TimedOut, sbx.Canceled:
		return errors.New("ended")
	case sbx.Uncertain:
		return errors.New("uncertain: settle what is left")
	}
	return nil
}

func refused(ctx context.Context, s *sbx.Sandbox) bool {
	_, err := s.Run(ctx, sbx.Launch{})
	return errors.Is(err, os.ErrPermission)
}

type file struct{}

func (file) Close() error { return nil }
func (file) Run() error   { return nil }

func others(f file) {
	defer f.Close()
	f.Run()
	os.Remove("x")
}
