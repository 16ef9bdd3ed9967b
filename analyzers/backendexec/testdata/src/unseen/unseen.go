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

// A function that starts more than 32 different things: the last of them are not told to its callers.
func many(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35 string) {
	exec.Command(p0).Run()
	exec.Command(p1).Run()
	exec.Command(p2).Run()
	exec.Command(p3).Run()
	exec.Command(p4).Run()
	exec.Command(p5).Run()
	exec.Command(p6).Run()
	exec.Command(p7).Run()
	exec.Command(p8).Run()
	exec.Command(p9).Run()
	exec.Command(p10).Run()
	exec.Command(p11).Run()
	exec.Command(p12).Run()
	exec.Command(p13).Run()
	exec.Command(p14).Run()
	exec.Command(p15).Run()
	exec.Command(p16).Run()
	exec.Command(p17).Run()
	exec.Command(p18).Run()
	exec.Command(p19).Run()
	exec.Command(p20).Run()
	exec.Command(p21).Run()
	exec.Command(p22).Run()
	exec.Command(p23).Run()
	exec.Command(p24).Run()
	exec.Command(p25).Run()
	exec.Command(p26).Run()
	exec.Command(p27).Run()
	exec.Command(p28).Run()
	exec.Command(p29).Run()
	exec.Command(p30).Run()
	exec.Command(p31).Run()
	exec.Command(p32).Run()
	exec.Command(p33).Run()
	exec.Command(p34).Run()
	exec.Command(p35).Run()
}

func last() {
	many("git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "git", "docker")
}
