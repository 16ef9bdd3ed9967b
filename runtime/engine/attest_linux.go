package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// startPatience is how long the first process of a started container may take to become the command.
const startPatience = 5 * time.Second

// fillPatience is how long the kernel may take for the rest of an exec, on a busy machine.
const fillPatience = time.Second

// measure reads the started command in /proc, and gives a guarantee for each claim that the kernel keeps a record of. It gives none where
// the command has ended already, where the engine's pid is another process here, or where the process does not become the command in
// time.
func (p *process) measure(ctx context.Context, i *inspected) map[string]runtime.Guarantee {
	first := state(i).Pid
	if first <= 0 || !inContainer(first, i.ID) {
		return nil
	}
	p.id.PID, p.id.BootID = first, runtime.BootID()
	if s, err := attest.ReadStat(first); err == nil {
		p.id.StartTime = s.StartTime
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	command := first
	if p.plan.Request.Hardening.Init {
		if command = p.child(ctx, first); command == 0 {
			return nil
		}
	}
	p.watch = watchProcess(command, i.ID)
	// An engine that has started a container has let its OCI runtime go on: for a moment the process is still that runtime, or a copy of the
	// init, with their environment and program.
	if !p.await(ctx, func() (bool, error) {
		s, err := attest.ReadStat(command)
		return s.Executed, err
	}) {
		return nil
	}
	request := p.withImageEnvironment()
	if len(request.Env) != 0 {
		// The exec is seen before the kernel has put the variables in their place. A command without any is measured as that.
		filling, cancel := context.WithTimeout(ctx, fillPatience)
		p.await(filling, func() (bool, error) { return attest.Filled(command) || !alive(command), nil })
		cancel()
	}
	s := attest.NewSubject(command, &attest.Expect{
		Request: request, Added: engineVariables,
		ReadLimit: func(name string) (string, string, error) { return cgroupLimit(command, i.ID, name) },
	})
	defer s.Close()
	out := make(map[string]runtime.Guarantee, len(p.plan.Claims))
	for _, c := range p.plan.Claims {
		g := s.Measure(c, runtime.WhenStarted)
		if own, ok := measures[c.Name]; ok {
			g.Measured, g.Evidence = own(command, p.plan.Request)
		}
		if g.Measured == runtime.MeasuredBroken && p.tightened(command, c) {
			g.Measured, g.Evidence = runtime.MeasuredHolds, g.Evidence+"; the command itself has lowered it"
		}
		if g.Measured == runtime.MeasuredBroken && c.Name == "environment" {
			g.Measured, g.Evidence = runtime.MeasuredUnknown, g.Evidence+"; the command may have changed it since its start"
			out[c.Name] = g
		}
		if g.Measured == runtime.MeasuredHolds || g.Measured == runtime.MeasuredBroken {
			out[c.Name] = g
		}
	}
	// What was read is the command's only if it lived to the end of the reading: of a process that has ended the kernel shows other limits
	// and groups, or none.
	if !alive(command) {
		return nil
	}
	return out
}

// engineVariables are those an engine, or the shell that joins two streams, sets by itself.
var engineVariables = []string{"HOME", "HOSTNAME", "PATH", "TERM", "container", "PWD", "OLDPWD", "SHLVL", "_"}

// withImageEnvironment is the request with the image's variables in its environment, as an engine merges them: the request's win.
func (p *process) withImageEnvironment() *runtime.Request {
	r := *p.plan.Request
	if p.plan.Image == nil {
		return &r
	}
	r.Env = slices.Clone(r.Env)
	for _, e := range p.plan.Image.Env {
		name, value, _ := strings.Cut(e, "=")
		if !slices.ContainsFunc(r.Env, func(v runtime.Variable) bool { return v.Name == name }) {
			r.Env = append(r.Env, runtime.Variable{Name: name, Value: value})
		}
	}
	return &r
}

// inContainer reports whether a pid of this host is in the container's cgroup. Engines name a container's cgroup by its id (Docker
// "/docker/<id>" or "docker-<id>.scope", Podman "libpod-<id>").
func inContainer(pid int, id string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && id != "" && bytes.Contains(b, []byte(id))
}

// alive reports whether a process has not ended: it is there, and neither a zombie nor dead (proc_pid_stat(5), field 3).
func alive(pid int) bool {
	s, err := attest.ReadStat(pid)
	return err == nil && s.State != 'Z' && s.State != 'X'
}

// child waits for the init's first child, which is the command; 0 where it has ended already.
func (p *process) child(ctx context.Context, init int) int {
	file := fmt.Sprintf("/proc/%d/task/%d/children", init, init)
	child := 0
	p.await(ctx, func() (bool, error) {
		b, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		first, _, ok := bytes.Cut(b, []byte(" "))
		if !ok {
			if !alive(init) {
				return false, os.ErrProcessDone // both have ended, and the engine has not yet taken notice
			}
			return false, nil
		}
		child, err = strconv.Atoi(string(first))
		return true, err
	})
	return child
}

// await asks until the answer is yes; false where it cannot be had, the container has ended or ctx has.
func (p *process) await(ctx context.Context, ask func() (bool, error)) bool {
	pause := time.NewTicker(100 * time.Microsecond)
	defer pause.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return yes && err == nil
		}
		select {
		case <-pause.C:
		case <-p.at.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// tightened reports whether a claim is broken only in that the running command gave up more by itself: a limit of its own below the one
// it was given, another user than root.
func (p *process) tightened(pid int, c runtime.Claim) bool {
	if strings.HasPrefix(c.Name, "user.") {
		return p.plan.Request.User.UID == 0
	}
	for _, l := range attest.ResourceLimits {
		if l.Name != c.Name {
			continue
		}
		want := l.Of(&p.plan.Request.Limits)
		var have unix.Rlimit
		return want != nil && unix.Prlimit(pid, l.Resource, nil, &have) == nil && have.Cur <= want.Soft && have.Max <= want.Hard
	}
	return false
}

// measures are those of claims that are an engine's alone.
var measures = map[string]func(pid int, r *runtime.Request) (runtime.Measured, string){
	"hardening.masked-paths": maskedPaths,
	"hardening.init":         underInit,
	"limits.shm":             shm,
}

// maskedPaths holds where the kernel files that engines mask (moby, oci/defaults.go) and that this kernel has are mounted over.
func maskedPaths(pid int, _ *runtime.Request) (runtime.Measured, string) {
	table, err := mountTable(pid)
	if err != nil {
		return runtime.MeasuredUnknown, err.Error()
	}
	var masked, open []string
	for _, p := range []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi", "/sys/firmware"} {
		if _, err := os.Lstat(p); err != nil {
			continue
		}
		if _, ok := table[p]; ok {
			masked = append(masked, p)
		} else {
			open = append(open, p)
		}
	}
	if len(open) != 0 {
		return runtime.MeasuredBroken, "mountinfo: nothing over " + strings.Join(open, " ")
	}
	return runtime.MeasuredHolds, "mountinfo: mounted over " + strings.Join(masked, " ")
}

// underInit holds where the command has another process of the container above it.
func underInit(pid int, _ *runtime.Request) (runtime.Measured, string) {
	s, err := attest.ReadStatus(pid)
	if err != nil {
		return runtime.MeasuredUnknown, err.Error()
	}
	if len(s.InnerPID) < 2 || s.InnerPID[len(s.InnerPID)-1] == 1 {
		return runtime.MeasuredBroken, fmt.Sprintf("status: NSpid %v", s.InnerPID)
	}
	return runtime.MeasuredHolds, fmt.Sprintf("status: NSpid %v", s.InnerPID)
}

// shm compares the size of /dev/shm.
func shm(pid int, r *runtime.Request) (runtime.Measured, string) {
	table, err := mountTable(pid)
	if err != nil {
		return runtime.MeasuredUnknown, err.Error()
	}
	for o := range strings.SplitSeq(table["/dev/shm"], ",") {
		kib, ok := strings.CutPrefix(o, "size=")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(kib, "k"), 10, 64)
		if err != nil {
			return runtime.MeasuredUnknown, "mountinfo: /dev/shm " + o
		}
		if n<<10 != (r.Limits.Shm.Hard+1023)>>10<<10 {
			return runtime.MeasuredBroken, "mountinfo: /dev/shm " + o
		}
		return runtime.MeasuredHolds, "mountinfo: /dev/shm " + o
	}
	return runtime.MeasuredUnknown, "mountinfo: /dev/shm has no size"
}

// mountTable gives the options of the file system mounted at each place a process sees (proc_pid_mountinfo(5): after the hyphen, type,
// source and options).
func mountTable(pid int) (map[string]string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		return nil, err
	}
	table := map[string]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		end := slices.Index(f, "-")
		if end < 5 || len(f) < end+4 {
			return nil, fmt.Errorf("reading mountinfo: %q", line)
		}
		table[f[4]] = f[end+3]
	}
	return table, nil
}
