package b

import (
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"wrap"
)

type generic[T ~string] struct{ text T }

func (g generic[T]) run() { exec.Command("sh", "-c", string(g.text)).Run() } // want `sh -c`

func start[S ~[]string](argv S) { exec.Command(argv[0], argv[1:]...).Run() }

type alias = sbx.Launch

type starter interface{ start(argv ...string) }

type real struct{}

func (real) start(argv ...string) { exec.Command(argv[0], argv[1:]...).Run() }

type holds struct{ run func(string, ...string) error }

var kept = wrap.Shell

func texts(yield func(string) bool) { _ = yield("ls") && yield("id") }

func forms(x string, s starter) {
	start([]string{"sh", "-c", x})           // want `sh -c`
	_ = alias{Argv: []string{"sh", "-c", x}} // want `launch hands program text`
	s.start("sh", "-c", x)                   // want `sh -c`
	f := s.start
	f("bash", "-c", x) // want `bash -c`
	h := holds{wrap.Shell}
	h.run("sh", "-c", x)            // want `sh -c`
	kept("sh", "-c", x)             // want `sh -c`
	defer wrap.Shell("sh", "-c")    // no text
	defer wrap.Shell("sh", "-c", x) // want `sh -c`
	go func() {
		exec.Command("sh", "-c", x).Run() // want `sh -c`
	}()
	for text := range texts {
		exec.Command("sh", "-c", text).Run() // want `sh -c`
	}
}
