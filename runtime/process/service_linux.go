package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// Exec runs a command beside a plain process, with its environment and directory, and gives its exit status. In a sandbox it is
// Unsupported: joining its namespaces takes a process of one thread, which a Go program is not (setns(2)), and what joins them has more
// privileges there than the command has.
func (p *process) Exec(ctx context.Context, argv []string) (int, error) {
	if p.b.def.Gate != GateExec {
		return -1, runtime.Fail(runtime.Unsupported, "%s cannot run a command beside another one inside", p.b.def.Description.Name).About("ready.exec").
			WithCure("use ready.line, ready.port or ready.notify")
	}
	if len(argv) == 0 {
		return -1, runtime.Fail(runtime.Denied, "there is no command to run beside").About("ready.exec")
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening /: %w", err)
	}
	defer unix.Close(root)
	path, err := attest.FindCommand(root, argv[0], attest.SearchPath(p.req.Env), p.req.Dir)
	if err != nil {
		return -1, commandFailure(argv[0], err)
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env, cmd.Dir = []string{}, p.req.Dir
	for _, v := range p.req.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // not reaped yet, so the group is its own
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return -1, context.Cause(ctx)
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case err != nil:
		return -1, commandFailure(argv[0], err)
	}
	return 0, nil
}

// Dial reaches a TCP port of the command's network. In a network namespace of its own, where nobody outside can connect, it finds out
// from the kernel's table that something listens there, and connects to nothing.
func (p *process) Dial(ctx context.Context, port int) (io.Closer, error) {
	if p.req.Network.Mode == runtime.NetworkHost {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	p.closeMu.RLock()
	defer p.closeMu.RUnlock()
	if p.closed || p.command < 0 || ended(p.command) {
		return nil, os.ErrProcessDone
	}
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", p.commandPID, table))
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue // a kernel without IPv6
			}
			return nil, fmt.Errorf("looking for port %d inside: %w", port, err)
		}
		if listens(b, port) {
			return io.NopCloser(nil), nil
		}
	}
	return nil, fmt.Errorf("port %d inside: %w", port, unix.ECONNREFUSED)
}

// listens reads a table of sockets (proc_pid_net(5)): the second field is the local address with the port in hexadecimal, the fourth the
// state, where 0A is listening.
func listens(table []byte, port int) bool {
	want := fmt.Appendf(nil, ":%04X", port)
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) > 3 && bytes.HasSuffix(f[1], want) && string(f[3]) == "0A" {
			return true
		}
	}
	return false
}
