package process

import (
	"context"
	"errors"
	"io"
	"io/fs"
	goruntime "runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// gated starts the launcher with an empty environment, its words and its gate by descriptor; has the first process inside held, limited
// and measured before the command exists, and the command stopped and measured at its own exec; and lets it go.
//
// Where ptrace is permitted, the first process is seized while it still builds the sandbox and then let through the gate: its fork of the
// command is the stop. The kernel tells of it; nothing tells that a process waits at a descriptor. Otherwise the gate itself holds it.
func (s *start) gated(o *order) error {
	d := s.req.Descriptors
	argv, file := s.words()
	if s.b.def.Arguments == ArgumentsDescriptor {
		if err := s.table.data(d.Args, "arguments", file); err != nil {
			return runtime.Fail(runtime.Setup, "%w", err)
		}
	}
	inside, ours, err := stuckPipe()
	if err != nil {
		return runtime.Fail(runtime.Setup, "%w", err)
	}
	s.block = ours
	status, err := newPipe()
	if err != nil {
		unix.Close(inside)
		return runtime.Fail(runtime.Setup, "%w", err)
	}
	s.status = &statusPipe{fd: status[0]}
	if err := errors.Join(s.table.place(d.Block, inside, true), s.table.place(d.Status, status[1], true)); err != nil {
		return runtime.Fail(runtime.Setup, "%w", err)
	}
	// Empty: what the launcher is started with is readable at the sandbox's first process, whatever it clears for the command.
	o.path, o.argv, o.env, o.dir = s.plan.Identity.Program, argv, nil, "/"
	if err := s.spawn(o, nil, nil); err != nil {
		if s.launcher.pid != 0 {
			return err
		}
		return runtime.Fail(runtime.Setup, "starting %s: %w", o.path, err)
	}
	s.guard(func() {
		sweepTree(s.launcher.pid, map[int]bool{s.launcher.pid: true}, map[int]bool{s.launcher.pid: true})
	})
	defer s.unguard()

	pid, err := s.status.childPID()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return s.launcherFailed()
		}
		return runtime.Fail(runtime.Setup, "%w", err)
	}
	if err := s.adopt(pid); err != nil {
		return err
	}
	if s.b.untraceable.Load() {
		return s.untraced()
	}
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	err = seize(pid)
	switch {
	case err == nil:
		return s.traced()
	case notPermitted(err):
		return s.untraced()
	case errors.Is(err, unix.ESRCH):
		return s.launcherFailed()
	}
	return runtime.Fail(runtime.Setup, "seizing process %d: %w", pid, err)
}

// adopt takes the first process inside by a pidfd, checks that it is our launcher's, and has both recorded.
func (s *start) adopt(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return s.launcherFailed()
	}
	p := s.process
	p.first, p.firstPID = fd, pid
	id, st, err := identify(pid)
	if err != nil {
		return s.launcherFailed()
	}
	// Read while the pidfd is held and its parent not reaped: no other process can have taken the pid.
	for up, i := st.Parent, 0; up != p.launcher.pid; i++ {
		above, err := attest.ReadStat(up)
		if err != nil || i == 8 || up <= 1 {
			unix.Close(fd)
			p.first, p.firstPID = -1, 0
			return runtime.Fail(runtime.Setup, "the launcher names process %d as its child, which is not", pid).WithCure("check what %s is", s.plan.Identity.Program)
		}
		up = above.Parent
	}
	launcher, _, err := identify(p.launcher.pid)
	if err != nil {
		return s.lost("reading the launcher's identity: %w", err)
	}
	if p.namespace, _, err = attest.OwnNamespace(pid, "pid"); err != nil {
		return s.lost("reading the pid namespace of the first process: %w", err)
	}
	p.identity = id
	if p.group != nil {
		// Before the command exists: it is born in the group.
		if err := p.group.Add(pid); err != nil {
			return s.lost("%w", err)
		}
	}
	return s.record(launcher, id)
}

