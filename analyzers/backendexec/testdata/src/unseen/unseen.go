// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"flag"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"

	"keeps"
)

// A name from a flag, the environment or a file.
func named() {
	name := flag.String("engine", "docker", "")
	exec.Command(*name).Run()
	exec.Command(os.Getenv("ENGINE")).Run()
	data, _ := os.ReadFile("engine")
	exec.Command(strings.TrimSpace(string(data))).Run()
}

// One that comes through a channel that a parameter is.
func channel(c chan string) {
	c <- "docker"
	exec.Command(<-c).Run()
}

// Reflection, and the system call by number.
func reflected() {
	reflect.ValueOf(exec.Command).Call([]reflect.Value{reflect.ValueOf("docker")})
}

func byNumber(path, argv, envv uintptr) {
	syscall.Syscall(syscall.SYS_EXECVE, path, argv, envv)
}

// A function that another package keeps for itself.
func collected() { keeps.Get("x")("docker") }

// A program that starts the backend itself.
func indirectly() {
	exec.Command("make", "-f", "docker.mk").Run()
	exec.Command("./start-docker.sh").Run()
}
