package engine

import (
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// TestAnEndIsNoticedWithoutLookingForIt takes the wait of a run away. The end is then told by the engine's events, and where those cannot be
// had, found by looking.
func TestAnEndIsNoticedWithoutLookingForIt(t *testing.T) {
	eachEngine(t, func(t *testing.T, e underTest) {
		for _, events := range []bool{true, false} {
			name := map[bool]string{true: "events", false: "no events"}[events]
			t.Run(name, func(t *testing.T) {
				var looks, asked atomic.Int32
				lost := make(chan struct{})
				behind, _ := e.through(t, func(w http.ResponseWriter, r *http.Request) bool {
					switch {
					case strings.HasSuffix(r.URL.Path, "/wait"):
						// The wait is taken, and breaks once the command runs.
						w.WriteHeader(http.StatusOK)
						if err := http.NewResponseController(w).Flush(); err != nil {
							t.Error(err)
						}
						<-lost
						return true
					case strings.HasSuffix(r.URL.Path, "/events"):
						asked.Add(1)
						if !events {
							w.WriteHeader(http.StatusInternalServerError)
							return true
						}
					case strings.Contains(r.URL.Path, "/containers/") && strings.HasSuffix(r.URL.Path, "/json"):
						looks.Add(1)
					}
					return false
				})
				l := launch(t, behind.backend(t), e.request("sleep", "1000"))
				close(lost)
				looks.Store(0)
				ended := make(chan *runtime.Exit)
				go func() {
					defer close(ended)
					x, err := l.proc.Wait(within(t), 0)
					if err != nil {
						t.Error(err)
					}
					ended <- x
				}()
				waitFor(t, "the events to be asked for, and a look after", func() bool { return asked.Load() == 1 && looks.Load() >= 2 })
				if err := l.res.Kill(within(t)); err != nil {
					t.Fatal(err)
				}
				if x := <-ended; x == nil || status(x) != 128+int(syscall.SIGKILL) {
					t.Errorf("%+v", x)
				}
				// Before the stream, when it stood, and after each event of the kill and the end.
				if n := looks.Load(); events && n > 6 {
					t.Errorf("%d looks for an end that is told", n)
				}
				if n := asked.Load(); n != 1 {
					t.Errorf("the events were asked for %d times", n)
				}
			})
		}
	})
}

// TestAProgramThatIsKilledIsNotTheEnd kills the program that carries the streams: the end is still told, and the output is said to be cut.
func TestAProgramThatIsKilledIsNotTheEnd(t *testing.T) {
	eachProgram(t, func(t *testing.T, e underTest) {
		l := launch(t, e.backend(t), e.request("sleep", "1000"))
		l.proc.(*process).at.close()
		waitFor(t, "the program to end", func() bool { return ended(l.proc.(*process).at) })
		if err := l.res.Kill(within(t)); err != nil {
			t.Fatal(err)
		}
		if x := l.wait(); status(x) != 128+int(syscall.SIGKILL) || !x.DrainCut {
			t.Errorf("%+v", x)
		}
	})
}
