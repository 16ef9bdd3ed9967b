package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// process is a started command with everything that ends with it.
type process struct {
	b    *Backend
	plan *runtime.Plan
	req  *runtime.Request

	// launcher is our child: the sandbox's program, or the command itself where there is none.
	launcher child
	// first is the first process inside, command the process that became the command, as pidfds; -1 where not known. With GateExec
	// all three are one.
	first, command       int
	firstPID, commandPID int
	// namespace: first is the first of a pid namespace of its own, and everything inside ends with it.
	namespace bool
	status    *statusPipe   // nil without a launcher
	told      *int          // the exit status the launcher told, where it was read early
	group     *cgroup.Group // nil without one
	identity  runtime.ProcessIdentity
	ran       bool // the command's own exec was seen
	stopped   bool // the command was left standing still, for a probe
	started   time.Time

	guarantees []runtime.Guarantee
	notes      []string

	stdin     io.WriteCloser
	tty       *os.File // our end of the terminal, nil without one
	ttyInside *os.File // the command's end of it, until the command has ended
	outputs   [2]*stream
	signals   []*stream // heartbeat and notify
	running   bool      // the streams are read

	exited chan struct{} // closed when the launcher's end was witnessed; the fields below are then set
	waited syscall.WaitStatus
	usage  unix.Rusage
	ended  time.Time
	reaped error // why the end was not witnessed

	waitMu sync.Mutex // guards what Wait has found
	exit   *runtime.Exit
	fate   error

	killed  atomic.Bool  // by us
	closeMu sync.RWMutex // held for reading while a pidfd is used
	closed  bool
}

var _ runtime.Process = (*process)(nil)

// Identity names the command's process.
func (p *process) Identity() runtime.ProcessIdentity { return p.identity }

// Guarantees are what was measured at the stops.
func (p *process) Guarantees() []runtime.Guarantee { return p.guarantees }

// Stdin is the writing end of a stdin pipe, nil without one.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

// witness waits for the launcher's end and takes its status and usage, from a goroutine of its own. It does not reap: while the zombie
// stands, its pid and its session's number are ours and nobody else's, so that what is left of the run can be found and signalled by them
// (waitid(2), WNOWAIT). Remove reaps.
func (p *process) witness() {
	defer close(p.exited)
	if p.reaped = waitPidfd(context.Background(), p.launcher.pidfd); p.reaped != nil {
		return
	}
	p.waited, p.reaped = peekStatus(p.launcher.pid, &p.usage)
	p.ended = time.Now()
	if p.ttyInside != nil {
		p.ttyInside.Close()
	}
}

// peekStatus gives the wait status of a child that has ended, and leaves it there.
func peekStatus(pid int, usage *unix.Rusage) (syscall.WaitStatus, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, usage)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("waiting for process %d: %w", pid, err)
		}
		break
	}
	// struct siginfo of SIGCHLD: si_signo, si_errno, si_code, then aligned to a pointer si_pid, si_uid, si_status (sigaction(2)).
	status := *(*int32)(unsafe.Add(unsafe.Pointer(&info), childStatusOffset))
	switch info.Code {
	case cldExited:
		return syscall.WaitStatus(status&0xff) << 8, nil
	case cldKilled:
		return syscall.WaitStatus(status & 0x7f), nil
	case cldDumped:
		return syscall.WaitStatus(status&0x7f | 0x80), nil
	}
	return 0, fmt.Errorf("waiting for process %d: unknown end %d", pid, info.Code)
}

// The ends of a child, of linux/signal.h, and where si_status stands.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3

	childStatusOffset = 12 + (unsafe.Sizeof(uintptr(0)) - 4) + 8
)

// bury reaps the launcher; only after everything that is found by its number is gone.
func (p *process) bury() error {
	for {
		_, err := unix.Wait4(p.launcher.pid, nil, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reaping process %d: %w", p.launcher.pid, err)
		}
		return nil
	}
}

