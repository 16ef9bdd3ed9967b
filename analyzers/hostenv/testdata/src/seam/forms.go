package seam

import (
	"os"
	"os/exec"

	"runner"
)

type holder struct{ *exec.Cmd }

type alias = exec.Cmd

type starter interface{ start(cmd *exec.Cmd) error }

type real struct{}

func (real) start(cmd *exec.Cmd) error { return cmd.Start() }

func generic[T ~[]string](argv T) error {
	cmd := exec.Command(argv[0])
	cmd.Env = os.Environ()
	return cmd.Run() // want `os.Environ`
}

func apply(f func() error) error { return f() }

func names(yield func(string) bool) { _ = yield("bwrap") }

func forms(argv []string, s starter) error {
	h := holder{exec.Command(argv[0])}
	h.Env = os.Environ()
	h.Run() // want `os.Environ`

	a := &alias{Path: argv[0], Env: os.Environ()}
	a.Run() // want `os.Environ`

	cmd := exec.Command(argv[0])
	cmd.Env = os.Environ()
	s.start(cmd) // want `os.Environ`

	deferred := exec.Command(argv[0])
	defer deferred.Run() // want `its Env is nil`
	beside := exec.Command(argv[0])
	go beside.Run() // want `its Env is nil`

	func() {
		exec.Command(argv[0]).Run() // want `its Env is nil`
	}()
	for name := range names {
		exec.Command(name).Run() // want `its Env is nil`
	}
	start := runner.Start
	other := exec.Command(argv[0])
	return start(other) // want `its Env is nil`
}