// traced follows the seized first process to the command's own exec. All of it runs on the tracing thread.
func (s *start) traced() (err error) {
	tracees := map[int]bool{s.firstPID: true}
	defer func() {
		if err != nil {
			s.dropTracees(tracees)
		}
	}()
	if err := s.release(); err != nil {
		if !vanished(err) {
			return runtime.Fail(runtime.Setup, "%w", err)
		}
		// The launcher waits for it, and it ends when we have taken its end.
		s.dropTracees(tracees)
		return s.launcherFailed()
	}
	pid, held := s.firstPID, false
	for {
		st, err := waitTracee(pid)
		if err != nil {
			return runtime.Fail(runtime.Setup, "following process %d to the command: %w", pid, err)
		}
		switch {
		case st.gone():
			delete(tracees, pid)
			return s.neverRan(nil, held)
		case st.event == unix.PTRACE_EVENT_FORK || st.event == unix.PTRACE_EVENT_VFORK || st.event == unix.PTRACE_EVENT_CLONE:
			msg, err := unix.PtraceGetEventMsg(pid)
			if err != nil {
				return runtime.Fail(runtime.Setup, "reading which process the command is: %w", err)
			}
			command := int(msg)
			tracees[command] = true
			if err := s.commandIs(command); err != nil {
				return err
			}
			if first, err := waitTracee(command); err != nil || first.gone() {
				return runtime.Fail(runtime.Setup, "holding process %d: %w", command, errors.Join(err, unix.ESRCH))
			}
			if err := s.held(command, runtime.WhenHeld); err != nil {
				return err
			}
			held = true
			if err := unix.PtraceCont(command, 0); err != nil {
				return runtime.Fail(runtime.Setup, "resuming process %d: %w", command, err)
			}
			if err := letGo(pid); err != nil {
				return runtime.Fail(runtime.Setup, "letting process %d go: %w", pid, err)
			}
			delete(tracees, pid)
			pid = command
		case st.event == unix.PTRACE_EVENT_EXEC:
			if !held {
				// No process of its own for the command: the first one becomes it.
				if err := s.commandIs(pid); err != nil {
					return err
				}
				if err := s.held(pid, runtime.WhenExec); err != nil {
					return err
				}
			}
			if err := s.atExec(pid); err != nil {
				return err
			}
			s.skipLauncherText()
			if err := s.begin(); err != nil {
				return err
			}
			s.ran = true
			s.freeze()
			if err := letGo(pid); err != nil {
				// It was killed while it stood here, and has not run an instruction.
				return runtime.Fail(runtime.Setup, "letting the command go: %w", err)
			}
			s.read()
			return nil
		case st.event == unix.PTRACE_EVENT_EXIT:
			// It has not become the command, and its file system still stands. It may have forked when it was killed: nothing but this
			// thread lets that one end, and it before.
			reason := s.judge(pid)
			s.dropTracees(tracees)
			return s.neverRan(reason, held)
		default:
			if err := resume(pid, st); err != nil && !errors.Is(err, unix.ESRCH) {
				return runtime.Fail(runtime.Setup, "resuming process %d: %w", pid, err)
			}
		}
	}
}

// dropTracees kills what is traced and takes its end, which reaches its parent only then. The first process ends after every other of its
// namespace; one that was forked when it was killed is a tracee too, and not known yet.
func (s *start) dropTracees(tracees map[int]bool) {
	signalPidfd(s.first, unix.SIGKILL)
	if s.command >= 0 {
		signalPidfd(s.command, unix.SIGKILL)
	}
	limit := time.Now().Add(abortDeadline)
	for len(tracees) > 0 && time.Now().Before(limit) {
		if s.command < 0 {
			if pid := onlyChild(s.firstPID); pid > 0 {
				tracees[pid] = true
			}
		}
		moved := false
		for pid := range tracees {
			// Out of a stop that was seen before; where it stands at none, or is dying already, this does nothing.
			unix.PtraceCont(pid, 0)
			var ws unix.WaitStatus
			got, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOHANG, nil)
			switch {
			case errors.Is(err, unix.EINTR):
				moved = true
			case err != nil, got == pid && (ws.Exited() || ws.Signaled()):
				delete(tracees, pid)
				moved = true
			case got == pid:
				moved = true // another stop on its way out
			}
		}
		if !moved {
			time.Sleep(endPause)
		}
	}
}

// commandIs takes the process that becomes the command, which is stopped or held.
func (s *start) commandIs(pid int) error {
	p := s.process
	p.commandPID = pid
	if pid == p.firstPID {
		p.command = p.first
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return runtime.Fail(runtime.Setup, "opening process %d: %w", pid, err)
	}
	p.command = fd
	if p.identity, _, err = identify(pid); err != nil {
		return runtime.Fail(runtime.Setup, "reading the command's identity: %w", err)
	}
	return nil
}

// judge looks, in the file system of a process inside, why it cannot become the command.
func (s *start) judge(pid int) *runtime.Failure {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(root)
	return verdict(root, s.req)
}

// neverRan is the failure of a sandbox whose command did not come to its exec; forked says that the sandbox itself stood.
func (s *start) neverRan(reason *runtime.Failure, forked bool) error {
	if err := s.ctx.Err(); err != nil {
		return runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
	}
	if reason != nil {
		return reason
	}
	if !forked {
		return s.launcherFailed()
	}
	return runtime.Fail(runtime.Setup, "the sandbox stood, and the command %s was not executed%s", s.req.Command[0], s.launcherText())
}

// launcherFailed is the failure of a launcher that ended before the command existed.
func (s *start) launcherFailed() error {
	if err := s.ctx.Err(); err != nil {
		return runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
	}
	// Its own end follows, and what it wrote is complete then.
	<-s.exited
	if s.reaped != nil {
		return runtime.Fail(runtime.Setup, "%s ended before the command existed, and its status was not witnessed: %w", s.b.def.Program, s.reaped)
	}
	return runtime.Fail(runtime.Setup, "%s ended before the command existed (%s)%s", s.b.def.Program, describeStatus(s.waited), s.launcherText())
}

// lost is the failure of a step that the first process was needed for: the launcher's own where that one has ended.
func (s *start) lost(format string, err error) error {
	if vanished(err) {
		// Its parts go before it does.
		ctx, cancel := context.WithTimeout(s.ctx, abortDeadline)
		defer cancel()
		if waitPidfd(ctx, s.first) == nil {
			return s.launcherFailed()
		}
	}
	return runtime.Fail(runtime.Setup, format, err)
}

// vanished reports whether an error says that a process is not there any more: no such process, no entry below /proc, nobody at the
// other end of a pipe.
func vanished(err error) bool {
	return errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EPIPE)
}

// skipLauncherText drops what the launcher wrote before the command exists, so that a stream begins with the command's first byte.
func (s *start) skipLauncherText() {
	if t := s.launcherText(); t != "" {
		s.notes = append(s.notes, "before the command existed the launcher wrote"+t)
	}
}
