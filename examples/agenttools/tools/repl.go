package tools

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// loop is the side of the session that runs inside. Each answer begins with a line of marker, status, and how many bytes of output follow:
// the length, and not a second marker, says where the output ends, so that it may hold anything.
//
//go:embed repl.sh
var loop string

const evalTime = time.Minute

// REPL is a shell that keeps its state (variables, directory, functions) between calls. It is started by the first call, and again by the
// first one after it ended, which it does at the latest when the policy's wall time is over. It is safe for concurrent use; calls take turns.
type REPL struct {
	seam Seam

	mu      sync.Mutex
	session *pipes
	out     *bufio.Reader
	marker  string
}

// Evaluated is what came of one call.
type Evaluated struct {
	// Fresh is true where the session is new: nothing of earlier calls is there any more.
	Fresh  bool   `json:"fresh"`
	Status int    `json:"status"`
	Output string `json:"output"`
	// Dropped counts the bytes of output that are not shown.
	Dropped int `json:"dropped,omitempty"`
}

// NewREPL makes a session that has not begun.
func NewREPL(s Seam) *REPL { return &REPL{seam: s} }

// Eval evaluates text in the session. Text that does not end within timeout (zero: one minute), or that ends the session's shell, ends the
// session, which is an error.
func (r *REPL) Eval(ctx context.Context, text string, timeout time.Duration) (*Evaluated, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &Evaluated{}
	if r.session == nil {
		e.Fresh = true
		marker := rand.Text()
		p, err := r.seam.converse(ctx, sbx.Launch{Script: shellScript(loop, marker, strconv.Itoa(shownBytes))})
		if err != nil {
			return nil, err
		}
		r.session, r.out, r.marker = p, bufio.NewReader(p.stdout), marker
	}
	ctx, cancel := context.WithTimeout(ctx, within(timeout, evalTime))
	defer cancel()
	if err := r.session.ask(ctx, func() error { return r.talk(text, e) }); err != nil {
		r.session = nil
		return nil, err
	}
	return e, nil
}

func (r *REPL) talk(text string, e *Evaluated) error {
	text = strings.TrimSuffix(text, "\n")
	if _, err := fmt.Fprintf(r.session.stdin, "%d\n%s\n", strings.Count(text, "\n")+1, text); err != nil {
		return err
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("waiting for the answer: %w", err)
	}
	var size int
	if _, err := fmt.Sscanf(head, r.marker+" %d %d\n", &e.Status, &size); err != nil || size < 0 {
		return fmt.Errorf("%.80q stands where an answer should begin: the code wrote past its own output", head)
	}
	out := make([]byte, min(size, shownBytes))
	if _, err := io.ReadFull(r.out, out); err != nil {
		return fmt.Errorf("reading %d bytes of output: %w", len(out), err)
	}
	e.Output, e.Dropped = string(out), size-len(out)
	return nil
}

// Close ends the session. Idempotent.
func (r *REPL) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil {
		return nil
	}
	res, err := r.session.end(ctx)
	r.session = nil
	if err != nil {
		return err
	}
	return res.Err()
}
