//go:build linux

// Package enginetest tries on every real engine of this host, by its API and by its command line, what the generated backends say that
// they can do.
//
//sbx:seam its tests drive every real engine
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// TestMain looks, when every test has run, for what they left running, and then for what the drivers themselves left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintf(os.Stderr, "closing the drivers that the tests share: %v\n", err)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintf(os.Stderr, "goroutines are left: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// shared are the drivers that tests share, by engine and way: each proves itself by a container of its own, and goes on being believed.
var shared sync.Map // of [2]string to func() (*sbx.Sandbox, error)

// sharedBox gives the driver of the engine at its own endpoint that all tests use which need no other.
func (e engine) sharedBox() *sbx.Sandbox {
	e.t.Helper()
	open, _ := shared.LoadOrStore([2]string{e.program, string(e.via)}, sync.OnceValues(func() (*sbx.Sandbox, error) {
		b, err := e.backend(e.host)
		if err != nil {
			return nil, err
		}
		return sbx.New(b, sbx.WithStager(stage.New()))
	}))
	box, err := open.(func() (*sbx.Sandbox, error))()
	if err != nil {
		e.t.Fatal(err)
	}
	return box
}

// closeShared waits for what a test left running, so that it is noticed: a test run's own deadline ends it.
func closeShared() error {
	var all []error
	shared.Range(func(_, open any) bool {
		box, err := open.(func() (*sbx.Sandbox, error))()
		if err == nil {
			err = box.Close()
		}
		all = append(all, err)
		return true
	})
	return errors.Join(all...)
}

// engine is a real engine driven in one way.
type engine struct {
	t       *testing.T
	program string // docker, podman
	via     driver.Via
	host    string
	image   string
	box     *sbx.Sandbox
}

// ways are the two drivers.
var ways = []driver.Via{driver.ViaAPI, driver.ViaCLI}

// each runs f on each engine by each of the ways given, or by all.
func each(t *testing.T, f func(t *testing.T, e engine), by ...driver.Via) {
	if len(by) == 0 {
		by = ways
	}
	for _, program := range []string{"docker", "podman"} {
		for _, via := range by {
			t.Run(program+" "+string(via), func(t *testing.T) {
				find := testhost.Docker
				if program == "podman" {
					find = testhost.Podman
				}
				e := engine{t: t, program: program, via: via}
				e.host, e.image = find(t)
				e.box = e.sharedBox()
				f(t, e)
			})
		}
	}
}

// sandbox gives a test a driver of its own, for the engine at an endpoint.
func (e engine) sandbox(endpoint string, options ...sbx.Option) *sbx.Sandbox {
	e.t.Helper()
	b, err := e.backend(endpoint)
	if err != nil {
		e.t.Fatal(err)
	}
	box, err := sbx.New(b, append([]sbx.Option{sbx.WithStager(stage.New())}, options...)...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if err := box.Close(); err != nil {
			e.t.Error(err)
		}
	})
	return box
}

func (e engine) backend(endpoint string) (sbx.Backend, error) {
	if e.program == "docker" {
		return docker.New(docker.Options{Endpoint: endpoint, Via: e.via})
	}
	return podman.New(podman.Options{Endpoint: endpoint, Via: e.via})
}

// start launches, and kills at the end of t what t has left running: the driver's Close would wait for it for ever.
func (e engine) start(t *testing.T, l sbx.Launch) (*sbx.Run, error) {
	t.Helper()
	run, err := e.box.Launch(t.Context(), l)
	if run != nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := run.Kill(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return run, err
}

// launch is a launch of the test image with both outputs kept.
func (e engine) launch(out *bytes.Buffer, words ...string) sbx.Launch {
	return sbx.Launch{Argv: words, Image: sbx.Image{Ref: e.image}, Stdout: out, Stderr: out, Timeouts: sbx.Timeouts{Wall: time.Minute}}
}

// shell runs a script and gives what it says; the run must succeed.
func (e engine) shell(text string, change func(*sbx.Launch)) string {
	e.t.Helper()
	var out bytes.Buffer
	l := e.launch(&out)
	l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte(text)}
	if change != nil {
		change(&l)
	}
	res, err := e.box.Run(e.t.Context(), l)
	if err != nil {
		e.t.Fatalf("%v\n%s", err, out.String())
	}
	if !res.Success() {
		e.t.Fatalf("%v: %s", res, out.String())
	}
	return strings.TrimRight(out.String(), "\n")
}
