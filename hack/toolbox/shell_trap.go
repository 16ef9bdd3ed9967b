//go:build linux

package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"mvdan.cc/sh/v3/interp"
)

// traps are the actions of trap. The interpreter itself knows no signals, and EXIT
// only at the end of a file. An action runs before the next simple command, which is after the
// foreground command that the signal met, as POSIX says.
type traps struct {
	mu      sync.Mutex
	actions map[syscall.Signal]string
	atExit  string
	pending []syscall.Signal
	wake    chan syscall.Signal // a signal that arrived while wait waits
	caught  chan os.Signal
	cond    *sync.Cond // pending has grown
}

// set is trap [ACTION] CONDITION...; it returns a command with its exit status.
func (t *traps) set(hc interp.HandlerContext, args []string) []string {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		t.list(hc)
		return []string{"true"}
	}
	action := "-"
	if len(words) > 1 {
		action, words = words[0], words[1:]
	}
	for _, word := range words {
		if word == "EXIT" || word == "0" {
			t.mu.Lock()
			if t.atExit = action; action == "-" {
				t.atExit = ""
			}
			t.mu.Unlock()
			continue
		}
		sig, err := parseSignal(word)
		if err != nil {
			fmt.Fprintf(hc.Stderr, "trap: %q is not a signal\n", word)
			return withStatus(1)
		}
		t.setOne(sig, action)
	}
	return []string{"true"}
}

// takeExit returns the action for the end of the shell, and forgets it.
func (t *traps) takeExit() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	action := t.atExit
	t.atExit = ""
	return action
}

func (t *traps) setOne(sig syscall.Signal, action string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.actions, sig)
	switch action {
	case "-":
		signal.Reset(sig)
	case "":
		signal.Ignore(sig)
	default:
		if t.actions == nil {
			t.actions = make(map[syscall.Signal]string)
			t.wake = make(chan syscall.Signal, 1)
			t.caught = make(chan os.Signal, 16)
			t.cond = sync.NewCond(&t.mu)
			go t.listen()
		}
		t.actions[sig] = action
		signal.Notify(t.caught, sig)
	}
}

// listen turns signals into pending actions; it ends with the process.
func (t *traps) listen() {
	for caught := range t.caught {
		sig := caught.(syscall.Signal)
		t.mu.Lock()
		if _, ok := t.actions[sig]; ok && !slices.Contains(t.pending, sig) {
			t.pending = append(t.pending, sig)
		}
		t.cond.Broadcast()
		t.mu.Unlock()
		select {
		case t.wake <- sig:
		default:
		}
	}
}

// await returns once a signal that this process sent itself is pending: for a
// shell it is there before kill returns, but the Go runtime delivers it later.
func (t *traps) await(sig syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.actions[sig] != "" && !slices.Contains(t.pending, sig) {
		t.cond.Wait()
	}
}

// arrived delivers a signal that has an action; never when nothing is trapped.
func (t *traps) arrived() <-chan syscall.Signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wake
}

// take returns the actions that are due, as shell text, and forgets them.
func (t *traps) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	for _, sig := range t.pending {
		fmt.Fprintln(&text, t.actions[sig])
	}
	t.pending = nil
	if text.Len() > 0 {
		// Handled: it shall not cut a later wait short.
		select {
		case <-t.wake:
		default:
		}
	}
	return text.String()
}

func (t *traps) list(hc interp.HandlerContext) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for sig, action := range t.actions {
		fmt.Fprintf(hc.Stdout, "trap -- %s %d\n", quote(action), int(sig))
	}
}
