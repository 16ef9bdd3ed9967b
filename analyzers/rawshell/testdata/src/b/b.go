// Package b hands program text to shells in every way that is not the plain one.
package b

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"mvdan.cc/sh/v3/interp"
	"wrap"
)

const (
	shell  = "/bin/" + "bash"
	option = "-c"
)

var shells = map[string]string{"x": "zsh", "y": "git"}

var argv = []string{"sh", "-c", "echo"}

func everyShell(x string) {
	exec.Command("dash", "-c", x).Run()           // want `\(dash -c, exec.Command\)`
	exec.Command("zsh", "-lc", x).Run()           // want `zsh -lc`
	exec.Command("ksh", "-c", x).Run()            // want `ksh -c`
	exec.Command("fish", "--command", x).Run()    // want `fish --command`
	exec.Command("fish", "--command="+"ls").Run() // want `fish --command=ls`
	exec.Command(shell, option, x).Run()          // want `bash -c`
	exec.Command(shells["x"], "-c", x).Run()      // want `zsh -c`
	exec.Command(shells["y"], "-c", x).Run()
	exec.Command(argv[0], argv[1:]...).Run()                          // want `sh -c`
	exec.Command("/usr/bin/env", "bash", "-c", x).Run()               // want `env … bash -c`
	exec.Command("env", "-i", "-u", "A", "bash", "-c", x).Run()       // want `env … bash -c`
	exec.Command("env", "-S", "sh -c "+"ls").Run()                    // want `env … sh -c`
	exec.Command("sudo", "-n", "--", "sh", "-c", x).Run()             // want `sudo … sh -c`
	exec.Command("nice", "-n", "10", "sh", "-c", x).Run()             // want `nice … sh -c`
	exec.Command("nice", "-n10", "sh", "-c", x).Run()                 // want `nice … sh -c`
	exec.Command("xargs", "-0", "-n", "1", "sh", "-c", x).Run()       // want `xargs … sh -c`
	exec.Command("xargs", "-I{}", "sh", "-c", x).Run()                // want `xargs … sh -c`
	exec.Command("ssh", "-p", "22", "host", "sh", "-c", x).Run()      // want `ssh … sh -c`
	exec.Command("ssh", "host", "bash -c 'ls'").Run()                 // want `ssh … bash -c`
	exec.Command("timeout", "-k", "5", "10", "sh", "-c", x).Run()     // want `timeout … sh -c`
	exec.Command("nohup", "setsid", "sh", "-c", x).Run()              // want `nohup setsid … sh -c`
	exec.Command("kubectl", "exec", "pod", "--", "sh", "-c", x).Run() // want `kubectl … sh -c`
	exec.Command("su", "-", "user", "-c", x).Run()                    // want `su -c`
	exec.Command("find", ".", "-exec", "sh", "-c", x, ";").Run()      // want `find … sh -c`
	exec.Command("watch", "-n", "1", x).Run()                         // want `\(watch, exec.Command\)`
	exec.Command("cmd", "/C", x).Run()                                // want `cmd /C`
	exec.Command("cmd.exe", "/c", x).Run()                            // want `cmd /c`
	exec.Command("powershell", "-NoProfile", "-Command", x).Run()     // want `powershell -Command`
	exec.Command("pwsh", "-NoProfile", "-c", x).Run()                 // want `pwsh -c`
	exec.Command(os.Getenv("COMSPEC"), "/c", x).Run()                 // want `\$COMSPEC /c`
}

