package process

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestAPortInsideIsFoundWithoutReachingIt(t *testing.T) {
	work := t.TempDir()
	if err := errorsOf(os.Chmod(work, 0o777), copyFile(os.Args[0], filepath.Join(work, "attempt"))); err != nil {
		t.Fatal(err)
	}
	b := backend(t, bwrapDefinition())
	r := begin(t, b, runtime.Launch{Argv: []string{"/workspace/attempt", attemptWord, "listen"}, Workspace: &runtime.Workspace{Source: work}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}})
	r.stdout.await(t, "listening")
	c, err := r.Dial(context.Background(), 7654)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := r.Dial(context.Background(), 7655); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("a port nobody listens on: %v", err)
	}
	r.Stdin().Close()
	r.wait(t)
	if _, err := r.Dial(context.Background(), 7654); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAPortOfTheHostsNetworkIsConnectedTo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := begin(t, backend(t, localDefinition()), runtime.Launch{Argv: []string{"cat"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}})
	c, err := r.Dial(context.Background(), l.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	r.Stdin().Close()
	r.wait(t)
}

func TestExecRunsBesideAPlainProcessOnly(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		r := begin(t, b, runtime.Launch{Argv: []string{"cat"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}})
		//sbx:allow rawshell the test's own text, which only ends with a status
		code, err := r.Exec(context.Background(), []string{"/bin/sh", "-c", "exit 6"})
		if b.def.Gate == GateExec {
			if code != 6 || err != nil {
				t.Errorf("%d, %v", code, err)
			}
			if _, err := r.Exec(context.Background(), []string{"no-such-command"}); !errors.Is(err, runtime.ErrCommand) {
				t.Errorf("absent: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if _, err := r.Exec(ctx, []string{"sleep", "60"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("too slow: %v", err)
			}
		} else if !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("%d, %v", code, err)
		}
		r.Stdin().Close()
		r.wait(t)
	})
}
