package engine

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// raw is an engine's API without a client in between.
type raw struct {
	t  *testing.T
	cl *http.Client
}

func (e underTest) raw(t *testing.T) raw {
	return raw{t, &http.Client{Transport: unixTransport(t, e.endpoint)}}
}

// call gives the status as soon as it is told; the rest of the answer is for the caller.
func (r raw) call(method, path string) (int, io.ReadCloser) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(within(r.t), method, "http://engine/v1.41/containers/"+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := r.cl.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, resp.Body
}

// status makes a call to its end.
func (r raw) status(method, path string) int {
	r.t.Helper()
	code, body := r.call(method, path)
	if _, err := io.Copy(io.Discard, body); err != nil {
		r.t.Fatal(err)
	}
	body.Close()
	return code
}

// verbs are the calls of the table, as requests.
func (r raw) verb(v verb, name string) int {
	r.t.Helper()
	switch v {
	case verbKill:
		return r.status("POST", name+"/kill")
	case verbStop:
		return r.status("POST", name+"/stop?t=0")
	case verbRemove:
		return r.status("DELETE", name+"?force=1")
	}
	return r.status("POST", name+"/wait?condition=not-running")
}

// in prepares a run and brings its container to a phase.
func (e underTest) in(t *testing.T, b *Backend, p phase) *launched {
	t.Helper()
	r := e.raw(t)
	must := func(code int) {
		t.Helper()
		if code >= 300 {
			t.Fatalf("bringing a container to the phase %s: %d", p, code)
		}
	}
	if p == phaseAbsent {
		l := prepare(t, b, e.request("true"))
		must(r.verb(verbRemove, l.plan.Token.Name))
		return l
	}
	l := prepare(t, b, e.request("sleep", "1000"))
	name := l.plan.Token.Name
	if p != phaseCreated {
		must(r.status("POST", name+"/start"))
	}
	switch p {
	case phasePaused:
		must(r.status("POST", name+"/pause"))
	case phaseExited, phaseDead:
		must(r.verb(verbKill, name))
		must(r.verb(verbWait, name))
	}
	if p == phaseDead {
		e.spoil(t, name)
		if code := r.verb(verbRemove, name); code != http.StatusInternalServerError {
			t.Fatalf("a removal that cannot be done: %d", code)
		}
	}
	res := l.res.(*resources)
	if have, err := res.phase(within(t)); err != nil || have != p {
		t.Fatalf("the container is %s, %v; want %s", have, err, p)
	}
	return l
}

// spoil makes a removal fail by a file among the engine's own that cannot be deleted, until mend or the end of the test.
func (e underTest) spoil(t *testing.T, name string) (mend func()) {
	t.Helper()
	_, body := e.raw(t).call("GET", name+"/json")
	var i struct{ HostnamePath string }
	err := json.NewDecoder(body).Decode(&i)
	body.Close()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(filepath.Dir(i.HostnamePath), "keep"))
	if err != nil {
		t.Skipf("the engine keeps its containers where this test cannot write: %v", err)
	}
	if err := immutable(f, true); err != nil {
		t.Skipf("no file can be made immutable here: %v", errors.Join(err, os.Remove(f.Name()), f.Close()))
	}
	done := false
	mend = func() {
		if done {
			return
		}
		done = true
		if err := errors.Join(immutable(f, false), f.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(mend)
	return mend
}

// immutableFlag is FS_IMMUTABLE_FL (include/uapi/linux/fs.h).
const immutableFlag = 0x10

func immutable(f *os.File, on bool) error {
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	if flags &^= immutableFlag; on {
		flags |= immutableFlag
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}

// TestEachEngineAnswersAsTheTableSays brings containers to each phase that can be made, and compares every answer with the table.
func TestEachEngineAnswersAsTheTableSays(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		b := e.backend(t)
		r := e.raw(t)
		seen := map[verb]map[phase]bool{verbKill: {}, verbStop: {}, verbRemove: {}, verbWait: {}}
		var table answers
		compare := func(v verb, p phase, status int) {
			t.Helper()
			seen[v][p] = true
			if want := table[v][p]; status != want.status {
				t.Errorf("%s of a container that is %s: %d, the table has %d (%s)", v, p, status, want.status, want.effect)
			}
		}
		for _, p := range []phase{phaseCreated, phaseExited, phaseDead, phaseAbsent} {
			if p == phaseDead && e.program == "podman" {
				continue
			}
			t.Run(string(p), func(t *testing.T) {
				l := e.in(t, b, p)
				who := l.res.(*resources).link.who()
				table = answersOf(who.engine, who.version)
				for _, v := range []verb{verbWait, verbStop, verbKill, verbRemove} {
					compare(v, p, r.verb(v, l.plan.Token.Name))
				}
			})
		}
		for _, p := range []phase{phaseRunning, phasePaused} {
			for _, v := range []verb{verbKill, verbStop, verbRemove} {
				t.Run(string(p)+" "+string(v), func(t *testing.T) {
					name := e.in(t, b, p).plan.Token.Name
					status, end := r.call("POST", name+"/wait?condition=not-running")
					defer end.Close()
					compare(verbWait, p, status)
					compare(v, p, r.verb(v, name))
					if table[v][p].effect != effectDone {
						return
					}
					// Held: the answer is the end's.
					var told struct{ StatusCode int }
					if err := json.NewDecoder(end).Decode(&told); err != nil || v == verbKill && told.StatusCode != 128+int(syscall.SIGKILL) {
						t.Errorf("the wait told %+v, %v", told, err)
					}
				})
			}
		}
		for v, row := range table {
			for p := range row {
				// No removing container lasts, and a dead one takes a file system with immutable files.
				if p != phaseRemoving && p != phaseDead && !seen[v][p] && !t.Failed() {
					t.Errorf("%s of a container that is %s was not tried", v, p)
				}
			}
		}
	})
}

