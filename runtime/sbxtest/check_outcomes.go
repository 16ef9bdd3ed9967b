package sbxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

type waitNext = func(context.Context, time.Duration) (*runtime.Exit, error)

func outcomeChecks() []Check {
	var all []Check
	for _, code := range []int{0, 1, 7, 125, 126, 127, 255} {
		all = append(all, check(fmt.Sprintf("exit status %d is exit status %d", code, code), ruleOutcome, func(c *C) {
			res, err := c.plain().run(c.launch(exit(code)))
			c.must(err, "running")
			if c.outcome(res, runtime.Exited); res.Code != code || res.ExitCode() != code || res.Success() != (code == 0) || (res.Err() == nil) != (code == 0) {
				c.Errorf("code %d, exit code %d, success %v, error %v", res.Code, res.ExitCode(), res.Success(), res.Err())
			}
		}))
	}
	lies := func(c *C, exit *runtime.Exit, err error) {
		st := c.stand(setting{hooks: Hooks{Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
			_, _ = next(ctx, d)
			return exit, err
		}}})
		res, err := st.run(c.launch(say("x")))
		if err == nil || res.Success() || res.Outcome == runtime.Exited || res.Code == 0 {
			c.Errorf("it came to %s with code %d, %v", res, res.Code, err)
		}
	}
	return append(all,
		check("a death by a signal is no success, and says the signal", ruleOutcome, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			c.must(r.Signal(c.ctx, syscall.SIGKILL), "signalling")
			res, _ := st.wait(r)
			c.died(res, syscall.SIGKILL)
			if res.Success() || res.ExitCode() != 137 {
				c.Errorf("success %v, exit code %d", res.Success(), res.ExitCode())
			}
		}, "ready.line"),
		check("a program that is not there never ran", ruleDidItRun, func(c *C) {
			l := c.launch(say("x"))
			l.Argv = []string{"/no/such/program"}
			res, err := c.plain().run(l)
			c.outcome(res, runtime.NeverRan)
			if !errors.Is(err, runtime.ErrCommand) || !errors.Is(err, exec.ErrNotFound) || res.ExitCode() != 127 {
				c.Errorf("got %v, exit code %d", err, res.ExitCode())
			}
		}),
		check("a program that cannot be executed never ran", ruleDidItRun, func(c *C) {
			c.real()
			l := c.launch(say("x"))
			d := c.dir()
			l.Workspace = &runtime.Workspace{Source: d}
			l.Argv = []string{c.subject.Backend.Describe().Policy.Workspace.Target + "/plain"}
			if plain := c.file(d, "plain", "no program\n"); c.subject.Backend.Describe().Unsandboxed {
				l.Argv = []string{plain}
			}
			res, err := c.plain().run(l)
			c.outcome(res, runtime.NeverRan)
			if !errors.Is(err, runtime.ErrCommand) || !errors.Is(err, fs.ErrPermission) || res.ExitCode() != 126 {
				c.Errorf("got %v, exit code %d", err, res.ExitCode())
			}
		}, "workspace.bind-rw"),
		check("a command that says that it was not found ran", ruleDidItRun, func(c *C) {
			res, err := c.plain().run(c.launch(sayErr("sh: 1: job: not found"), exit(127)))
			if c.outcome(res, runtime.Exited); err != nil || res.Code != 127 {
				c.Errorf("came to %s, %v", res, err)
			}
		}),
		check("an end has its observer", ruleOutcome, func(c *C) {
			res, err := c.plain().run(c.launch(exit(3)))
			c.must(err, "running")
			if res.Evidence.Observer == "" || res.Evidence.Cause != "" || len(res.Evidence.Ladder) > 0 {
				c.Errorf("the evidence is %+v", res.Evidence)
			}
		}),
		check("a run has its time", ruleOutcome, func(c *C) {
			res, err := c.plain().run(c.launch(wait(200 * time.Millisecond)))
			c.must(err, "running")
			if res.Usage.Wall < 200*time.Millisecond || res.Usage.Wall > time.Minute {
				c.Errorf("it took %v", res.Usage.Wall)
			}
		}),
		check("no end and no error is uncertain", ruleWitness, func(c *C) { lies(c, nil, nil) }),
		check("an end of what nobody saw run is no exit", ruleWitness, func(c *C) { lies(c, &runtime.Exit{Ran: false, Code: 0}, nil) }),
		check("an error with an exit status is no exit", ruleNeverSuccess, func(c *C) {
			lies(c, &runtime.Exit{Ran: true, Code: 0}, runtime.Fail(runtime.Uncertain, "the engine died"))
		}),
		check("a run that vanishes is uncertain, and no success", ruleWitness, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			other, err := c.subject.Backend.Reopen(c.ctx, r.Token())
			c.must(err, "reopening")
			_, err = other.Remove(c.ctx)
			c.must(err, "removing behind the driver's back")
			res, _ := st.wait(r)
			if res.Success() || res.Outcome == runtime.Exited && res.Code != 137 || res.Outcome == runtime.NeverRan {
				c.Errorf("came to %s (code %d)", res, res.Code)
			}
		}, "ready.line"),
		check("a run killed from outside is no success", ruleWitness, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			other, err := c.subject.Backend.Reopen(c.ctx, r.Token())
			c.must(err, "reopening")
			c.must(other.Kill(c.ctx), "killing behind the driver's back")
			res, _ := st.wait(r)
			if res.Success() || res.Outcome == runtime.Exited && res.Code != 137 {
				c.Errorf("came to %s (code %d)", res, res.Code)
			}
		}, "ready.line"),
		check("a result's JSON says the outcome", ruleOutcome, func(c *C) {
			res, err := c.plain().run(c.launch(exit(3)))
			c.must(err, "running")
			text, err := json.Marshal(res)
			c.must(err, "writing the result")
			var v struct {
				Outcome string
				Code    *int
			}
			c.must(json.Unmarshal(text, &v), "reading the result")
			if v.Outcome != "exited" || v.Code == nil || *v.Code != 3 {
				c.Errorf("it says %s", text)
			}
		}),
		check("a result without an exit has no exit status", ruleWitness, func(c *C) {
			l := c.launch(act(DoHang))
			l.Timeouts.Wall = 300 * time.Millisecond
			res, _ := c.plain().run(l)
			if res.Code != -1 {
				c.Errorf("a run that was timed out has the code %d", res.Code)
			}
		}, "timeouts.wall"),
	)
}
