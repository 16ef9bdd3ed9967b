// Package wrap starts what it is given.
package wrap

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

func Run(name string, args ...string) error { return exec.Command(name, args...).Run() }

func Twice(name string) error { return Run(name, "twice") }

func Argv(argv []string) error { return exec.Command(argv[0], argv[1:]...).Run() }

func Cmd(name string) *exec.Cmd { return exec.Command(name) }

func Start(c *exec.Cmd) error { return c.Start() }

func Literal(path string) error { return (&exec.Cmd{Path: path}).Run() }

func Process(path string) { os.StartProcess(path, nil, nil) }

func Raw(path string) { syscall.Exec(path, nil, nil) }

type Runner struct{ Bin string }

func New(bin string) *Runner { return &Runner{Bin: bin} }

func (r *Runner) Run(ctx context.Context) error { return exec.CommandContext(ctx, r.Bin).Run() }

func (r Runner) RunOther(name string) error { return exec.Command(name).Run() }

// Starter hides an unexported implementation.
type Starter interface{ Start(name string) error }

type hidden struct{}

func (hidden) Start(name string) error { return exec.Command(name).Start() }

func NewStarter() Starter { return hidden{} }

var Hook = func(name string) error { return exec.Command(name).Run() }

var Func = Run

func Generic[S ~string](name S) error { return exec.Command(string(name)).Run() }

func Each(names []string, f func(string)) {
	for _, n := range names {
		f(n)
	}
}

func Seq(yield func(string) bool) {
	_ = yield("docker")
}

type Options struct {
	Prog string
	Args []string
}

func With(o Options) error { return exec.Command(o.Prog, o.Args...).Run() }

func Functional(opts ...func(*Options)) error {
	o := Options{Prog: "git"}
	for _, f := range opts {
		f(&o)
	}
	return exec.Command(o.Prog).Run()
}
