package sbxtest

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// facts runs a command and gives the facts of its run with the plan that ran.
func (c *C) facts() (runtime.Facts, *runtime.Plan) {
	st := c.plain()
	r := st.start(c.launch(say("x")))
	res, err := st.wait(r)
	c.must(err, "running")
	return res.Facts, r.Plan()
}

// status gives the fields of a text of /proc/self/status (proc_pid_status(5)).
func status(text string) map[string]string {
	m := map[string]string{}
	for _, line := range linesOf(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			m[name] = strings.TrimSpace(value)
		}
	}
	return m
}

func guaranteeChecks() []Check {
	inside := func(c *C, change func(*runtime.Launch)) map[string]string {
		l := c.launch(read("/proc/self/status"))
		change(&l)
		return status(c.plain().ok(l))
	}
	return []Check{
		check("every claim of the plan is answered by a guarantee", ruleAttested, func(c *C) {
			f, p := c.facts()
			for _, k := range p.Claims {
				if !slices.ContainsFunc(f.Guarantees, func(g runtime.Guarantee) bool { return g.Name == k.Name }) {
					c.Errorf("nothing is said of %s", k.Name)
				}
			}
			if len(p.Claims) == 0 {
				c.Errorf("the plan claims nothing")
			}
		}),
		check("no required guarantee is broken in a run that went on", ruleMismatch, func(c *C) {
			f, _ := c.facts()
			for _, g := range f.Guarantees {
				if g.Required && g.Measured == runtime.MeasuredBroken {
					c.Errorf("%s is required and broken: %s", g.Name, g.Evidence)
				}
			}
		}),
		check("a measurement says what was read and when", ruleAttested, func(c *C) {
			f, _ := c.facts()
			for _, g := range f.Guarantees {
				if g.Measured == "" || g.Evidence == "" || (g.When == "" && g.Measured != runtime.MeasuredClaimed) {
					c.Errorf("%s: measured %q at %q, evidence %q", g.Name, g.Measured, g.When, g.Evidence)
				}
			}
		}),
		check("what isolates nothing claims nothing to hold by evidence", ruleUnattested, func(c *C) {
			if c.subject.Modelled == "" {
				c.Gap("its kernel is a real one")
			}
			f, _ := c.facts()
			for _, g := range f.Guarantees {
				if g.Measured == runtime.MeasuredHolds || g.Measured == runtime.MeasuredReadback {
					c.Errorf("%s is said to hold", g.Name)
				}
			}
		}),
		check("required hardening of a local process is measured", ruleAttested, func(c *C) {
			c.real()
			f, p := c.facts()
			if f.Identity.Remote {
				c.Gap("the engine is on another host")
			}
			for _, name := range p.Request.Required {
				i := slices.IndexFunc(f.Guarantees, func(g runtime.Guarantee) bool { return g.Name == name })
				if i < 0 {
					continue // another check's
				}
				switch g := f.Guarantees[i]; g.Measured {
				case runtime.MeasuredHolds, runtime.MeasuredReadback, runtime.MeasuredBehaves:
				default:
					c.Errorf("%s is required, and came out as %s: %s", name, g.Measured, g.Evidence)
				}
			}
		}),
		check("a broken required guarantee is a Setup failure, and the command never runs", ruleMismatch, func(c *C) {
			// The suite breaks it as the kernel would: the start refuses at its stop, before the command.
			st := c.stand(setting{hooks: refuser(runtime.StepStart, false, runtime.Fail(runtime.Setup, "no-new-privileges is off").About("hardening.no-new-privileges"))})
			out := &output{}
			l := c.launch(say("ran"))
			l.Stdout = out
			res, err := st.run(l)
			f := c.failure(err)
			if c.outcome(res, runtime.NeverRan); f.Kind != runtime.Setup || f.Feature == "" || out.String() != "" {
				c.Errorf("came to %v, output %q", err, out)
			}
		}),
		check("the facts name who ran it", ruleIdentity, func(c *C) {
			f, _ := c.facts()
			if c.identity == nil || f.Identity.String() != c.identity.String() {
				c.Errorf("the facts name %s", f.Identity)
			}
			if f.RunID == "" || f.Owner == "" || !strings.HasPrefix(f.PlanDigest, "sha256:") {
				c.Errorf("run %q, owner %q, plan %q", f.RunID, f.Owner, f.PlanDigest)
			}
		}),
		check("the facts say whether it was sandboxed", ruleModes, func(c *C) {
			f, _ := c.facts()
			if want := c.subject.Backend.Describe().Unsandboxed; f.Unsandboxed != want || (f.UnsandboxedReason != "") != want {
				c.Errorf("unsandboxed %v, because %q", f.Unsandboxed, f.UnsandboxedReason)
			}
		}),
		check("the process is named so that it cannot be taken for another", ruleIdentity, func(c *C) {
			st := c.plain()
			r := st.up(nil, act(DoHang))
			p := r.Facts().Process
			if p.PID == 0 || p.StartTime == 0 || p.BootID == "" {
				c.Errorf("the process is %+v", p)
			}
			if c.subject.Modelled == "" && !c.identity.Remote {
				if _, err := os.Stat("/proc/" + strconv.Itoa(p.PID)); err != nil {
					c.Errorf("there is no such process: %v", err)
				}
			}
			st.end(r)
		}, "ready.line"),
		check("the process is gone when the run is done", ruleRemove, func(c *C) {
			c.real()
			st := c.plain()
			r := st.up(nil, act(DoHang))
			p := r.Facts().Process
			st.end(r)
			if q, err := os.FindProcess(p.PID); err == nil && q.Signal(syscall.Signal(0)) == nil {
				// A zombie that its engine has not collected yet is no running process.
				if b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat"); err == nil && !strings.Contains(string(b), ") Z ") {
					c.Errorf("process %d still runs", p.PID)
				}
			}
		}, "ready.line"),
		check("new privileges are off inside", ruleAttested, func(c *C) {
			if s := inside(c, func(l *runtime.Launch) { l.Hardening.NoNewPrivileges = true }); s["NoNewPrivs"] != "1" {
				c.Errorf("NoNewPrivs is %q", s["NoNewPrivs"])
			}
		}, "hardening.no-new-privileges"),
		check("there are no capabilities inside", ruleAttested, func(c *C) {
			s := inside(c, func(l *runtime.Launch) { l.Hardening.Capabilities = true })
			for _, set := range []string{"CapEff", "CapPrm", "CapBnd"} {
				if strings.Trim(s[set], "0") != "" || s[set] == "" {
					c.Errorf("%s is %q", set, s[set])
				}
			}
		}, "hardening.capabilities"),
		check("a seccomp filter stands where it is asked for", ruleAttested, func(c *C) {
			if s := inside(c, func(l *runtime.Launch) { l.Hardening.Seccomp = "default" }); s["Seccomp"] != "2" {
				c.Errorf("Seccomp is %q", s["Seccomp"])
			}
		}, "hardening.seccomp"),
		check("the process namespace is the command's own", ruleAttested, func(c *C) {
			c.real()
			s := inside(c, func(l *runtime.Launch) { l.Hardening.PIDNamespace = true })
			if pid, err := strconv.Atoi(s["Pid"]); err != nil || pid > 50 {
				c.Errorf("the command has the pid %q inside", s["Pid"])
			}
		}, "hardening.pid-namespace"),
		check("nothing of the controller's descriptors reaches the command", ruleAttested, func(c *C) {
			c.real()
			// A descriptor without close-on-exec, as a library may have left one.
			pipe, closed, err := inheritable()
			c.must(err, "making a pipe")
			c.cleanup(closed)
			l := c.launch(read("/proc/self/fdinfo/"+strconv.Itoa(pipe[0])), read("/proc/self/fdinfo/"+strconv.Itoa(pipe[1])))
			c.shows(c.plain().ok(l), "absent", "absent")
		}),
		check("a start is told once, right before the command", ruleNineSteps, func(c *C) {
			told := 0
			st := c.stand(setting{hooks: Hooks{Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
				q := *r
				q.Started = func() {
					told++
					r.Started()
				}
				return next(ctx, &q)
			}}})
			st.ok(c.launch(say("x")))
			if told != 1 {
				c.Errorf("the start was told %d times", told)
			}
		}),
	}
}
