package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// Start starts the command, held; has it limited and measured; and lets it go.
func (r *resources) Start(ctx context.Context, sr *runtime.StartRequest) (runtime.Process, error) {
	p, err := r.start(ctx, sr, false)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (r *resources) start(ctx context.Context, sr *runtime.StartRequest, frozen bool) (*process, error) {
	if r.plan == nil {
		return nil, reopened("start").At(runtime.StepStart)
	}
	r.mu.Lock()
	if r.started || r.removed {
		r.mu.Unlock()
		return nil, runtime.Fail(runtime.Setup, "the run was started before or removed; each plan starts once").At(runtime.StepStart)
	}
	r.started = true
	r.mu.Unlock()
	p := &process{b: r.b, plan: r.plan, req: r.plan.Request, group: r.group, first: -1, command: -1, exited: make(chan struct{})}
	s := &start{process: p, res: r, ctx: ctx, request: sr, block: -1, frozen: frozen}
	err := s.run()
	s.table.close()
	if s.block >= 0 {
		unix.Close(s.block)
	}
	if err != nil {
		return nil, s.abort(err)
	}
	return p, nil
}

// start is the state of step 4, from the first descriptor to the command's first instruction.
type start struct {
	*process
	res     *resources
	ctx     context.Context
	request *runtime.StartRequest
	table   table
	// block is the writing end of the gate, -1 without one.
	block int
	// frozen: the command is to stand still instead of running its first instruction, which a probe wants.
	frozen bool
	// loose: a command without a launcher runs from its exec on; nothing stops it there.
	loose bool
	// unguard: see guard.
	unguard func()
}

func (s *start) run() error {
	o := order{}
	o.sys.Setsid = true
	if s.req.Terminal != nil {
		o.sys.Setctty, o.sys.Ctty = true, 0
	}
	if s.req.Hardening.ParentDeath {
		o.sys.Pdeathsig = syscall.SIGKILL
	}
	if err := s.descriptors(); err != nil {
		return runtime.Fail(runtime.Setup, "preparing the command's descriptors: %w", err)
	}
	if s.b.def.Gate == GateExec {
		return s.direct(&o)
	}
	return s.gated(&o)
}

// descriptors makes everything the child gets by number.
func (s *start) descriptors() error {
	t, r, sr := &s.table, s.req, s.request
	if err := s.streams(t, sr, r.SameSink); err != nil {
		return err
	}
	for _, m := range r.Mounts {
		if m.Kind == runtime.MountFile && m.Descriptor > 0 {
			if err := t.data(m.Descriptor, m.Target, m.Data); err != nil {
				return err
			}
		}
	}
	if r.Descriptors.Seccomp > 0 {
		f, err := filter(r.Hardening.Seccomp)
		if err != nil {
			return err
		}
		if err := t.data(r.Descriptors.Seccomp, "seccomp filter", f); err != nil {
			return err
		}
	}
	for _, c := range r.Credentials {
		if c.Descriptor > 0 {
			if err := t.data(c.Descriptor, "credential", c.Value); err != nil {
				return err
			}
		}
	}
	for _, x := range []struct {
		n    int
		sink io.Writer
		name string
	}{{r.Descriptors.Heartbeat, sr.Heartbeat, "heartbeat"}, {r.Descriptors.Notify, sr.Notify, "notify"}} {
		if x.n == 0 {
			continue
		}
		if x.sink == nil {
			return fmt.Errorf("descriptor %d (%s) is planned and nothing listens on it", x.n, x.name)
		}
		f, err := t.reader(x.n, x.name)
		if err != nil {
			return err
		}
		s.signals = append(s.signals, newStream(f, x.sink))
	}
	return nil
}

// spawn starts the child on the spawner's thread and makes it the run's. The identity is taken while the child cannot be reaped.
func (s *start) spawn(o *order, bornIn *cgroup.Group, inThread func(child) error) error {
	if err := s.ctx.Err(); err != nil {
		return runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
	}
	o.files = s.table.files
	var c child
	var err error
	s.b.spawner.do(func() {
		fork := func(group int) (ferr error) {
			if group >= 0 {
				o.sys.UseCgroupFD, o.sys.CgroupFD = true, group
			}
			c, ferr = o.start()
			return ferr
		}
		if bornIn != nil {
			err = bornIn.BornIn(fork)
		} else {
			err = fork(-1)
		}
		if err == nil && inThread != nil {
			err = inThread(c)
		}
	})
	goruntime.KeepAlive(s.table.keep)
	if c.pid == 0 {
		return err
	}
	s.table.close()
	s.launcher = c
	s.res.mu.Lock()
	s.res.p = s.process
	s.res.mu.Unlock()
	go s.witness()
	return err
}

// release lets what waits at the gate go on. EPIPE: nobody waits there any more.
func (s *start) release() error {
	if s.block < 0 {
		return nil
	}
	_, err := unix.Write(s.block, []byte{1})
	unix.Close(s.block)
	s.block = -1
	if err != nil {
		return fmt.Errorf("opening the start gate: %w", err)
	}
	return nil
}

// guard calls kill when the start's context ends, up to s.unguard, which waits for a kill that is under way and can be called again.
func (s *start) guard(kill func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(s.ctx, func() {
		defer close(done)
		kill()
	})
	s.unguard = sync.OnceFunc(func() {
		if !stop() {
			<-done
		}
	})
}

// record names the processes in the token and has it journalled.
func (s *start) record(ids ...runtime.ProcessIdentity) error {
	s.res.mu.Lock()
	s.res.token.Processes = append(slices.Clip(s.res.token.Processes), ids...)
	t := s.res.token
	s.res.mu.Unlock()
	if s.request.Record == nil {
		return nil
	}
	if err := s.request.Record(t); err != nil {
		return runtime.Fail(runtime.Setup, "recording the run's processes: %w", err)
	}
	return nil
}

// freeze leaves a signal for a command at its exec, which it takes before its first instruction.
func (s *start) freeze() {
	if s.frozen {
		s.stopped = signalPidfd(s.command, unix.SIGSTOP) == nil
	}
}

// begin tells the driver that the command is about to run, if the launch was not given up before. From here on the end of the context kills
// nothing: the driver stops a command that runs, and tells why.
func (s *start) begin() error {
	s.unguard()
	if err := s.ctx.Err(); err != nil {
		return runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
	}
	s.started = time.Now()
	if s.request.Started != nil {
		s.request.Started()
	}
	return nil
}

// read starts the readers of the command's streams.
func (s *start) read() {
	s.running = true
	for _, o := range append(s.outputs[:], s.signals...) {
		if o != nil {
			go o.copy()
		}
	}
}

// abort ends what was started and says why, with what the launcher itself wrote.
func (s *start) abort(err error) error {
	if s.ctx.Err() != nil && !errors.Is(err, context.Cause(s.ctx)) {
		// Whatever went wrong, it was killed for this.
		err = runtime.Fail(runtime.Setup, "the launch was given up: %w", context.Cause(s.ctx))
	}
	f := runtime.AsFailure(err, runtime.Setup).At(runtime.StepStart)
	if s.launcher.pid == 0 {
		for _, o := range append(s.outputs[:], s.signals...) {
			if o != nil {
				o.reader.Close()
			}
		}
		if s.status != nil {
			s.status.close()
		}
		if s.ttyInside != nil {
			s.ttyInside.Close()
		} else if s.stdin != nil {
			s.stdin.Close()
		}
		return f
	}
	if err := s.destroy(); err != nil {
		return runtime.Fail(runtime.Uncertain, "%s, and ending it failed too: %s", f.Message, err.Error()).At(runtime.StepStart).Because(errors.Join(f, err))
	}
	return f
}

// destroy kills a start that failed: the launcher is stopped first, so that a first process it has made and not told of is found as its
// child.
func (s *start) destroy() error {
	if !s.running {
		for _, o := range append(s.outputs[:], s.signals...) {
			if o != nil {
				close(o.done)
				o.reader.Close()
			}
		}
	}
	switch {
	case s.b.def.Gate == GateExec && !s.running && !s.loose:
		// Still at its exec: it has started nothing, and a tracee at a stop takes no other signal.
		signalPidfd(s.launcher.pidfd, unix.SIGKILL)
	case s.namespace && s.first >= 0:
		signalPidfd(s.first, unix.SIGKILL)
	case !ended(s.launcher.pidfd):
		if err := s.sweep(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), abortDeadline)
	defer cancel()
	if s.first >= 0 {
		if err := waitPidfd(ctx, s.first); err != nil {
			return fmt.Errorf("waiting for the end of process %d: %w", s.firstPID, err)
		}
	}
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of process %d: %w", s.launcher.pid, ctx.Err())
	}
}

