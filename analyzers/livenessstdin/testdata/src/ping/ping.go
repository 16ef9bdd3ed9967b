package ping

import (
	"io"
	"os"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Session is what an executor keeps of a run.
type Session struct {
	Run    *sbx.Run
	in     io.Writer
	Input  io.Writer
	output io.Reader
}

func NewSession(in io.Writer, out io.Reader) *Session { return &Session{in: in, output: out} }

func (s *Session) Ping() error {
	_, err := s.Run.Stdin().Write([]byte("\n"))
	return err
}

func (s *Session) Nudge() error {
	_, err := s.in.Write([]byte("\n"))
	return err
}

func (s *Session) Prompt() error {
	_, err := io.WriteString(s.Input, "\n")
	return err
}

func (s *Session) Look() error {
	var b [1]byte
	_, err := s.output.Read(b[:])
	return err
}

func Ask() { io.WriteString(os.Stdin, "?") }

func Read(fd int) {
	f := os.NewFile(uintptr(fd), "x")
	f.Close()
}

// Each calls f.
func Each(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}

// Times is an iterator.
func Times(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// Poker pokes.
type Poker interface{ Poke() error }

type poker struct{ run *sbx.Run }

func (p *poker) Poke() error { return p.run.CloseWrite() }

func NewPoker(r *sbx.Run) Poker { return &poker{r} }
