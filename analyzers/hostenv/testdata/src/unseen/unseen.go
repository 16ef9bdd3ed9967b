// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
//
//sbx:seam a test
package unseen

import (
	"os"
	"os/exec"
	"strings"
)

// An environment that went through a file, or a channel that a parameter is.
func file(argv []string) {
	data, _ := os.ReadFile("/proc/self/environ")
	cmd := exec.Command(argv[0])
	cmd.Env = strings.Split(string(data), "\x00")
	cmd.Run()
}

func channel(c chan []string, argv []string) {
	c <- os.Environ()
	cmd := exec.Command(argv[0])
	cmd.Env = <-c
	cmd.Run()
}

// Variables read one by one in a loop over names.
func oneByOne(argv, names []string) {
	cmd := exec.Command(argv[0])
	cmd.Env = []string{}
	for _, n := range names {
		cmd.Env = append(cmd.Env, n+"="+os.Getenv(n))
	}
	cmd.Run()
}

// A credential under another name.
func renamed(argv []string) {
	cmd := exec.Command(argv[0])
	cmd.Env = []string{"X=" + os.Getenv("GH_PERSONAL")}
	cmd.Run()
}

// A command that another function made, on some path without an environment.
func made(argv []string, clean bool) {
	cmd := make_(argv, clean)
	cmd.Run()
}

func make_(argv []string, clean bool) *exec.Cmd {
	cmd := exec.Command(argv[0])
	if clean {
		cmd.Env = []string{}
	}
	return cmd
}

// An Env that a literal sets, which may never run.
func set(argv []string, clean bool) {
	cmd := exec.Command(argv[0])
	clear := func() { cmd.Env = []string{} }
	if clean {
		clear()
	}
	cmd.Run()
}