// abortDeadline bounds how long the end of a killed start is waited for.
const abortDeadline = 10 * time.Second

// direct starts the command itself, stopped at its own exec.
func (s *start) direct(o *order) error {
	p, r := s.process, s.req
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return runtime.Fail(runtime.Setup, "opening /: %w", err)
	}
	defer unix.Close(root)
	if f := verdict(root, r); f != nil {
		return f
	}
	o.path, err = attest.FindCommand(root, r.Command[0], attest.SearchPath(r.Env), r.Dir)
	if err != nil {
		return commandFailure(r.Command[0], err)
	}
	o.argv, o.dir = r.Command, r.Dir
	for _, v := range r.Env {
		o.env = append(o.env, v.Name+"="+v.Value)
	}
	if r.User.Kind == runtime.UserID {
		o.sys.Credential = &syscall.Credential{Uid: uint32(r.User.UID), Gid: uint32(r.User.GID)}
	}
	traced := !s.b.untraceable.Load()
	o.sys.Ptrace = traced
	bornIn := p.group
	if traced {
		bornIn = nil // it is moved while it stands at its exec
	}
	attach := func(c child) error {
		st, err := waitTracee(c.pid)
		if err != nil {
			return fmt.Errorf("waiting for the command's exec: %w", err)
		}
		if st.gone() {
			return fmt.Errorf("the command ended before its exec was seen (%s)", describeStatus(syscall.WaitStatus(st.status)))
		}
		return unix.PtraceSetOptions(c.pid, unix.PTRACE_O_EXITKILL)
	}
	if !traced {
		attach, s.loose = nil, true
	}
	err = s.spawn(o, bornIn, attach)
	if s.launcher.pid == 0 && traced && notPermitted(err) && o.sys.Credential == nil && attest.Executable(root, o.path) == nil {
		// PTRACE_TRACEME may be what is forbidden: then the same without a stop.
		o.sys.Ptrace, traced, s.loose = false, false, true
		s.b.untraceable.Store(true)
		err = s.spawn(o, p.group, nil)
	}
	if s.launcher.pid == 0 && err != nil {
		var errno syscall.Errno
		if errors.As(err, &errno) {
			if errors.Is(errno, fs.ErrPermission) || errors.Is(errno, fs.ErrNotExist) || errno == syscall.ENOEXEC {
				return commandFailure(r.Command[0], errno)
			}
			return runtime.Fail(runtime.Setup, "starting %s: %w", o.path, err)
		}
		return err
	}
	if err != nil {
		return runtime.Fail(runtime.Setup, "holding the command at its exec: %w", err)
	}
	p.first, p.command, p.firstPID, p.commandPID = p.launcher.pidfd, p.launcher.pidfd, p.launcher.pid, p.launcher.pid
	if p.identity, _, err = identify(p.launcher.pid); err != nil {
		return runtime.Fail(runtime.Setup, "reading the command's identity: %w", err)
	}
	s.guard(func() { signalPidfd(p.launcher.pidfd, unix.SIGKILL) })
	defer s.unguard()
	when := runtime.WhenExec
	if !traced {
		when = runtime.WhenAfterExec
	}
	if p.group != nil && traced {
		if err := p.group.Add(p.launcher.pid); err != nil {
			return runtime.Fail(runtime.Setup, "%w", err)
		}
	}
	if err := s.record(p.identity); err != nil {
		return err
	}
	if err := s.held(p.launcher.pid, when); err != nil {
		return err
	}
	measure := s.atExec
	if !traced {
		measure = s.afterExec
	}
	if err := measure(p.launcher.pid); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	p.ran = true
	if !traced {
		s.read()
		return nil
	}
	s.freeze()
	s.b.spawner.do(func() { err = letGo(p.launcher.pid) })
	if err != nil {
		// It was killed while it stood here, and has not run an instruction.
		return runtime.Fail(runtime.Setup, "letting the command go: %w", err)
	}
	s.read()
	return nil
}

