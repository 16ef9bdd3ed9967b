package a

import (
	"context"
	"errors"
	"os/exec"
	"slices"

	"detect"
	"wrap"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// What holds the command is a struct, and the ways to run it are methods.
type job struct {
	box  *sbx.Sandbox
	argv []string
	run  func(ctx context.Context) error
}

func (j *job) sandboxed(ctx context.Context) error { // want sandboxed:`result 0 error: Sandbox.Run`
	_, err := j.box.Run(ctx, sbx.Launch{Argv: j.argv})
	return err
}

func (j *job) host(context.Context) error { return exec.Command(j.argv[0], j.argv[1:]...).Run() }

func (j *job) either(ctx context.Context) error { // want either:`result 0 error: Sandbox.Run`
	if err := j.sandboxed(ctx); err != nil {
		return j.host(ctx) // want `starts the command without a sandbox \(\(\*job\).host → exec.Command\)`
	}
	return nil
}

func (j *job) choose(ctx context.Context) {
	j.run = j.sandboxed
	if _, err := j.box.Probe(ctx); err != nil {
		j.run = j.host // want `starts the command`
	}
}

func newJob(argv []string) *job {
	j := &job{argv: argv}
	if b, err := bwrap.New(bwrap.Options{}); err == nil {
		j.box, _ = sbx.New(b)
	}
	return j
}

func (j *job) start(ctx context.Context) error { // want start:`result 0 error: Sandbox.Run`
	if j.box == nil {
		return j.host(ctx) // want `starts the command`
	}
	return j.sandboxed(ctx)
}

// An executor whose methods start what they are given.
type executor interface {
	Exec(argv ...string) error
}

type onHost struct{}

func (onHost) Exec(argv ...string) error { return exec.Command(argv[0], argv[1:]...).Run() }

type inBox struct{ box *sbx.Sandbox }

func (b inBox) Exec(argv ...string) error { // want Exec:`result 0 error: Sandbox.Run`
	_, err := b.box.Run(context.Background(), sbx.Launch{Argv: argv})
	return err
}

func newExecutor(ctx context.Context, box *sbx.Sandbox) executor {
	if err := detect.Ready(ctx, box); err != nil {
		return onHost{} // want `starts the command without a sandbox \(onHost.Exec → exec.Command\)`
	}
	return inBox{box}
}

func newExecutorInVariable(ctx context.Context, box *sbx.Sandbox) executor {
	var e executor = inBox{box}
	if err := detect.Ready(ctx, box); err != nil {
		e = onHost{} // want `starts the command`
	}
	return e
}

// A mode, told by a constant.
type mode int

const (
	inSandbox mode = iota
	withoutSandbox
)

func find(ctx context.Context, box *sbx.Sandbox) mode {
	if _, err := box.Probe(ctx); err != nil {
		return withoutSandbox
	}
	return inSandbox
}

func byMode(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	switch find(ctx, box) {
	case withoutSandbox:
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	default:
		return nil
	}
}

func byName(argv []string) error {
	how := "host"
	if detect.Available() {
		how = "bwrap"
	}
	if how == "host" {
		return exec.Command(argv[0], argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func tried(ctx context.Context, box *sbx.Sandbox, argv []string) (bool, error) {
	if _, err := box.Run(ctx, sbx.Launch{Argv: argv}); errors.Is(err, sbx.ErrUnsupported) {
		return false, nil
	} else if err != nil {
		return true, err
	}
	return true, nil
}

func handled(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	ok, err := tried(ctx, box, argv)
	if !ok {
		return wrap.Host(argv) // want `starts the command`
	}
	return err
}

type refusal struct{ kind int }

func (*refusal) Error() string { return "" }

func asTyped(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	_, err := box.Run(ctx, sbx.Launch{Argv: argv})
	var r *refusal
	if errors.As(err, &r) {
		return wrap.Host(argv) // want `starts the command`
	}
	if r, ok := errors.AsType[*refusal](err); ok && r.kind == 3 {
		return wrap.Host(argv) // want `starts the command`
	}
	if r, ok := err.(*refusal); ok {
		wrap.Host(argv) // want `starts the command`
		return r
	}
	switch err.(type) {
	case *refusal:
		return wrap.Host(argv) // want `starts the command`
	}
	return err
}

func rewritten(argv []string) error {
	cmd := exec.Command("bwrap", append([]string{"--"}, argv...)...)
	if !detect.Available() {
		cmd.Path = argv[0] // want `starts the command`
		cmd.Args = argv
	}
	return cmd.Run()
}

func jump(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	if err := detect.Ready(ctx, box); err != nil {
		goto host
	}
	return wrap.Sandboxed(ctx, box, argv)
host:
	return wrap.Host(argv) // want `starts the command`
}

func searched(ctx context.Context) sbx.Backend {
	bw, _ := bwrap.New(bwrap.Options{})
	l, _ := local.New(local.Options{})
	list := []sbx.Backend{bw, l}
	i := slices.IndexFunc(list, func(b sbx.Backend) bool { // want `takes the first backend for which Backend.Probe succeeds`
		_, err := b.Probe(ctx)
		return err == nil
	})
	return list[i]
}

func ofMap(ctx context.Context) sbx.Backend {
	l, _ := local.New(local.Options{})
	for _, b := range map[string]sbx.Backend{"local": l} {
		if _, err := b.Probe(ctx); err == nil { // want `takes the first backend`
			return b
		}
	}
	return nil
}

// A helper that is given both ways.
func orElse(try, otherwise func() error) error {
	if err := try(); err != nil {
		return otherwise()
	}
	return nil
}

func bothWays(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	return orElse( // want `starts the command without a sandbox \(orElse → exec.Command\)`
		func() error { return wrap.Sandboxed(ctx, box, argv) },
		func() error { return exec.Command(argv[0], argv[1:]...).Run() },
	)
}

func nothingElse(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	return orElse(
		func() error { return wrap.Sandboxed(ctx, box, argv) },
		func() error { return errors.New("no sandbox") },
	)
}
