package sbxtest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// kernelLimits are the names in /proc/self/limits (proc_pid_limits(5)) of the limits that stand there.
var kernelLimits = []struct {
	feature, name string
	soft, hard    uint64
}{
	{"limits.open-files", "Max open files", 90, 90}, // a command written in Go raises its own soft limit
	{"limits.cpu-time", "Max cpu time", 30, 40},
	{"limits.file-size", "Max file size", 1 << 20, 1 << 20},
	{"limits.core", "Max core file size", 0, 0},
	{"limits.stack", "Max stack size", 8 << 20, 16 << 20},
	{"limits.locked-memory", "Max locked memory", 65536, 65536},
	{"limits.pending-signals", "Max pending signals", 500, 500},
	{"limits.message-queue", "Max msgqueue size", 400000, 400000},
	{"limits.user-processes", "Max processes", 4000, 4000},
}

func limitChecks() []Check {
	all := make([]Check, 0, 20)
	for _, k := range kernelLimits {
		all = append(all, check("the kernel holds the command to "+k.feature, ruleLimits, func(c *C) {
			l := c.launch(read("/proc/self/limits"))
			l.Limits.Put(k.feature, &runtime.Limit{Soft: k.soft, Hard: k.hard})
			c.limit(c.plain().ok(l), k.name, k.soft, k.hard)
		}, k.feature))
	}
	return append(all,
		check("the policy's limits hold where a launch asks for none", ruleLimits, func(c *C) {
			text := c.plain().ok(c.launch(read("/proc/self/limits")))
			for _, k := range kernelLimits {
				for _, r := range c.subject.Backend.Describe().Policy.Limits {
					if r.Name == k.feature && r.Default != nil {
						c.limit(text, k.name, r.Default.Soft, r.Default.Hard)
					}
				}
			}
		}, "limits.open-files"),
		check("a file larger than the limit cannot be made", ruleLimits, func(c *C) {
			c.real()
			d := c.dir()
			l := c.launch(write("big", strings.Repeat("x", 70000)), say("still here"))
			l.Workspace = &runtime.Workspace{Source: d}
			l.Limits.FileSize = runtime.AtMost(1000)
			// The kernel signals SIGXFSZ or fails the write (setrlimit(2)); either way no byte more is written.
			_, _ = c.plain().run(l)
			c.smaller(d+"/big", 1000)
		}, "limits.file-size", "workspace.bind-rw"),
		check("a command that uses its CPU time is ended, and not a success", ruleLimits, func(c *C) {
			c.real()
			l := c.launch(act(DoSpin))
			l.Limits.CPUTime = runtime.AtMost(1)
			l.Timeouts.Wall = time.Minute
			res, _ := c.plain().run(l)
			c.died(res, syscall.Signal(24) /* SIGXCPU of Linux, where sandboxes run */, syscall.SIGKILL)
		}, "limits.cpu-time"),
		check("a command that needs more memory than the limit ends as that", ruleOutcome, func(c *C) {
			// It asks for it when it is told to: of a command that ends before anybody could open its control group, nobody may know why.
			l := c.launch(act(DoReply), Act{Do: DoAllocate, N: 400 << 20})
			l.Stdin.Mode = runtime.StdinPipe
			l.Limits.Memory = runtime.AtMost(48 << 20)
			if c.supports("limits.swap") {
				l.Limits.Swap = runtime.AtMost(0)
			}
			l.Timeouts.Wall = time.Minute
			st := c.plain()
			r := st.start(l)
			c.must(r.CloseWrite(), "telling the command")
			res, _ := st.wait(r)
			c.outcome(res, runtime.OutOfMemory)
			if res.Evidence.OOMKills == 0 || res.Evidence.MemoryEvents == "" {
				c.Errorf("the evidence is %+v", res.Evidence)
			}
			if res.Success() || res.ExitCode() != 137 {
				c.Errorf("success %v, exit code %d", res.Success(), res.ExitCode())
			}
		}, "limits.memory", "stdin.pipe"),
		check("a launch can lower a policy's limit", ruleLimits, func(c *C) {
			l := c.launch(read("/proc/self/limits"))
			l.Limits.OpenFiles = runtime.AtMost(64)
			c.limit(c.plain().ok(l), "Max open files", 64, 64)
		}, "limits.open-files"),
		check("every limit of the request is a claim", ruleAttested, func(c *C) {
			l := c.launch(say("x"))
			l.Limits.OpenFiles = runtime.AtMost(64)
			p := c.plain().plan(l)
			for _, k := range p.Claims {
				if k.Name == "limits.open-files" {
					return
				}
			}
			c.Errorf("limits.open-files is asked for and not claimed")
		}, "limits.open-files"),
	)
}

// limit checks a line of /proc/self/limits.
func (c *C) limit(text, name string, soft, hard uint64) {
	for _, line := range linesOf(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			f := strings.Fields(rest)
			if len(f) < 2 || f[0] != fmt.Sprint(soft) || f[1] != fmt.Sprint(hard) {
				c.Errorf("%s is %v, want %d and %d", name, f, soft, hard)
			}
			return
		}
	}
	c.Errorf("%q is not in what the command shows: %q", name, text)
}

// died checks that a run was ended by one of these signals: as the signal, or as the status that a launcher or an engine makes of it.
func (c *C) died(res *runtime.Result, signals ...syscall.Signal) {
	for _, s := range signals {
		if res.Outcome == runtime.Signaled && res.Signal == s || res.Outcome == runtime.Exited && res.Code == 128+int(s) {
			return
		}
	}
	c.Errorf("the run came to %s (code %d, signal %v), want one of the signals %v", res, res.Code, res.Signal, signals)
}

// smaller checks that a file is no larger than most bytes.
func (c *C) smaller(path string, most int64) {
	if i, err := os.Stat(path); err == nil && i.Size() > most {
		c.Errorf("%s has %d bytes", path, i.Size())
	}
}