func everyInterpreter(x string) {
	exec.Command("python", "-c", x).Run()      // want `python -c`
	exec.Command("python3.12", "-Ic", x).Run() // want `python3.12 -Ic`
	exec.Command("perl", "-e", x).Run()        // want `perl -e`
	exec.Command("perl", "-lne", x).Run()      // want `perl -lne`
	exec.Command("ruby", "-e", x).Run()        // want `ruby -e`
	exec.Command("node", "--eval", x).Run()    // want `node --eval`
	exec.Command("php", "-r", x).Run()         // want `php -r`
	exec.Command("lua", "-e", x).Run()         // want `lua -e`
	exec.Command("osascript", "-e", x).Run()   // want `osascript -e`
	exec.Command("deno", "eval", x).Run()      // want `deno eval`
	exec.Command("python3", "-m", "http.server", "-c", x).Run()
	exec.Command("python3", "script.py", "-c", x).Run()
	exec.Command("perl", "script.pl", "-e", x).Run()
	exec.Command("node", "app.js", "-e", x).Run()
}

func tmux(x, dir string) {
	exec.Command("tmux", "new-session", "-d", "-s", "n", "-c", dir).Run()
	exec.Command("tmux", "new-session", "-d", "-s", "n", "-c", dir, x).Run() // want `tmux new-session`
	exec.Command("tmux", "-L", "sock", "split-window", "-h", x).Run()        // want `tmux split-window`
	exec.Command("tmux", "run-shell", x).Run()                               // want `tmux run-shell`
	exec.Command("tmux", "send-keys", "-t", "p", x, "Enter").Run()           // want `tmux send-keys`
	exec.Command("tmux", "send-keys", "-t", "p", "C-c").Run()
	exec.Command("tmux", "new-window", "-n", "w", "htop", "-d", "1").Run()
	exec.Command("tmux", "new-window", "sh", "-c", x).Run() // want `tmux … sh -c`
	exec.Command("tmux", "kill-session", "-t", x).Run()
	exec.Command("tmux", "capture-pane", "-e", "-p", "-t", x).Run()
}

func assembled(ctx context.Context, x string, more []string, ok bool) {
	args := make([]string, 0, 3)
	args = append(args, "-c")
	args = append(args, x)
	exec.CommandContext(ctx, "sh", args...).Run() // want `sh -c`

	list := make([]string, 3)
	list[0], list[1], list[2] = "sh", "-c", x
	exec.Command(list[0], list[1:]...).Run() // want `sh -c`

	words := strings.Fields("bash -c ls")
	exec.Command(words[0], words[1:]...).Run() // want `bash -c`

	name := "git"
	if ok {
		name = "sh"
	}
	exec.Command(name, "-c", x).Run() // want `sh -c`

	exec.Command("sh", append([]string{"-e"}, "-c", x)...).Run() // want `sh -c`
	exec.Command("sh", append(more, "-c", x)...).Run()           // want `sh -c`
	exec.Command("sh", more...).Run()

	var c exec.Cmd
	c.Path = "/bin/sh"
	c.Args = []string{"sh", "-c", x} // want `sh -c`
	c.Run()

	os.StartProcess("/bin/sh", []string{"sh", "-c", x}, nil)  // want `sh -c`
	syscall.Exec("/bin/sh", []string{"sh", "-c", x}, nil)     // want `sh -c`
	syscall.ForkExec("/bin/sh", []string{"sh", "-c", x}, nil) // want `sh -c`
	func() { defer exec.Command("sh", "-c", x).Run() }()      // want `sh -c`
	go exec.Command("sh", "-c", x).Run()                      // want `sh -c`
}

func wrapped(x string) {
	wrap.Shell("sh", "-c", x) // want `\(sh -c, wrap.Shell → exec.Command\)`
	wrap.Shell("ls", "-c", x)
	wrap.Spread([]string{"bash", "-c", x}) // want `bash -c`
	wrap.Option("bash", "-c", x)           // want `bash -c`
	wrap.Option("bash", "-x", x)
	wrap.Text("ls") // the wrapper itself is reported
	var r wrap.Runner = wrap.NewRunner()
	r.Run("sh", "-c", x)       // want `sh -c`
	wrap.Launch("sh", "-c", x) // want `launch hands program text to a shell or interpreter \(sh -c in wrap.Launch → runtime.Launch.Argv\)`
	wrap.Launch("ls", x)
}

