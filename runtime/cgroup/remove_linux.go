package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// Kill kills everything in the group. Idempotent; nil where nothing is in it or it is gone. It does not wait for their ends.
func (g *Group) Kill() error {
	for _, d := range g.dirs {
		// Since Linux 5.14 the one hierarchy does it whole, and nothing can fork out of it.
		err := os.WriteFile(filepath.Join(d, "cgroup.kill"), []byte("1"), 0)
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		return fmt.Errorf("killing the control group %s: %w", d, err)
	}
	for range killRounds {
		pids, err := g.processes()
		if err != nil {
			return fmt.Errorf("killing a control group: %w", err)
		}
		alive := false
		for _, pid := range pids {
			killed, err := g.killMember(pid)
			if err != nil {
				return err
			}
			alive = alive || killed
		}
		if !alive {
			return nil
		}
	}
	return nil // Remove says whether any is left
}

// killRounds bounds how often a group is read again for what its members forked before they were killed.
const killRounds = 64

// killMember kills a process that was read out of the group, if it still is in it while we hold it.
func (g *Group) killMember(pid int) (bool, error) {
	if pid <= 0 {
		return false, nil // of another pid namespace: not ours to name
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false, nil // it ended
	}
	defer unix.Close(fd)
	// The pid may have been taken over between the two: what the descriptor holds must be a member.
	pids, err := g.processes()
	if err != nil {
		return false, err
	}
	if !slices.Contains(pids, pid) {
		return false, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return false, fmt.Errorf("killing process %d: %w", pid, err)
	}
	return true, nil
}

// Remove kills what is in the group and removes its directories. Idempotent; ctx bounds it. What could not be removed is an Uncertain Failure
// that names it.
func (g *Group) Remove(ctx context.Context) error {
	pause := time.Millisecond
	for {
		if err := g.Kill(); err != nil {
			return runtime.Fail(runtime.Uncertain, "%w", err).WithLeft(g.left()...)
		}
		busy := false
		for _, d := range g.dirs {
			err := os.Remove(d)
			switch {
			case err == nil, errors.Is(err, fs.ErrNotExist):
			case errors.Is(err, unix.EBUSY):
				busy = true // a killed member has not left yet, and the kernel tells nobody when it has
			default:
				return runtime.Fail(runtime.Uncertain, "removing a control group: %w", err).WithLeft(g.left()...)
			}
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		case <-ctx.Done():
			return runtime.Fail(runtime.Uncertain, "a control group is still in use: %w", context.Cause(ctx)).WithLeft(g.left()...)
		}
	}
}

// Discard removes a group that nothing was ever in.
func (g *Group) Discard() error {
	for _, d := range g.dirs {
		if err := os.Remove(d); err != nil {
			return fmt.Errorf("removing the control group %s: %w", d, err)
		}
	}
	return nil
}

func (g *Group) left() []runtime.Leftover {
	var out []runtime.Leftover
	for _, d := range g.Paths() {
		if _, err := os.Lstat(d); err == nil {
			out = append(out, runtime.Leftover{What: "cgroup", Name: d, Settle: "rmdir " + runtime.ShellQuote(d)})
		}
	}
	pids, err := g.processes()
	if err != nil {
		return out
	}
	for _, pid := range pids {
		out = append(out, runtime.Leftover{What: "process", Name: strconv.Itoa(pid), Settle: "kill -KILL " + strconv.Itoa(pid)})
	}
	return out
}
