// Package fields keeps names and functions in fields and package variables.
package fields

import (
	"os/exec"

	"seam"
)

type server struct {
	bin   string
	argv  []string
	start func(string, ...string) *exec.Cmd
	table map[string]func(string)
}

func newServer() *server {
	return &server{
		bin:   "docker",
		argv:  []string{"podman", "ps"},
		start: exec.Command,
		table: map[string]func(string){"x": func(n string) { exec.Command(n).Run() }},
	}
}

// Handle is called by nobody here: its receiver is whatever the package builds.
func (s *server) Handle() {
	exec.Command(s.bin).Run()                    // want `program "docker"`
	exec.Command(s.argv[0], s.argv[1:]...).Run() // want `program "podman"`
	s.start("docker").Run()                      // want `program "docker"`
	s.start("git").Run()
	s.table["x"]("docker") // want `program "docker"`
	s.inner()              // want `program "docker" outside the seam \(\(\*server\).inner → exec.Command\)`
}

func (s *server) inner() { exec.Command(s.bin).Run() }

var start = exec.Command

var global string

func init() { global = "docker" }

func vars() {
	start("docker").Run()      // want `program "docker"`
	exec.Command(global).Run() // want `program "docker"`
	seam.Run("docker")         // want `program "docker"`
	seam.Run("git")
}

func closures() {
	name := "git"
	set := func() { name = "docker" }
	set()
	exec.Command(name).Run() // want `program "docker"`
	func() {
		captured := "podman"
		go func() {
			exec.Command(captured).Run() // want `program "podman"`
		}()
	}()
	later := "docker"
	run := func() { exec.Command(later).Run() } // want `program "docker"`
	defer run()
}

func loops(names []string) {
	args := []string{"sudo"}
	for _, n := range names {
		args = append(args, "-E", n)
	}
	args = append(args, "docker")
	exec.Command(args[0], args[1:]...).Run() // want `program "docker"`
	for _, n := range [...]string{"git", "bwrap"} {
		exec.Command(n).Run() // want `program "bwrap"`
	}
	switch c := exec.Command("git"); {
	case len(names) > 1:
		c.Path = "/usr/bin/docker" // want `program "docker"`
		c.Run()
	}
	ch := make(chan string, 1)
	ch <- "docker"
	exec.Command(<-ch).Run() // want `program "docker"`
}

func recursive(n int, name string) {
	if n == 0 {
		exec.Command(name).Run()
		return
	}
	recursive(n-1, name)
}

func callsRecursive() { recursive(3, "docker") } // want `program "docker"`