// words splits an argv into what the launcher is executed with and what it reads from its descriptor. The words of gate.args and the
// command stay in the argv (bwrap(1): an arguments file holds options only).
func (s *start) words() (argv []string, file []byte) {
	all, origins := s.plan.Argv(), s.plan.Words
	name := s.req.Run.Name()
	if s.req.Run.ID == "" {
		name = filepath.Base(all[0])
	}
	argv = append(argv, name)
	if s.b.def.Arguments != ArgumentsDescriptor {
		return append(argv, all[1:]...), nil
	}
	size := 0
	for _, w := range all {
		size += len(w) + 1
	}
	file = make([]byte, 0, size)
	tail := len(all) - len(s.req.Command)
	if tail > 1 && all[tail-1] == "--" {
		tail--
	}
	for i, w := range all[1:tail] {
		if origins[i+1].For == "gate.args" {
			argv = append(argv, w)
			continue
		}
		file = append(append(file, w...), 0)
	}
	return append(argv, all[tail:]...), file
}

// launcherText is what the launcher itself wrote to the command's stderr, for a message to a person: never to decide by.
func (s *start) launcherText() string {
	var out []string
	for i, o := range s.outputs {
		if o == nil || s.running || i == 0 && s.outputs[1] != nil {
			continue
		}
		if b := o.discard(2048); len(b) > 0 {
			out = append(out, strings.TrimSpace(string(b)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; it says: " + strings.Join(out, " ")
}
