package b

import (
	"context"
	"os/exec"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// The command taken back from the launch.
func fromLaunch(ctx context.Context, box *sbx.Sandbox, l sbx.Launch) error {
	if _, err := box.Run(ctx, l); err != nil {
		return exec.Command(l.Argv[0], l.Argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func fromVariable(ctx context.Context, box *sbx.Sandbox, argv []string) error {
	launch := sbx.Launch{Argv: argv}
	if _, err := box.Run(ctx, launch); err != nil {
		return exec.Command(launch.Argv[0], launch.Argv[1:]...).Run() // want `starts the command`
	}
	return nil
}

func hostRun(ctx context.Context, l *sbx.Launch) error {
	cmd := exec.CommandContext(ctx, l.Argv[0], l.Argv[1:]...)
	return cmd.Run()
}

func byHelper(ctx context.Context, box *sbx.Sandbox, l sbx.Launch) error {
	res, err := box.Run(ctx, l)
	if err != nil || res.Outcome == sbx.NeverRan {
		return hostRun(ctx, &l) // want `starts the command`
	}
	return nil
}

// A runner behind an interface, chosen by what could be made.
type runner interface {
	Run(ctx context.Context, l sbx.Launch) error
}

type boxed struct{ box *sbx.Sandbox }

func (b boxed) Run(ctx context.Context, l sbx.Launch) error { // want Run:`result 0 error: Sandbox.Run`
	_, err := b.box.Run(ctx, l)
	return err
}

type bare struct{}

func (bare) Run(ctx context.Context, l sbx.Launch) error { return hostRun(ctx, &l) }

func newRunner() runner {
	b, err := bwrap.New(bwrap.Options{})
	if err != nil {
		return bare{} // want `starts the command`
	}
	box, err := sbx.New(b)
	if err != nil {
		return bare{} // want `starts the command`
	}
	return boxed{box}
}

// The constructor as a value.
func constructors() (sbx.Backend, error) {
	open := func() (sbx.Backend, error) { return bwrap.New(bwrap.Options{}) }
	b, err := open()
	if err != nil {
		open = func() (sbx.Backend, error) { return local.New(local.Options{}) }
		b, err = open() // want `isolates nothing`
	}
	return b, err
}

// One that is told by a name of the configuration is the user's choice.
func named(name string) (sbx.Backend, error) {
	switch name {
	case "none":
		return local.New(local.Options{})
	case "bwrap", "":
		return bwrap.New(bwrap.Options{})
	}
	return nil, nil
}

func opened(name string) (*sbx.Sandbox, error) {
	b, err := named(name)
	if err != nil {
		return nil, err
	}
	return sbx.New(b)
}
