// Package wrap starts what it is given.
package wrap

import (
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func Shell(name string, args ...string) error { return exec.Command(name, args...).Run() }

func Spread(argv []string) error { return exec.Command(argv[0], argv[1:]...).Run() }

func Option(name, option, text string) error { return exec.Command(name, option, text).Run() }

func Text(text string) error {
	return exec.Command("sh", "-c", text).Run() // want `sh -c`
}

type Runner interface{ Run(argv ...string) error }

type runner struct{}

func (runner) Run(argv ...string) error { return exec.Command(argv[0], argv[1:]...).Run() }

func NewRunner() Runner { return runner{} }

func Launch(argv ...string) sbx.Launch { return sbx.Launch{Argv: argv} }