// Signal sends sig to the command itself.
func (p *process) Signal(_ context.Context, sig syscall.Signal) error {
	p.closeMu.RLock()
	defer p.closeMu.RUnlock()
	// A zombie takes signals and does nothing with them.
	if p.closed || p.command < 0 || ended(p.command) {
		return os.ErrProcessDone
	}
	return signalPidfd(p.command, sig)
}

// Wait returns when the command's end was witnessed and its streams are drained.
func (p *process) Wait(ctx context.Context, drain time.Duration) (*runtime.Exit, error) {
	select {
	case <-p.exited:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.waitMu.Lock()
	defer p.waitMu.Unlock()
	if p.exit != nil || p.fate != nil {
		return p.exit, p.fate
	}
	for _, s := range p.outputs {
		if s != nil {
			s.end(drain)
		}
	}
	for _, s := range p.signals {
		s.end(0)
	}
	cut := false
	var broken error
	for _, s := range append(p.outputs[:], p.signals...) {
		if s == nil {
			continue
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		broken = errors.Join(broken, s.err)
	}
	for _, s := range p.outputs {
		cut = cut || s != nil && s.cut
	}
	if broken != nil {
		p.notes = append(p.notes, "a stream could not be read to its end: "+broken.Error())
		cut = true
	}
	p.exit, p.fate = p.conclude()
	if p.exit != nil {
		p.exit.DrainCut = cut
		p.countMemory(p.exit)
	}
	return p.exit, p.fate
}

// conclude makes the Exit out of what the kernel and the launcher said.
func (p *process) conclude() (*runtime.Exit, error) {
	if p.reaped != nil {
		return nil, runtime.Fail(runtime.Uncertain, "the end of process %d was not witnessed: %w", p.launcher.pid, p.reaped).At(runtime.StepCapture).
			WithCure("something else in this program reaps its children; let it leave pids alone that it did not start")
	}
	e := &runtime.Exit{Code: -1, Usage: p.usageNow(), Notes: p.notes}
	if p.b.def.Gate == GateExec {
		e.Ran, e.Observer = true, "wait4"
		setStatus(e, p.waited)
		return e, nil
	}
	var code int
	var told bool
	var err error
	if p.told != nil {
		code, told = *p.told, true
	} else {
		code, told, err = p.status.exitCode()
	}
	if err != nil {
		e.Notes = append(e.Notes, err.Error())
	}
	info, known := syscall.WaitStatus(0), false
	p.closeMu.RLock()
	if !p.closed && p.command >= 0 {
		info, known = exitInfo(p.command)
	}
	p.closeMu.RUnlock()
	switch {
	case known && (told || p.ran):
		// The kernel's own record of the command, whatever became of the launcher.
		e.Ran, e.Observer = true, "pidfd"
		if told {
			e.Observer = "json-status-fd and pidfd"
		}
		setStatus(e, info)
	case told:
		e.Ran, e.Observer = true, "json-status-fd"
		if code > 128 && code <= 128+64 {
			// The launcher tells a signal as 128 and its number, as a shell does; a kernel before 6.15 keeps no record that tells the two apart.
			e.Signal = syscall.Signal(code - 128)
			e.Notes = append(e.Notes, fmt.Sprintf("exit status %d is read as signal %d", code, code-128))
		} else {
			e.Code = code
		}
	case p.ran:
		return nil, runtime.Fail(runtime.Uncertain, "the launcher ended (%s) without telling how the command ended", describeStatus(p.waited)).At(runtime.StepCapture)
	default:
		return nil, runtime.Fail(runtime.Uncertain, "the launcher ended (%s), and it is not known whether the command ran", describeStatus(p.waited)).At(runtime.StepCapture)
	}
	return e, nil
}

func setStatus(e *runtime.Exit, ws syscall.WaitStatus) {
	if ws.Signaled() {
		e.Signal = ws.Signal()
		return
	}
	e.Code = ws.ExitStatus()
}

func describeStatus(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "killed by signal " + runtime.SignalName(ws.Signal())
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// usageNow is what the launcher and everything it reaped used; the kernel adds a child's usage to its parent at the wait
// (getrusage(2), RUSAGE_CHILDREN).
func (p *process) usageNow() runtime.Usage {
	u := runtime.Usage{
		UserCPU:    time.Duration(p.usage.Utime.Nano()),
		SystemCPU:  time.Duration(p.usage.Stime.Nano()),
		PeakMemory: p.usage.Maxrss * 1024, // kilobytes on Linux
	}
	if !p.started.IsZero() {
		u.Wall = p.ended.Sub(p.started)
	}
	if s := p.outputs[0]; s != nil {
		u.StdoutSize = s.size
	}
	if s := p.outputs[1]; s != nil {
		u.StderrSize = s.size
	}
	return u
}

// countMemory adds what the run's control group counted: the most memory that was used, and the kills by its limit.
func (p *process) countMemory(e *runtime.Exit) {
	if p.group == nil {
		return
	}
	if peak := p.group.PeakMemory(); peak > 0 {
		e.Usage.PeakMemory = peak
	}
	n, where, err := p.group.OOMKills()
	if err != nil {
		e.Notes = append(e.Notes, "kills by the memory limit could not be counted: "+err.Error())
		return
	}
	e.OOMKills, e.MemoryEvents = n, where
	// The limit's kill is a SIGKILL (memory.txt); one of the command's own children alone leaves the command its own end.
	e.OOM = n > 0 && e.Signal == unix.SIGKILL && !p.killed.Load()
}

// kill ends everything of the run by the strongest means: the first process of the namespace takes all others with it; without a
// namespace the session and everything that descends from it is swept.
func (p *process) kill() error {
	if !ended(p.command) {
		p.killed.Store(true)
	}
	p.closeMu.RLock()
	defer p.closeMu.RUnlock()
	if p.closed {
		return nil
	}
	if p.group != nil {
		// Whatever left the session and its parents is still in the group.
		if err := p.group.Kill(); err != nil {
			return err
		}
	}
	if p.namespace && p.first >= 0 {
		err := signalPidfd(p.first, unix.SIGKILL)
		if err == nil || !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		// What is left outside is the launcher, which ends by itself when it has told the end.
		return nil
	}
	return p.sweep()
}

// sweep kills the launcher's session and everything that descends from it. The launcher is not reaped yet, so both are its own.
func (p *process) sweep() error {
	if !ended(p.launcher.pidfd) {
		// It can start nothing more.
		if err := stopAndWait(p.launcher.pid, p.launcher.pidfd); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stopping process %d: %w", p.launcher.pid, err)
		}
	}
	sessions, roots := map[int]bool{p.launcher.pid: true}, map[int]bool{p.launcher.pid: true}
	if p.command >= 0 && !ended(p.command) {
		roots[p.commandPID] = true
	}
	_, left, err := sweepTree(p.launcher.pid, sessions, roots)
	if err != nil {
		return fmt.Errorf("sweeping the processes of session %d: %w", p.launcher.pid, err)
	}
	if len(left) > 0 {
		return runtime.Fail(runtime.Uncertain, "%d processes of the run still stand", len(left)).WithLeft(leftProcesses(left)...)
	}
	return nil
}

func leftProcesses(ids []runtime.ProcessIdentity) []runtime.Leftover {
	var out []runtime.Leftover
	for _, id := range ids {
		out = append(out, runtime.Leftover{What: "process", Name: fmt.Sprintf("%d (start time %d)", id.PID, id.StartTime), Settle: fmt.Sprintf("kill -KILL %d", id.PID)})
	}
	return out
}

// Health is always empty: a process has no health check.
func (p *process) Health(context.Context) (string, error) { return "", nil }

// close gives the descriptors back; only after everything of the run is gone.
func (p *process) close() {
	p.closeMu.Lock()
	defer p.closeMu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	fds := map[int]bool{p.launcher.pidfd: true, p.first: true, p.command: true}
	for fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if p.status != nil {
		p.status.close()
	}
	if p.stdin != nil {
		p.stdin.Close()
	}
}
