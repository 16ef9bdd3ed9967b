package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/client"
)

// sshDialer connects through the user's own ssh, whose configuration, keys and known hosts decide: each connection is one ssh that runs
// the engine's program on the other host, which passes bytes on to the engine's socket there ("docker system dial-stdio", since 18.09;
// Podman has the same, since 3.0). A path in the endpoint names that socket. Nobody is asked for a password: there is no terminal.
func sshDialer(e endpoint, program string, env []string) (dialFunc, error) {
	u, err := url.Parse(e.host)
	if err != nil {
		return nil, fmt.Errorf("reading the endpoint %q: %w", e.host, err)
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return nil, err
	}
	words := []string{"-T", "-o", "BatchMode=yes", "-o", fmt.Sprintf("ConnectTimeout=%d", int(dialTimeout/time.Second))}
	if u.User.Username() != "" {
		words = append(words, "-l", u.User.Username())
	}
	if u.Port() != "" {
		words = append(words, "-p", u.Port())
	}
	remote := []string{program}
	if path := u.Path; path != "" && path != "/" {
		remote = append(remote, hostFlag(program), "unix://"+path)
	}
	// The other side's shell reads the command: each of its words is quoted for it.
	words = append(words, "--", u.Hostname(), shellWords(append(remote, "system", "dial-stdio")))
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return newSSHConn(e.host, ssh, words, env)
	}, nil
}

// hostFlag is how an engine's program is told its endpoint.
func hostFlag(program string) string {
	if program == "podman" {
		return "--url"
	}
	return "--host"
}

// sshConn is a connection over the streams of an ssh. It outlives the context it was dialled with.
type sshConn struct {
	address sshAddress
	in, out *os.File
	says    *capped
	kill    context.CancelFunc
	exited  chan struct{}
	err     error // of the ssh, once exited is closed

	read   bool // some bytes came
	closed sync.Once
}

type sshAddress string

func (sshAddress) Network() string  { return "ssh" }
func (a sshAddress) String() string { return string(a) }

// sshError is an ssh that ended before it passed anything on, with what it said about it for a person.
type sshError struct {
	says string
	err  error
}

func (e *sshError) Error() string {
	if e.says != "" {
		return "ssh: " + strings.Join(strings.FieldsFunc(e.says, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	}
	return "ssh: " + e.err.Error()
}

func (e *sshError) Unwrap() error { return e.err }

func newSSHConn(address, program string, words, env []string) (_ *sshConn, err error) {
	living, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(living, program, words...)
	cmd.Env = env
	ownSession(cmd)
	c := &sshConn{address: sshAddress(address), says: &capped{limit: maxSays}, kill: kill, exited: make(chan struct{})}
	var child [2]*os.File
	defer func() {
		for _, f := range child {
			if f != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			kill()
			for _, f := range []*os.File{c.in, c.out} {
				if f != nil {
					_ = f.Close()
				}
			}
		}
	}()
	if child[0], c.in, err = os.Pipe(); err != nil {
		return nil, err
	}
	if c.out, child[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = child[0], child[1], c.says
	// A helper of ssh (a shared connection's master) can hold its standard error open after it.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ssh: %w", err)
	}
	go func() {
		c.err = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// Read gives an *sshError where the ssh ended without having passed on a byte.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if n > 0 {
		c.read = true
	}
	if errors.Is(err, io.EOF) && !c.read {
		<-c.exited
		if c.err != nil {
			return n, &sshError{strings.TrimSpace(c.says.String()), c.err}
		}
	}
	return n, asNetError(err)
}

func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.in.Write(p)
	return n, asNetError(err)
}

// asNetError makes the error of a closed file that of a closed connection.
func asNetError(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return net.ErrClosed
	}
	return err
}

// CloseWrite ends the ssh's input, which the other side passes on to the engine.
func (c *sshConn) CloseWrite() error { return asNetError(c.in.Close()) }

// Close ends the ssh. It returns when that has ended. Idempotent.
func (c *sshConn) Close() error {
	c.closed.Do(func() {
		_ = c.in.Close()
		c.kill()
		_ = c.out.Close()
		<-c.exited
	})
	return nil
}

func (c *sshConn) LocalAddr() net.Addr  { return sshAddress("here") }
func (c *sshConn) RemoteAddr() net.Addr { return c.address }

// SetDeadline sets both deadlines.
func (c *sshConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *sshConn) SetReadDeadline(t time.Time) error  { return asNetError(c.out.SetReadDeadline(t)) }
func (c *sshConn) SetWriteDeadline(t time.Time) error { return asNetError(c.in.SetWriteDeadline(t)) }

// shake waits for the first answer of what takes every connection itself: only then is it known that somebody is behind it, and why not.
func shake(ctx context.Context, conn net.Conn) error {
	if _, between := conn.(*sshConn); !between {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+client.DummyHost+"/_ping", nil)
	if err != nil {
		return err
	}
	_ = req.Write(conn) // why it could not be written is what the reading says
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
