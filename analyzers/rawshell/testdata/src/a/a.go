package a

import (
	"os"
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func f(x string, more []string) {
	exec.Command("sh", "-c", x).Run()                          // want `hands program text to a shell or interpreter \(sh -c, exec.Command\)`
	exec.Command("bash", "-euo", "pipefail", "-c", "ls").Run() // want `bash -c`
	exec.Command("bash", "-e", "-o", "pipefail", x).Run()
	exec.Command("sh", "script.sh", "-c").Run()
	exec.Command("grep", "-c", "sh", x).Run()
	exec.Command("tmux", "new-session", "-d", "-c", x).Run()
	exec.Command("tmux", "-c", x).Run()
	exec.Command("tmux", "new-session", "-d", x).Run()                 // want `tmux`
	exec.Command("env", "A=b", "sudo", "-u", "x", "sh", "-c", x).Run() // want `env sudo … sh -c`
	exec.Command("busybox", "sh", "-c", x).Run()                       // want `busybox … sh -c`
	exec.Command("timeout", "5", "sh", "-c", x).Run()                  // want `timeout … sh -c`
	exec.Command("python3", "-c", x).Run()                             // want `python3 -c`
	exec.Command("node", "-e", x).Run()                                // want `node -e`
	exec.Command(os.Getenv("SHELL"), "-c", x).Run()                    // want `\$SHELL -c`
	args := []string{"-c"}
	args = append(args, more...)
	exec.Command("sh", append(args, x)...).Run() // want `sh -c`
	var grown []string
	grown = append(grown, "-l")
	for _, m := range more {
		grown = append(grown, "-c", m)
	}
	exec.Command("zsh", grown...).Run() // want `zsh -c`
}

func launches(x string) {
	_ = sbx.Launch{Argv: []string{"sh", "-c", x}} // want `launch hands program text`
	_ = sbx.Launch{Argv: []string{"sh", "x.sh"}}
	var l sbx.Launch
	l.Argv = append(l.Argv, "bash", "-c", x) // want `launch hands program text`
	_ = sbx.Launch{Script: &sbx.Script{Interpreter: []string{"sh"}, Text: []byte(x)}}
	mk("sh", "-c", x) // want `launch hands program text`
	mk("ls")
}

func mk(argv ...string) sbx.Launch { return sbx.Launch{Argv: argv} }

type embedded struct{ *exec.Cmd }

func cmds(x string) {
	c := exec.Command("sh")
	c.Args = append(c.Args, "-c", x) // want `sh -c`
	c.Run()
	d := &exec.Cmd{Path: "/bin/sh", Args: []string{"-", "-c", x}} // want `sh -c`
	d.Run()
	var e embedded
	e.Path = "/bin/sh"
	e.Args = []string{"sh", "-c", x} // want `sh -c`
}
