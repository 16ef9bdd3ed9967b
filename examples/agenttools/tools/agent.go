package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// maxMessage bounds one message of an agent.
const maxMessage = 16 << 20

// Agent is a command that talks JSON-RPC 2.0 over its standard streams, one message a line. It is safe for concurrent use; calls take turns.
type Agent struct {
	mu    sync.Mutex // held by whoever asks, until the answer is read
	p     *pipes
	lines *bufio.Scanner
	next  int
	quiet *quiet
}

// quiet is the agent's liveness hook: one that owes an answer and writes nothing for too long is stuck. It looks at the agent's output
// alone: what the agent reads belongs to whoever asks it something, and a hook has no way to it.
type quiet struct {
	most time.Duration
	// asked is when the open question was asked, in nanoseconds since 1970; 0 where none is open.
	asked atomic.Int64
	// looks counts how often the hook was asked.
	looks atomic.Int64
}

// Alive is the hook.
func (q *quiet) Alive(_ context.Context, v sbx.LivenessView) error {
	q.looks.Add(1)
	asked := q.asked.Load()
	if asked == 0 {
		return nil
	}
	last := time.Unix(0, asked)
	if v.LastOutput.After(last) {
		last = v.LastOutput
	}
	if silent := time.Since(last); silent > q.most {
		return fmt.Errorf("the agent owes an answer and has written nothing for %v", silent.Round(time.Second))
	}
	return nil
}

// AgentLimits say when an agent is stuck: Quiet is how long it may owe an answer and write nothing, Look how often that is looked at.
type AgentLimits struct{ Quiet, Look time.Duration }

// StartAgent starts argv as an agent. ctx bounds the start alone.
func StartAgent(ctx context.Context, s Seam, argv []string, l AgentLimits) (*Agent, error) {
	q := &quiet{most: within(l.Quiet, time.Minute)}
	p, err := s.converse(ctx, sbx.Launch{Argv: argv, Liveness: q, Timeouts: sbx.Timeouts{Liveness: l.Look}})
	if err != nil {
		return nil, err
	}
	a := &Agent{p: p, lines: bufio.NewScanner(p.stdout), quiet: q}
	a.lines.Buffer(nil, maxMessage)
	return a, nil
}

// Looks counts how often the liveness hook looked at the agent.
func (a *Agent) Looks() int64 { return a.quiet.looks.Load() }

type message struct {
	Version string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// Reply is the answer to a call: a result or an error of the agent's own, and the notifications that came before it.
type Reply struct {
	Result json.RawMessage   `json:"result,omitempty"`
	Error  json.RawMessage   `json:"error,omitempty"`
	Events []json.RawMessage `json:"events,omitempty"`
}

// Call asks the agent and waits for its answer. When ctx ends before it came the agent is ended, which is an error; an error that the agent
// answered with is the Reply's.
func (a *Agent) Call(ctx context.Context, method string, params json.RawMessage) (*Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reply := &Reply{}
	err := a.p.ask(ctx, func() error { return a.talk(method, params, reply) })
	if err != nil {
		return nil, err
	}
	return reply, nil
}

func (a *Agent) talk(method string, params json.RawMessage, reply *Reply) error {
	a.next++
	line, err := json.Marshal(message{Version: "2.0", ID: &a.next, Method: method, Params: params})
	if err != nil {
		return err
	}
	a.quiet.asked.Store(time.Now().UnixNano())
	defer a.quiet.asked.Store(0)
	if _, err := a.p.stdin.Write(append(line, '\n')); err != nil {
		return err
	}
	for a.lines.Scan() {
		var m message
		if err := json.Unmarshal(a.lines.Bytes(), &m); err != nil {
			return fmt.Errorf("the agent wrote %.80q, which is no message: %w", a.lines.Text(), err)
		}
		switch {
		case m.ID == nil:
			reply.Events = append(reply.Events, m.Params)
		case *m.ID == a.next:
			reply.Result, reply.Error = m.Result, m.Error
			return nil
		default:
			return fmt.Errorf("the agent answered %d, and %d was asked", *m.ID, a.next)
		}
	}
	return errors.Join(errors.New("the agent's output ended before the answer"), a.lines.Err())
}

// Close half-closes what the agent reads, and waits for its end.
func (a *Agent) Close(ctx context.Context) (*Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	res, err := a.p.end(ctx)
	if err != nil {
		return nil, err
	}
	return answer(res, a.p.stderr, a.p.stderr), nil
}
