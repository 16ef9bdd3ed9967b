// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"flag"
	"os"
	"os/exec"
	"reflect"
	"strings"
)

// A shell whose name is read.
func named(x string) {
	shell := flag.String("shell", "", "")
	exec.Command(*shell, "-c", x).Run()
	exec.Command(os.Getenv("MY_SHELL"), "-c", x).Run()
}

// Text on a shell's standard input.
func input(x string) {
	cmd := exec.Command("sh", "-s")
	cmd.Stdin = strings.NewReader(x)
	cmd.Run()
}

// A program that runs a shell by itself.
func indirectly(x string) {
	exec.Command("make", "SHELL_COMMAND="+x).Run()
	exec.Command("git", "-c", "alias.x=!"+x, "x").Run()
}

// A list that went through a channel that a parameter is, or reflection.
func channel(c chan []string, x string) {
	c <- []string{"sh", "-c", x}
	argv := <-c
	exec.Command(argv[0], argv[1:]...).Run()
}

func reflected(x string) {
	reflect.ValueOf(exec.Command).Call([]reflect.Value{reflect.ValueOf("sh"), reflect.ValueOf("-c"), reflect.ValueOf(x)})
}
