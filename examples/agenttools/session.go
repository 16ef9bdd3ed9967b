package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sbxkit/sbxkit/examples/agenttools/tools"
)

// request is one line of input. Which fields count depends on Tool.
type request struct {
	ID       json.RawMessage `json:"id"`
	Tool     string          `json:"tool"`
	Command  string          `json:"command"`
	Task     string          `json:"task"`
	Argv     []string        `json:"argv"`
	Method   string          `json:"method"`
	Params   json.RawMessage `json:"params"`
	Timeout  float64         `json:"timeout_seconds"`
	Watchdog float64         `json:"watchdog_seconds"`
	Quiet    float64         `json:"quiet_seconds"`
	LogBytes int             `json:"log_bytes"`
}

// response is one line of output: a result or an error.
type response struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Result any             `json:"result,omitempty"`
	Error  *tools.Envelope `json:"error,omitempty"`
}

// session is the tools of one server.
type session struct {
	seam  tools.Seam
	tasks *tools.Tasks
	repl  *tools.REPL
	agent *tools.Agent
}

// maxRequest bounds a line of input.
const maxRequest = 4 << 20

// serve answers requests in their order until the input or ctx ends, and then ends everything it started. What takes long belongs into a
// background task: the next request waits for the answer.
func serve(ctx context.Context, seam tools.Seam, in io.Reader, out io.Writer) (err error) {
	s := &session{seam: seam, tasks: tools.NewTasks(seam), repl: tools.NewREPL(seam)}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, s.close(end))
	}()
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() {
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxRequest)
		for scan.Scan() {
			select {
			case lines <- bytes.Clone(scan.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		ended <- scan.Err()
	}()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		select {
		case line := <-lines:
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if err := enc.Encode(s.respond(ctx, line)); err != nil {
				return fmt.Errorf("writing an answer: %w", err)
			}
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *session) close(ctx context.Context) error {
	errs := []error{s.tasks.Close(ctx), s.repl.Close(ctx)}
	if s.agent != nil {
		_, err := s.agent.Close(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *session) respond(ctx context.Context, line []byte) response {
	var q request
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return response{Error: tools.EnvelopeOf(&tools.BadRequest{Message: fmt.Sprintf("the line is no request: %v", err), Cure: `write {"id": 1, "tool": "run_shell", "command": "ls"} on one line`})}
	}
	result, err := s.call(ctx, q)
	if err != nil {
		return response{ID: q.ID, Error: tools.EnvelopeOf(err)}
	}
	return response{ID: q.ID, Result: result}
}

func (s *session) call(ctx context.Context, q request) (any, error) {
	switch q.Tool {
	case "run_shell":
		return s.seam.RunShell(ctx, q.Command, seconds(q.Timeout))
	case "task_start":
		id, err := s.tasks.Start(ctx, q.Command, tools.TaskLimits{Watchdog: seconds(q.Watchdog), Quiet: seconds(q.Quiet), Log: q.LogBytes})
		return map[string]string{"task": id}, err
	case "task_list":
		return s.tasks.List(), nil
	case "task_log":
		return s.tasks.Log(q.Task)
	case "task_kill":
		return s.tasks.Kill(ctx, q.Task)
	case "repl":
		return s.repl.Eval(ctx, q.Command, seconds(q.Timeout))
	case "agent_start":
		if s.agent != nil {
			return nil, &tools.BadRequest{Message: "there is an agent already", Cure: "end it with the tool agent_close"}
		}
		a, err := tools.StartAgent(ctx, s.seam, q.Argv, tools.AgentLimits{Quiet: seconds(q.Quiet)})
		if err != nil {
			return nil, err
		}
		s.agent = a
		return map[string]bool{"started": true}, nil
	case "agent_call", "agent_close":
		if s.agent == nil {
			return nil, &tools.BadRequest{Message: "there is no agent", Cure: "start one with the tool agent_start"}
		}
		if q.Tool == "agent_call" {
			return s.agent.Call(ctx, q.Method, q.Params)
		}
		a := s.agent
		s.agent = nil
		return a.Close(ctx)
	}
	return nil, &tools.BadRequest{
		Message: fmt.Sprintf("there is no tool %q", q.Tool),
		Cure:    "use run_shell, task_start, task_list, task_log, task_kill, repl, agent_start, agent_call or agent_close",
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
