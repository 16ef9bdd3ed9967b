package a

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func literal() {
	exec.Command("docker", "ps").Run()                                       // want `starts the sandbox backend's program "docker" outside the seam \(exec.Command\)`
	exec.CommandContext(context.Background(), "/usr/bin/podman", "ps").Run() // want `"podman"`
	exec.Command("git", "status").Run()
	exec.Command("/opt/notdocker").Run()
	fmt.Println("docker", exec.Command("docker").String())
	exec.LookPath("docker")
	args := []string{"docker", "run"}
	fmt.Println(strings.Join(args, " "))
}

const prefix = "dock"

var engine = "podman"

var table = map[string]string{"x": "bwrap", "y": "git"}

func folded() {
	exec.Command(prefix + "er").Run() // want `"docker"`
	exec.Command(engine).Run()        // want `"podman"`
	exec.Command(table["x"]).Run()    // want `"bwrap"`
	exec.Command(table["y"]).Run()
	for _, p := range table {
		exec.Command(p).Run() // want `"bwrap"`
	}
	for _, p := range []string{"git", "nerdctl"} {
		exec.Command(p).Run() // want `"nerdctl"`
	}
}

func run(name string, args ...string) error { return exec.Command(name, args...).Run() }

func wrapped() {
	run("docker", "ps") // want `"docker" outside the seam \(run → exec.Command\)`
	run("git")
	defer run("podman") // want `"podman"`
	go run("podman")    // want `"podman"`
	f := run
	f("docker") // want `"docker"`
	g := exec.Command
	g("docker").Run() // want `"docker"`
	func() {
		run("docker") // want `"docker"`
	}()
	path, err := exec.LookPath("docker")
	if err != nil {
		return
	}
	exec.Command(path).Run() // want `"docker"`
}

func struct_() {
	c := exec.Cmd{Path: "/usr/bin/docker"} // want `"docker"`
	c.Run()
	var d exec.Cmd
	d.Path = "docker" // want `"docker"`
	d.Run()
	e := exec.Command("sudo", "docker") // want `"docker"`
	e.Run()
	os.StartProcess("/bin/docker", nil, nil) // want `"docker"`
	syscall.Exec("/bin/docker", nil, nil)    // want `"docker"`
	syscall.ForkExec("/bin/git", nil, nil)
}

type runner struct{ bin string }

func (r *runner) run() { exec.Command(r.bin).Run() }

func method() {
	r := &runner{bin: "docker"}
	r.run() // want `"docker"`
	q := runner{"git"}
	q.run()
}

type starter interface{ start(name string) }

type real struct{}

func (real) start(name string) { exec.Command(name).Run() }

func iface(s starter) {
	s.start("docker") // want `"docker"`
	h := s.start
	h("podman") // want `"podman"`
}

type generic[T any] struct{}

func (generic[T]) do(name string) { exec.Command(name).Run() }

func apply[F func(string)](f F, name string) { f(name) }

func generics() {
	generic[int]{}.do("docker")                               // want `"docker"`
	apply(func(n string) { exec.Command(n).Run() }, "docker") // want `"docker"`
}

type embedding struct{ runner }

func promoted() {
	e := embedding{runner{"docker"}}
	e.run() // want `"docker"`
}

var hook = func(n string) { exec.Command(n).Run() }

func viaHook() { hook("docker") } // want `"docker"`

func over(yield func(string) bool) {
	_ = yield("docker") && yield("git")
}

func rangeOver() {
	for n := range over { // want `"docker"`
		exec.Command(n).Run()
	}
}

//sbx:allow backendexec the whole declaration
func allowed() {
	exec.Command("docker").Run()
}