// TestWhatIsLeftIsRemovedInEveryPhase lets another controller of the same owner find what one left, say how it ended, and remove it.
func TestWhatIsLeftIsRemovedInEveryPhase(t *testing.T) {
	both := func(t *testing.T, f func(t *testing.T, e underTest)) {
		t.Run("api", func(t *testing.T) { eachEngine(t, f) })
		t.Run("cli", func(t *testing.T) { eachProgram(t, f) })
	}
	both(t, func(t *testing.T, e underTest) {
		for _, c := range []struct {
			phase phase
			ended bool // told by the engine's record
			ran   bool
		}{
			{phaseCreated, true, false}, {phaseRunning, false, true}, {phasePaused, false, true}, {phaseExited, true, true}, {phaseDead, true, true},
		} {
			if c.phase == phaseDead && e.program == "podman" {
				continue
			}
			t.Run(string(c.phase), func(t *testing.T) {
				l := e.in(t, e.backend(t), c.phase)
				next := e.backend(t)
				tokens, _, err := next.Find(within(t), l.plan.Request.Run.Owner)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, token := range tokens {
					found = found || token.Name == l.plan.Token.Name
				}
				if !found {
					t.Fatalf("%s is not among %v", l.plan.Token.Name, tokens)
				}
				res, err := next.Reopen(within(t), l.plan.Token)
				if err != nil {
					t.Fatal(err)
				}
				x, err := res.(runtime.Witness).Witnessed(within(t))
				if err != nil || c.ended != (x != nil) || x != nil && x.Ran != c.ran {
					t.Errorf("its end: %+v, %v", x, err)
				}
				if err := res.Kill(within(t)); err != nil {
					t.Errorf("kill: %v", err)
				}
				if c.phase == phaseDead {
					next.limit.remove = 2 * time.Second
					if _, err := res.Remove(within(t)); !errors.Is(err, runtime.ErrUncertain) || !strings.Contains(err.Error(), "unable to remove") && e.via == ViaAPI {
						t.Errorf("a removal that cannot be done: %v", err)
					}
					return // the end of the test mends it and sees it removed
				}
				if d, err := res.Remove(within(t)); err != nil || !d.Confirmed || d.How != "removed" {
					t.Errorf("removal: %+v, %v", d, err)
				}
				if d, err := l.res.Remove(within(t)); err != nil || d.How != "nothing" {
					t.Errorf("a second removal: %+v, %v", d, err)
				}
			})
		}
	})
}

// TestARemovalUnderWayIsWaitedFor answers as an engine does while another removal goes on: no state of a real engine lasts that long.
func TestARemovalUnderWayIsWaitedFor(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		l := e.in(t, e.backend(t), phaseExited)
		var removals atomic.Int32
		behind, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
			under := strings.Contains(r.URL.Path, l.plan.Token.Name) && removals.Load() < 3
			switch {
			case under && r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"Id":"x","State":{"Status":"removing","ExitCode":137,"StartedAt":"2026-01-02T03:04:05Z"},"HostConfig":{},"Config":{"Labels":{"`+
					labelRun+`":"`+l.plan.Request.Run.ID+`","`+labelOwner+`":"`+l.plan.Request.Run.Owner+`"}}}`)
			case under && r.Method == http.MethodDelete:
				removals.Add(1)
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"message":"removal is already in progress"}`)
			case under && strings.HasSuffix(r.URL.Path, "/kill"):
				w.WriteHeader(answersOf(e.name, "")[verbKill][phaseRemoving].status)
				_, _ = io.WriteString(w, `{"message":"it is not running"}`)
			default:
				return false
			}
			return true
		})
		token := l.plan.Token
		token.Endpoint = behind.endpoint
		res, err := behind.backend(t).Reopen(within(t), token)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Kill(within(t)); err != nil {
			t.Errorf("kill: %v", err)
		}
		if x, err := res.(runtime.Witness).Witnessed(within(t)); err != nil || x == nil || x.Code != 137 {
			t.Errorf("its end: %+v, %v", x, err)
		}
		if d, err := res.Remove(within(t)); err != nil || !d.Confirmed || removals.Load() != 3 {
			t.Errorf("removal: %+v, %v, after %d refusals", d, err, removals.Load())
		}
	})
}
