//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"
)

func TestSystem(t *testing.T) {
	runScripts(t, []script{
		{name: "env of a command", commands: "A=1 env -u A -i B=2 env", out: "B=2\n"},
		{name: "env of what is absent", commands: "env nosuch", err: "nosuch", status: 127},
		{name: "sleep", commands: "sleep 0.01 && sleep 1ms && sleep 0"},
		{name: "sleep of nonsense", commands: "sleep soon", err: "soon", status: 2},
		{name: "id", commands: "test \"$(id -u):$(id -g)\" = " + fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid()) + " && id | grep -c '^uid='", out: "1\n"},
		{name: "uname", commands: "uname; uname -sm | wc -w", out: "Linux\n2\n"},
		{name: "hostname", commands: "test $(hostname) = $(uname -n)"},
		{name: "kill of what is gone", commands: "sleep 0 & wait $!; env kill $!", err: "no such process", status: 1},
		{name: "kill by a nonsense signal", commands: "env kill -NOSUCH 1", err: "NOSUCH", status: 2},
		{name: "kill by name", commands: "sleep 60 & env kill -s KILL $!; wait $!; echo $?", out: "137\n"},
		{name: "an applet by its first operand", commands: "toolbox echo a", out: "a\n"},
		{name: "an applet that is absent", commands: "toolbox nosuch", err: "nosuch", status: 127},
	})
}
