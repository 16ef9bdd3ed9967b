// Package b falls back in ways that people write.
package b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"detect"
	"wrap"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// A driver chosen once, kept in a package variable.
var (
	once    sync.Once
	backend sbx.Backend
)

func theBackend(ctx context.Context) sbx.Backend {
	once.Do(func() {
		b, err := bwrap.New(bwrap.Options{})
		if err == nil {
			_, err = b.Probe(ctx)
		}
		if err != nil {
			l, _ := local.New(local.Options{}) // want `isolates nothing`
			backend = l
			return
		}
		backend = b
	})
	return backend
}

// A config with functional parts.
type config struct {
	box      *sbx.Sandbox
	fallback bool
	argv     []string
	dir      string
	out      io.Writer
}

func (c *config) command(ctx context.Context) *exec.Cmd { // want command:`result 0 but nil: Sandbox.Probe`
	if c.fallback {
		return exec.CommandContext(ctx, c.argv[0], c.argv[1:]...) // want `starts the command`
	}
	return nil
}

func newConfig(ctx context.Context, box *sbx.Sandbox, argv []string) *config {
	c := &config{box: box, argv: argv}
	if _, err := box.Probe(ctx); err != nil {
		c.fallback = true
	}
	return c
}

// A command with a directory and streams, after the launch.
func (c *config) run(ctx context.Context) error { // want run:`result 0 error: Run.Wait`
	run, err := c.box.Launch(ctx, sbx.Launch{Argv: c.argv})
	if err != nil {
		fmt.Fprintln(c.out, "no sandbox, running unsandboxed:", err)
		cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...) // want `starts the command`
		cmd.Dir = c.dir
		cmd.Stdout, cmd.Stderr = c.out, c.out
		return cmd.Run()
	}
	_, err = run.Wait(ctx)
	return err
}

// The error by name, in a switch.
func bySwitch(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	_, err := box.Run(ctx, sbx.Launch{Argv: argv})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sbx.ErrUnsupported):
		return wrap.Host(argv) // want `starts the command`
	default:
		return err
	}
}

func bySwitchValue(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	_, err := box.Run(ctx, sbx.Launch{Argv: argv})
	switch err {
	case nil:
		return nil
	case sbx.ErrUnsupported:
		return wrap.Host(argv) // want `starts the command`
	}
	return err
}

// A string command that is split.
func split(ctx context.Context, box *sbx.Sandbox, line string) error {
	if _, err := box.Run(ctx, sbx.Launch{Argv: []string{"sh", "-c", line}}); err != nil {
		return exec.Command("/bin/sh", "-c", line).Run() // want `starts the command`
	}
	return nil
}

// The process replaced.
func replaced(argv []string) error {
	bw, err := exec.LookPath("bwrap")
	if err != nil {
		return os.ErrNotExist
	}
	_ = bw
	if err := exec.Command(bw, append([]string{"--unshare-all"}, argv...)...).Run(); err != nil {
		p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{}) // want `starts the command`
		if err != nil {
			return err
		}
		_, err = p.Wait()
		return err
	}
	return nil
}

// A list of ways, tried in turn.
func ways(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	err := wrap.Sandboxed(ctx, box, argv)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return wrap.Host(argv) // want `starts the command`
}

// Retries first.
func attempts(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	var err error
	for i := 0; i < 3; i++ {
		if err = wrap.Sandboxed(ctx, box, argv); err == nil {
			return nil
		}
	}
	fmt.Println("giving up on the sandbox:", err)
	return wrap.Host(argv) // want `starts the command`
}

// A boolean with a reason.
func available(ctx context.Context, box *sbx.Sandbox) (ok bool, why string) {
	if _, err := box.Probe(ctx); err != nil {
		return false, err.Error()
	}
	return true, ""
}

func withReason(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	ok, why := available(ctx, box)
	if !ok {
		fmt.Println(why)
		return wrap.Host(argv) // want `starts the command`
	}
	return wrap.Sandboxed(ctx, box, argv)
}

func byReason(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	if _, why := available(ctx, box); why != "" {
		return wrap.Host(argv) // want `starts the command`
	}
	return wrap.Sandboxed(ctx, box, argv)
}

// A result that carries the error.
type status struct {
	err   error
	ready bool
}

func check(ctx context.Context, box *sbx.Sandbox) status {
	_, err := box.Probe(ctx)
	return status{err: err, ready: err == nil}
}

func byStatus(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	st := check(ctx, box)
	if st.err != nil {
		return wrap.Host(argv) // want `starts the command`
	}
	if !st.ready {
		return wrap.Host(argv) // want `starts the command`
	}
	return nil
}

// A method value and a map of ways.
func mapped(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	ways := map[bool]func([]string) error{
		true:  func(argv []string) error { return wrap.Sandboxed(ctx, box, argv) },
		false: wrap.Host,
	}
	return ways[detect.Available()](argv)
}

// The wrapped list of another function.
func argvOf(argv []string) []string {
	out := argv
	if detect.Available() {
		out = append([]string{"bwrap", "--"}, argv...)
	}
	return out // want `gives the command unwrapped`
}

// Options of the driver.
func options(ctx context.Context, b, l sbx.Backend) (*sbx.Sandbox, error) {
	mode := sbx.Required
	if _, err := b.Probe(ctx); err != nil {
		mode = sbx.Disabled // want `isolates nothing`
	}
	return sbx.New(b, sbx.WithMode(mode), sbx.WithUnsandboxed(l))
}

// A generic helper.
func must[T any](v T, err error, otherwise func() T) T {
	if err != nil {
		return otherwise()
	}
	return v
}

func helped() sbx.Backend {
	b, err := bwrap.New(bwrap.Options{})
	return must[sbx.Backend](b, err, func() sbx.Backend { // want `isolates nothing`
		l, _ := local.New(local.Options{})
		return l
	})
}

// Nothing after a panic that is recovered.
func recovered(ctx context.Context, box *sbx.Sandbox, argv []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = wrap.Host(argv)
		}
	}()
	return wrap.Sandboxed(ctx, box, argv)
}

// Behind another program.
func asRoot(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	if _, err := box.Run(ctx, sbx.Launch{Argv: argv}); err != nil {
		return exec.Command("sudo", append([]string{"-n"}, argv...)...).Run() // want `starts the command`
	}
	return nil
}

func nice(ctx context.Context, box *sbx.Sandbox) error {
	if _, err := box.Run(ctx, sbx.Launch{Argv: []string{"make", "all"}}); err != nil {
		return exec.Command("nice", "-n", "10", "make", "all").Run() // want `starts the command`
	}
	return nil
}

func otherBehind(ctx context.Context, box *sbx.Sandbox) error {
	if _, err := box.Run(ctx, sbx.Launch{Argv: []string{"make", "all"}}); err != nil {
		return exec.Command("nice", "-n", "10", "git", "clean").Run()
	}
	return nil
}
