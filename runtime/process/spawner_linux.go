package process

import (
	"math"
	"os"
	goruntime "runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner is the one operating-system thread that starts every child of a backend. The kernel ties a child's parent-death signal, and
// the tracer of a child that asked to be traced, to the thread that forked it (prctl(2), PR_SET_PDEATHSIG: "the parent is the thread";
// ptrace(2)): a goroutine's thread may end at any time, this one ends with the backend.
//
// The zero value is ready for use; the thread starts with the first call of do. It is safe for concurrent use.
type spawner struct {
	mu   sync.Mutex
	ops  chan func()
	done chan struct{}
}

// do runs f on the thread and returns when it has ended. f must be short: every start of the backend waits for it.
func (s *spawner) do(f func()) {
	s.mu.Lock()
	if s.ops == nil {
		s.ops, s.done = make(chan func()), make(chan struct{})
		go spawnerThread(s.ops, s.done)
	}
	ops := s.ops
	s.mu.Unlock()
	ended := make(chan struct{})
	ops <- func() {
		defer close(ended)
		f()
	}
	<-ended
}

func spawnerThread(ops <-chan func(), done chan<- struct{}) {
	// Never unlocked: the thread ends with this goroutine, and nothing else ever runs on it.
	goruntime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The program's first thread does not end with a goroutine. It is held here until another one has the work.
		elsewhere := make(chan struct{})
		go func() {
			goruntime.LockOSThread()
			close(elsewhere)
			spawnerThread(ops, done)
		}()
		<-elsewhere
		goruntime.UnlockOSThread()
		return
	}
	defer close(done)
	for f := range ops {
		f()
	}
}

// close ends the thread. Sandboxes that asked for it die with it.
func (s *spawner) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ops == nil {
		return
	}
	close(s.ops)
	<-s.done
	s.ops = nil
}

// child is a process we started and have not reaped; until then its pid is its own.
type child struct {
	pid   int
	pidfd int
}

// order is what a child is started with.
type order struct {
	path      string
	argv, env []string
	dir       string
	// files are our descriptors by the number the child gets them under; closed marks a number that is not open.
	files []uintptr
	sys   syscall.SysProcAttr
}

const closedDescriptor = ^uintptr(0)

// start forks and executes on the calling thread, which is the spawner's. The error of a failed exec is the errno of execve.
func (o *order) start() (child, error) {
	sweepDescriptors()
	c := child{pidfd: -1}
	o.sys.PidFD = &c.pidfd
	pid, err := syscall.ForkExec(o.path, o.argv, &syscall.ProcAttr{Dir: o.dir, Env: o.env, Files: o.files, Sys: &o.sys})
	if err != nil {
		return child{}, err
	}
	c.pid = pid
	return c, nil
}

// sweepDescriptors marks every descriptor of this process above 2 close-on-exec: one that a library opened without, or that we
// inherited ourselves, would reach the command. Go's own are marked already, and a child's files are placed after the mark is read.
func sweepDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	// Before Linux 5.11 there is no CLOSE_RANGE_CLOEXEC (close_range(2)).
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // attestation sees what leaked
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
