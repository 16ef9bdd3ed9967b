package process

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// The processes of a run that no namespace ends are found by their session, which we made for the run and nobody else can join
// (setsid(2)), and by their parents.

// member is a process found in /proc, held by a pidfd.
type member struct {
	id   runtime.ProcessIdentity
	stat attest.Stat
}

// processes lists every process of /proc that keep wants. A process that ends meanwhile is left out.
func processes(keep func(pid int, s attest.Stat) bool) ([]member, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []member
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		s, err := attest.ReadStat(pid)
		if err != nil || !keep(pid, s) {
			continue
		}
		out = append(out, member{runtime.ProcessIdentity{PID: pid, StartTime: s.StartTime, BootID: runtime.BootID()}, s})
	}
	return out, nil
}

// sweepTree kills every process whose session is one of sessions or that descends from one of roots, and what they start meanwhile. A
// child that made its own session is found as long as its parent lives; so parents are stopped first and killed last. It gives how many it
// killed and which still stand after it looked again. With a launcher (a child of
// ours, which it never reaps) it takes the ends of what we trace below it; without, it reaps nothing.
func sweepTree(launcher int, sessions, roots map[int]bool) (killed int, left []runtime.ProcessIdentity, err error) {
	own, err := unix.Getsid(0)
	if err != nil {
		return 0, nil, err
	}
	for range sweepRounds {
		live, err := treeOf(sessions, roots)
		if err != nil {
			return killed, nil, err
		}
		left = nil
		for _, m := range live {
			left = append(left, m.id)
		}
		if len(live) == 0 {
			return killed, nil, nil
		}
		var held []heldProcess
		for _, m := range live {
			fd, err := openIdentity(m.id)
			if err != nil {
				continue
			}
			held = append(held, heldProcess{m.id.PID, fd})
			// Its children become findable by it: it cannot start another one now.
			signalPidfd(fd, unix.SIGSTOP)
			if m.stat.Session > 0 && m.stat.Session != own {
				sessions[m.stat.Session] = true
			}
			roots[m.id.PID] = true
		}
		// A zombie counts here: as our tracee it keeps its parent from ending.
		again, err := processes(func(pid int, s attest.Stat) bool { return sessions[s.Session] || roots[s.Parent] })
		if err != nil {
			return killed, left, err
		}
		for _, m := range again {
			if fd, err := openIdentity(m.id); err == nil {
				held = append(held, heldProcess{m.id.PID, fd})
			}
		}
		for _, h := range held {
			if signalPidfd(h.fd, unix.SIGKILL) == nil {
				killed++
			}
		}
		// Looking again finds what they started, not them.
		awaitEnds(held, launcher, sweepPatience)
		for _, h := range held {
			unix.Close(h.fd)
		}
	}
	return killed, left, nil
}

// treeOf lists the live processes of these sessions and below these roots.
func treeOf(sessions, roots map[int]bool) ([]member, error) {
	self := os.Getpid()
	all, err := processes(func(int, attest.Stat) bool { return true })
	if err != nil {
		return nil, err
	}
	byPID := make(map[int]attest.Stat, len(all))
	for _, m := range all {
		byPID[m.id.PID] = m.stat
	}
	ours := func(pid int) bool {
		for range 256 {
			s, ok := byPID[pid]
			if !ok || pid == self || pid <= 1 {
				return false
			}
			if roots[pid] || sessions[s.Session] {
				return true
			}
			pid = s.Parent
		}
		return false
	}
	return slices.DeleteFunc(all, func(m member) bool { return m.stat.State == 'Z' || !ours(m.id.PID) }), nil
}

type heldProcess struct{ pid, fd int }

// awaitEnds waits until all these killed processes have ended, at most for patience.
func awaitEnds(held []heldProcess, launcher int, patience time.Duration) {
	limit := time.Now().Add(patience)
	for {
		waiting := false
		for _, h := range held {
			if launcher > 0 && h.pid != launcher {
				takeEnd(h.pid)
			}
			waiting = waiting || !ended(h.fd)
		}
		if !waiting || time.Now().After(limit) {
			return
		}
		time.Sleep(endPause)
	}
}

// takeEnd takes the end of a tracee, which reaches nobody before. A tracee's stop is left for the thread that traces it; for any other process
// it does nothing.
func takeEnd(pid int) {
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WALL|unix.WNOHANG|unix.WNOWAIT, nil) != nil {
		return
	}
	switch info.Code {
	case cldExited, cldKilled, cldDumped:
		unix.Wait4(pid, nil, unix.WALL|unix.WNOHANG, nil)
	}
}

// endPause is between two looks at what was killed: an end takes the kernel microseconds, and there is more than one to wait for.
const endPause = 500 * time.Microsecond

// sweepPatience is how long a killed process may take to end: one that the kernel holds in a call that cannot be interrupted is left.
const sweepPatience = 2 * time.Second

// sweepRounds bounds how often a sweep looks again for what was started while it looked.
const sweepRounds = 8

// markedAs finds the processes whose first word is name: a launcher that was started and not yet recorded when its controller died.
func markedAs(name string) ([]member, error) {
	var buf [256]byte
	return processes(func(pid int, s attest.Stat) bool {
		if s.State == 'Z' {
			return false
		}
		b, err := attest.ReadFile("/proc/"+strconv.Itoa(pid)+"/cmdline", buf[:])
		if err != nil {
			return false
		}
		first, _, _ := strings.Cut(string(b), "\x00")
		return first == name
	})
}

// stopSignal stops a process and waits until the kernel says so, so that it can start nothing more.
func stopAndWait(pid, pidfd int) error {
	if err := signalPidfd(pidfd, unix.SIGSTOP); err != nil {
		return err
	}
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func appendFDPath(b []byte, fd int) []byte {
	return strconv.AppendInt(append(b, "/proc/self/fd/"...), int64(fd), 10)
}
