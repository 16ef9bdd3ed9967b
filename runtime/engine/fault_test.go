package engine

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// fault is what a daemon does instead of answering a call.
type fault struct {
	name string
	// answers: the engine said no, so that what was asked for is known not to be done.
	answers bool
	do      func(w http.ResponseWriter, r *http.Request, engine http.Handler)
}

func says(status int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"message":"out of order"}`))
	}
}

var faults = []fault{
	{"answers 500", true, says(500)},
	{"answers 409", true, says(409)},
	{"answers 404", true, says(404)},
	{"answers garbage", false, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = c.Write([]byte("\x00\xff\x01 not HTTP at all\r\n\r\n"))
		c.Close()
	}},
	{"drops the connection", false, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }},
	{"does it and drops the connection", false, func(_ http.ResponseWriter, r *http.Request, engine http.Handler) {
		engine.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}},
}

// TestAFaultAtAnyCallIsTypedAndLeavesNothingUnsaid has a daemon in front of a real engine fail one call after the other, in every way: each
// failure says by its kind whether something may be left, and names it where it may.
func TestAFaultAtAnyCallIsTypedAndLeavesNothingUnsaid(t *testing.T) {
	type want struct {
		kind error // nil: the step succeeds all the same
		left bool
	}
	setup, uncertain := want{runtime.ErrSetup, false}, want{runtime.ErrUncertain, true}
	calls := []struct {
		name           string
		method, suffix string
		step           string
		answered, lost want
		by             map[string]want // a fault that is an answer of its own here
	}{
		{name: "image", method: "GET", suffix: "/json", step: "ensure", answered: setup, lost: setup},
		{name: "create", method: "POST", suffix: "/containers/create", step: "prepare", answered: setup, lost: uncertain},
		{name: "read back", method: "GET", suffix: "/json", step: "prepare", answered: uncertain, lost: uncertain, by: map[string]want{"answers 404": setup}},
		{name: "stat", method: "HEAD", suffix: "/archive", step: "stage", answered: setup, lost: setup, by: map[string]want{"answers 404": {runtime.ErrCommand, false}}},
		{name: "attach", method: "POST", suffix: "/attach", step: "start", answered: setup, lost: setup},
		{name: "wait", method: "POST", suffix: "/wait", step: "start", answered: setup, lost: setup},
		{name: "start", method: "POST", suffix: "/start", step: "start", answered: setup, lost: uncertain},
		{name: "describe", method: "GET", suffix: "/json", step: "start", answered: uncertain, lost: uncertain},
		{name: "kill", method: "POST", suffix: "/kill", step: "kill", answered: uncertain, lost: uncertain, by: map[string]want{"does it and drops the connection": {}}},
		{name: "look before the removal", method: "GET", suffix: "/json", step: "remove", answered: uncertain, lost: uncertain, by: map[string]want{"answers 404": {}}},
		{name: "remove", method: "DELETE", suffix: "", step: "remove", answered: uncertain, lost: uncertain, by: map[string]want{"does it and drops the connection": {}}},
	}
	eachEngine(t, func(t *testing.T, e underTest) {
		if e.program != "docker" {
			t.Skip("the faults are the same code for every engine")
		}
		var err error
		if e.known, err = e.backend(t).Probe(within(t), runtime.ProbeRequest{}); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			for _, f := range faults {
				if c.name == "wait" && strings.HasPrefix(f.name, "does it") {
					continue // it is done when the container has ended: that is the daemon that hangs
				}
				t.Run(c.name+" "+f.name, func(t *testing.T) {
					var failing atomic.Bool
					var engine http.Handler
					behind, _ := e.through(t, at(c.method, c.suffix, func(w http.ResponseWriter, r *http.Request) bool {
						if failing.Load() {
							f.do(w, r, engine)
							return true
						}
						return false
					}))
					engine = behind.proxy
					b := behind.backend(t)
					err := walk(t, b, e, func(step string) {
						if step == c.step {
							failing.Store(true)
							if step == "remove" {
								impatient(b)
							}
						}
					})
					w := c.lost
					if f.answers {
						w = c.answered
					}
					if own, ok := c.by[f.name]; ok {
						w = own
					}
					t.Log(err)
					if w.kind == nil {
						if err != nil {
							t.Errorf("%v, want none", err)
						}
						return
					}
					if !errors.Is(err, w.kind) {
						t.Fatalf("%v, want %v", err, w.kind)
					}
					if got := runtime.AsFailure(err, ""); w.left != (len(got.Left) != 0) || w.left && !strings.Contains(got.Left[0].Settle, "docker") {
						t.Errorf("left %+v", got.Left)
					}
				})
			}
		}
	})
}

// TestAWaitThatBreaksIsTakenUpAgain: the engine lives, and has a record of the end that its broken answer did not tell.
func TestAWaitThatBreaksIsTakenUpAgain(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		drop := make(chan struct{})
		behind, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/wait") {
				// The engine's first bytes reach the client, and then the connection goes.
				ctx, cancel := context.WithCancel(r.Context())
				go func() {
					select {
					case <-drop:
					case <-ctx.Done():
					}
					cancel()
				}()
				*r = *r.WithContext(ctx)
			}
			return false
		})
		r := e.request("sh", "-c", "read x; exit 7")
		r.Stdin = runtime.StdinPipe
		l := launch(t, behind.backend(t), r)
		close(drop)
		<-l.proc.(*process).at.ended
		l.proc.Stdin().Close()
		if x := l.wait(); x.Code != 7 || !x.Ran {
			t.Errorf("%+v", x)
		}
	})
}

// TestACommandThatRunsIsLeftToTheDriverWhenTheContextEnds ends the launch's context while the engine is starting: what it started is the
// driver's to stop, which can tell why.
func TestACommandThatRunsIsLeftToTheDriverWhenTheContextEnds(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		ctx, end := context.WithCancel(within(t))
		defer end()
		var armed atomic.Bool
		behind, _ := e.through(t, func(_ http.ResponseWriter, r *http.Request) bool {
			if armed.Load() && r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/start") {
				end()
			}
			return false
		})
		l := prepare(t, behind.backend(t), e.request("sleep", "1000"))
		if err := l.stage(); err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		p, err := l.res.Start(ctx, &runtime.StartRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if ctx.Err() == nil {
			t.Fatal("the context has not ended")
		}
		if phase, err := l.res.(*resources).phase(within(t)); err != nil || !phase.lives() {
			t.Errorf("the command is %s, %v", phase, err)
		}
		if err := l.res.Kill(within(t)); err != nil {
			t.Fatal(err)
		}
		l.proc = p
		if x := l.wait(); status(x) != 137 {
			t.Errorf("%+v", x)
		}
	})
}