type pointer struct{ *exec.Cmd }

func embedsPointer(x string) {
	e := pointer{new(exec.Cmd)}
	e.Path = "/bin/sh"
	e.Args = []string{"sh", "-c", x} // want `sh -c`
	e.Run()
}

type embedded struct {
	exec.Cmd
	name string
}

func embeds(x string) *embedded {
	e := &embedded{name: "x"}
	e.Path = "/bin/sh"
	e.Args = []string{"sh", "-c", x} // want `sh -c`
	return e
}

func launch(ctx context.Context, s *sbx.Sandbox, x string, more []string) {
	s.Run(ctx, sbx.Launch{Argv: []string{"sh", "-c", x}})               // want `launch hands program text`
	s.Launch(ctx, sbx.Launch{Argv: append([]string{"bash", "-lc"}, x)}) // want `launch hands program text`
	s.Run(ctx, sbx.Launch{Argv: []string{"bash", "-c", "constant"}})    // want `launch hands program text`
	s.Run(ctx, sbx.Launch{Argv: []string{"python3", "-c", x}})          // want `launch hands program text`
	s.Run(ctx, sbx.Launch{Argv: []string{"env", "A=b", "sh", "-c", x}}) // want `launch hands program text`
	s.Run(ctx, sbx.Launch{Argv: []string{"bash", "build.sh", "-c", x}})
	s.Run(ctx, sbx.Launch{Argv: []string{"bash", "-e", "-o", "pipefail", "build.sh"}})
	s.Run(ctx, sbx.Launch{Argv: more})
	s.Run(ctx, sbx.Launch{Argv: []string{"grep", "-c", "sh", x}})
	s.Run(ctx, sbx.Launch{Script: &sbx.Script{Interpreter: []string{"sh", "-e"}, Text: []byte(x)}})
	l := sbx.Launch{}
	l.Argv = []string{"sh"}
	l.Argv = append(l.Argv, "-c", x) // want `launch hands program text`
	s.Run(ctx, l)
	p := &sbx.Launch{}
	p.Argv = []string{"zsh", "-c", x} // want `launch hands program text`
	fill(p, "sh", "-c", x)            // want `launch hands program text`
}

func fill(l *sbx.Launch, argv ...string) { l.Argv = argv }

func interpreter(ctx context.Context, prog any) error {
	r, err := interp.New()
	if err != nil {
		return err
	}
	run := r.Run // want `embedded shell`
	if err := run(ctx, prog); err != nil {
		return err
	}
	return r.Run(ctx, prog) // want `runs program text in an embedded shell \(\(\*interp.Runner\).Run\)`
}

func looksLike(x string, more []string) {
	exec.Command("grep", "-c", "sh", x).Run()
	exec.Command("sh", "script.sh", "-c", x).Run()
	exec.Command("sh", "--", "-c", x).Run()
	exec.Command("bash", "-e", "-o", "pipefail", x).Run()
	exec.Command("bash", "--rcfile", x, "script").Run()
	exec.Command("bash", "-s").Run()
	exec.Command("tar", "-c", "-f", x).Run()
	exec.Command("git", "-c", "a=b", "status").Run()
	exec.Command("gcc", "-c", x).Run()
	exec.Command("sudo", "-u", "sh", "id").Run()
	exec.Command("env", "sh=1", "make", "-c").Run()
	exec.Command("timeout", "5", "make", "-e").Run()
	exec.Command("ssh", "-c", "aes", "host", "ls").Run()
	exec.Command("bash-completion", "-c", x).Run()
	exec.Command("sh").Run()
	exec.Command("sed", "-e", x).Run()
	exec.Command("docker", "run", "-e", x, "-c", "10", "image").Run()
	fmt.Println("sh", "-c", x, strings.Join(append([]string{"sh", "-c"}, more...), " "))
	cmd := []string{"sh", "-c", x}
	fmt.Println(cmd)
}
