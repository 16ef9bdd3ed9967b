package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Dial connects to a TCP port inside, in the container's own network namespace: a port that listens on loopback alone is reached too,
// and no network is needed. It takes an engine on this host and the right to enter the namespace.
func (p *process) Dial(ctx context.Context, port int) (io.Closer, error) {
	if p.id.PID == 0 {
		return nil, sbx.Fail(sbx.Unsupported, "the container's network cannot be entered: its process is not on this host").About("ready.port").At(sbx.StepStart)
	}
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		// The thread is never given back: it ends with the goroutine, and takes the namespace along.
		runtime.LockOSThread()
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", p.id.PID))
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer ns.Close()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{nil, fmt.Errorf("entering the container's network: %w", os.NewSyscallError("setns", err))}
			return
		}
		// One literal address: the socket is made on this thread.
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		done <- result{conn, err}
	}()
	r := <-done
	if r.err != nil {
		return nil, r.err
	}
	return r.conn, nil
}
