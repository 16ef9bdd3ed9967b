package seam

import (
	"os"
	"os/exec"
)

type inField struct {
	cmd *exec.Cmd
	exec.Cmd
}

func embedded(argv []string) {
	h := holder{exec.Command(argv[0])}
	h.Env = []string{}
	h.Run()

	v := inField{cmd: exec.Command(argv[0])}
	v.cmd.Env = []string{}
	v.cmd.Run()
	v.Path = argv[0]
	v.Env = []string{}
	v.Run()

	p := &inField{cmd: exec.Command(argv[0])}
	p.cmd.Env = os.Environ()
	p.cmd.Run() // want `os.Environ`
	p.Path = argv[0]
	p.Env = os.Environ()
	p.Run() // want `os.Environ`
}
